// Jobs as real processes: the Worker in its runtime, an agent of this computer, and what the processes themselves have written.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "./acs.mjs";
import { PROGRAM, buildProgram, endProcessesOf, job as jobOf, lives, phase, until as untilWithin } from "./processes.mjs";
import { accessKey, Server } from "./server.mjs";

const GPUS = 4;
/** The version of the PAI operations on jobs. */
const DLC = "2020-12-03";
/** How long anything may take here. */
const PATIENCE_MS = 40_000;

const folder = mkdtempSync(join(tmpdir(), "tidegate-agent-"));
const agents = new Set();
let server;
let cluster;
before(async () => {
  buildProgram();
  server = await new Server().start();
  cluster = await founded("workshop");
});
// What a failed test leaves is not the next one's; its job keeps its GPUs until the end.
afterEach(async () => {
  for (const agent of [...agents]) {
    agent.kill("SIGKILL");
    await agent.ended;
  }
});
after(async () => {
  endProcessesOf(folder);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A cluster of one machine, `n1`, whose jobs are reported. */
function founded(name) {
  const amount = { gpu: GPUS * 1000 };
  return server.cluster(name).foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    { put_node: { node: "n1", group: "machines", amount } },
    { create_quota: { quota: "team", groups: ["machines"], min: amount, settings: { grace_period_ms: 20_000 } } },
  ]);
}

