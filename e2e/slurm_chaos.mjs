// Jobs on a Slurm cluster, Tidegate's own and people's own by sbatch, while its controller, its nodes' daemons and the agent
// are killed at random: the jobs themselves count their starts and ends. None starts twice, no two runs of a job live at once,
// no GPU has two processes, a job that was cancelled ends as cancelled unless it had come to its own end, and every job ends
// or is shown as held up, and by what. `cargo xtask chaos slurm [--runs N]`; TIDEGATE_SEED=n kills in another order, and
// TIDEGATE_CALM=1 kills nothing: then what is told of the time from a decision to its process is Slurm's and the agent's own.
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM, buildProgram, jobs as jobsOf, phase } from "./processes.mjs";
import { Server } from "./server.mjs";
import { GPUS, NODES, Slurm, hindrance } from "./slurmd.mjs";

let n_wanted = Number(process.argv[2] ?? 100);
const SEED = Number(process.env.TIDEGATE_SEED ?? 1);
const IS_CALM = process.env.TIDEGATE_CALM === "1";
/** How many jobs are there at once, running or queued. */
const OPEN_MAX = 10;
/** How long the last jobs may take when nothing is killed any more, and how long nothing may end before that. */
const REST_MS = 240_000;
const STANDSTILL_MS = 600_000;
/** How long it may take until a job that Slurm has acknowledged is known, or forgotten by Slurm. */
const TAKEN_MS = 120_000;
/** How long it may take until Slurm is rid of a job that is over: the agent asks at least every 15 s. */
const HEARD_MS = 60_000;
/** How long people wait until they say scancel again. */
const AGAIN_MS = 20_000;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

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
const shared = join(folder, "shared");
const TIDEGATE = join(folder, "tidegate");
const file = (...names) => join(folder, ...names);
const findings = [];
const killed = { agent: 0, slurmctld: 0, slurmd: 0 };
let slurm, server, cluster, agent, n_agents = 0, agentsSaid = "";
process.once("SIGINT", () => (n_wanted = Math.min(n_wanted, n_submitted)));

/** What jobs do: they end well, fail, ignore the signal, and go on until they are cancelled. */
const LIVES = {
  ends: () => `sleep ${(0.2 + 3 * draw()).toFixed(1)}; own; exit 0`,
  fails: () => `sleep ${draw().toFixed(1)}; own; exit 3`,
  ignores: () => "trap '' TERM; for nth in 1 2 3 4 5 6 7 8 9; do sleep 0.2; done; own; exit 0",
  stays: () => "sleep 600; own",
};
const MIX = ["ends", "ends", "ends", "ends", "fails", "ignores", "stays", "stays"];

/** What each notes of itself: its start, its own end, and whether it has its job and its GPUs to itself as long as it lives. */
const script = (name, life) => `exec 9> ${file("jobs", name)}-$RANK
flock -n 9 || echo "two runs of ${name} at once: $TIDEGATE_RUN" >> ${file("double")}
descriptor=10
for gpu in \${CUDA_VISIBLE_DEVICES//,/ }; do
  eval "exec $descriptor> ${file("gpus")}/$TIDEGATE_NODE-$gpu"
  flock -n $descriptor || echo "$TIDEGATE_NODE GPU $gpu has two: $TIDEGATE_RUN" >> ${file("double")}
  descriptor=$((descriptor + 1))
done
own() { echo "$TIDEGATE_RUN $RANK $(date +%s%3N)" >> ${file("ends", name)}; }
echo "$TIDEGATE_RUN $(date +%s%3N)" >> ${file("begun")}
echo "$TIDEGATE_RUN $RANK" >> ${file("starts", name)}
${LIVES[life]()}`;

