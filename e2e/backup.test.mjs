// A whole cluster as one file, and a cluster of that file: by the command `tidegate backup` and the service in its runtime.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../worker/runtime.mjs";
import { PROGRAM } from "./processes.mjs";
import { Cluster, accessKey } from "./server.mjs";

const folder = mkdtempSync(join(tmpdir(), "tidegate-backup-"));
const state = join(folder, "state");
const FILE = join(folder, "prod.backup");
let runtime;
// KV is as new here as its objects: nothing has to be waited for before a deletion is over.
const variables = { KV_LATE_S: "0" };
before(async () => (runtime = await start({ state, variables })));
after(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true, force: true });
});

const cluster = (name, server = runtime) => new Cluster({ url: server.url, key: server.adminKey }, name);
const address = (name, server = runtime) => `${server.url}/clusters/${name}`;

/** What `tidegate` prints, and its exit status. */
function tidegate(words, env, input = "") {
  return new Promise((done) => {
    const run = execFile(PROGRAM, words, { env }, (error, out, remarks) => done({ code: error?.code ?? 0, out, remarks }));
    run.stdin.end(input);
  });
}

const backup = (words, key = runtime.adminKey) => tidegate(["backup", ...words], { ...process.env, TIDEGATE_TOKEN: key });

async function names() {
  const answer = await fetch(`${runtime.url}/v1/clusters`, { headers: { authorization: `Bearer ${runtime.adminKey}` } });
  return answer.json();
}

let known;
test("a cluster with jobs, a key and a past is saved, and the file says of what it is a backup", async () => {
  const here = await cluster("prod").found(8);
  await accessKey(here, "ann");
  for (let job = 0; job < 30; job += 1) {
    assert.equal((await here.submit(`${job}`)).status, 200);
    if (job % 10 === 0) assert.equal((await here.post("flush")).status, 200);
  }
  known = await here.hash();
  const saved = await backup(["save", address("prod"), FILE]);
  assert.equal(saved.code, 0, saved.remarks);
  const says = `cluster prod at revision ${known.revision}, state ${known.hash}, `;
  assert.ok(saved.out.includes(says), saved.out);
  assert.ok(!existsSync(`${FILE}.part`), "nothing is left beside it");
  const checked = await backup(["check", FILE]);
  assert.deepEqual([checked.code, checked.out], [0, saved.out]);
});

test("who is logged in to the service says the cluster's name alone", async () => {
  const { TIDEGATE_TOKEN: _, ...rest } = process.env;
  const env = { ...rest, XDG_CONFIG_HOME: join(folder, "home") };
  const save = () => tidegate(["backup", "save", "prod", join(folder, "by-name.backup")], env);
  assert.match((await save()).remarks, /nobody has logged in yet: write `tidegate login ADDRESS`/);
  const login = await tidegate(["login", address("prod")], env, `${runtime.adminKey}\n`);
  assert.equal(login.code, 0, login.remarks);
  const saved = await save();
  assert.equal(saved.code, 0, saved.remarks);
  assert.ok(saved.out.includes(`state ${known.hash}, `), saved.out);
});

test("it becomes the same cluster under another name, which goes on by itself", async () => {
  const loaded = await backup(["load", FILE, address("again")]);
  assert.equal(loaded.code, 0, loaded.remarks);
  assert.ok(loaded.out.includes(`at revision ${known.revision}, state ${known.hash}`), loaded.out);
  const again = cluster("again");
  assert.deepEqual(await again.hash(), known);
  assert.equal((await again.get("head")).body.revision, known.revision, "KV shows it");
  const first = await cluster("prod").submit("7");
  assert.deepEqual((await again.submit("7")).body, first.body, "it knows what was answered");
  assert.equal((await again.submit("new")).status, 200);
  assert.equal((await again.post("flush")).status, 200);
  const kv = await runtime.kv();
  const text = await kv.get("c/again/head");
  assert.ok(!text.includes("c/prod/"), text);
});

test("in another service it has its old name, and with the same secret its keys serve", async () => {
  const other = await start({ state: join(folder, "other"), adminKey: runtime.adminKey });
  try {
    const loaded = await backup(["load", FILE, address("prod", other)]);
    assert.equal(loaded.code, 0, loaded.remarks);
    assert.deepEqual(await cluster("prod", other).hash(), known);
    const keys = (await cluster("prod", other).get("keys")).body;
    assert.deepEqual(keys.map(({ key }) => key), ["prod.ann"]);
  } finally {
    await other.stop();
  }
});

test("a cluster that is there is not overwritten, by the command or by the service", async () => {
  const here = cluster("prod");
  const before = await here.hash();
  const refused = await backup(["load", FILE, address("prod")]);
  assert.equal(refused.code, 1);
  assert.match(refused.remarks, /cluster prod at \S+ is there; choose a name that no cluster has/);
  const kv = await runtime.kv();
  const shown = JSON.parse(await kv.get("c/prod/head"));
  // What the command would have sent, without the question whether there is one.
  const head = JSON.stringify({ ...shown, revision: shown.revision + 1_000 });
  const name = `given-up/${String(shown.seq).padStart(12, "0")}-${createHash("sha256").update(head).digest("hex")}`;
  const put = await here.request("POST", `imported/${encodeURIComponent(name)}`, head);
  assert.deepEqual([put.status, put.body], [200, { key: `c/prod/${name}` }], JSON.stringify(put.body));
  const answer = await here.post(`restore?head=${encodeURIComponent(put.body.key)}`);
  assert.deepEqual([answer.status, answer.body.code], [409, "has_log"], JSON.stringify(answer.body));
  assert.deepEqual(await here.hash(), before);
  assert.deepEqual(JSON.parse(await kv.get("c/prod/head")), shown);
});

