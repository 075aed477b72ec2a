// `tidegate up`: the service and an agent on this computer, as somebody starts them who has GPUs and no cluster yet.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { PROGRAM, buildProgram, end, job as jobOf, lives, phase, processesWith, until as untilWithin } from "./processes.mjs";
import { Server } from "./server.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const PATIENCE_MS = 40_000;
/** A command that goes on until it is ended. */
const SLEEPS = ["sleep", "100000"];
const ADDRESS = "https://gpus.example.org";

class Up extends Server {
  call() {
    return [PROGRAM, this.words(...(this.more ?? []))];
  }

  words(...more) {
    const words = ["up", "--port", "0", "--state", this.state, "--gpus", "2", "--address", ADDRESS, "--release", ROOT];
    if (process.getuid() === 0) words.push("--allow-root");
    return [...words, ...more];
  }

  /** Ctrl-C in a terminal reaches every process of the group. */
  async interrupt() {
    const ended = this.ended();
    process.kill(-this.child.pid, "SIGINT");
    return ended;
  }

  /** Its console is told at the address of the proxy; tests ask it here. */
  async start() {
    await super.start();
    this.url = this.said.map((line) => /^served at (\S+)$/.exec(line)?.[1]).find((url) => url);
    return this;
  }
}

const server = new Up();
let cluster;
before(async () => {
  buildProgram();
  await server.start();
  cluster = server.cluster("local");
});
after(async () => {
  await server.interrupt();
  ofJobs().forEach(end);
  rmSync(server.state, { recursive: true, force: true });
});

const until = (what, look) => untilWithin(what, PATIENCE_MS, look);
const job = (name) => jobOf(cluster, name);
const reaches = (name, wanted) => until(`${name} is ${wanted}`, async () => phase(await job(name)) === wanted);
const submit = (name, command, gpus = 1) =>
  cluster.send(name, { submit_job: { job: name, quota: "all", workspace: "default", pods: [{ amount: { gpu: gpus * 1000 } }] } }, { script: { format: 1, command } });

/** The processes of the jobs of this state, with their supervisors. */
function ofJobs() {
  const store = join(server.state, "agent/store");
  return existsSync(store) ? processesWith(`TIDEGATE_STORE=${readFileSync(store, "utf8").trim()}`) : [];
}

test("a computer alone is a cluster: a job that is submitted is a process, with its GPUs", async () => {
  const answer = await submit("hello", ["sh", "-c", "echo GPUs $CUDA_VISIBLE_DEVICES"], 2);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await reaches("hello", "ended");
  const { body } = await cluster.get("jobs/hello/log");
  assert.match(body.text, /^GPUs 0,1$/m);
});

test("what it keeps is nobody else's", () => {
  for (const file of ["secrets", "agent/agent.json"]) assert.equal(statSync(join(server.state, file)).mode & 0o777, 0o600, file);
  assert.equal(statSync(server.state).mode & 0o077, 0);
});

