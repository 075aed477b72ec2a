// A cluster is deleted by an administrator who was told what that costs; all of it goes, and nobody founds it by accident.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../worker/runtime.mjs";
import { Cluster, accessKey } from "./server.mjs";
import { listen } from "./socket.mjs";

const GPU = 1_000;
let runtime;
// KV of the local runtime is never old. Few calls an invocation, so that it takes several.
before(async () => (runtime = await start({ variables: { KV_LATE_S: "1", RESTORE_OPERATIONS: "5" } })));
after(() => runtime.stop());

const cluster = (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name);
const names = async () => (await fetch(`${runtime.url}/v1/clusters`, { headers: { authorization: `Bearer ${runtime.adminKey}` } })).json();
const keys = async (name) => (await (await runtime.kv()).list({ prefix: `c/${name}/` })).keys.map(({ name: key }) => key);
const tick = () => runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);

async function until(what, is) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await is()) return;
    await pause(100);
  }
  assert.fail(what);
}

async function signIn(here, user, more) {
  const { id: key, secret } = await accessKey(here, user, more);
  return (await here.request("POST", "sessions", JSON.stringify({ key, secret }), {})).body.token;
}

async function gone(name) {
  await until(`${name} does not go`, async () => (await cluster(name).get("deletion")).body.is_done);
}

test("the cost is told first, and what is confirmed is exactly that", async () => {
  const here = await cluster("old").found(8);
  for (const job of ["one", "two", "three"]) await here.submit(job, 4);
  const developer = await signIn(here, "developer");
  const chief = await signIn(here, "chief", { administers: true });
  // What would be published between two looks is published before them.
  await here.post("flush");
  for (const call of [() => cluster("old", developer).get("deletion"), () => cluster("old", developer).post("delete")]) assert.equal((await call()).status, 403);
  const { status, body: cost } = await cluster("old", chief).get("deletion");
  assert.equal(status, 200, JSON.stringify(cost));
  assert.deepEqual([cost.running, cost.queued, cost.quotas, cost.keys, cost.has_more_objects], [2, 1, 1, 2, false]);
  assert.equal(cost.objects, (await keys("old")).length);
  assert.match(cost.message, /all of it for good: running jobs that end: 2, queued jobs: 1,/);
  const unasked = await here.post("delete");
  // What was committed may be published in between.
  const said = (text) => text.replace(/objects in KV: \d+/, "");
  assert.deepEqual([unasked.status, unasked.body.code, said(unasked.body.message)], [409, "unconfirmed", said(cost.message)]);
  await here.submit("four");
  const other = await here.post(`delete?confirm=${cost.confirm}`);
  assert.deepEqual([other.status, other.body.code], [409, "unconfirmed"], "another job has come since");
  assert.match(other.body.message, /queued jobs: 2,/);
  assert.equal((await here.get("hash")).status, 200);
});

test("everything goes, and whoever comes is told so", async () => {
  const here = cluster("old");
  const chief = await signIn(here, "last", { administers: true });
  const socket = await listen(`${runtime.url}/v1/clusters/old/events`, ["tidegate", `bearer.${chief}`]);
  const { body: cost } = await here.get("deletion");
  const deleted = await cluster("old", chief).post(`delete?confirm=${cost.confirm}`);
  assert.deepEqual([deleted.status, deleted.body.by, deleted.body.is_done], [200, "last", false], JSON.stringify(deleted.body));
  assert.deepEqual(await socket.closed, { code: 1001, reason: "deleted" });
  const create = { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } };
  const calls = [() => here.submit("after"), () => here.send("anew", create), () => here.get("hash"), () => here.get("snapshot?min_revision=1"), () => here.post("restore?force=true"), () => here.post("flush"), () => cluster("old", chief).get("me"), () => here.get("health")];
  for (const call of calls) {
    const { status, body } = await call();
    assert.deepEqual([status, body.code], [410, "deleted"], JSON.stringify(body));
  }
  const early = await here.request("POST", `commands?anew=${deleted.body.revision}`, JSON.stringify({ format: 1, id: "early", command: create }));
  assert.equal(early.status, 410, "not before all of it is gone");
  await gone("old");
  assert.deepEqual(await keys("old"), []);
  assert.ok(!(await names()).includes("old"));
  const again = await here.post(`delete?confirm=${cost.confirm}`);
  assert.deepEqual([again.status, again.body.is_done], [200, true]);
  const noted = await (await fetch(`${runtime.url}/v1/incidents`, { headers: { authorization: `Bearer ${runtime.adminKey}` } })).json();
  assert.ok(noted.some(({ kind, who, what }) => kind === "delete" && who === "last" && what === "old"), JSON.stringify(noted));
});

