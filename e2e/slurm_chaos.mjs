// Jobs on a Slurm cluster while its controller, its nodes' daemons and the agent are killed at random: the jobs themselves
// count their starts. None starts twice, no two runs of a job live at once, no GPU has two processes, and every job ends or
// is shown as held up, and by what. `cargo xtask chaos slurm [--runs N]`; TIDEGATE_SEED=n kills in another order.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM, buildProgram, phase } from "./processes.mjs";
import { Server } from "./server.mjs";
import { GPUS, NODES, Slurm, hindrance } from "./slurmd.mjs";

const RUNS = Number(process.argv[2] ?? 100);
const SEED = Number(process.env.TIDEGATE_SEED ?? 1);
/** How many jobs are there at once, running or queued. */
const OPEN_MAX = 10;
/** How long the last jobs may take when nothing is killed any more, and how long nothing may end before that. */
const REST_MS = 240_000;
const STANDSTILL_MS = 600_000;

/** Numbers below 1 that are the same for the same seed. */
function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const missing = hindrance();
if (missing) {
  console.error(missing);
  process.exit(1);
}

const draw = random(SEED);
const below = (n) => Math.floor(draw() * n);
const folder = mkdtempSync(join(tmpdir(), "tidegate-slurm-chaos-"));
const state = join(folder, "agent");
const file = (...names) => join(folder, ...names);
const findings = [];
const killed = { agent: 0, slurmctld: 0, slurmd: 0 };
let slurm, server, cluster, agent, n_agents = 0, agentsSaid = "";

/** What a job does: it notes its start, and whether it has its job and its GPUs to itself, as long as it lives. */
const script = (name, seconds) => `exec 9> ${file("jobs", name)}-$RANK
flock -n 9 || echo "two runs of ${name} at once: $TIDEGATE_RUN" >> ${file("double")}
descriptor=10
for gpu in \${CUDA_VISIBLE_DEVICES//,/ }; do
  eval "exec $descriptor> ${file("gpus")}/$TIDEGATE_NODE-$gpu"
  flock -n $descriptor || echo "$TIDEGATE_NODE GPU $gpu has two: $TIDEGATE_RUN" >> ${file("double")}
  descriptor=$((descriptor + 1))
done
echo "$TIDEGATE_RUN $RANK" >> ${file("starts", name)}
sleep ${seconds}`;

function startAgent() {
  agent = spawn(PROGRAM, ["agent", "run", "--slurm", "--state", state, "--allow-root"], { env: slurm.env, stdio: ["ignore", "ignore", "pipe"] });
  n_agents += 1;
  const mine = agent;
  mine.stderr.on("data", (text) => (agentsSaid = (agentsSaid + text).slice(-4_000)));
  mine.ended = new Promise((done) => mine.once("exit", done));
  // One that ends by itself is started again, as a service of the machine is.
  mine.ended.then(async () => {
    await pause(500);
    if (mine === agent && !mine.isMeant) startAgent();
  });
}

async function stopAgent() {
  agent.isMeant = true;
  agent.kill("SIGKILL");
  await agent.ended;
}