test("neither is one whose storage is lost while KV shows it", async () => {
  const here = cluster("again");
  assert.equal((await here.post("flush")).status, 200);
  const shown = (await here.get("head")).body;
  const { adminKey } = runtime;
  await runtime.stop();
  assert.ok(readdirSync(join(state, "do")).length > 0);
  rmSync(join(state, "do"), { recursive: true });
  runtime = await start({ state, adminKey, variables });
  const refused = await backup(["load", FILE, address("again")]);
  assert.equal(refused.code, 1);
  assert.match(refused.remarks, /storage has no log, and KV shows the cluster at revision \d+/);
  const keys = await (await runtime.kv()).list({ prefix: "c/again/given-up/" });
  const answer = await cluster("again").post(`restore?head=${encodeURIComponent(keys.keys[0].name)}`);
  assert.deepEqual([answer.status, answer.body.code], [409, "has_log"], JSON.stringify(answer.body));
  assert.deepEqual((await cluster("again").get("head")).body, shown);
  for (const name of ["again", "prod"]) assert.equal((await cluster(name).post("restore")).status, 200);
});

test("half of it is no cluster", async () => {
  const lines = readFileSync(FILE, "utf8").split("\n");
  const at = lines.findIndex((line) => line.startsWith('{"object":'));
  const { key } = JSON.parse(lines[at]).object;
  const put = await cluster("half").request("POST", `imported/${encodeURIComponent(key.replace("c/prod/", ""))}`, lines[at + 1]);
  assert.equal(put.status, 200, JSON.stringify(put.body));
  assert.ok(!(await names()).includes("half"));
  assert.equal((await cluster("half").get("hash")).status, 404);
  const founded = await cluster("half").found(4);
  assert.equal((await founded.hash()).seq, 3, "the name is free");
});

test("damage is told with its place, and nothing is sent", async () => {
  const text = readFileSync(FILE, "utf8");
  const damagedFile = join(folder, "damaged.backup");
  const at = text.indexOf("submit_job");
  writeFileSync(damagedFile, `${text.slice(0, at)}X${text.slice(at + 1)}`);
  for (const words of [["check", damagedFile], ["load", damagedFile, address("never")]]) {
    const told = await backup(words);
    assert.equal(told.code, 1);
    assert.match(told.remarks, /damaged\.backup: byte \d+ \(object \d+, c\/prod\/log\/\S+\) is damaged: its content has another digest/);
  }
  writeFileSync(damagedFile, text.slice(0, text.length / 2));
  assert.match((await backup(["check", damagedFile])).remarks, /the file ends/);
  const kv = await runtime.kv();
  assert.deepEqual((await kv.list({ prefix: "c/never/" })).keys, []);
});

test("what is damaged in KV is told when it is saved, and the old file stays", async () => {
  const kv = await runtime.kv();
  const { key } = JSON.parse(await kv.get("c/prod/head")).segments[0];
  const whole = await kv.get(key);
  const before = readFileSync(FILE, "utf8");
  await kv.put(key, whole.replace("gpu", "cpu"));
  const told = await backup(["save", address("prod"), FILE]);
  assert.equal(told.code, 1);
  assert.ok(told.remarks.includes(`${key} is damaged`), told.remarks);
  assert.equal(readFileSync(FILE, "utf8"), before);
  await kv.put(key, whole);
});

test("a deleted cluster comes back from its file for who says what was deleted", async () => {
  const here = cluster("again");
  const asked = (await here.get("deletion")).body;
  assert.equal((await here.post(`delete?confirm=${asked.confirm}`)).status, 200);
  const refused = await backup(["load", FILE, address("again")]);
  assert.equal(refused.code, 1);
  assert.match(refused.remarks, /cluster again was deleted at/);
  let deleted = (await here.get("deletion")).body;
  for (let tries = 0; !deleted.is_done && tries < 100; tries += 1) {
    await pause(100);
    deleted = (await here.get("deletion")).body;
  }
  assert.ok(deleted.is_done, JSON.stringify(deleted));
  assert.equal((await backup(["load", FILE, address("again"), "--anew", String(deleted.revision + 1)])).code, 1);
  const loaded = await backup(["load", FILE, address("again"), "--anew", String(deleted.revision)]);
  assert.equal(loaded.code, 0, loaded.remarks);
  assert.deepEqual(await here.hash(), known);
  assert.ok((await names()).includes("again"));
});

test("only who administers all clusters reads and puts objects, and only whole ones", async () => {
  const { key } = JSON.parse(await (await runtime.kv()).get("c/prod/head")).segments[0];
  const path = `objects/${encodeURIComponent(key)}`;
  const here = cluster("prod");
  assert.equal((await here.get(path)).status, 200);
  for (const headers of [{}, { authorization: `Bearer ${"x".repeat(32)}` }]) {
    assert.equal((await here.request("GET", path, undefined, headers)).status, 401);
    assert.equal((await here.request("POST", "imported/log%2Fx", "x", headers)).status, 401);
  }
  for (const name of ["head", "log/1", `log/1-${"0".repeat(64)}`]) {
    const answer = await here.request("POST", `imported/${encodeURIComponent(name)}`, "{}");
    assert.deepEqual([answer.status, answer.body.code], [400, "malformed"], JSON.stringify(answer.body));
  }
  for (const other of ["c/prod/head", "clusters", "deleted/again"]) {
    assert.equal((await here.get(`objects/${encodeURIComponent(other)}`)).status, 404, other);
  }
  const gone = await here.get(`objects/${encodeURIComponent(`c/prod/log/1-${"0".repeat(64)}`)}`);
  assert.deepEqual([gone.status, gone.body.code], [503, "incomplete"]);
});