test("neither the clock nor a client nor a restart founds it anew", async () => {
  await tick();
  await tick();
  assert.ok(!(await names()).includes("old"));
  const copy = await (await runtime.kv()).get("clusters");
  assert.ok(!(copy ?? "").split("\n").includes("old"), copy);
  await runtime.restart();
  await tick();
  assert.equal((await cluster("old").submit("later")).body.code, "deleted");
  assert.deepEqual(await keys("old"), []);
  assert.ok(!(await names()).includes("old"));
});

test("whoever says the revision may have the name again", async () => {
  const here = cluster("old");
  const { revision } = (await here.get("deletion")).body;
  const send = (anew, command, of = here) => of.request("POST", `commands?anew=${anew}`, JSON.stringify({ format: 1, id: `anew-${anew}-${Object.keys(command)}`, command }));
  const create = { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } };
  assert.equal((await send(revision + 1, create)).body.code, "deleted");
  assert.notEqual((await send(revision, { cancel_job: { job: "nobody" } })).status, 200);
  assert.equal((await send(revision + 2, create)).body.code, "deleted", "a refused command leaves the tombstone");
  const founded = await send(revision, create);
  assert.equal(founded.status, 200, JSON.stringify(founded.body));
  assert.equal((await here.get("hash")).body.seq, 2, "with the epoch that its agents need");
  assert.equal((await here.post("flush")).status, 200);
  assert.ok((await names()).includes("old"));
  await tick();
  assert.equal((await here.get("health")).body.state, "ok");
});

test("a storage that is lost after the deletion founds nothing either", async () => {
  const state = mkdtempSync(join(tmpdir(), "tidegate-deleted-"));
  const variables = { KV_LATE_S: "0" };
  let other = await start({ state, variables });
  const { adminKey } = other;
  const there = () => new Cluster({ url: other.url, key: adminKey }, "twice");
  try {
    await there().found();
    assert.equal((await there().post("flush")).status, 200);
    const { body: cost } = await there().get("deletion");
    assert.equal((await there().post(`delete?confirm=${cost.confirm}`)).status, 200);
    await until("it does not go", async () => (await there().get("deletion")).body.is_done);
    await other.stop();
    rmSync(join(state, "do"), { recursive: true });
    other = await start({ state, adminKey, variables });
    const create = { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } };
    const refused = await there().send("again", create);
    assert.deepEqual([refused.status, refused.body.code], [410, "deleted"], JSON.stringify(refused.body));
    const anew = { format: 1, id: "anew", command: create };
    assert.equal((await there().request("POST", `commands?anew=${cost.revision}`, JSON.stringify(anew))).status, 200);
    assert.equal((await there().get("hash")).body.seq, 2);
  } finally {
    await other.stop();
    rmSync(state, { recursive: true, force: true });
  }
});

test("agents are told to stop what runs", async () => {
  const here = await cluster("farm").foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    { put_node: { node: "n1", group: "machines", amount: { gpu: 8 * GPU } } },
    { create_quota: { quota: "team", groups: ["machines"], min: { gpu: 8 * GPU } } },
  ]);
  const token = await signIn(here, "n1", { serves: ["machines"] });
  const say = async (call, said) => {
    const answer = await here.request("POST", `agents/n1/${call}`, JSON.stringify({ format: 1, ...said }), { authorization: `Bearer ${token}` });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const { incarnation } = await say("hello", { store: "n1" });
  await here.send("train", { submit_job: { job: "train", quota: "team", pods: [{ amount: { gpu: GPU } }] } }, { script: { format: 1, command: ["true"] } });
  const nodes = [{ node: "n1", gpus: 8, status: "ready", reason: null }];
  const { want, version } = await say("sync", { incarnation, answered: null, nodes, runs: [] });
  const { run } = want[0];
  const bell = await listen(`${runtime.url}/v1/clusters/farm/agents/n1/bell`, ["tidegate"], { authorization: `Bearer ${token}` });
  const { body: cost } = await here.get("deletion");
  assert.equal(cost.running, 1);
  assert.equal((await here.post(`delete?confirm=${cost.confirm}`)).status, 200);
  assert.match(await bell.next(), /^\d+$/);
  const report = { run, job: "train", state: "running", told: false, since_ms: 5, log_bytes: 0, checkpoint_ms: null };
  const told = await say("sync", { incarnation, answered: version, nodes, runs: [report] });
  assert.deepEqual([told.want, told.stop.map(({ run: stopped }) => stopped), told.forget], [[], [run], []]);
  assert.ok(told.version.epoch > version.epoch);
  assert.equal(typeof (await say("hello", { store: "n1" })).incarnation, "number", "one that has begun anew hears it too");
  const ended = await say("sync", { incarnation: 1, answered: told.version, nodes, runs: [{ ...report, state: { ended: { code: 0 } } }] });
  assert.deepEqual(ended.forget, [run]);
  await gone("farm");
});