function startAgent() {
  const adopts = ["--adopt-folder", shared, "--adopt=ml=research/team", "--adopt=guests=research/guest"];
  const words = ["agent", "run", "--slurm", "--state", state, "--allow-root", ...adopts];
  agent = spawn(TIDEGATE, words, { env: slurm.env, stdio: ["ignore", "ignore", "pipe"] });
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

/** What the command `tidegate` prints; it has to do well. */
async function tidegate(...words) {
  const child = spawn(TIDEGATE, words, { env: { ...slurm.env, TIDEGATE_TOKEN: server.key }, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (text) => (said += text));
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`tidegate ${words.join(" ")} ended with ${code}`);
  return said;
}

async function must(id, command, more) {
  const answer = await cluster.send(id, command, more);
  if (answer.status !== 200) throw new Error(`${id}: ${JSON.stringify(answer.body)}`);
}

/** Jobs of several users note things in the same files. */
function makeRoom() {
  chmodSync(folder, 0o755);
  for (const name of ["jobs", "gpus", "starts", "ends", "people"]) {
    mkdirSync(file(name));
    chmodSync(file(name), 0o777);
  }
  const gpus = NODES.flatMap((node) => Array.from({ length: GPUS }, (_, gpu) => file("gpus", `${node}-${gpu}`)));
  for (const path of [file("double"), file("begun"), ...gpus]) {
    writeFileSync(path, "");
    chmodSync(path, 0o666);
  }
}

async function begin() {
  buildProgram();
  makeRoom();
  // What is built while this runs is not what it began with.
  copyFileSync(PROGRAM, TIDEGATE);
  slurm = await new Slurm(file("slurm")).start();
  server = await new Server().start();
  const settings = { grace_period_ms: 3_000 };
  cluster = await server.cluster("lab").foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    ...["team", "guest"].map((quota) => ({ create_quota: { quota, groups: ["machines"], min: {}, settings } })),
    { put_workspace: { workspace: "research" } },
    ...["team", "guest"].map((quota) => ({ attach_quota: { workspace: "research", quota } })),
    { put_member: { workspace: "research", user: "nobody", roles: ["developer"] } },
  ]);
  slurm.plug(await tidegate("slurm", "setup", "--partition", "all", "--adopt-folder", shared));
  await slurm.kill("slurmctld");
  slurm.startController();
  const joins = ["--groups", "machines", "--state", state, "--slurm", "--partition", "all", "--adopts", "research"];
  await tidegate("agent", "join", server.url, "--cluster", "lab", "--name", "slurm", ...joins);
  await must("scale", { scale_quotas: { targets: [{ quota: "team", min: { gpu: NODES.length * GPUS * 1000 } }] } });
  startAgent();
}

/** What it is called here: people's own have a name of Slurm's making. */
const nameOf = ({ spec }) => (spec.id.startsWith("job-") ? spec.id : spec.name.replace(/\.sh$/, ""));

const jobs = () => jobsOf(cluster);

/** What each job was meant to do, the jobs that sbatch acknowledged and when, and what became of sbatch's others. */
const lives = new Map(), acknowledged = new Map();
let n_submitted = 0, n_unanswered = 0;

async function submit() {
  const number = n_submitted++;
  const life = MIX[below(MIX.length)];
  const gpus = [1, 1, 2, GPUS][below(4)];
  if (below(3) === 0) return submitAsPeople(`people-${number}`, life, gpus);
  const name = `job-${number}`;
  lives.set(name, life);
  const pods = [{ amount: { gpu: gpus * 1000 }, count: below(5) === 0 ? 2 : 1 }];
  const submit_job = { job: name, quota: "team", pods, fault_tolerance: { max_restarts: 1000 } };
  return must(name, { submit_job }, { script: { format: 1, command: ["bash", "-c", script(name, life)] } });
}

