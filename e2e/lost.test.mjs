// The storage of a cluster's object is lost while KV still shows the cluster: nothing overwrites what can be restored.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { load } from "../worker/examples.mjs";
import { start } from "../worker/runtime.mjs";
import { until } from "./processes.mjs";
import { Cluster, accessKey } from "./server.mjs";

const state = mkdtempSync(join(tmpdir(), "tidegate-lost-"));
const EXAMPLE = new URL("../public/examples/three-teams.jsonl", import.meta.url).pathname;
const PATIENCE_MS = 20_000;
let runtime;
// KV of the local runtime is never old.
const variables = { KV_LATE_S: "0" };
before(async () => (runtime = await start({ state, variables })));
after(async () => {
  await runtime.stop();
  rmSync(state, { recursive: true, force: true });
});

/** Everything that objects have stored is removed, as if their disk were gone. */
async function loseStorage() {
  const { adminKey } = runtime;
  await runtime.stop();
  const objects = join(state, "do");
  assert.ok(readdirSync(objects).length > 0, "objects were stored");
  rmSync(objects, { recursive: true });
  runtime = await start({ state, adminKey, variables });
}

const cluster = (name) => new Cluster({ url: runtime.url, key: runtime.adminKey }, name);

/** A cluster with so many jobs, all of it published. */
async function published(name, jobs) {
  const here = await cluster(name).found(64);
  for (let job = 0; job < jobs; job += 1) assert.equal((await here.submit(`${job}`)).status, 200);
  assert.equal((await here.post("flush")).status, 200);
  return here.hash();
}

test("whatever is sent to a cluster that has lost its storage is refused until it is restored", async () => {
  const known = await published("gone", 20);
  await loseStorage();
  const here = cluster("gone");
  for (const send of [() => here.submit("new"), () => here.send("founding-0", { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } })]) {
    const { status, body } = await send();
    assert.deepEqual([status, body.code], [409, "storage_lost"], JSON.stringify(body));
    assert.match(body.message, new RegExp(`revision ${known.revision}, .*restore.*anew=${known.revision}`));
  }
  const wrong = await here.request("POST", `commands?anew=${known.revision - 1}`, JSON.stringify({ format: 1, id: "x", command: { round: {} } }));
  assert.equal(wrong.body.code, "storage_lost", JSON.stringify(wrong.body));
  await runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);
  assert.equal((await here.get("head")).body.revision, known.revision, "the head is as it was");
  for (const path of ["hash", "metrics"]) assert.equal((await here.get(path)).body.code, "storage_lost", path);
  assert.equal((await here.post("restore")).status, 200);
  assert.deepEqual(await here.hash(), known);
  assert.equal((await here.submit("after")).status, 200);
});

test("a lost cluster that is given up makes room for a new one, and can be restored under another name", async () => {
  const known = await published("old", 5);
  await loseStorage();
  const here = cluster("old");
  const command = { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } };
  const founded = await here.request("POST", `commands?anew=${known.revision}`, JSON.stringify({ format: 1, id: "anew", command }));
  assert.equal(founded.status, 200, JSON.stringify(founded.body));
  assert.equal((await here.post("flush")).status, 200);
  assert.equal((await here.get("head")).body.revision, 1);
  const key = founded.headers.get("x-tidegate-given-up");
  const copy = cluster("old-copy");
  const restored = await copy.post(`restore?from=old&head=${encodeURIComponent(key)}`);
  assert.equal(restored.status, 200, JSON.stringify(restored.body));
  assert.deepEqual(await copy.hash(), known);
});

