// Who monitors has a key that reads figures and nothing else, and the figures say what an operator has to know.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";
import { listen } from "./socket.mjs";

const MONITOR_KEY = "m".repeat(40);

let runtime;
before(async () => (runtime = await start({ variables: { MONITOR_KEY } })));
after(() => runtime.stop());

const cluster = (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name);
const figure = (metrics, name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics.body)?.[1]);

test("the key of a monitor reads metrics and nothing else", async () => {
  await cluster("seen").found();
  const monitor = cluster("seen", MONITOR_KEY);
  const metrics = await monitor.get("metrics");
  assert.equal(metrics.status, 200);
  assert.match(metrics.body, /^tidegate_revision 3$/m);
  const paths = ["snapshot", "head", "entries", "past?revision=1", "rounds", "rounds/1", "jobs/x/why", "jobs/x/log", "offers", "bills", "hash", "events", "me", "keys", "audit"];
  for (const path of paths) assert.equal((await monitor.get(path)).status, 401, path);
  for (const path of ["commands", "restore", "flush"]) assert.equal((await monitor.post(path)).status, 401, path);
  const agent = await monitor.request("POST", "agents/a/hello", "{}");
  assert.equal(agent.status, 401);
  const headers = { authorization: `Bearer ${MONITOR_KEY}` };
  assert.equal((await fetch(`${runtime.url}/v1/clusters`, { headers })).status, 401);
  await assert.rejects(listen(`${runtime.url}/v1/clusters/seen/events`, ["tidegate", `bearer.${MONITOR_KEY}`]), /status 401/);
  assert.equal((await cluster("unseen", MONITOR_KEY).get("metrics")).status, 401, "who tries names leaves nothing behind");
});

// An answer before the body is read ends the connection, often enough together with the request after it.
test("who is refused can send the next request", async () => {
  const headers = { authorization: `Bearer ${MONITOR_KEY}` };
  const asked = (path, more) => fetch(`${runtime.url}/v1/clusters${path}`, { headers, ...more }).then((answer) => answer.text());
  for (let time = 0; time < 400; time += 1) {
    await asked("/seen/agents/a/hello", { method: "POST", body: "{}" });
    await asked("");
  }
});

test("a short key opens nothing", async () => {
  const other = await start({ variables: { MONITOR_KEY: "short" } });
  try {
    await new Cluster({ url: other.url, key: other.adminKey }, "seen").found();
    assert.equal((await new Cluster({ url: other.url, key: "short" }, "seen").get("metrics")).status, 401);
    assert.equal((await new Cluster({ url: other.url, key: "" }, "seen").get("metrics")).status, 401);
  } finally {
    await other.stop();
  }
});

test("figures tell rounds, refusals and snapshots", async () => {
  const here = await cluster("figures").found();
  const before = await here.get("metrics");
  assert.equal((await here.submit("one")).status, 200);
  assert.notEqual((await here.submit("two", 1, "nowhere")).status, 200);
  await runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);
  const after = await here.get("metrics");
  assert.equal(figure(after, "tidegate_refusals_total") - figure(before, "tidegate_refusals_total"), 1);
  assert.ok(figure(after, "tidegate_rounds_total") > figure(before, "tidegate_rounds_total"));
  assert.equal(figure(after, "tidegate_snapshot_bytes"), 0);
  const copy = cluster("figures-copy");
  assert.equal((await here.post("flush")).status, 200);
  assert.equal((await copy.post("restore?from=figures")).status, 200);
  assert.equal((await copy.post("flush")).status, 200);
  assert.ok(figure(await copy.get("metrics"), "tidegate_snapshot_bytes") > 500, "a copy has a snapshot of its own");
});