async function begin() {
  buildProgram();
  chmodSync(folder, 0o755);
  for (const name of ["jobs", "gpus", "starts"]) mkdirSync(file(name));
  slurm = await new Slurm(file("slurm")).start();
  server = await new Server().start();
  cluster = await server.cluster("lab").foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
  ]);
  const words = ["agent", "join", server.url, "--cluster", "lab", "--name", "slurm", "--groups", "machines", "--state", state, "--slurm"];
  const joining = spawn(PROGRAM, words, { env: { ...slurm.env, TIDEGATE_TOKEN: server.key }, stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((done) => joining.once("exit", done));
  if (code !== 0) throw new Error(`the agent does not join: ${code}`);
  const settings = { grace_period_ms: 3_000 };
  const made = await cluster.send("quota", { create_quota: { quota: "team", groups: ["machines"], min: { gpu: NODES.length * GPUS * 1000 }, settings } });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  startAgent();
}

async function jobs() {
  const { body } = await cluster.get("hash");
  return (await cluster.get(`snapshot?min_revision=${body.revision}`)).body.jobs.map(([, job]) => job);
}

async function submit(number) {
  const name = `job-${number}`;
  const pods = below(5) === 0 ? 2 : 1;
  const gpus = [1, 1, 2, GPUS][below(4)];
  const submit_job = { job: name, quota: "team", pods: [{ amount: { gpu: gpus * 1000 }, count: pods }], fault_tolerance: { max_restarts: 1000 } };
  const command = ["bash", "-c", script(name, (0.2 + 3 * draw()).toFixed(1))];
  const sent = await cluster.send(name, { submit_job }, { script: { format: 1, command } });
  if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
}

/** Kills one of them, and starts it again after a while. */
async function killOne() {
  const [who, name] = [["agent"], ["agent"], ["slurmctld", "slurmctld"], ["slurmd", `slurmd-${NODES[below(NODES.length)]}`]][below(4)];
  const away = 3_000 * draw();
  killed[who] += 1;
  if (who === "agent") {
    await stopAgent();
    await pause(away);
    return startAgent();
  }
  await slurm.kill(name);
  await pause(away);
  if (who === "slurmctld") slurm.startController();
  else slurm.startNode(name.slice("slurmd-".length));
}

/** As an administrator does: Slurm drains a node on which it gives a number twice. */
async function resume() {
  const { said } = await slurm.ask("sinfo", "--Node", "--noheader", "--format=%N %T");
  for (const [node, state] of said.trim().split("\n").map((line) => line.split(" "))) {
    if (/drain|down/.test(state ?? "")) await slurm.ask("scontrol", "update", `nodename=${node}`, "state=resume");
  }
}

const has = (all, wanted) => all.filter((job) => phase(job) === wanted);

function look() {
  if (existsSync(file("double"))) findings.push(...readFileSync(file("double"), "utf8").trim().split("\n"));
  for (const name of readdirSync(file("starts"))) {
    const lines = readFileSync(file("starts", name), "utf8").trim().split("\n");
    const twice = lines.filter((line, at) => lines.indexOf(line) !== at);
    findings.push(...twice.map((line) => `${name} started twice: run ${line.replace(" ", ", rank ")}`));
  }
}

/** Ends when all have been submitted and have ended, or when nothing goes on any more. */
async function play() {
  let [n_submitted, n_ended, n_cancelled, changed] = [0, 0, 0, Date.now()];
  let nextKill = Date.now() + 2_000, isOver = false;
  const killing = (async () => {
    while (!isOver) {
      await pause(100);
      if (Date.now() >= nextKill && n_submitted < RUNS) {
        await killOne();
        await resume();
        nextKill = Date.now() + 2_000 + 8_000 * draw();
      }
    }
  })();
  for (;;) {
    const all = await jobs();
    const ended = has(all, "ended").length;
    if (ended !== n_ended) {
      if (Math.floor(ended / 50) > Math.floor(n_ended / 50)) console.log(`${ended} of ${RUNS} have ended`);
      [n_ended, changed] = [ended, Date.now()];
    }
    if (n_submitted === RUNS && ended === all.length) break;
    if (Date.now() - changed > (n_submitted === RUNS ? REST_MS : STANDSTILL_MS)) break;
    for (let open = all.length - ended; open < OPEN_MAX && n_submitted < RUNS; open++) await submit(n_submitted++);
    if (below(40) === 0) {
      const running = has(all, "running");
      const one = running[below(running.length)];
      if (one) {
        n_cancelled += 1;
        await cluster.send(`cancel-${one.spec.id}`, { cancel_job: { job: one.spec.id } });
      }
    }
    if (n_submitted === RUNS) await resume();
    await pause(500);
  }
  isOver = true;
  await killing;
  return n_cancelled;
}

/** Every job that has not ended is shown, with what holds it up. */
async function tell(all, n_cancelled, seconds) {
  const outcomes = {};
  for (const { phase } of has(all, "ended")) {
    const { outcome } = phase.ended;
    const name = typeof outcome === "string" ? outcome : `${Object.keys(outcome)[0]} (${Object.values(outcome)[0].reason ?? ""})`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  const n_starts = readdirSync(file("starts")).map((name) => readFileSync(file("starts", name), "utf8").trim().split("\n").length).reduce((sum, n) => sum + n, 0);
  console.log(`${all.length} jobs, ${n_starts} starts of pods, ${n_cancelled} cancelled, in ${seconds} s; killed: ${JSON.stringify(killed)}, ${n_agents} agents; seed ${SEED}`);
  console.log(`ended: ${JSON.stringify(outcomes)}`);
  for (const job of all.filter((job) => phase(job) !== "ended")) {
    const why = await cluster.get(`jobs/${job.spec.id}/why`);
    findings.push(`${job.spec.id} has not ended, it is ${phase(job)}: ${JSON.stringify(why.body).slice(0, 400)}`);
  }
}

const started = Date.now();
try {
  await begin();
  const n_cancelled = await play();
  const all = await jobs();
  look();
  await tell(all, n_cancelled, Math.round((Date.now() - started) / 1000));
  if (findings.length > 0) console.log(`${agentsSaid}\n${await slurm.complaints()}`);
} catch (error) {
  findings.push(error.stack);
} finally {
  if (agent) await stopAgent();
  await slurm?.stop();
  await server?.stop();
}
if (findings.length === 0) rmSync(folder, { recursive: true, force: true });
else console.log(`findings:\n${findings.join("\n")}\nsee ${folder}`);
process.exit(findings.length === 0 ? 0 : 1);
