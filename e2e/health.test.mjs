// How a cluster and the service do, with reasons, for administrators and for whoever monitors.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Cluster, accessKey } from "./server.mjs";

const MONITOR_KEY = "m".repeat(40);
const MINUTE = 60_000;
const state = mkdtempSync(join(tmpdir(), "tidegate-health-"));
let runtime;
before(async () => (runtime = await start({ state, variables: { MONITOR_KEY } })));
after(async () => {
  await runtime.stop();
  rmSync(state, { recursive: true, force: true });
});

const cluster = (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name);
const service = async () => (await fetch(`${runtime.url}/health`)).json();
const slotMs = (ago) => (Math.floor(Date.now() / MINUTE) - ago) * MINUTE;
const codes = ({ body }) => body.reasons.map(({ code }) => code);

async function anew({ lose = false } = {}) {
  const { adminKey } = runtime;
  await runtime.stop();
  if (lose) rmSync(join(state, "do"), { recursive: true });
  runtime = await start({ state, adminKey, variables: { MONITOR_KEY } });
}

test("a cluster that does well says so to its administrators and to whoever monitors", async () => {
  const here = await cluster("well").found();
  await runtime.tick(slotMs(0));
  for (const key of [runtime.adminKey, MONITOR_KEY]) {
    const { status, body } = await cluster("well", key).get("health");
    assert.deepEqual([status, body], [200, { state: "ok", reasons: [] }]);
  }
  const guest = await accessKey(here, "guest");
  const opened = await here.request("POST", "sessions", JSON.stringify({ key: guest.id, secret: guest.secret }), {});
  assert.equal((await cluster("well", opened.body.token).get("health")).status, 403);
  const chief = await accessKey(here, "chief", { administers: true });
  const session = await here.request("POST", "sessions", JSON.stringify({ key: chief.id, secret: chief.secret }), {});
  assert.equal((await cluster("well", session.body.token).get("health")).body.state, "ok");
  assert.equal((await here.request("GET", "health", undefined, {})).status, 401);
});

test("of names that there are not nothing is said and nothing stays", async () => {
  assert.equal((await cluster("nowhere").get("health")).status, 404);
  assert.equal((await cluster("nowhere", MONITOR_KEY).get("health")).status, 401);
  assert.equal((await cluster("nowhere", MONITOR_KEY).get("metrics")).status, 401, "the storage has no tables");
});

test("a clock that stands is told by the cluster and by the service", async () => {
  await cluster("late").found();
  await runtime.tick(slotMs(10));
  const told = await cluster("late").get("health");
  assert.deepEqual([told.status, told.body.state, codes(told)], [200, "degraded", ["rounds_missed"]], JSON.stringify(told.body));
  const [{ since, figures, remedy }] = told.body.reasons;
  assert.deepEqual([since, figures.minutes >= 10], [slotMs(10), true]);
  assert.match(remedy, /cron/);
  await anew();
  assert.deepEqual(await service().then(({ status, last_tick: at }) => [status, at]), ["degraded", slotMs(10)]);
  await runtime.tick(slotMs(0));
  await anew();
  assert.deepEqual(await service(), { status: "ok", degraded: 0, lost: 0, last_tick: slotMs(0) });
  assert.equal((await cluster("late").get("health")).body.state, "ok");
});

test("figures of health, lag, sign-ins and quotas are among the metrics", async () => {
  const { body } = await cluster("late").get("metrics");
  for (const line of [/^tidegate_condition 0$/m, /^tidegate_unpublished_seconds \d+$/m, /^tidegate_sign_ins_total \d+$/m, /^tidegate_sign_ins_refused_total \d+$/m, /^tidegate_stored_bytes [1-9]\d+$/m, /^tidegate_quota_gpus_guaranteed{quota="team",dimension="gpu"} 8$/m, /^tidegate_quota_gpus_used{quota="team",dimension="gpu"} 0$/m]) assert.match(body, line);
});

test("a cluster whose storage is lost is lost, for whoever monitors too, until it is restored", async () => {
  const here = cluster("well");
  assert.equal((await here.post("flush")).status, 200);
  assert.equal((await cluster("late").post("flush")).status, 200);
  const { revision } = await here.hash();
  await anew({ lose: true });
  for (const key of [runtime.adminKey, MONITOR_KEY]) {
    const told = await cluster("well", key).get("health");
    assert.deepEqual([told.status, told.body.state, codes(told)], [503, "lost", ["storage_lost"]]);
    assert.equal(told.body.reasons[0].figures.revision, revision);
    assert.match(told.body.reasons[0].remedy, /restore/);
  }
  await runtime.tick(slotMs(0));
  assert.deepEqual(await service().then(({ status, lost }) => [status, lost]), ["degraded", 2]);
  for (const name of ["well", "late"]) assert.equal((await cluster(name).post("restore")).status, 200);
  await runtime.tick(slotMs(0) + MINUTE);
  await anew();
  assert.deepEqual(await service().then(({ status, lost }) => [status, lost]), ["ok", 0]);
});