test("a second one does not serve the same folder", () => {
  const { status, stderr } = spawnSync(PROGRAM, server.words(), { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /another `tidegate up` serves this folder; end that one, or name another with --state/);
});

/** The status of a request under another name. */
const asked = (headers, method = "GET") =>
  new Promise((done, failed) => {
    const sent = request(`${server.url}/health`, { method, headers }, (answer) => (answer.resume(), done(answer.statusCode)));
    sent.on("error", failed).end();
  });

test("others come through the proxy's address, and pages of others do not", async () => {
  assert.equal(await asked({ host: "gpus.example.org" }), 200);
  assert.equal(await asked({ host: "gpus.example.org", origin: ADDRESS }), 200);
  assert.equal(await asked({ host: "other.example.org" }), 403);
  assert.equal(await asked({ host: "gpus.example.org", origin: "http://gpus.example.org" }, "POST"), 403);
  assert.equal(await asked({ host: "gpus.example.org", origin: "https://other.example.org" }, "POST"), 403);
});

test("who guesses at keys cannot say to come from somewhere else", async () => {
  const guess = (at) => {
    const headers = { "cf-connecting-ip": `203.${at % 200}.${at % 250}.1` };
    return cluster.request("POST", "sessions", JSON.stringify({ key: "local.nobody", secret: "0".repeat(64) }), headers);
  };
  const statuses = new Set();
  for (let sent = 0; sent < 2_000 && !statuses.has(429); sent += 100) {
    for (const { status } of await Promise.all(Array.from({ length: 100 }, (_, at) => guess(sent + at)))) statuses.add(status);
  }
  assert.ok(statuses.has(429), [...statuses].join());
});

test("a job goes on when the service is killed, and when it is ended; the next one finds it", async () => {
  const sent = await submit("long", SLEEPS);
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await reaches("long", "running");
  const pids = ofJobs();
  assert.ok(pids.length > 0);
  const { run } = await job("long");

  await server.kill();
  assert.deepEqual(ofJobs(), pids);
  await server.start();
  await until("the agent is heard", async () => (await cluster.get("overdue")).status === 200);
  assert.deepEqual((await job("long")).run.no, run.no);
  assert.ok(!server.said.some((line) => line.includes("loaded")), server.said.join("\n"));

  assert.equal(await server.interrupt(), 0);
  assert.deepEqual(ofJobs(), pids);
  assert.ok(!server.said.some((line) => line.includes("not published")), server.said.join("\n"));
  assert.ok(server.said.includes("stopped; jobs that run go on, and the next start finds them"), server.said.join("\n"));
  await server.start();

  assert.equal((await cluster.send("cancel", { cancel_job: { job: "long" } })).status, 200);
  await reaches("long", "ended");
  assert.deepEqual(ofJobs(), []);
});

test("a folder that is put back from a backup begins anew with its numbers, and what it does not know is stopped", async () => {
  const copy = join(server.state, "backup");
  assert.equal((await submit("kept", SLEEPS)).status, 200);
  await reaches("kept", "running");
  await server.interrupt();
  mkdirSync(copy, { mode: 0o700 });
  for (const part of ["secrets", "service"]) cpSync(join(server.state, part), join(copy, part), { recursive: true });

  await server.start();
  assert.equal((await submit("later", SLEEPS)).status, 200);
  await reaches("later", "running");
  await server.interrupt();
  rmSync(join(server.state, "service"), { recursive: true });
  cpSync(join(copy, "service"), join(server.state, "service"), { recursive: true });

  server.more = ["--from-backup"];
  await server.start();
  server.more = [];
  assert.ok(server.said.some((line) => /^local: its storage was lost; restored revision \d+ from KV$/.test(line)), server.said.join("\n"));
  await until("what the backup does not know has ended", () => processesWith("TIDEGATE_JOB=later").length === 0);
  assert.equal(await job("later"), undefined);
  assert.equal(phase(await job("kept")), "running");
  assert.ok(processesWith("TIDEGATE_JOB=kept").length > 0, "what it knows goes on");
  assert.equal((await submit("anew", ["true"])).status, 200);
  await reaches("anew", "ended");
  assert.ok((await cluster.get("snapshot")).body.cluster.epoch > 0);
  assert.equal((await cluster.send("cancel-kept", { cancel_job: { job: "kept" } })).status, 200);
  await reaches("kept", "ended");
});

/** The processes that this one has started: the runtime, and the agent. */
const childrenOf = (pid) =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((child) => parentOf(child) === pid);

/** The process that started this one, if it is still there. */
function parentOf(pid) {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
  } catch {
    return undefined;
  }
}

test("nothing of the service is left when only its first process is killed, and the folder is free again", async () => {
  const { pid } = server.child;
  const children = childrenOf(pid);
  assert.ok(children.length >= 2, `${children}`);
  process.kill(pid, "SIGKILL");
  await until("the runtime and the agent have ended", () => !children.some(lives));
  await server.start();
});

test("further secrets stand in the file: a key for monitoring reads the metrics and nothing else", async () => {
  const monitor = "m".repeat(32);
  await server.interrupt();
  appendFileSync(join(server.state, "secrets"), `MONITOR_KEY=${monitor}\n`);
  await server.start();
  const asked = (path) => cluster.request("GET", path, undefined, { authorization: `Bearer ${monitor}` });
  assert.equal((await asked("metrics")).status, 200);
  assert.equal((await asked("snapshot")).status, 401);
});

test("secrets that are damaged are not replaced", async () => {
  const state = join(server.state, "other");
  mkdirSync(state, { mode: 0o700 });
  execFileSync("sh", ["-c", `umask 077; echo ADMIN_KEY=short > ${state}/secrets`]);
  const words = server.words().map((word) => (word === server.state ? state : word));
  const { status, stderr } = spawnSync(PROGRAM, words, { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /secrets has no ADMIN_KEY: put the file back, or remove it, which makes every access key invalid/);
});

test("systemd is told how to keep it up", () => {
  const text = execFileSync(PROGRAM, server.words("--unit"), { encoding: "utf8" });
  assert.match(text, new RegExp(`^ExecStart=${PROGRAM} up --port 0 --state ${server.state} --gpus 2 .*$`, "m"));
  assert.match(text, /^KillMode=process$/m);
});

test("a computer whose cluster was deleted says so, and runs the jobs of the next one", async () => {
  const { body: cost } = await cluster.get("deletion");
  assert.equal((await cluster.post(`delete?confirm=${cost.confirm}`)).status, 200);
  await until("its name is free", async () => (await cluster.get("deletion")).body.is_done);
  await server.interrupt();
  await server.start();
  const farewell = /^cluster local was deleted at .*; or make another one for this computer: tidegate up --cluster NAME$/;
  assert.ok(server.said.some((line) => farewell.test(line)), server.said.join("\n"));

  await server.interrupt();
  server.more = ["--cluster", "home"];
  await server.start();
  cluster = server.cluster("home");
  assert.equal((await submit("first", ["true"])).status, 200);
  await reaches("first", "ended");
  assert.deepEqual((await job("first")).phase.ended.outcome, "succeeded");
});
