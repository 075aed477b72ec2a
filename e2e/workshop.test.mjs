// The example of real processes, as `cargo xtask dev` serves it: training lends its place to a service, which gives it back.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { PROGRAM, buildProgram, freePort, job as jobOf, phase, processesWith, until as untilWithin } from "./processes.mjs";
import { Server } from "./server.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const SERVICE = JSON.parse(readFileSync(join(ROOT, "docs/examples/workshop/chat.json"), "utf8"));
/** How long anything may take here. */
const PATIENCE_MS = 40_000;
/** Who was evicted is looked at again after a minute (rules 5.6). */
const BACKOFF_MS = 60_000;

let server;
let cluster;
before(async () => {
  buildProgram();
  server = await new Server({ agent: PROGRAM }).start();
  cluster = server.cluster("workshop");
});
after(() => server.stop());

const until = (what, look, patienceMs = PATIENCE_MS) => untilWithin(what, patienceMs, look);
const job = (name) => jobOf(cluster, name);
const reaches = (name, wanted, patienceMs) => until(`${name} is ${wanted}`, async () => phase(await job(name)) === wanted, patienceMs);
const ofAgent = (...path) => join(server.state, "workshop/agent", ...path);
const checkpointOf = (name) => readFileSync(join(server.state, "workshop/files", `${name}.checkpoint`), "utf8").split(" ").map(Number);

/** What every process of a run of this agent has in its environment; nothing before it has begun. */
const mark = () => (existsSync(ofAgent("store")) ? `TIDEGATE_STORE=${readFileSync(ofAgent("store"), "utf8").trim()}` : undefined);

/** The living processes of all runs that this server's agent has started, or of one job's. */
function processes(name) {
  const its = name && processesWith(`TIDEGATE_JOB=${name}`);
  return processesWith(mark()).filter((pid) => !its || its.includes(pid));
}

/** The agent, its supervisors and their jobs. */
const withFiles = () => processesWith(`WORKSHOP_FOLDER=${join(server.state, "workshop/files")}`);

/** What the newest run of a job that is kept here has printed until now. */
function printed(name) {
  const newest = (one, other) => Number(other.split("-")[1]) - Number(one.split("-")[1]);
  const runs = existsSync(ofAgent("runs")) ? readdirSync(ofAgent("runs")) : [];
  for (const run of runs.sort(newest)) {
    try {
      if (JSON.parse(readFileSync(ofAgent("runs", run, "run.json"), "utf8")).job !== name) continue;
      const parts = readdirSync(ofAgent("runs", run)).filter((file) => file.startsWith("log-")).sort();
      return read(parts.map((part) => readFileSync(ofAgent("runs", run, part), "utf8")).join(""));
    } catch (error) {
      // It has just been made, or is just being forgotten.
      if (error.code !== "ENOENT") throw error;
    }
  }
  return [];
}

/** Lines with the seconds since the machine was started. */
const read = (text) => [...text.matchAll(/^\[([\d.]+)\] (.*)\n/gm)].map(([, at, words]) => ({ at: Number(at), words }));
const logOf = async (name) => read((await cluster.get(`jobs/${name}/log`)).body.text ?? "");
/** The line that begins so; it must be there. */
function line(lines, pattern) {
  const found = lines.find(({ words }) => pattern.test(words));
  assert.ok(found, `${pattern} is not in ${JSON.stringify(lines)}`);
  return { at: found.at, step: Number(pattern.exec(found.words)[1]) };
}

test("the example's training runs as processes, and borrows what inference leaves idle", async () => {
  for (const name of ["train-left", "train-right", "train-wide"]) await reaches(name, "running");
  const charges = await Promise.all(["train-left", "train-right", "train-wide"].map(async (name) => (await job(name)).phase.running.placed.charge));
  assert.deepEqual(charges, ["in_quota", "in_quota", "idle"]);
  assert.equal(readdirSync(ofAgent("gpus")).length, 8, "two nodes of four GPUs are held");
  for (const name of ["train-left", "train-right", "train-wide"]) {
    await until(`${name} has made two steps`, () => printed(name).some(({ words }) => words.startsWith("step 2 of")));
    assert.ok(processes(name).length > 0);
  }
  assert.equal(statSync(ofAgent("agent.json")).mode & 0o777, 0o600);
  assert.equal(statSync(ofAgent()).mode & 0o777, 0o700);
});

