// How long it takes until what is decided runs, and what that costs, on the real service, a real agent and real processes:
//
//   node e2e/execution.mjs [JOBS [RUNS]]      `cargo xtask bench execution`; needs what `cargo xtask build` makes
//
// TIDEGATE_PROGRAM names another build of `tidegate-agent`. The times of day are one computer's, so that they can be compared.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM as DEBUG, jobs, phase, until } from "./processes.mjs";
import { Server } from "./server.mjs";

const PROGRAM = process.env.TIDEGATE_PROGRAM ?? join(dirname(DEBUG), "tidegate-agent");
const JOBS = Number(process.argv[2] ?? 100);
const RUNS = Number(process.argv[3] ?? 10_000);
const GPUS = 8;
/** Commands in a plan. */
const PLAN = 200;
/** Requests at once. */
const AT_ONCE = 8;
/** Exchanges that are measured. */
const SYNCS = 100;
/** For how long an idle cluster is watched. */
const IDLE_MS = 60_000;
const PATIENCE_MS = 300_000;
const SLOT_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), "tidegate-execution-"));
const figures = [];
function figure(what, value, unit, target) {
  const isReached = value <= target;
  figures.push(isReached);
  const told = value < 10 ? value.toFixed(2) : value.toFixed(0);
  console.log(`${what.padEnd(72)} ${told.padStart(9)} ${unit.padEnd(8)} <= ${String(target).padStart(7)} ${isReached ? "reached" : "missed"}`);
}
const rank = (values, percent) => values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor((values.length * percent) / 100))];

const server = await new Server({ variables: { JOBS_OF_CLUSTER_MAX: "1000000", JOBS_OF_USER_MAX: "1000000", JOBS_OF_WORKSPACE_MAX: "1000000" } }).start();

/** A cluster of so many machines, whose jobs really run. */
async function founded(name, nodes) {
  const cluster = server.cluster(name);
  const put = (node) => ({ put_node: { node, group: "machines", amount: { gpu: GPUS * 1000 } } });
  await cluster.foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    ...chunks(nodes.map(put)).map((commands) => ({ apply_plan: { commands } })),
    { create_quota: { quota: "team", groups: ["machines"], min: { gpu: nodes.length * GPUS * 1000 }, settings: { grace_period_ms: 1_000 } } },
  ]);
  return cluster;
}

const chunks = (all) => Array.from({ length: Math.ceil(all.length / PLAN) }, (_, nth) => all.slice(nth * PLAN, (nth + 1) * PLAN));

async function submit(cluster, job, line, gpus = 1) {
  const submit_job = { job, quota: "team", pods: [{ amount: { gpu: gpus * 1000 } }] };
  const sent = await cluster.send(job, { submit_job }, { script: { format: 1, command: ["sh", "-c", line] } });
  if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
  return sent.body;
}

/** All entries of a cluster's log. */
async function entries(cluster) {
  const all = [];
  for (;;) {
    const { revision } = await cluster.hash();
    const { body } = await cluster.get(`entries?after=${all.at(-1)?.revision ?? 0}&min_revision=${revision}`);
    if (body.length === 0) return all;
    all.push(...body);
  }
}

const mentions = (entry, job) => JSON.stringify(entry).includes(`"${job}"`);

/** From the decision to the process, and from its end to GPUs that are free. */
async function latencies(cluster) {
  const notes = (name) => readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => line.split(" "));
  const line = (job) => `echo ${job} $(date +%s%N) >> ${folder}/starts; sleep 0.3; echo ${job} $(date +%s%N) >> ${folder}/ends`;
  for (let at = 0; at < JOBS; at += 1) {
    await submit(cluster, `job-${at}`, line(`job-${at}`));
    await pause(200);
  }
  await until("all have ended", PATIENCE_MS, async () => (await pause(500), notes("ends").length === JOBS));
  // The last of them is told.
  await pause(2_000);
  const log = await entries(cluster);
  const decided = new Map(log.filter(({ envelope }) => envelope.command.submit_job).map(({ envelope, at }) => [envelope.command.submit_job.job, at]));
  const freed = new Map();
  for (const entry of log) {
    const look = (part) => {
      if (part === null || typeof part !== "object") return;
      if (part.job && part.observed === "finished") freed.set(part.job, entry.at);
      Object.values(part).forEach(look);
    };
    look(entry.envelope.command);
  }
  const ms = (nanos) => Number(BigInt(nanos) / 1_000n) / 1_000;
  const starts = notes("starts").map(([job, at]) => ms(at) - decided.get(job));
  const ends = notes("ends").map(([job, at]) => freed.get(job) - ms(at));
  figure(`decision to process, p50 of ${starts.length}`, rank(starts, 50), "ms", 300);
  figure(`decision to process, p95 of ${starts.length}`, rank(starts, 95), "ms", 300);
  figure(`exit to free GPUs, p50 of ${ends.length}`, rank(ends, 50), "ms", 500);
  figure(`exit to free GPUs, p95 of ${ends.length}`, rank(ends, 95), "ms", 500);
  const lives = [...decided.keys()].map((job) => log.filter((entry) => mentions(entry, job)).length);
  figure(`entries of the log in a job's life, the most of ${lives.length}`, Math.max(...lives), "entries", 5);
}

const residentMib = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** The processes that watch over the runs of this agent. */
const supervisors = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isSupervisor(pid));

function isSupervisor(pid) {
  try {
    const [, task, state] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return task === "supervise" && state.startsWith(folder);
  } catch {
    return false;
  }
}

