// Reads of the spot market from outside: offers, the history of a price, and bills.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Server } from "./server.mjs";

const MINUTE_MS = 60_000;
const NETWORK = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };

let server;
before(async () => (server = await new Server().start()));
after(() => server.stop());

/** A cluster with an offer of 3 instances at 30 % of the original price. */
async function withOffer(name) {
  const cluster = await server.cluster(name).found();
  const terms = { original_price: 1_000_000 };
  await accepted(cluster, { create_offer: { offer: "gn8", resource_type: "lingjun", instance: { gpu: 8000 }, inventory: 3, price: 300_000, terms } });
  return cluster;
}

let sent = 0;
async function accepted(cluster, command) {
  const answer = await cluster.send(`market-${(sent += 1)}`, command);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

function bid(cluster, job, discount_percent, { count = 1, workspace } = {}) {
  const spot = { offer: "gn8", discount_percent, network: NETWORK };
  return accepted(cluster, { submit_job: { job, workspace, spot, pods: [{ count, amount: {} }] } });
}

async function published(cluster) {
  assert.equal((await cluster.post("flush")).status, 200);
  return cluster;
}

test("offers are read from KV with price, average, inventory and bids", async () => {
  const cluster = await withOffer("offers");
  await bid(cluster, "high", 50, { count: 2 });
  await bid(cluster, "low", 20);
  await published(cluster);
  const answer = await cluster.get("offers");
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal(answer.headers.get("x-tidegate-source"), "kv");
  const [offer, ...others] = answer.body;
  assert.deepEqual(others, []);
  assert.deepEqual([offer.offer, offer.instance, offer.price, offer.average, offer.inventory, offer.held], ["gn8", { gpu: 8000 }, 300_000, 300_000, 3, 2]);
  assert.deepEqual(offer.running.map(({ job, limit, instances }) => [job, limit, instances]), [["high", 500_000, 2]]);
  assert.equal(typeof offer.running[0].protected_until, "number");
  assert.deepEqual(offer.waiting.map(({ job, limit }) => [job, limit]), [["low", 200_000]]);
});

test("a price's history has each change with its average, from KV and from the object alike", async () => {
  const cluster = await withOffer("history");
  await accepted(cluster, { publish_price: { offer: "gn8", price: 400_000 } });
  await accepted(cluster, { set_inventory: { offer: "gn8", inventory: 5 } });
  await published(cluster);
  const fromKv = await cluster.get("offers/gn8/history");
  const { revision } = await cluster.hash();
  await bid(cluster, "later", 20);
  const fromObject = await cluster.get(`offers/gn8/history?min_revision=${revision + 1}`);
  assert.deepEqual([fromKv, fromObject].map((answer) => answer.headers.get("x-tidegate-source")), ["kv", "object"]);
  for (const { body } of [fromKv, fromObject]) {
    assert.deepEqual(body.prices.map(({ price }) => price), [300_000, 400_000, 400_000]);
    assert.ok(body.prices.every(({ average }) => average >= 300_000 && average <= 400_000), JSON.stringify(body.prices));
    assert.deepEqual(body.inventory.map(([, count]) => count), [3, 5, 5]);
    assert.equal(body.offer, "gn8");
  }
});

test("bills add up by day, job and workspace, and go to a spreadsheet", async () => {
  const cluster = await withOffer("bills");
  for (const workspace of ["vision", "speech"]) await accepted(cluster, { put_workspace: { workspace } });
  await bid(cluster, "one", 50, { count: 2, workspace: "vision" });
  await bid(cluster, "two", 50, { workspace: "speech" });
  await accepted(cluster, { cancel_job: { job: "one" } });
  await published(cluster);
  const statements = {};
  for (const by of ["day", "job", "workspace", "job_and_day"]) statements[by] = (await cluster.get(`bills?by=${by}`)).body;
  for (const { total, lines, tag, earlier } of Object.values(statements)) {
    assert.deepEqual(total, { minutes: 2, micros: 900_000 });
    assert.deepEqual([tag, earlier], [{ "acs:pai:dlc:payType": "spot" }, null]);
    assert.equal(lines.reduce((sum, line) => sum + line.charges.micros, 0), 900_000);
  }
  const lines = (by, name) => statements[by].lines.map(({ item, charges, open }) => [item[name], charges.micros, open.micros]);
  assert.deepEqual(lines("job", "job"), [["two", 300_000, 300_000], ["one", 600_000, 0]]);
  assert.deepEqual(lines("workspace", "workspace"), [["speech", 300_000, 300_000], ["vision", 600_000, 0]]);
  assert.match(lines("day", "day")[0][0], /^\d{4}-\d\d-\d\d$/);
  // Up to a revision only what was billed by then, whether KV shows that revision or not; what is owed is not.
  const { revision } = await cluster.hash();
  for (const [before, micros] of [[1, 0], [revision, 600_000], [revision + 5, 600_000]]) {
    const answer = await cluster.get(`bills?by=job&before=${before}`);
    assert.deepEqual([answer.status, answer.body.total?.micros, answer.body.earlier], [200, micros, null], JSON.stringify(answer.body));
  }
  const csv = await cluster.get("bills?by=job&format=csv");
  assert.match(csv.headers.get("content-type"), /^text\/csv/);
  assert.deepEqual(csv.body.trim().split("\r\n").slice(1), [
    ",speech,two,gn8,1,0.3,0.3,acs:pai:dlc:payType=spot",
    ",vision,one,gn8,1,0.6,0,acs:pai:dlc:payType=spot",
  ]);
});

test("the clock releases a job whose bid is below the price once its protection is over", async () => {
  const cluster = await server.cluster("release").found();
  const terms = { original_price: 1_000_000, protection_ms: 0, window_ms: 1, grace_period_ms: 0 };
  await accepted(cluster, { create_offer: { offer: "gn8", resource_type: "lingjun", instance: { gpu: 8000 }, inventory: 3, price: 300_000, terms } });
  await bid(cluster, "short", 40);
  await accepted(cluster, { publish_price: { offer: "gn8", price: 500_000 } });
  await new Promise((done) => setTimeout(done, 5));
  await server.tick(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
  const { revision } = await cluster.hash();
  const [offer] = (await cluster.get(`offers?min_revision=${revision}`)).body;
  assert.deepEqual([offer.held, offer.n_running], [0, 0]);
  assert.equal((await cluster.get("jobs/short/why")).body.status, "Preempted");
});

test("bad input is refused by name and changes nothing", async (t) => {
  const cluster = await withOffer("bad");
  const spot = { offer: "gn8", network: NETWORK };
  const submit = (more) => ({ submit_job: { job: "x", spot: { ...spot, ...more }, pods: [{ amount: {} }] } });
  const terms = { original_price: 1_000_000 };
  const general = { create_offer: { offer: "gn7", resource_type: "general", instance: { gpu: 1000 }, inventory: 1, terms } };
  await accepted(cluster, general);
  const onGeneral = (more) => submit({ offer: "gn7", ...more });
  const cases = {
    "both limits": [422, "bid_both_limits", submit({ discount_percent: 40, price_limit: 400_000 })],
    "a discount of 25 %": [422, "bid_discount_step", submit({ discount_percent: 25 })],
    "a discount of 95 %": [422, "bid_discount_step", submit({ discount_percent: 95 })],
    "a discount on general computing": [422, "bid_discount_on_general", onGeneral({ discount_percent: 40 })],
    "a price on Lingjun": [422, "bid_price_on_lingjun", submit({ price_limit: 400_000 })],
    "MPI on general computing": [422, "bid_framework", onGeneral({ price_limit: 400_000, framework: "mpi" })],
    "no network": [422, "bid_network_missing", submit({ discount_percent: 40, network: {} })],
    "a negative price": [422, "offer_price_outside_market", { publish_price: { offer: "gn8", price: -1 } }],
    "an absurd price": [422, "offer_price_outside_market", { publish_price: { offer: "gn8", price: 10 ** 15 } }],
    "a price in the past": [422, "offer_price_in_the_past", { publish_price: { offer: "gn8", price: 400_000, at: 1 } }],
    "an inventory below zero": [422, "offer_inventory_below_zero", { set_inventory: { offer: "gn8", inventory: -1 } }],
    "an unknown offer": [404, "unknown", submit({ offer: "nowhere", discount_percent: 40 })],
    "neither a quota nor an offer": [422, "no_source", { submit_job: { job: "x", pods: [{ amount: { gpu: 1000 } }] } }],
  };
  for (const [name, [status, code, command]] of Object.entries(cases)) {
    await t.test(name, async () => {
      const start = await cluster.hash();
      const { status: got, body } = await cluster.send(`bad-${name}`.replaceAll(/[^a-z0-9-]/gi, "-"), command);
      assert.deepEqual([got, body.code], [status, code], JSON.stringify(body));
      assert.ok(body.message.length > 10, body.message);
      assert.deepEqual(await cluster.hash(), start);
    });
  }
  assert.deepEqual([(await cluster.get("offers/nowhere/history")).status, (await cluster.get("bills?by=moon")).body.code], [404, "bad_query"]);
  assert.equal((await cluster.get("bills?format=pdf")).body.code, "bad_query");
});
