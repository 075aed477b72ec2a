// Real jobs while everything around them is killed at random: the service (workerd and what holds it), the agents, and the
// supervisors of runs. What started is counted by the processes themselves.
//
//   node e2e/chaos.mjs [RUNS]        `cargo xtask chaos local --service [--runs N]` builds first; TIDEGATE_SEED kills otherwise
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM, end, freePort, processesWith, until } from "./processes.mjs";
import { Server } from "./server.mjs";

const RUNS = Number(process.argv[2] ?? 600);
const NODES = ["n1", "n2"];
const GPUS = 4;
/** How many jobs wait or run at once. */
const ALIVE = 16;
/** How long it may take, and how much longer for each run. */
const PATIENCE_MS = 120_000;
const PATIENCE_PER_RUN_MS = 2_000;
/** How long the service is left alone before it is killed again: a start takes a second or two. */
const SERVICE_MS = [4_000, 9_000];

const folder = mkdtempSync(join(tmpdir(), "tidegate-chaos-"));
const NOTES = join(folder, "notes");
// What is built while this runs is not what it began with.
const TIDEGATE = join(folder, "tidegate");
copyFileSync(PROGRAM, TIDEGATE);

let seed = BigInt(process.env.TIDEGATE_SEED ?? 1);
function below(bound) {
  seed = (seed * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number((seed >> 33n) % BigInt(bound));
}

class FixedPort extends Server {
  call(options) {
    const [program, words] = super.call(options);
    const at = (name) => words.indexOf(name) + 1;
    words[at("--port")] = String(this.port);
    words[at("--every")] = "2";
    return [program, words];
  }
}

// A lock on each GPU's file lasts as long as any process of the job lives. Who finds one held says so.
const TAKE = [
  `for gpu in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do`,
  `  eval "exec $((5 + gpu))>>${folder}/gpu-$TIDEGATE_NODE-$gpu"`,
  `  flock -n $((5 + gpu)) || echo "double $TIDEGATE_RUN $TIDEGATE_NODE $gpu" >> ${NOTES}`,
  `done`,
  `echo "start $TIDEGATE_RUN $RANK" >> ${NOTES}`,
].join("\n");

/** What jobs do: end well, fail, ignore the signal, leave somebody behind, and go on until they are stopped. */
const LIVES = [
  "sleep 0.2",
  "sleep 0.1; exit 3",
  "trap '' TERM; for nth in 1 2 3 4 5 6 7 8; do sleep 0.1; done",
  "setsid sleep 600 & sleep 0.2",
  "sleep 600",
];

const agents = new Map();
function startAgent(node) {
  const words = ["agent", "run", "--state", join(folder, node), "--node", `${node}=${GPUS}`, "--allow-root"];
  const agent = spawn(TIDEGATE, words, { stdio: ["ignore", "ignore", "pipe"] });
  agent.said = "";
  agent.stderr.on("data", (text) => (agent.said += text));
  agents.set(node, agent);
}

/** Agents that have ended by themselves or were killed begin again. */
function revive() {
  for (const [node, { exitCode, signalCode, said }] of agents) {
    assert.ok(exitCode === null, `agent ${node} ended with ${exitCode}: ${said}`);
    if (signalCode !== null) startAgent(node);
  }
}

function supervisors() {
  const lines = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => {
    try {
      return [Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")];
    } catch {
      return [Number(pid), []];
    }
  });
  return lines.filter(([, words]) => words[1] === "supervise" && words[2]?.startsWith(folder)).map(([pid]) => pid);
}

const notes = () => (existsSync(NOTES) ? readFileSync(NOTES, "utf8").trim().split("\n") : []);
/** The runs of which a process has written that it has started. */
const started = () => new Set(notes().filter((line) => line.startsWith("start ")).map((line) => line.split(" ")[1]));

const server = new FixedPort();
server.port = await freePort();
await server.start();
const cluster = server.cluster("chaos");
const amount = { gpu: GPUS * 1000 };
await cluster.foundBy([
  { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
  { put_group: { group: "machines", resource_type: "lingjun" } },
  ...NODES.map((node) => ({ put_node: { node, group: "machines", amount } })),
  { create_quota: { quota: "team", groups: ["machines"], min: { gpu: NODES.length * GPUS * 1000 }, settings: { grace_period_ms: 1_000 } } },
]);
for (const node of NODES) {
  const words = ["agent", "join", server.url, "--cluster", "chaos", "--name", node, "--groups", "machines", "--state", join(folder, node)];
  execFileSync(TIDEGATE, words, { env: { ...process.env, TIDEGATE_TOKEN: server.key } });
  startAgent(node);
}

/** Sends a command until it is answered: who hears nothing asks again under the same number. */
async function send(id, command, more) {
  for (;;) {
    try {
      const { status, body } = await cluster.send(id, command, more);
      if (status < 500) return { status, body };
    } catch {
      // The service is being killed.
    }
    await pause(100);
  }
}

let n_jobs = 0;
/** A job from its submission to its end, as its submitter lives it. */
async function live() {
  const number = (n_jobs += 1);
  const job = `j${number}`;
  const life = below(LIVES.length);
  const pods = [{ count: 1 + below(2), amount: { gpu: 1000 * (1 + below(2)) } }];
  const submit_job = { job, quota: "team", pods, fault_tolerance: { max_restarts: 3 } };
  const command = ["sh", "-c", `${TAKE}\n${LIVES[life]}`];
  const { status, body } = await send(job, { submit_job }, { script: { format: 1, command } });
  assert.equal(status, 200, JSON.stringify(body));
  await pause(800 + below(2_500));
  // It may have ended by itself.
  await send(`cancel-${job}`, { cancel_job: { job } });
}

const killed = { agents: 0, supervisors: 0, service: 0 };
let isOver = false;

async function killService() {
  while (!isOver) {
    await pause(SERVICE_MS[0] + below(SERVICE_MS[1] - SERVICE_MS[0]));
    await server.kill();
    killed.service += 1;
    await server.start();
  }
}

async function killOthers() {
  while (!isOver) {
    await pause(100 + below(200));
    revive();
    if (below(100) < 30) {
      const agent = agents.get(NODES[below(NODES.length)]);
      killed.agents += agent.kill("SIGKILL") ? 1 : 0;
    }
    const watching = supervisors();
    if (below(100) < 20 && watching.length > 0) {
      try {
        process.kill(watching[below(watching.length)], "SIGKILL");
        killed.supervisors += 1;
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}

async function submitters() {
  while (!isOver) await live();
}

/** All runs of which the log has the end. */
async function reported() {
  const ends = new Set();
  const look = (part) => {
    if (part === null || typeof part !== "object") return;
    const { run, observed } = part;
    if (run && observed && !["confirmed", "checkpointed"].includes(observed)) ends.add(run);
    Object.values(part).forEach(look);
  };
  for (let after = 0; ; ) {
    const { revision } = await cluster.hash();
    const { status, body } = await cluster.get(`entries?after=${after}&min_revision=${revision}`);
    assert.equal(status, 200, JSON.stringify(body));
    look(body);
    const last = body.at(-1)?.revision;
    if (last === undefined || last <= after) return ends;
    after = last;
  }
}

/** The processes of jobs. */
function living() {
  const stores = NODES.map((node) => join(folder, node, "store")).filter((path) => existsSync(path));
  return stores.flatMap((path) => processesWith(`TIDEGATE_STORE=${readFileSync(path, "utf8").trim()}`));
}

/** What is left of runs on this computer. */
function leftOver() {
  const count = (path) => (existsSync(path) ? readdirSync(path).length : 0);
  return {
    folders: NODES.reduce((sum, node) => sum + count(join(folder, node, "runs")), 0),
    gpus: NODES.reduce((sum, node) => sum + count(join(folder, node, "gpus")), 0),
    processes: living().length,
    supervisors: supervisors().length,
  };
}

const begin = Date.now();
try {
  const all = Promise.all([killService(), killOthers(), ...Array.from({ length: ALIVE }, submitters)]);
  const enough = until(`${RUNS} runs`, PATIENCE_MS + PATIENCE_PER_RUN_MS * RUNS, async () => {
    await pause(500);
    return started().size >= RUNS;
  });
  await Promise.race([enough, all]);
  isOver = true;
  await all;
  const quiet = await until("nothing is left", PATIENCE_MS, async () => {
    revive();
    await pause(500);
    const left = leftOver();
    return Object.values(left).every((n) => n === 0) && left;
  });
  const { revision } = await cluster.hash();
  const { jobs } = (await cluster.get(`snapshot?min_revision=${revision}`)).body;
  const open = jobs.filter(([, { phase }]) => !phase.ended).map(([, { spec }]) => spec.id);
  assert.deepEqual(open, [], "every job has ended");

  const starts = notes().filter((line) => line.startsWith("start "));
  assert.equal(new Set(starts).size, starts.length, "a pod started twice");
  assert.deepEqual(notes().filter((line) => !line.startsWith("start ")), [], "a GPU was held by two");
  const ends = await reported();
  const unreported = [...started()].filter((run) => !ends.has(run));
  assert.deepEqual(unreported, [], "a run has no end in the log");
  const seconds = Math.round((Date.now() - begin) / 1_000);
  console.log(
    `${started().size} runs of ${n_jobs} jobs started ${starts.length} pods, none twice, none on a GPU that somebody held; ` +
      `all have an end in the log; left over: ${JSON.stringify(quiet)}; killed: the service ${killed.service} times, ` +
      `agents ${killed.agents}, supervisors ${killed.supervisors}; ${seconds} s`,
  );
} finally {
  isOver = true;
  for (const agent of agents.values()) agent.kill("SIGKILL");
  // Of what went well nothing is left.
  [...supervisors(), ...living()].forEach(end);
  await server.kill().catch(() => {});
}
rmSync(folder, { recursive: true, force: true });
rmSync(server.state, { recursive: true, force: true });
process.exit(0);