/** What a call of the command says, and its exit status. */
function tidegate(...args) {
  const env = { ...process.env, TIDEGATE_TOKEN: server.key };
  return new Promise((done) => {
    execFile(PROGRAM, args, { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => done({ code: error ? error.code : 0, said: `${stdout}${stderr}` }));
  });
}

const state = (name) => join(folder, name);
const joining = (name, { to = "workshop", url = server.url, groups = "machines" } = {}) =>
  tidegate("agent", "join", url, "--cluster", to, "--name", name, "--groups", groups, "--state", state(name));

/** Starts the agent of a state directory, as a service of the machine would. */
function started(name, gpus = GPUS) {
  const agent = spawn(PROGRAM, ["agent", "run", "--state", state(name), "--node", `n1=${gpus}`, "--allow-root"], { stdio: ["ignore", "ignore", "pipe"] });
  agents.add(agent);
  agent.said = "";
  agent.stderr.on("data", (text) => (agent.said += text));
  agent.ended = new Promise((done) => agent.once("exit", (code) => (agents.delete(agent), done(code))));
  return agent;
}

/** The exit status of an agent that ends by itself. */
const exited = (agent) => Promise.race([agent.ended, pause(PATIENCE_MS, "it goes on", { ref: false })]);

const job = (name) => jobOf(cluster, name);
const until = (what, look) => untilWithin(what, PATIENCE_MS, look);
const reaches = (name, wanted) => until(`${name} is ${wanted}`, async () => phase(await job(name)) === wanted);
const file = (name) => join(folder, name);
const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8").trim().split("\n") : []);

/** Submits a job of all GPUs that runs this in a shell. It notes the number of each process that it is started as. */
async function submit(name, script, more = {}) {
  const command = ["sh", "-c", `echo $$ >> ${file(`${name}.starts`)}\n${script}`];
  const submit_job = { job: name, quota: "team", pods: [{ amount: { gpu: GPUS * 1000 } }], ...more };
  const sent = await cluster.send(name, { submit_job }, { script: { format: 1, command, environment: { WORD: "tide" } } });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
}

test("an agent joins with an administrator's token, and keeps its secret to itself", async () => {
  const { code, said } = await joining("one");
  assert.equal(code, 0, said);
  assert.match(said, /one is an agent of cluster workshop for machines; start it with: tidegate agent run/);
  assert.equal(statSync(join(state("one"), "agent.json")).mode & 0o777, 0o600);
  const again = await joining("one");
  assert.notEqual(again.code, 0);
  assert.match(again.said, /an agent has joined with .* already/);
  rmSync(join(state("one"), "agent.json"));
  const taken = await joining("one");
  assert.match(taken.said, /there is a key workshop\.one already, and its secret was shown once/);
  assert.ok(!existsSync(join(state("one"), "agent.json")), "nothing came of it");
  assert.match((await joining("two", { groups: "no-such" })).said, /there is no resource group no-such/);
  assert.match((await joining("two", { url: "http://example.org" })).said, /is not encrypted; http is for this machine alone/);
});

test("an agent runs no jobs as root unless that is said", { skip: process.getuid() !== 0 && "somebody else runs this test" }, async () => {
  const { code, said } = await tidegate("agent", "run", "--state", state("one-more"), "--node", "n1=1");
  assert.notEqual(code, 0);
  assert.match(said, /no agent has joined with this state directory/);
  assert.equal((await joining("rooted")).code, 0);
  const refused = await tidegate("agent", "run", "--state", state("rooted"), "--node", "n1=1");
  assert.notEqual(refused.code, 0);
  assert.match(refused.said, /jobs would run as root here/);
});

test("a job starts as a process, runs, and ends with its exit code", async () => {
  assert.equal((await joining("worker")).code, 0);
  const agent = started("worker");
  await pause(2_000);
  const asked = Date.now();
  await submit("counts", `echo $WORD $TIDEGATE_JOB $CUDA_VISIBLE_DEVICES $WORLD_SIZE >> ${file("counts.says")}\nuntil [ -e ${file("counts.go")} ]; do sleep 0.1; done\necho counted; echo to three >&2; exit 3`);
  await reaches("counts", "running");
  assert.ok(Date.now() - asked < 5_000, "the bell has rung: by itself the agent asks every 15 seconds");
  assert.deepEqual(lines("counts.says"), ["tide counts 0,1,2,3 1"]);
  writeFileSync(file("counts.go"), "");
  await reaches("counts", "ended");
  assert.deepEqual((await job("counts")).phase.ended.outcome, { failed: { reason: "exit code 3" } });
  assert.equal(lines("counts.starts").length, 1);
  const log = await cluster.get("jobs/counts/log");
  assert.deepEqual([log.status, log.body.text, log.body.bytes], [200, "counted\nto three\n", 17], JSON.stringify(log.body));

  const { body } = await cluster.get("hash");
  await pause(3_000);
  assert.equal((await cluster.get("hash")).body.seq, body.seq, "an agent that has nothing to say writes nothing");
  agent.kill("SIGTERM");
  await agent.ended;
});

test("the PAI surface tells a pod's log while its job runs and when it has ended, and nobody else's", async () => {
  const agent = started("worker");
  const key = await accessKey(cluster, "lea", { administers: true });
  const client = new Client(server.url, key);
  await submit("chats", `echo one; echo zwei: ü\nuntil [ -e ${file("chats.go")} ]; do sleep 0.1; done\necho three; exit 4`);
  const target = "/api/v1/jobs/chats/pods/chats-worker-0/logs";
  const logs = (query = "", who = client) => who.call(DLC, "GetPodLogs", "GET", `${target}${query}`);
  await reaches("chats", "running");
  const printed = await until("its lines have come", async () => ((answer) => answer.body.Logs?.length === 2 && answer)(await logs()));
  assert.deepEqual([printed.body.JobId, printed.body.PodId, printed.body.Logs], ["chats", "chats-worker-0", ["one", "zwei: ü"]]);
  assert.deepEqual((await logs("?MaxLines=1")).body.Logs, ["zwei: ü"]);
  const stranger = new Client(server.url, await accessKey(cluster, "mallory"));
  const shown = JSON.stringify({ key: stranger.key.id, secret: stranger.key.secret });
  const { token } = (await cluster.request("POST", "sessions", shown, {})).body;
  const hidden = await cluster.request("GET", "jobs/chats/log", undefined, { authorization: `Bearer ${token}` });
  assert.deepEqual([hidden.status, hidden.body.code], [404, "unknown"], JSON.stringify(hidden.body));
  const denied = await logs("", stranger);
  assert.deepEqual([denied.status, denied.body.Code], [404, "JobNotFound"], JSON.stringify(denied.body));

  writeFileSync(file("chats.go"), "");
  await reaches("chats", "ended");
  const last = await logs();
  assert.deepEqual([last.status, last.body.Logs, last.body.PodUid], [200, ["one", "zwei: ü", "three"], printed.body.PodUid]);
  const events = async (place) => (await client.get(DLC, place.action, "GET", place.target)).Events.map((line) => line.replace(/^\S+ /, ""));
  const ofJob = await events({ action: "GetJobEvents", target: "/api/v1/jobs/chats/events" });
  assert.equal(ofJob[0], "Submitted");
  assert.match(ofJob.at(-1), /exit code 4/, "the exit code is among the events");
  assert.deepEqual(await events({ action: "GetPodEvents", target: "/api/v1/jobs/chats/pods/chats-worker-0/events" }), ofJob);
  agent.kill("SIGTERM");
  await agent.ended;
});

test("what a job prints is read while it runs, from where one has read, and to its end", async () => {
  const agent = started("worker");
  await submit("talks", `echo one\nuntil [ -e ${file("talks.two")} ]; do sleep 0.1; done\necho zwei: ü\nuntil [ -e ${file("talks.go")} ]; do sleep 0.1; done\necho three`);
  await reaches("talks", "running");
  const logOf = async (after) => (await cluster.get(`jobs/talks/log${after === undefined ? "" : `?after=${after}`}`)).body;
  const first = await until("the first line is there", async () => ((log) => log.bytes > 0 && log)(await logOf()));
  assert.deepEqual([first.text, first.from, first.bytes, first.is_over], ["one\n", 0, 4, false]);
  const { body: before } = await cluster.get("hash");

  writeFileSync(file("talks.two"), "");
  const second = await until("the second line is there", async () => ((log) => log.text && log)(await logOf(first.bytes)));
  assert.deepEqual([second.text, second.from, second.bytes], ["zwei: ü\n", 4, 13]);
  assert.equal((await cluster.get("hash")).body.seq, before.seq, "nothing of that is written");
  assert.equal((await cluster.get("jobs/talks/log?after=x")).status, 400);

  writeFileSync(file("talks.go"), "");
  await reaches("talks", "ended");
  const last = await logOf(second.bytes);
  assert.deepEqual([last.text, last.from, last.bytes, last.is_over], ["three\n", 13, 19, true]);
  agent.kill("SIGKILL");
  await agent.ended;
});

test("what a job prints cannot be had while its agent is away, and that is said", async () => {
  const agent = started("worker");
  await submit("alone", `echo here\nuntil [ -e ${file("alone.go")} ]; do sleep 0.1; done`);
  await reaches("alone", "running");
  agent.kill("SIGKILL");
  await agent.ended;
  const away = await until("its socket has closed", async () => ((answer) => answer.status === 409 && answer)(await cluster.get("jobs/alone/log")));
  const client = new Client(server.url, await accessKey(cluster, "ada", { administers: true }));
  const untold = await client.call(DLC, "GetPodLogs", "GET", "/api/v1/jobs/alone/pods/alone-worker-0/logs");
  assert.deepEqual([untold.status, untold.body.Code], [503, "ServiceUnavailable"], JSON.stringify(untold.body));
  assert.match(untold.body.Message, /agent worker does not listen now/);
  assert.deepEqual(away.body.code, "agent_away");
  assert.match(away.body.message, /^agent worker does not listen now; what the job prints is shown when it does, or at its end$/);
  writeFileSync(file("alone.go"), "");
  const next = started("worker");
  await reaches("alone", "ended");
  next.kill("SIGTERM");
  await next.ended;
});

test("a cancelled job gets SIGTERM, and its GPUs are free when its process is gone", async () => {
  const agent = started("worker");
  await submit("stays", `trap 'echo told >> ${file("stays.says")}; until [ -e ${file("stays.go")} ]; do sleep 0.1; done; exit 0' TERM\nwhile :; do sleep 0.1; done`);
  await reaches("stays", "running");
  await submit("waits", "sleep 600");
  assert.equal((await cluster.send("cancel", { cancel_job: { job: "stays" } })).status, 200);
  await until("it was told", () => lines("stays.says").length > 0);
  await pause(1_000);
  assert.deepEqual([phase(await job("stays")), phase(await job("waits"))], ["stopping", "queued"]);
  writeFileSync(file("stays.go"), "");
  await reaches("waits", "running");
  assert.deepEqual((await job("stays")).phase.ended.outcome, "cancelled", "a program that ends well when it is told to stop has stopped");
  assert.ok(!lives(Number(lines("stays.starts")[0])));
  assert.equal((await cluster.send("cancel-waits", { cancel_job: { job: "waits" } })).status, 200);
  await reaches("waits", "ended");
  agent.kill("SIGKILL");
  await agent.ended;
});

test("pods of a service come and go as processes while the others go on, and each tells its own lines", async () => {
  const agent = started("worker");
  const script = `echo "$RANK comes $CUDA_VISIBLE_DEVICES"; echo "$RANK $$" >> ${file("grows.pods")}
    trap 'until [ -e ${file("grows.go")} ]; do sleep 0.1; done; echo $RANK >> ${file("grows.gone")}; exit 0' TERM
    while :; do sleep 0.1; done`;
  await submit("grows", script, { module: "EAS", min_pods: 1, pods: [{ count: 3, amount: { gpu: 1000 } }] });
  await until("all three are there", () => lines("grows.pods").length === 3);
  // They start side by side, so that any of them may be the first to write.
  const pods = lines("grows.pods").map((line) => line.split(" ").map(Number)).toSorted(([one], [other]) => one - other);
  assert.deepEqual(pods.map(([rank]) => rank), [0, 1, 2]);
  const starts = pods.map(([, pid]) => pid);

  // Two leave, and hold their GPUs until they have gone.
  assert.equal((await cluster.send("fewer", { resize_job: { job: "grows", pods: 1 } })).status, 200);
  await submit("heir", "sleep 600", { pods: [{ amount: { gpu: 3000 } }] });
  await pause(2_000);
  assert.equal(phase(await job("heir")), "queued");
  assert.ok(starts.every(lives), "they have not ended yet");
  writeFileSync(file("grows.go"), "");
  await reaches("heir", "running");
  assert.equal(lines("grows.gone").toSorted().join(" "), "1 2");
  assert.deepEqual(starts.map(lives), [true, false, false]);
  assert.equal(phase(await job("grows")), "running");

  // One comes again when there is room.
  assert.equal((await cluster.send("cancel-heir", { cancel_job: { job: "heir" } })).status, 200);
  await reaches("heir", "ended");
  assert.equal((await cluster.send("more", { resize_job: { job: "grows", pods: 2, min_pods: 1 } })).status, 200);
  await until("a second one is there", () => lines("grows.pods").length === 4);
  assert.ok(lives(starts[0]), "the first one has never been touched");
  const printed = await until("it has printed", async () => ((log) => log.text?.includes("comes") && log)((await cluster.get("jobs/grows/log")).body));
  assert.match(printed.text, /^0 comes 0$/m);
  assert.match(printed.text, /^\[1\] 1 comes [1-3]$/m);
  assert.equal((await cluster.send("cancel-grows", { cancel_job: { job: "grows" } })).status, 200);
  await reaches("grows", "ended");
  agent.kill("SIGKILL");
  await agent.ended;
});

test("an agent that is killed and comes back finds its job as it left it", async () => {
  let agent = started("worker");
  await submit("goes-on", `until [ -e ${file("goes-on.go")} ]; do sleep 0.1; done`);
  await reaches("goes-on", "running");
  const [pid] = lines("goes-on.starts").map(Number);
  for (let kill = 0; kill < 3; kill += 1) {
    agent.kill("SIGKILL");
    await agent.ended;
    assert.ok(lives(pid), "the job goes on without it");
    agent = started("worker");
    await pause(500);
  }
  assert.equal(phase(await job("goes-on")), "running");
  agent.kill("SIGKILL");
  await agent.ended;
  writeFileSync(file("goes-on.go"), "");
  await until("the job has ended by itself", () => !lives(pid));
  assert.equal(phase(await job("goes-on")), "running", "nobody has told yet");
  agent = started("worker");
  await reaches("goes-on", "ended");
  assert.equal((await job("goes-on")).phase.ended.outcome, "succeeded");
  assert.deepEqual(lines("goes-on.starts").map(Number), [pid], "it was started once");

  const second = started("worker");
  assert.equal(await exited(second), 1);
  assert.match(second.said, /another agent uses .*; stop it first/);
  agent.kill("SIGTERM");
  await agent.ended;
});

test("a job that says nothing of what it executes, and one that cannot be executed, fail with the reason", async () => {
  const agent = started("worker");
  assert.equal((await cluster.submit("mute")).status, 200);
  await reaches("job-mute", "ended");
  assert.equal((await job("job-mute")).phase.ended.outcome.failed.reason, "it has no command; submit it with a script");
  const submit_job = { job: "absent", quota: "team", pods: [{ amount: { gpu: 1000 } }] };
  await cluster.send("absent", { submit_job }, { script: { format: 1, command: ["no-such-program"] } });
  await reaches("absent", "ended");
  assert.match((await job("absent")).phase.ended.outcome.failed.reason, /the command cannot be executed: no-such-program/);
  const other = await cluster.send("absent-2", { submit_job }, { script: { format: 1, command: ["true"] } });
  assert.deepEqual([other.status, other.body.code], [409, "taken"]);
  agent.kill("SIGTERM");
  await agent.ended;
});

test("a machine that comes back with fewer GPUs starts nothing new, and that is said with the numbers", async () => {
  const unfit = async () => (await cluster.get("health")).body.reasons.find(({ code }) => code === "nodes_unfit");
  let agent = started("worker");
  await submit("before", `until [ -e ${file("before.go")} ]; do sleep 0.1; done`, { pods: [{ amount: { gpu: 2000 } }] });
  await reaches("before", "running");
  agent.kill("SIGKILL");
  await agent.ended;
  agent = started("worker", GPUS - 1);
  const told = await until("health says so", unfit);
  assert.equal(told.message, "nodes on which nothing can start: 1, among them n1: it has 3 GPUs, and the cluster counts on 4");
  await submit("after", "true", { pods: [{ amount: { gpu: 1000 } }] });
  await pause(1_000);
  assert.deepEqual([phase(await job("before")), phase(await job("after"))], ["running", "queued"]);
  writeFileSync(file("before.go"), "");
  await reaches("before", "ended");
  assert.equal((await job("before")).phase.ended.outcome, "succeeded");
  agent.kill("SIGTERM");
  await agent.ended;

  agent = started("worker");
  await reaches("after", "ended");
  assert.equal((await job("after")).phase.ended.outcome, "succeeded");
  assert.equal(await unfit(), undefined);
  agent.kill("SIGTERM");
  await agent.ended;
});

test("an agent whose disk is full begins nothing, and goes on when there is room", { skip: process.getuid() !== 0 && "mounting takes root" }, async () => {
  const place = state("full");
  mkdirSync(place);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", place]);
  try {
    for (const file of ["agent.json", "store"]) copyFileSync(join(state("worker"), file), join(place, file));
    const agent = started("full");
    await pause(1_000);
    const filler = join(place, "filler");
    spawnSync("dd", ["if=/dev/zero", `of=${filler}`, "bs=1k"], { stdio: "ignore" });
    await submit("roomy", "true");
    await until("it is said", () => /No space left on device/.test(agent.said));
    assert.equal(phase(await job("roomy")), "starting");
    rmSync(filler);
    await reaches("roomy", "ended");
    assert.equal((await job("roomy")).phase.ended.outcome, "succeeded");
    assert.equal(lines("roomy.starts").length, 1);
    agent.kill("SIGTERM");
    await agent.ended;
  } finally {
    execFileSync("umount", ["-l", place]);
  }
});

test("an old key, another cluster's key, an older process and another machine with the key are refused in clear words", async () => {
  const joined = JSON.parse(readFileSync(join(state("worker"), "agent.json"), "utf8"));
  const as = (name, change) => {
    execFileSync("cp", ["-r", state("worker"), state(name)]);
    writeFileSync(join(state(name), "agent.json"), JSON.stringify({ ...joined, ...change }), { mode: 0o600 });
    return started(name);
  };
  await founded("elsewhere");
  for (const [name, change, words] of [
    ["wrong-secret", { secret: "x".repeat(40) }, /the key workshop\.worker does not open cluster workshop at .*: it was rotated, has expired or is another/],
    ["wrong-cluster", { cluster: "elsewhere" }, /the key elsewhere\.worker does not open cluster elsewhere/],
    ["wrong-format", { more: 1 }, /unknown field `more`/],
  ]) {
    const agent = as(name, change);
    assert.equal(await exited(agent), 1, name);
    assert.match(agent.said, words);
  }

  // The same store is here twice; a machine's own would have another name and be refused while the first one has runs.
  const first = started("worker");
  await submit("held", "sleep 600");
  await reaches("held", "running");
  const second = as("copied", {});
  assert.equal(await exited(first), 1);
  assert.match(first.said, /another process has said hello as agent worker of cluster workshop/);
  second.kill("SIGKILL");
  await second.ended;
  rmSync(join(state("copied"), "store"));
  const third = started("copied");
  assert.equal(await exited(third), 1);
  assert.match(third.said, /came with another state directory before, which may have 1 runs that have not ended/);

  const session = await cluster.request("POST", "sessions", JSON.stringify({ key: "workshop.worker", secret: joined.secret }), {});
  assert.equal(session.status, 200);
  const bearer = { authorization: `Bearer ${session.body.token}` };
  for (const [method, path] of [["GET", "snapshot"], ["GET", "keys"], ["GET", "me"], ["POST", "commands"], ["POST", "flush"], ["GET", "jobs/held/why"]]) {
    const { status, body } = await cluster.request(method, path, method === "POST" ? "{}" : undefined, bearer);
    assert.deepEqual([status, body.code], [403, "only_agent"], path);
  }
  const pai = new Client(server.url, { id: "workshop.worker", secret: joined.secret });
  const listed = await pai.call("2020-12-03", "ListJobs", "GET", "/api/v1/jobs");
  assert.deepEqual([listed.status, listed.body.Code], [404, "InvalidAccessKeyId.NotFound"], "it does not exist there");
  const other = await cluster.request("POST", "agents/one/hello", JSON.stringify({ format: 1, store: "x" }), bearer);
  assert.deepEqual([other.status, other.body.code], [403, "other_agent"]);
  const nobody = await cluster.request("POST", "agents/worker/hello", JSON.stringify({ format: 1, store: "x" }));
  assert.deepEqual([nobody.status, nobody.body.code], [403, "no_agent"]);
  const script = await cluster.request("GET", `agents/worker/script?digest=${"0".repeat(64)}`, undefined, bearer);
  assert.deepEqual([script.status, script.body.code], [404, "no_script"]);

  const agent = started("worker");
  assert.equal((await cluster.send("cancel-held", { cancel_job: { job: "held" } })).status, 200);
  await reaches("held", "ended");
  assert.equal((await cluster.send("revoke", { revoke_key: { key: "workshop.worker" } })).status, 200);
  assert.equal(await exited(agent), 1);
  assert.match(agent.said, /the key workshop\.worker was revoked/);
});
