// What happens beside the log: refusals, sign-ins, wrong secrets and keys, restores, publications. None of it can be made
// to fill the list, and everybody sees their own.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Client } from "./acs.mjs";
import { People } from "./people.mjs";
import { Cluster } from "./server.mjs";

let runtime;
let people;
before(async () => {
  runtime = await start();
  people = await People.of({ ...server(), cluster }, "watched");
});
after(() => runtime.stop());

const server = () => ({ url: runtime.url, key: runtime.adminKey });
const cluster = (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name);
const incidents = async (of, query = "") => (await of.get(`incidents${query}`)).body;
const counted = (rows, wanted) =>
  rows.filter((row) => Object.entries(wanted).every(([name, value]) => row[name] === value)).reduce((sum, { count }) => sum + count, 0);

test("refusals, sign-ins, wrong secrets, restores and publications are noted with who and what", async () => {
  const { developer, guest } = people.senders;
  const job = { submit_job: { job: "big", quota: "Quota2", workspace: "workspace-b", pods: [{ amount: { gpu: 1000 } }] } };
  assert.notEqual((await developer.send("refused", job)).status, 200);
  assert.equal((await guest.post("restore")).status, 403);
  assert.equal((await guest.get("hash")).status, 403);
  const wrong = await people.cluster.request("POST", "sessions", JSON.stringify({ key: "watched.guest", secret: "0" }), {});
  assert.equal(wrong.status, 401);
  const pai = new Client(runtime.url, { id: "watched.developer", secret: "0".repeat(64) });
  assert.notEqual((await pai.call("2020-12-03", "ListJobs", "GET", "/api/v1/jobs")).status, 200);
  assert.equal((await people.cluster.post("flush")).status, 200);
  assert.equal((await people.cluster.post("restore")).status, 200);
  const rows = await incidents(people.cluster);
  assert.equal(counted(rows, { kind: "refused", who: "developer", what: "submit_job: policy" }) + counted(rows, { kind: "refused", who: "developer", what: "submit_job: denied" }), 1, JSON.stringify(rows));
  assert.equal(counted(rows, { kind: "refused", who: "guest", what: "restore: denied" }), 1, JSON.stringify(rows));
  assert.equal(counted(rows, { kind: "refused", who: "guest", what: "hash: denied" }), 1);
  assert.equal(counted(rows, { kind: "signed_in", who: "carol", what: "watched.carol" }), 1);
  assert.equal(counted(rows, { kind: "wrong_secret", what: "watched.guest" }), 1);
  assert.equal(counted(rows, { kind: "wrong_secret", what: "watched.developer" }), 1);
  assert.equal(counted(rows, { kind: "flush", who: "administrator" }), 1);
  assert.equal(counted(rows, { kind: "restore", who: "administrator", what: "watched" }), 1);
  assert.deepEqual([...new Set((await incidents(guest)).map(({ who }) => who))], ["guest"], "others see their own alone");
});

test("one user fills a few rows a minute, all of it is counted, and the log grows by none of it", async () => {
  const { developer } = people.senders;
  const { seq } = await people.cluster.hash();
  const kinds = [
    (name) => ({ cancel_job: { job: name } }),
    (name) => ({ set_priority: { job: name, priority: 3 } }),
    (name) => ({ resize_job: { job: name, pods: 2 } }),
    (name) => ({ create_quota: { quota: name, groups: ["pool"], min: { gpu: 1000 } } }),
    (name) => ({ put_workspace: { workspace: name } }),
    (name) => ({ delete_quota: { quota: name } }),
    (name) => ({ put_group: { group: name, resource_type: "lingjun", pool: { gpu: 1000 } } }),
  ];
  const before = counted(await incidents(people.cluster, "?count=500"), { kind: "refused", who: "developer" });
  for (let turn = 0; turn < 20; turn += 1) {
    const sent = await Promise.all(kinds.map((kind, at) => developer.send(`flood-${turn}-${at}`, kind(`nothing-${turn}`))));
    sent.forEach(({ status }) => assert.notEqual(status, 200));
  }
  // What is only counted so far is written with a slot.
  await runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);
  const rows = (await incidents(people.cluster, "?count=500")).filter(({ kind, who }) => kind === "refused" && who === "developer");
  assert.equal(counted(rows, {}) - before, 140, JSON.stringify(rows));
  const minutes = new Set(rows.map(({ minute }) => minute)).size;
  assert.ok(rows.length <= 5 * minutes, JSON.stringify(rows));
  assert.equal((await people.cluster.hash()).seq, seq + 1, "the log has the slot alone");
});

test("wrong keys of the service are noted for those who administer all of it", async () => {
  for (let guess = 0; guess < 12; guess += 1) assert.equal((await cluster("watched", `guess-${guess}`).get("hash")).status, 401);
  const asked = (key) => fetch(`${runtime.url}/v1/incidents`, { headers: { authorization: `Bearer ${key}` } });
  const rows = await (await asked(runtime.adminKey)).json();
  assert.equal(counted(rows, { kind: "wrong_key" }), 10, JSON.stringify(rows));
  assert.equal((await asked(people.senders.cluster.server.key)).status, 401, "an administrator of one cluster is none of all");
});

test("pages go on where the one before ended", async () => {
  const all = await incidents(people.cluster, "?count=500");
  const minutes = [...new Set(all.map(({ minute }) => minute))];
  const older = await incidents(people.cluster, `?count=500&before=${minutes[0]}`);
  assert.deepEqual(older, all.filter(({ minute }) => minute < minutes[0]));
  assert.equal((await people.cluster.get("incidents?before=soon")).status, 400);
});

test("a page of the audit says where to go on until there is nothing", async () => {
  const whole = (await people.cluster.get("audit?count=200")).body;
  const found = [];
  let next;
  do {
    const page = await people.cluster.get(`audit?count=7${next ? `&before=${next}` : ""}`);
    found.push(...page.body);
    next = page.headers.get("x-tidegate-next-before");
  } while (next);
  assert.deepEqual(found.map(({ envelope }) => envelope.id), whole.map(({ envelope }) => envelope.id));
  // Who may see nothing is told that there was nothing, and that nothing is left.
  const nothing = await people.senders.stranger.get("audit?count=7");
  assert.notEqual(nothing.status, 500);
});
