// Jobs on a Slurm cluster: the Worker in its runtime, an agent, Slurm's own daemons, and what the jobs themselves have written.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM, buildProgram, job as jobOf, lives, phase, until as untilWithin } from "./processes.mjs";
import { Server } from "./server.mjs";
import { GPUS, NODES, Slurm, hindrance } from "./slurmd.mjs";

/** How long anything may take here. */
const PATIENCE_MS = 60_000;

describe("on a Slurm cluster", { skip: hindrance() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-slurm-"));
  const state = join(folder, "agent");
  const agents = new Set();
  let server, cluster, slurm;

  before(async () => {
    buildProgram();
    // Another account reads where Slurm's controller is.
    chmodSync(folder, 0o755);
    slurm = await new Slurm(join(folder, "slurm")).start();
    server = await new Server().start();
    cluster = await server.cluster("lab").foundBy([
      { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }, { name: "cpu", kind: "cpu" }], execution: "reported" } },
      { put_group: { group: "machines", resource_type: "lingjun" } },
    ]);
  });
  // What a failed test leaves is not the next one's.
  afterEach(async () => {
    for (const agent of [...agents]) await killed(agent);
  });
  after(async () => {
    for (const agent of agents) agent.kill("SIGKILL");
    await slurm?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function tidegate(...args) {
    const env = { ...slurm.env, TIDEGATE_TOKEN: server.key };
    return new Promise((done) => {
      execFile(PROGRAM, args, { env, timeout: PATIENCE_MS }, (error, stdout, stderr) => done({ code: error ? error.code : 0, said: `${stdout}${stderr}` }));
    });
  }

  function started() {
    const agent = spawn(PROGRAM, ["agent", "run", "--slurm", "--state", state, "--allow-root"], { env: slurm.env, stdio: ["ignore", "ignore", "pipe"] });
    agents.add(agent);
    agent.said = "";
    agent.stderr.on("data", (text) => (agent.said += text));
    agent.ended = new Promise((done) => agent.once("exit", (code) => (agents.delete(agent), done(code))));
    return agent;
  }

  async function killed(agent) {
    agent.kill("SIGKILL");
    await agent.ended;
  }

  const said = async () => `${[...agents].map((agent) => agent.said).join("\n")}\n${await slurm.complaints()}`;
  const until = async (what, look) => {
    try {
      return await untilWithin(what, PATIENCE_MS, look);
    } catch (error) {
      throw new Error(`${error.message}\n${await said()}`, { cause: error });
    }
  };
  const job = (name) => jobOf(cluster, name);
  const reaches = (name, wanted) => until(`${name} is ${wanted}`, async () => phase(await job(name)) === wanted);
  const file = (name) => join(folder, name);
  const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8").trim().split("\n") : []);

  /** Submits a job that runs this in a shell. It notes the number of each process that it is started as. */
  async function submit(name, script, { gpus = GPUS, pods = 1, checkpoint, ...more } = {}) {
    const command = ["bash", "-c", `echo $$ >> ${file(`${name}.starts`)}\n${script}`];
    const pod = { amount: { gpu: gpus * 1000 }, count: pods };
    const submit_job = { job: name, quota: "team", pods: [pod], ...more };
    const sent = await cluster.send(name, { submit_job }, { script: { format: 1, command, environment: { WORD: "it's tide" }, checkpoint } });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
  }

  test("by the printed lines only the agent's group submits to the nodes", async () => {
    const asked = (...more) => tidegate("slurm", "setup", "--group", "root", ...more);
    assert.match((await asked("--nodes", "n9")).said, /Slurm has no node n9; look at: sinfo --Node/);
    const { code, said } = await asked();
    assert.equal(code, 0, said);
    assert.match(said, /# Take these out of partition all, .*: n1,n2\n/);
    slurm.configure(said.trim().split("\n"));
    await slurm.must("scontrol", "reconfigure");
    assert.equal(await slurm.must("sinfo", "--noheader", "--format=%R %N"), "tidegate n[1-2]");
    const nobody = await slurm.ask("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sbatch", "--partition=tidegate", "--wrap=true", "--output=/dev/null");
    assert.match(nobody.said, /group not permitted to use this partition/);
  });

  test("who joins for a Slurm cluster brings its nodes", async () => {
    const join = (...more) => tidegate("agent", "join", server.url, "--cluster", "lab", "--name", "slurm", "--groups", "machines", "--state", state, "--slurm", ...more);
    const wrong = await join("--partition", "none-such");
    assert.match(wrong.said, /Slurm has no nodes in partition none-such/);
    const { code, said } = await join("--partition", "tidegate");
    assert.equal(code, 0, said);
    assert.match(said, /2 nodes of Slurm with 8 GPUs, of which 2 are new or changed; start it with: tidegate agent run --slurm/);
    const { body } = await cluster.get("hash");
    const { nodes } = (await cluster.get(`snapshot?min_revision=${body.revision}`)).body;
    assert.deepEqual(nodes.map((node) => [node.id, node.amount]), NODES.map((node) => [node, [4_000, 8_000]]));
    const again = await tidegate("slurm", "mirror", "--groups", "machines", "--partition", "tidegate", "--state", state);
    assert.match(again.said, /slurm tells of 2 nodes of Slurm with 8 GPUs, of which 0 are new or changed/);
    const settings = { grace_period_ms: 20_000 };
    for (const [quota, min] of [["team", { gpu: 8_000 }], ["guest", {}]]) {
      const made = await cluster.send(`quota-${quota}`, { create_quota: { quota, groups: ["machines"], min, settings } });
      assert.equal(made.status, 200, JSON.stringify(made.body));
    }
  });

  test("a run starts once, prints, and ends with its exit code", async () => {
    const agent = started();
    const script = `echo "$WORD $TIDEGATE_JOB $TIDEGATE_NODE $CUDA_VISIBLE_DEVICES $WORLD_SIZE" >> ${file("counts.says")}\nuntil [ -e ${file("counts.go")} ]; do sleep 0.1; done\necho counted; echo to three >&2; exit 3`;
    await submit("counts", script, { gpus: 2 });
    await reaches("counts", "running");
    assert.match(lines("counts.says")[0], /^it's tide counts n1 \d,\d 1$/);
    assert.match(await slurm.must("squeue", "--noheader", "--format=%j|%T|%N|%P|%C|%k"), /^counts\.0-\d+\|RUNNING\|n1\|tidegate\|4\|tidegate [0-9a-f]+ 0-\d+ n1$/);
    // An sbatch that had no answer, and had made a job all the same, is made again.
    const [batch] = readdirSync(join(state, "runs")).map((run) => join(state, "runs", run, "batch-n1"));
    const second = await slurm.must("sbatch", "--parsable", "--partition=tidegate", "--output=/dev/null", batch);
    await until("the second one has ended", async () => !(await slurm.must("squeue", "--noheader", "--format=%i")).split("\n").includes(second));
    writeFileSync(file("counts.go"), "");
    await reaches("counts", "ended");
    assert.deepEqual((await job("counts")).phase.ended.outcome, { failed: { reason: "exit code 3" } });
    assert.equal(lines("counts.starts").length, 1);
    const log = await cluster.get("jobs/counts/log");
    assert.deepEqual([log.status, log.body.text], [200, "counted\nto three\n"], JSON.stringify(log.body));
    await killed(agent);
  });

  test("a command that is not there is the job's own fault", async () => {
    const agent = started();
    const submit_job = { job: "typo", quota: "team", pods: [{ amount: { gpu: 1_000 } }] };
    await cluster.send("typo", { submit_job }, { script: { format: 1, command: ["/no/such/program"] } });
    await reaches("typo", "ended");
    assert.match(JSON.stringify((await job("typo")).phase.ended.outcome), /no\/such\/program: there is no such command on n1/);
    await killed(agent);
  });

  test("pods on both nodes know each other, and the first that fails ends the run", async () => {
    const agent = started();
    const script = `echo "$RANK $LOCAL_RANK $WORLD_SIZE $MASTER_ADDR $TIDEGATE_NODE" >> ${file("pair.says")}\n[ "$RANK" = 1 ] && { until [ -e ${file("pair.go")} ]; do sleep 0.1; done; exit 7; }\nsleep 600`;
    await submit("pair", script, { gpus: GPUS, pods: 2 });
    await reaches("pair", "running");
    assert.deepEqual(lines("pair.says").sort(), ["0 0 2 n1 n1", "1 0 2 n1 n2"]);
    writeFileSync(file("pair.go"), "");
    await reaches("pair", "ended");
    assert.deepEqual((await job("pair")).phase.ended.outcome, { failed: { reason: "exit code 7" } });
    assert.equal(lines("pair.starts").length, 2);
    await killed(agent);
  });

  test("pods of a service leave and join as jobs of Slurm, while the others go on", async () => {
    const agent = started();
    const script = `echo "$RANK comes"; echo "$RANK $TIDEGATE_NODE" >> ${file("grows.pods")}
trap 'until [ -e ${file("grows.go")} ]; do sleep 0.1; done; for at in 1 2 3; do echo "$RANK goes" || exit 1; done; echo $RANK >> ${file("grows.gone")}; exit 0' TERM
while :; do sleep 0.1; done`;
    // A whole node each, so that each is a job of its own.
    await submit("grows", script, { gpus: GPUS, pods: 2, module: "EAS", min_pods: 1 });
    await reaches("grows", "running");
    await until("both are there", () => lines("grows.pods").length === 2);
    const starts = lines("grows.starts");
    await cluster.send("fewer", { resize_job: { job: "grows", pods: 1 } });
    await submit("heir", "sleep 600");
    await pause(3_000);
    assert.equal(phase(await job("heir")), "queued", "what leaves has its GPUs until it has gone");
    writeFileSync(file("grows.go"), "");
    await reaches("heir", "running");
    assert.deepEqual(lines("grows.gone"), ["1"]);
    assert.equal(phase(await job("grows")), "running");
    await cluster.send("cancel-heir", { cancel_job: { job: "heir" } });
    await reaches("heir", "ended");
    await cluster.send("more", { resize_job: { job: "grows", pods: 2, min_pods: 1 } });
    await until("a second one is there again", () => lines("grows.pods").length === 3);
    assert.deepEqual(lines("grows.starts").slice(0, 2), starts, "the first one has never been touched");
    assert.equal(phase(await job("grows")), "running");
    const queued = await slurm.must("squeue", "--noheader", "--format=%k %T");
    assert.deepEqual(queued.trim().split("\n").map((line) => line.replace(/^tidegate \S+ \S+ /, "")).sort(), ["n1 RUNNING", "n2+1 RUNNING"]);
    await cluster.send("cancel-grows", { cancel_job: { job: "grows" } });
    await reaches("grows", "ended");
    assert.equal(await slurm.must("squeue", "--noheader"), "");
    await killed(agent);
  });

  /** Counts up from its last checkpoint, and writes one when it is asked. */
  const training = (name) => `step=$(cat ${file(`${name}.saved`)} 2> /dev/null || echo 0); echo "from $step"
save() { echo $step > ${file(`${name}.saved`)}; echo done > $TIDEGATE_CHECKPOINT; }
trap save USR1; trap 'exit 0' TERM
while :; do step=$((step + 1)); echo $step > ${file(`${name}.step`)}; sleep 0.1; done`;

  test("a run that is cancelled writes its checkpoint, and its GPUs are free when Slurm has none of it", async () => {
    const agent = started();
    await submit("train", training("train"), { checkpoint: "SIGUSR1" });
    await reaches("train", "running");
    await until("it has done a few steps", () => Number(lines("train.step")[0]) > 3);
    await cluster.send("cancel-train", { cancel_job: { job: "train" } });
    await reaches("train", "ended");
    assert.ok(Number(lines("train.saved")[0]) > 3);
    assert.equal(await slurm.must("squeue", "--noheader"), "");
    await killed(agent);
  });

  test("an agent that is killed finds its runs again, and one that is away starts nothing twice", async () => {
    let agent = started();
    await submit("stays", `until [ -e ${file("stays.go")} ]; do sleep 0.1; done; echo stayed`);
    await reaches("stays", "running");
    await killed(agent);
    writeFileSync(file("stays.go"), "");
    await until("it has left Slurm", async () => (await slurm.must("squeue", "--noheader")) === "");
    agent = started();
    await reaches("stays", "ended");
    assert.equal((await job("stays")).phase.ended.outcome, "succeeded");
    assert.equal(lines("stays.starts").length, 1);
    await killed(agent);
  });

  test("inference takes back what training had borrowed, which resumes from its checkpoint", async () => {
    const agent = started();
    await submit("lends", training("lends"), { quota: "guest", pods: 2, checkpoint: "SIGUSR1", idle: "only", fault_tolerance: {} });
    await reaches("lends", "running");
    await until("it has done a few steps", () => Number(lines("lends.step")[0]) > 3);
    await submit("serves", `until [ -e ${file("serves.go")} ]; do sleep 0.1; done`);
    await reaches("serves", "running");
    assert.equal(phase(await job("lends")), "queued");
    const saved = Number(lines("lends.saved")[0]);
    assert.ok(saved > 3);
    writeFileSync(file("serves.go"), "");
    await reaches("serves", "ended");
    await reaches("lends", "running");
    await until("it goes on", () => Number(lines("lends.step")[0]) > saved);
    await cluster.send("cancel-lends", { cancel_job: { job: "lends" } });
    await reaches("lends", "ended");
    await killed(agent);
  });

  test("who cancels a job in Slurm ends its run", async () => {
    const agent = started();
    await submit("gone", "sleep 600");
    await reaches("gone", "running");
    await slurm.must("scancel", "--user=root");
    await reaches("gone", "ended");
    assert.deepEqual((await job("gone")).phase.ended.outcome, { failed: { reason: "signal 15" } });
    await killed(agent);
  });

  test("a node that Slurm drains is cordoned, and ready again when Slurm resumes it", async () => {
    const statusOf = async (name) => {
      const { body } = await cluster.get("hash");
      const { nodes } = (await cluster.get(`snapshot?min_revision=${body.revision}`)).body;
      return nodes.find(({ id }) => id === name).status;
    };
    await slurm.must("scontrol", "update", "nodename=n1", "state=drain", "reason=fan");
    const agent = started();
    await until("n1 is cordoned", async () => (await statusOf("n1")) === "cordoned");
    await submit("around", "sleep 0.1");
    await reaches("around", "ended");
    assert.equal((await job("around")).phase.ended.outcome, "succeeded");
    await slurm.must("scontrol", "update", "nodename=n1", "state=resume");
    await until("n1 is ready", async () => ((status) => !status || status === "ready")(await statusOf("n1")));
    await killed(agent);
  });

  test("slurmctld is killed and comes back: what runs goes on, what was to start does so once", async () => {
    const agent = started();
    await submit("before", `until [ -e ${file("before.go")} ]; do sleep 0.1; done`);
    await reaches("before", "running");
    await slurm.kill("slurmctld");
    await submit("meanwhile", "sleep 1");
    writeFileSync(file("before.go"), "");
    await pause(3_000);
    assert.equal(phase(await job("before")), "running", "nobody has said that its GPUs are free");
    slurm.startController();
    await reaches("before", "ended");
    await reaches("meanwhile", "ended");
    assert.equal((await job("before")).phase.ended.outcome, "succeeded");
    assert.equal((await job("meanwhile")).phase.ended.outcome, "succeeded");
    assert.deepEqual([lines("before.starts").length, lines("meanwhile.starts").length], [1, 1]);
    // Slurm gives the numbers of forgotten jobs again, and drains nodes that still know the first ones.
    await slurm.ask("scontrol", "update", `nodename=${NODES.join(",")}`, "state=resume");
    await killed(agent);
  });

  test("a run that Slurm has forgotten is ended, and told to be lost", async () => {
    const agent = started();
    await submit("forgotten", "sleep 600");
    await reaches("forgotten", "running");
    const [process] = lines("forgotten.starts").map(Number);
    const number = await slurm.must("squeue", "--noheader", "--format=%i");
    await slurm.kill("slurmctld");
    // Another number: a node that has heard of no end of a job takes none with its number, and is drained.
    slurm.forget(Number(number) + 1);
    slurm.startController();
    await until("its process is gone", () => !lives(process));
    // Its batch script may have been killed before it could tell its end: then nothing of it is seen for 45 seconds.
    await untilWithin("it was started again", 2 * PATIENCE_MS, () => lines("forgotten.starts").length === 2);
    const { run } = await job("forgotten");
    assert.ok(run);
    await cluster.send("cancel-forgotten", { cancel_job: { job: "forgotten" } });
    await reaches("forgotten", "ended");
    await killed(agent);
  });
});
