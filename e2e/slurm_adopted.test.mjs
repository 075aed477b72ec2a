// People's own jobs on a Slurm cluster: what they submit with sbatch waits until Tidegate starts it. The Worker in its
// runtime, an agent, Slurm's own daemons with the printed plugin, and what the jobs themselves have written.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { PROGRAM, buildProgram, job as jobOf, phase, until as untilWithin } from "./processes.mjs";
import { Server } from "./server.mjs";
import { GPUS, NODES, Slurm, hindrance } from "./slurmd.mjs";

/** How long anything may take here. */
const PATIENCE_MS = 60_000;
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

describe("people's own jobs on a Slurm cluster", { skip: hindrance() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-adopted-"));
  const state = join(folder, "agent");
  const shared = join(folder, "shared");
  const file = (name) => join(folder, "out", name);
  let server, cluster, slurm, agent;

  before(async () => {
    buildProgram();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "out"));
    chmodSync(join(folder, "out"), 0o777);
    slurm = await new Slurm(join(folder, "slurm")).start();
    server = await new Server().start();
    cluster = await server.cluster("lab").foundBy([
      { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
      { put_group: { group: "machines", resource_type: "lingjun" } },
      { create_quota: { quota: "team", groups: ["machines"], min: {}, settings: { grace_period_ms: 15_000 } } },
      { create_quota: { quota: "guest", groups: ["machines"], min: {}, settings: { grace_period_ms: 15_000 } } },
      { put_workspace: { workspace: "research" } },
      { put_workspace: { workspace: "other" } },
      { attach_quota: { workspace: "research", quota: "team" } },
      { attach_quota: { workspace: "research", quota: "guest" } },
      { put_member: { workspace: "research", user: "nobody", roles: ["developer"] } },
    ]);
  });
  afterEach(async () => {
    if (agent) await killed();
  });
  after(async () => {
    agent?.kill("SIGKILL");
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
    const table = ["--adopt=ml=research/team", "--adopt=guests=research/guest", "--adopt=others=other/team"];
    agent = spawn(PROGRAM, ["agent", "run", "--slurm", "--state", state, "--allow-root", "--adopt-folder", shared, ...table], { env: slurm.env, stdio: ["ignore", "ignore", "pipe"] });
    agent.said = "";
    agent.stderr.on("data", (text) => (agent.said += text));
    agent.ended = new Promise((done) => agent.once("exit", done));
  }

  async function killed() {
    agent.kill("SIGKILL");
    await agent.ended;
    agent = undefined;
  }

  const until = async (what, look) => {
    try {
      return await untilWithin(what, PATIENCE_MS, look);
    } catch (error) {
      throw new Error(`${error.message}\n${agent?.said}\n${(await slurm.ask("squeue", "--states=all", "--format=%i|%T|%r|%N|%k")).said}\n${await slurm.complaints()}`, { cause: error });
    }
  };
  const lines = (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8").trim().split("\n") : []);
  const asNobody = (...words) => slurm.ask(...NOBODY, ...words);
  const queue = async (id, what) => (await slurm.ask("squeue", "--noheader", "--states=all", `--jobs=${id}`, `--format=${what}`)).said.trim();

  /** Submits a script as somebody without rights; what Slurm says. */
  async function sbatch(name, text, ...options) {
    const script = file(`${name}.sh`);
    writeFileSync(script, `#!/bin/bash\necho $$ $TIDEGATE_RUN >> ${file(`${name}.starts`)}\n${text}\n`, { mode: 0o755 });
    return asNobody("sbatch", "--parsable", `--output=${file(`${name}.out`)}`, "--gres=gpu:4", "--account=ml", `--chdir=${join(folder, "out")}`, ...options, script, "a word");
  }

  /** The same of one that Slurm takes: its number, and its name in Tidegate. */
  async function submitted(name, text, ...options) {
    const { code, said } = await sbatch(name, text, ...options);
    assert.equal(code, 0, said);
    const id = said.trim();
    const mark = /^tidegate-held ([0-9a-f]{32}) /.exec(await queue(id, "%k"))[1];
    return { id, job: `slurm-${id}-${mark.slice(0, 8)}` };
  }

  const phaseOf = async (name) => ((job) => job && phase(job))(await jobOf(cluster, name));
  const reaches = (name, wanted) => until(`${name} is ${wanted}`, async () => (await phaseOf(name)) === wanted);
  const outcome = async (name) => (await jobOf(cluster, name)).phase.ended.outcome;

  test("the printed plugin holds jobs, and says at once what it cannot take", async () => {
    const wrong = await tidegate("slurm", "setup", "--partition", "all", "--adopt-folder", "some where");
    assert.match(wrong.said, /--adopt-folder some where: write a whole path/);
    const { code, said } = await tidegate("slurm", "setup", "--partition", "all", "--adopt-folder", shared);
    assert.equal(code, 0, said);
    slurm.plug(said);
    await slurm.kill("slurmctld");
    slurm.startController();
    await until("it answers", async () => (await slurm.ask("sinfo")).code === 0);
    for (const [options, words] of [
      [["--gres=gpu:0"], /ask for GPUs with --gres=gpu:N/],
      [["--nodes=2"], /a job has one node/],
      [["--nodelist=n1"], /it takes no jobs with req_nodes/],
      [["--cpus-per-task=9"], /4 GPUs have 8 CPUs, and it asks for 9/],
      [["--mem=2000"], /4 GPUs have 1000 MiB of memory, and it asks for 2000/],
      [["--array=1-2"], /it takes no jobs with array_inx/],
    ]) {
      const { said } = await sbatch("refused", "true", ...options);
      assert.match(said, words);
    }
    const { id } = await submitted("held", "true");
    assert.match(await queue(id, "%T %r"), /^PENDING JobHeld/);
    for (const words of [["release", id], ["update", `jobid=${id}`, "priority=100"], ["update", `jobid=${id}`, "requeue=1"], ["update", `jobid=${id}`, "comment=mine"], ["requeue", id], ["top", id]]) {
      const { code, said } = await asNobody("scontrol", ...words);
      assert.notEqual(code, 0, `${words.join(" ")}: ${said}`);
    }
    assert.match(await queue(id, "%T %r %k"), /^PENDING JobHeld\w+ tidegate-held [0-9a-f]{32} requeue=1$/);
    await slurm.must("scancel", id);
  });

  test("an agent adopts for the workspaces that its key names", async () => {
    const join = ["agent", "join", server.url, "--cluster", "lab", "--name", "slurm", "--groups", "machines", "--state", state, "--slurm", "--partition", "all"];
    const wrong = await tidegate(...join, "--adopts", "none-such");
    assert.match(wrong.said, /there is no workspace none-such/);
    const { code, said } = await tidegate(...join, "--adopts", "research");
    assert.equal(code, 0, said);
    const scaled = await cluster.send("scale", { scale_quotas: { targets: [{ quota: "team", min: { gpu: NODES.length * GPUS * 1000 } }] } });
    assert.equal(scaled.status, 200, JSON.stringify(scaled.body));
  });

  test("a job that people submit runs once, as its user, when Tidegate starts it", async () => {
    started();
    const { id, job } = await submitted("first", `echo "$(id -u) $1 $PWD $CUDA_VISIBLE_DEVICES $TIDEGATE_NODE" > ${file("first.says")}\nuntil [ -e ${file("first.go")} ]; do sleep 0.1; done\necho printed; exit 3`, "--comment=tidegate: priority=4", "--time=60");
    await reaches(job, "running");
    const { spec, run } = await jobOf(cluster, job);
    assert.deepEqual([spec.user, spec.workspace, spec.priority, spec.duration_ms, spec.name], ["nobody", "research", 4, 3_600_000, "first.sh"]);
    assert.match(lines("first.says")[0], new RegExp(`^65534 a word ${folder}/out \\d,\\d,\\d,\\d n[12]$`));
    assert.match(await queue(id, "%T %N %k"), /^RUNNING (n[12]) tidegate-held [0-9a-f]+ minutes=60 requeue=1 run=0-\d+ node=\1 store=[0-9a-f]+ tidegate: priority=4$/);
    assert.ok(run.confirmed);
    writeFileSync(file("first.go"), "");
    await reaches(job, "ended");
    assert.deepEqual(await outcome(job), { failed: { reason: "exit code 3" } });
    assert.equal(lines("first.starts").length, 1);
    assert.deepEqual(lines("first.out"), ["printed"]);
  });

  test("who may not submit it in Tidegate is told why by Slurm", async () => {
    started();
    for (const [account, words] of [
      ["strangers", /not taken: account strangers has no workspace in Tidegate/],
      ["others", /not taken: nobody may have jobs adopted only for the workspaces that the agent's key names/],
    ]) {
      const { id } = await submitted(account, "true", `--account=${account}`);
      await until(`${account} is told why`, async () => words.test(await queue(id, "%k")));
      assert.match(await queue(id, "%T %r"), /^PENDING JobHeld/);
      await slurm.must("scancel", id);
    }
    const { id } = await submitted("typo", "true", "--comment=tidegate: prio=4");
    await until("the typo is named", async () => /not taken: prio=4 is not understood; write priority=1 to 9/.test(await queue(id, "%k")));
    await slurm.must("scancel", id);
  });

  test("one that waits is explained, and whoever cancels it ends it on both sides", async () => {
    started();
    const first = await submitted("fills-1", "sleep 600");
    const second = await submitted("fills-2", "sleep 600");
    for (const { job } of [first, second]) await reaches(job, "running");
    const third = await submitted("waits-3", "true");
    const fourth = await submitted("waits-4", "true");
    for (const { job } of [third, fourth]) await reaches(job, "queued");
    const why = await cluster.get(`jobs/${third.job}/why`);
    assert.equal(why.status, 200, JSON.stringify(why.body));
    assert.match(JSON.stringify(why.body), /GPU/);
    assert.match(await queue(third.id, "%T %r"), /^PENDING JobHeld/);
    // Its user cancels the one in Slurm, somebody the other in Tidegate.
    assert.equal((await asNobody("scancel", third.id)).code, 0);
    await reaches(third.job, "ended");
    assert.equal(await outcome(third.job), "cancelled");
    await cluster.send("cancel-fourth", { cancel_job: { job: fourth.job } });
    await until("it has left Slurm", async () => (await queue(fourth.id, "%T")) === "CANCELLED");
    // And so of those that run.
    assert.equal((await asNobody("scancel", first.id)).code, 0);
    await reaches(first.job, "ended");
    assert.equal(await outcome(first.job), "cancelled");
    await cluster.send("cancel-second", { cancel_job: { job: second.job } });
    await reaches(second.job, "ended");
    await until("it has left Slurm", async () => !/PENDING|RUNNING|COMPLETING/.test(await queue(second.id, "%T")));
    assert.deepEqual([lines("waits-3.starts"), lines("waits-4.starts")], [[], []]);
  });

  test("inference by sbatch takes back what training by sbatch had borrowed, which resumes from its checkpoint", async () => {
    started();
    const training = `step=$(cat ${file("lends.saved")} 2> /dev/null || echo 0)
save() { echo $step > ${file("lends.saved")}; echo done > $TIDEGATE_CHECKPOINT; }
trap save USR1; trap 'exit 0' TERM
while :; do step=$((step + 1)); echo $step > ${file("lends.step")}; sleep 0.1; done`;
    const lends = await submitted("lends", training, "--account=guests", "--comment=tidegate: idle=only checkpoint=USR1");
    await reaches(lends.job, "running");
    await until("it has done a few steps", () => Number(lines("lends.step")[0]) > 3);
    const go = `until [ -e ${file("serves.go")} ]; do sleep 0.1; done`;
    const serves = [await submitted("serves-1", go), await submitted("serves-2", go)];
    for (const { job } of serves) await reaches(job, "running");
    await reaches(lends.job, "queued");
    const saved = Number(lines("lends.saved")[0]);
    assert.ok(saved > 3);
    await until("it waits in Slurm too", async () => /^PENDING .*(Held|held)/.test(await queue(lends.id, "%T %r")));
    // An agent that was killed finds all of it again.
    await killed();
    started();
    writeFileSync(file("serves.go"), "");
    for (const { job } of serves) await reaches(job, "ended");
    await reaches(lends.job, "running");
    await until("it goes on", () => Number(lines("lends.step")[0]) > saved);
    assert.equal(lines("lends.starts").length, 2);
    await cluster.send("cancel-lends", { cancel_job: { job: lends.job } });
    await reaches(lends.job, "ended");
  });
});