test("a service takes back what is lent: training is asked for a checkpoint, ends, and goes on from there afterwards", async () => {
  const port = await freePort();
  const { id, command, script } = SERVICE;
  const sent = await cluster.send(id, command, { script: { ...script, environment: { ...script.environment, PORT: `${port}` } } });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const ask = (x) => fetch(`http://127.0.0.1:${port}/?x=${x}`).then((answer) => answer.json(), () => undefined);
  const first = await until("the service answers", () => ask(4));
  assert.deepEqual(processes("train-wide"), [], "no process of the training is left when the service serves");
  await reaches("chat", "running");

  const before = await logOf("train-wide");
  const asked = line(before, /^checkpoint at step (\d+) \(asked by SIGUSR1\)$/);
  const told = line(before, /^checkpoint at step (\d+) \(told to end\)$/);
  const served = line(printed("chat"), /^chat serves /);
  assert.ok(asked.at <= told.at && told.at <= served.at, JSON.stringify({ asked, told, served }));
  assert.ok(asked.step >= 2 && told.step >= asked.step);
  assert.deepEqual([first.model, first.job, first.step], ["train-wide", "chat", told.step]);

  const events = (await cluster.entries()).flatMap((entry) => entry.events);
  const [chat, wide] = await Promise.all(["chat", "train-wide"].map(async (name) => events.find((event) => event.job_submitted?.spec.id === name).job_submitted.no));
  const at = (kind, no) => events.findIndex((event) => event[kind]?.job === no);
  assert.deepEqual(events[at("evicted", wide)].evicted.cause, { reclaimed: { quota: "inference", by: "chat" } });
  const begun = events.findLastIndex((event) => event.started?.job === chat);
  assert.ok(at("evicted", wide) < at("stopped", wide) && at("stopped", wide) < begun, "the GPUs are given when the training has gone");

  await ask(5);
  assert.equal((await cluster.send("cancel-chat", { cancel_job: { job: "chat" } })).status, 200);
  await reaches("chat", "ended");
  line(await logOf("chat"), /^chat ends after 2 requests$/);
  assert.deepEqual(processes("chat"), []);
  assert.equal(await ask(4), undefined);

  await reaches("train-wide", "running", BACKOFF_MS + PATIENCE_MS);
  await until("it has made a step", () => printed("train-wide").some(({ words }) => words.startsWith(`step ${told.step + 1} of`)));
  assert.equal((await cluster.send("cancel-wide", { cancel_job: { job: "train-wide" } })).status, 200);
  await reaches("train-wide", "ended");
  const again = await logOf("train-wide");
  assert.equal(line(again, /^train-wide goes on from step (\d+):/).step, told.step);
  assert.ok(again[0].at > served.at, "it is the log of the second run");
});

test("ctrl-C ends the jobs with their checkpoints, and a later start goes on from there without loading anything", async () => {
  assert.equal(await server.interrupt(), 0);
  assert.deepEqual(processes(), []);
  assert.deepEqual(withFiles(), [], "the agent itself has gone");
  const [step] = checkpointOf("train-left");
  line(printed("train-left"), /^checkpoint at step (\d+) \(told to end\)$/);

  await server.start();
  assert.ok(!server.said.some((words) => words.includes("loaded")), server.said.join("\n"));
  await until("it goes on", () => printed("train-left").some(({ words }) => words.startsWith(`train-left goes on from step ${step}:`)));
  await reaches("train-right", "running");
  assert.equal(phase(await job("train-wide")), "ended", "what somebody has cancelled stays so");
});

test("nothing is left over when the server is killed", async () => {
  await server.kill();
  await until("the jobs and the agent end by themselves", () => withFiles().length === 0);
  line(printed("train-left"), /^checkpoint at step (\d+) \(told to end\)$/);
  await server.start();
});

test("what a killed agent has left ends before a fresh start removes its folder", async () => {
  await until("it runs", () => processes("train-left").length > 0);
  const store = mark();
  const [agent] = withFiles().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--attached"));
  process.kill(agent, "SIGKILL");
  await server.kill();
  assert.ok(processesWith(store).length > 0, "jobs outlive their agent");
  await server.start({ fresh: true });
  assert.deepEqual(processesWith(store), []);
  await until("they begin anew", () => printed("train-left").some(({ words }) => words.startsWith("train-left begins:")));
});

test("a cluster of that name which somebody has begun is left alone", async () => {
  const other = new Server();
  try {
    await other.start();
    const mine = other.cluster("workshop");
    // As the example begins, so that its first command would not be refused.
    await mine.foundBy([{ create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } }]);
    const known = await mine.hash();
    await other.kill();
    other.agent = PROGRAM;
    await other.start();
    assert.ok(other.said.includes("no agent is started for the cluster workshop"), other.said.join("\n"));
    assert.deepEqual(await mine.hash(), known);
    assert.ok(!existsSync(join(other.state, "workshop")));
  } finally {
    await other.stop();
  }
});