/** What is written while jobs only go on, and what the agent and its supervisors take then. */
async function idle(cluster, agent) {
  // They end with the folder.
  for (let at = 0; at < GPUS; at += 1) await submit(cluster, `stays-${at}`, `while [ -e ${folder} ]; do sleep 1; done`);
  await until("all have begun", PATIENCE_MS, async () => (await jobs(cluster)).filter((job) => phase(job) === "running").length === GPUS);
  const before = (await cluster.hash()).seq;
  await pause(IDLE_MS);
  figure(`entries written in ${IDLE_MS / 1_000} s in which ${GPUS} jobs only go on`, (await cluster.hash()).seq - before, "entries", 0);
  const watching = supervisors().map(residentMib);
  figure(`resident memory of the agent with ${watching.length} runs`, residentMib(agent.pid), "MiB", 20);
  figure("resident memory of what watches over a run, the most of them", Math.max(...watching), "MiB", 20);
  figure(`the program${PROGRAM.includes("/debug/") ? " (a debug build)" : ""}`, statSync(PROGRAM).size / 2 ** 20, "MiB", 6);
}

/** How long it takes until a machine without its agent is said to be silent; the clock ticks each minute. */
async function lost(cluster, agent) {
  agent.kill("SIGKILL");
  const begin = performance.now();
  let slot = Math.floor(Date.now() / SLOT_MS);
  const isSilent = async () => (await cluster.get("health")).body.reasons.some(({ code }) => code === "nodes_silent");
  while (!(await isSilent())) {
    await pause(500);
    const now = Math.floor(Date.now() / SLOT_MS);
    if (now > slot) {
      slot = now;
      await server.tick(slot * SLOT_MS);
    }
    if (performance.now() - begin > PATIENCE_MS) break;
  }
  figure("lost agent to shown", (performance.now() - begin) / 1_000, "s", 150);
}

/** Exchanges of an agent with very many runs, played by its requests. */
async function exchanges() {
  const nodes = Array.from({ length: Math.ceil(RUNS / GPUS) }, (_, nth) => `n${nth}`);
  const cluster = await founded("many", nodes);
  const made = await cluster.send("key", { create_key: { key: "many.all", user: "all", serves: ["machines"] } });
  const credentials = { key: "many.all", secret: made.headers.get("x-tidegate-secret") };
  const { body } = await cluster.request("POST", "sessions", JSON.stringify(credentials), {});
  const say = async (call, told) => {
    const text = JSON.stringify({ format: 1, ...told });
    const begin = performance.now();
    const answer = await fetch(`${server.url}/v1/clusters/many/agents/all/${call}`, { method: "POST", body: text, headers: { authorization: `Bearer ${body.token}` } });
    const heard = await answer.text();
    if (answer.status !== 200) throw new Error(heard);
    return { ms: performance.now() - begin, sent: text.length, got: heard.length, body: JSON.parse(heard) };
  };
  const { incarnation } = (await say("hello", { store: "played" })).body;
  const reports = nodes.map((node) => ({ node, gpus: GPUS, status: "ready", reason: null }));
  const sync = (runs, lives = []) => say("sync", { incarnation, answered: null, nodes: reports, runs, lives, keeps: true });
  await sync([]);
  let next = 0;
  const submitter = async () => {
    while (next < RUNS) await submit(cluster, `job-${(next += 1)}`, "sleep 600");
  };
  await Promise.all(Array.from({ length: AT_ONCE }, submitter));
  const { want } = (await sync([])).body;
  const runs = want.map(({ run, job }) => ({ run, job, state: "running", since_ms: 5_000, log_bytes: 0 }));
  // What is new is told once, a thousand at a time.
  for (let told = 0; told <= runs.length / 1_000 + 1; told += 1) await sync(runs);
  const before = (await cluster.hash()).seq;
  const inFull = await sync(runs);
  const measured = [];
  for (let nth = 0; nth < SYNCS; nth += 1) measured.push(await sync([], inFull.body.keep));
  const written = (await cluster.hash()).seq - before;
  const times = measured.map(({ ms }) => ms);
  figure(`exchange of ${runs.length} runs, p50 of ${SYNCS}, over HTTP`, rank(times, 50), "ms", 40);
  figure(`exchange of ${runs.length} runs, p99 of ${SYNCS}, over HTTP`, rank(times, 99), "ms", 40);
  figure(`what an agent of ${runs.length} runs says while all only go on`, Math.max(...measured.map(({ sent }) => sent)) / 1e6, "MB", 1);
  figure("what it says of all of them in full", inFull.sent / 1e6, "MB", 1);
  figure(`what it is told`, Math.max(...measured.map(({ got }) => got)) / 1e6, "MB", 1);
  figure(`entries written by ${SYNCS} of them`, written, "entries", 0);
}

let agent;
try {
  const cluster = await founded("execution", ["n1"]);
  const state = join(folder, "agent");
  const joining = ["join", server.url, "--cluster", "execution", "--name", "n1", "--groups", "machines", "--state", state];
  execFileSync(PROGRAM, joining, { env: { ...process.env, TIDEGATE_TOKEN: server.key } });
  const words = ["run", "--state", state, "--node", `n1=${GPUS}`, "--allow-root"];
  agent = spawn(PROGRAM, words, { stdio: ["ignore", "ignore", "ignore"] });
  await pause(2_000);
  await latencies(cluster);
  await idle(cluster, agent);
  await lost(cluster, agent);
  await exchanges();
  const reached = figures.filter(Boolean).length;
  console.log(`${reached} of ${figures.length} reached`);
} finally {
  agent?.kill("SIGKILL");
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
  rmSync(server.state, { recursive: true, force: true });
}
process.exit(0);