test("a lost cluster is deleted by an administrator who was told what KV still has", async () => {
  const known = await published("unwanted", 6);
  const key = await accessKey(cluster("unwanted"), "chief", { administers: true });
  await cluster("unwanted").post("flush");
  const { token } = (await cluster("unwanted").request("POST", "sessions", JSON.stringify({ key: key.id, secret: key.secret }), {})).body;
  await loseStorage();
  const here = cluster("unwanted");
  const kv = async () => (await (await runtime.kv()).list({ prefix: "c/unwanted/" })).keys.map(({ name }) => name);
  const before = await kv();
  // Of those whom the log knew nobody is known.
  assert.equal((await new Cluster({ url: runtime.url, key: token }, "unwanted").get("deletion")).status, 401);
  assert.match((await here.submit("one-more")).body.message, /restore it .*or delete it \(GET deletion/);
  const { status, body: cost } = await here.get("deletion");
  assert.deepEqual([status, cost.revision, cost.objects], [200, (await here.get("head")).body.revision, before.length], JSON.stringify(cost));
  assert.ok(cost.revision > known.revision);
  assert.match(cost.uncounted, /its storage is lost, and KV shows it at revision \d+, published at \d{4}-\d\d-\d\d \d\d:\d\d UTC; to keep it, restore it/);
  const unasked = await here.post("delete?confirm=yes");
  assert.deepEqual([unasked.status, unasked.body.code, unasked.body.message], [409, "unconfirmed", cost.message]);
  assert.deepEqual(await kv(), before, "nothing is deleted yet");
  const deleted = await here.post(`delete?confirm=${cost.confirm}`);
  assert.deepEqual([deleted.status, deleted.body.revision], [200, cost.revision], JSON.stringify(deleted.body));
  await until("it goes", PATIENCE_MS, async () => (await here.get("deletion")).body.is_done);
  assert.deepEqual(await kv(), []);
  assert.equal((await here.submit("another")).body.code, "deleted");
  // Its storage is lost once more: KV knows, and nothing is left to delete.
  await loseStorage();
  const again = await cluster("unwanted").get("deletion");
  assert.deepEqual([again.status, again.body.is_done, again.body.revision], [200, true, cost.revision], JSON.stringify(again.body));
  assert.match((await cluster("unwanted").submit("another")).body.message, new RegExp(`its storage is lost since; .*anew=${cost.revision}`));
});

test("the example is not loaded over a cluster that was lost, but restored", async () => {
  const server = { url: runtime.url, adminKey: runtime.adminKey };
  await load(server, "demo", EXAMPLE);
  const here = cluster("demo");
  assert.equal((await here.submit("mine", 1, "Quota1.1")).status, 200);
  assert.equal((await here.post("flush")).status, 200);
  const known = await here.hash();
  await loseStorage();
  await load({ url: runtime.url, adminKey: runtime.adminKey }, "demo", EXAMPLE);
  assert.deepEqual(await cluster("demo").hash(), known);
});

test("a restore goes on by itself, one object at a time, and everything else waits for it", async () => {
  const known = await published("long", 12);
  const { adminKey } = runtime;
  await runtime.stop();
  rmSync(join(state, "do"), { recursive: true });
  runtime = await start({ state, adminKey, variables: { RESTORE_OPERATIONS: "1" } });
  const here = cluster("long");
  const first = await here.post("restore");
  assert.deepEqual([first.status, first.body.outcome, first.body.revision], [200, "restoring", known.revision], JSON.stringify(first.body));
  // Each alarm reads one object. Whoever comes in between is told how far it is.
  for (let tries = 0; ; tries += 1) {
    const { status, body } = await here.submit("meanwhile");
    if (status === 200) break;
    assert.deepEqual([status, body.code], [503, "restoring"], JSON.stringify(body));
    assert.match(body.message, new RegExp(`being restored to revision ${known.revision}: \\d+ objects are read`));
    assert.ok(tries < 1000, "it does not come to an end");
  }
  const { seq } = await here.hash();
  assert.equal(seq, known.seq + 1);
  await runtime.stop();
  runtime = await start({ state, adminKey });
  assert.equal((await cluster("long").hash()).seq, seq);
});

test("damage is told to the administrator with its place, and nothing is changed", async () => {
  await published("whole", 3);
  const here = cluster("whole");
  const kv = await runtime.kv();
  const head = JSON.parse(await kv.get("c/whole/head"));
  const { key } = head.segments[0];
  await kv.put(key, (await kv.get(key)).replace("gpu", "cpu"));
  const copy = await cluster("other").post("restore?from=whole");
  assert.deepEqual([copy.status, copy.body.code], [409, "damaged"], JSON.stringify(copy.body));
  assert.ok(copy.body.message.includes(key), copy.body.message);
  assert.equal((await here.submit("goes-on")).status, 200);
});

test("a refused command takes no name", async () => {
  const here = cluster("nothing-there");
  assert.equal((await here.submit("one")).status, 409);
  const names = await (await fetch(`${runtime.url}/v1/clusters`, { headers: { authorization: `Bearer ${runtime.adminKey}` } })).json();
  assert.ok(!names.includes("nothing-there"), `${names}`);
});