/** By sbatch, as somebody without rights; half of them run on what others leave idle. */
async function submitAsPeople(name, life, gpus) {
  const path = file("people", `${name}.sh`);
  writeFileSync(path, `#!/bin/bash\n${script(name, life)}\n`, { mode: 0o755 });
  lives.set(name, life);
  const whose = below(2) === 0 ? ["--account=ml"] : ["--account=guests", "--comment=tidegate: idle=only"];
  const words = ["sbatch", "--parsable", `--output=${file("people", `${name}.out`)}`, `--gres=gpu:${gpus}`, ...whose, `--chdir=${file("people")}`, path];
  const { code } = await slurm.ask(...NOBODY, ...words);
  // Who gets no answer does not know whether the job is there; if it is, it runs as any other.
  if (code === 0) acknowledged.set(name, Date.now());
  else n_unanswered += 1;
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

/** Cancels that were accepted, or that Slurm was asked for, with when; and how long each took. */
const cancelled = new Map(), took = [];

/** Ends what would not end by itself, and now and then something else: in Tidegate, or where people have submitted it. */
async function cancelSome(running) {
  for (const job of running) {
    const name = nameOf(job);
    const earlier = cancelled.get(name);
    const isDue = below(lives.get(name) === "stays" ? 6 : 60) === 0;
    if (earlier ? earlier.by !== "scancel" || Date.now() - earlier.last < AGAIN_MS : !isDue) continue;
    const isScancel = earlier ? true : name.startsWith("people-") && below(2) === 0;
    cancelled.set(name, { by: isScancel ? "scancel" : "tidegate", at: earlier?.at ?? Date.now(), last: Date.now() });
    if (isScancel) await slurm.ask(...NOBODY, "scancel", `--name=${name}.sh`, "--user=nobody");
    else await must(`cancel-${name}`, { cancel_job: { job: job.spec.id } });
  }
}

const has = (all, wanted) => all.filter((job) => phase(job) === wanted);
const lines = (...names) => (existsSync(file(...names)) ? readFileSync(file(...names), "utf8").trim().split("\n").filter(Boolean) : []);

/** How the jobs ended, by their names. */
const outcomes = new Map();
function note(ended) {
  for (const job of ended.filter((job) => !outcomes.has(nameOf(job)))) {
    const { outcome } = job.phase.ended;
    const name = nameOf(job);
    outcomes.set(name, typeof outcome === "string" ? outcome : `${Object.keys(outcome)[0]} (${Object.values(outcome)[0].reason ?? ""})`);
    if (outcomes.size % 50 === 0) console.log(`${outcomes.size} of ${n_wanted} have ended`);
    if (cancelled.has(name)) took.push(Date.now() - cancelled.get(name).at);
  }
}

function look() {
  findings.push(...lines("double"));
  for (const name of readdirSync(file("starts"))) {
    const started = lines("starts", name);
    const twice = started.filter((line, at) => started.indexOf(line) !== at);
    findings.push(...twice.map((line) => `${name} started twice: run ${line.replace(" ", ", rank ")}`));
  }
  for (const [name, outcome] of outcomes) {
    const by = cancelled.get(name)?.by;
    if (by && outcome !== "cancelled" && lines("ends", name).length === 0) {
      findings.push(`${name} was cancelled (${by}) and has not come to its own end, and is said to have ended so: ${outcome}`);
    }
    if (by === "scancel" && outcome.startsWith("failed (signal")) findings.push(`${name} was cancelled by scancel, and is said to have ${outcome}`);
    if (!by && outcome === "cancelled" && name.startsWith("job-")) findings.push(`${name} is said to be cancelled, and nobody has done that`);
    if (lives.get(name) !== "stays" && outcome === "succeeded" && lines("ends", name).length === 0) findings.push(`${name} is said to have succeeded, and has not come to its end`);
  }
}

/** A cancel that has changed nothing, with how long before or after it the job's pods came to their own ends. */
function withoutEffect(name) {
  const { by, at } = cancelled.get(name);
  const ends = lines("ends", name).map((line) => `run and rank ${line.replace(/ \d+$/, (ms) => `: ${Number(ms) - at} ms`)}`);
  return `the cancel of ${name} (${lives.get(name)}, by ${by}) has changed nothing, it has ${outcomes.get(name)}; its own ends: ${ends.join(", ")}`;
}

/** Jobs that Slurm has said to have, and that are not known yet. */
function untaken(all) {
  const known = new Set(all.map(nameOf));
  return [...acknowledged].filter(([name, at]) => !known.has(name) && !outcomes.has(name) && Date.now() - at < TAKEN_MS);
}

/** What waits is shown with what holds it up, such as the pause after its evictions; then somebody cancels it. */
async function endHeldUp(job) {
  const { body } = await cluster.get(`jobs/${job.spec.id}/why`);
  console.log(`${nameOf(job)} is held up: ${body.reason}`);
  cancelled.set(nameOf(job), { by: "tidegate", at: Date.now(), last: Date.now() });
  await must(`late-${nameOf(job)}`, { cancel_job: { job: job.spec.id } });
}

/** Ends when all have been submitted and have ended, or when nothing goes on any more. */
async function play() {
  let changed = Date.now(), nextKill = Date.now() + 2_000, isOver = false;
  const killing = (async () => {
    while (!isOver) {
      await pause(100);
      if (Date.now() >= nextKill && n_submitted < n_wanted && !IS_CALM) {
        await killOne();
        await resume();
        nextKill = Date.now() + 2_000 + 8_000 * draw();
      }
    }
  })();
  for (;;) {
    const all = await jobs();
    const n_before = outcomes.size;
    note(has(all, "ended"));
    if (outcomes.size !== n_before) changed = Date.now();
    const n_open = all.length - has(all, "ended").length + untaken(all).length;
    if (n_submitted >= n_wanted && n_open === 0) break;
    if (Date.now() - changed > (n_submitted >= n_wanted ? REST_MS : STANDSTILL_MS)) {
      const waiting = has(all, "queued").filter((job) => !cancelled.has(nameOf(job)));
      if (waiting.length === 0) break;
      for (const job of waiting) await endHeldUp(job);
      changed = Date.now();
    }
    for (let open = n_open; open < OPEN_MAX && n_submitted < n_wanted; open++) await submit();
    await cancelSome(has(all, "running"));
    if (n_submitted >= n_wanted) await resume();
    await pause(500);
  }
  isOver = true;
  await killing;
}

/** What Slurm still has when its agent has had the time to hear what is over: of a job that waits it hears when it asks next. */
async function leftInSlurm() {
  for (const begin = Date.now(); ; await pause(1_000)) {
    const { said } = await slurm.ask("squeue", "--noheader", "--states=PENDING,RUNNING,COMPLETING", "--format=%i %T %r %j %k");
    const left = said.trim().split("\n").filter(Boolean);
    if (left.length === 0 || Date.now() - begin > HEARD_MS) return left;
  }
}

/** How long it took from the decision that granted a run to its processes: the run's number is the revision of that event. */
async function untilBegun() {
  const entries = await cluster.entries();
  const decided = (run) => entries.find(({ revision }) => revision >= Number(run.split("-")[1])).at;
  const took = lines("begun").map((line) => line.split(" ")).map(([run, at]) => Number(at) - decided(run));
  took.sort((one, other) => one - other);
  const rank = (percent) => took[Math.min(took.length - 1, Math.floor((took.length * percent) / 100))];
  return `p50 ${rank(50)} ms, p95 ${rank(95)} ms, longest ${took.at(-1)} ms of ${took.length}`;
}

/** Every job that has not ended is shown, with what holds it up; Slurm has none any more. */
async function tell(all, seconds) {
  const counts = {};
  for (const outcome of outcomes.values()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const n_starts = readdirSync(file("starts")).reduce((sum, name) => sum + lines("starts", name).length, 0);
  const [known, forgotten] = [[...outcomes.keys()].filter((name) => name.startsWith("people-")), [...acknowledged.keys()].filter((name) => !outcomes.has(name))];
  const by = (who) => [...cancelled.values()].filter((one) => one.by === who).length;
  const isOwn = (name) => cancelled.has(name) && outcomes.get(name) !== "cancelled" && outcomes.has(name);
  const isForgotten = (name) => !cancelled.has(name) && outcomes.get(name) === "cancelled";
  const count = (is) => [...outcomes.keys()].filter(is).length;
  took.sort((one, other) => one - other);
  console.log(`${outcomes.size} jobs, ${known.length} of them by sbatch, ${n_starts} starts of pods, in ${seconds} s; killed: ${JSON.stringify(killed)}, ${n_agents} agents; seed ${SEED}`);
  console.log(`from decision to process: ${await untilBegun()}`);
  console.log(`ended: ${JSON.stringify(counts)}`);
  console.log(`sbatch without an answer: ${n_unanswered}; acknowledged by Slurm and forgotten by it: ${forgotten.length} before anybody has seen them, ${count(isForgotten)} later, which are cancelled`);
  console.log(`cancelled: ${by("tidegate")} in Tidegate, ${by("scancel")} by scancel, of which ${count(isOwn)} had come to their own end before they heard of it; until the end: median ${took[took.length >> 1]} ms, longest ${took.at(-1)} ms`);
  for (const name of [...outcomes.keys()].filter(isOwn)) console.log(withoutEffect(name));
  for (const job of all.filter((job) => phase(job) !== "ended")) {
    const why = await cluster.get(`jobs/${job.spec.id}/why`);
    findings.push(`${nameOf(job)} (${lives.get(nameOf(job))}) has not ended, it is ${phase(job)}: ${JSON.stringify(why.body).slice(0, 400)}`);
  }
  findings.push(...(await leftInSlurm()).map((line) => `Slurm still has ${line}`));
}

const started = Date.now();
try {
  await begin();
  await play();
  const all = await jobs();
  look();
  await tell(all, Math.round((Date.now() - started) / 1000));
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
