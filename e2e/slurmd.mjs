// A Slurm cluster of this computer: its controller, two nodes and munge, in a folder of its own, on ports of its own.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "./processes.mjs";

const DAEMONS = ["slurmctld", "slurmd", "munged", "sbatch", "squeue"];
export const NODES = ["n1", "n2"];
export const GPUS = 4;
/** How long the daemons may take to be there. */
const START_MS = 30_000;

/** Why there can be no Slurm cluster here; nothing if there can be one. */
export function hindrance() {
  if (process.getuid() !== 0) return "slurmd has to be started by root";
  const missing = DAEMONS.filter((name) => !isThere(name));
  return missing.length > 0 && `not on this machine: ${missing.join(", ")} (packages slurmctld, slurmd, slurm-client, munge)`;
}

function isThere(name) {
  try {
    return Boolean(execFileSync("sh", ["-c", `command -v ${name}`], { env: PATH() }));
  } catch {
    return false;
  }
}

const PATH = () => ({ ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` });

export class Slurm {
  constructor(folder) {
    this.folder = folder;
    // Below the ports that this computer gives out by itself.
    this.port = 18_000 + 20 * (process.pid % 600);
    this.daemons = new Map();
    mkdirSync(folder);
    mkdirSync(join(folder, "state"));
    writeFileSync(join(folder, "munge.key"), randomBytes(64), { mode: 0o600 });
    const gpus = [];
    // Slurm asks that GPUs are devices; which ones does not matter to it.
    for (const node of NODES) {
      mkdirSync(join(folder, `spool-${node}`));
      for (let gpu = 0; gpu < GPUS; gpu++) symlinkSync("/dev/null", join(folder, `${node}-gpu${gpu}`));
      gpus.push(`NodeName=${node} Name=gpu File=${folder}/${node}-gpu[0-${GPUS - 1}] Flags=nvidia_gpu_env`);
    }
    writeFileSync(join(folder, "gres.conf"), `${gpus.join("\n")}\n`);
    this.configure();
    this.env = { ...PATH(), SLURM_CONF: join(folder, "slurm.conf") };
  }

  /** Has jobs pass this plugin when they are submitted or changed. */
  plug(text) {
    writeFileSync(join(this.folder, "job_submit.lua"), `${text}\n`);
    appendFileSync(join(this.folder, "slurm.conf"), "JobSubmitPlugins=lua\n");
  }

  /** Writes slurm.conf, with a partition of all nodes, or with these lines of partitions. */
  configure(partitions = [`PartitionName=all Nodes=${NODES.join(",")} Default=YES MaxTime=INFINITE State=UP`]) {
    const at = (name) => join(this.folder, name);
    const node = (name, index) =>
      `NodeName=${name} NodeHostname=localhost NodeAddr=127.0.0.1 Port=${this.port + 1 + index} CPUs=8 RealMemory=1000 Gres=gpu:${GPUS} State=UNKNOWN`;
    const lines = [
      "ClusterName=e2e", "SlurmctldHost=localhost(127.0.0.1)", `SlurmctldPort=${this.port}`, `SrunPortRange=${this.port + 5}-${this.port + 18}`,
      `AuthInfo=socket=${at("munge.sock")}`, "SlurmUser=root", "SlurmdUser=root",
      `StateSaveLocation=${at("state")}`, `SlurmdSpoolDir=${at("spool-%n")}`, `SlurmctldPidFile=${at("ctld.pid")}`, `SlurmdPidFile=${at("d-%n.pid")}`,
      "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
      "SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0", "ReturnToService=2", "GresTypes=gpu", "MpiDefault=none",
      "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none", "KillWait=5", "SlurmdParameters=config_overrides",
      "SlurmdTimeout=30", ...NODES.map(node), ...partitions,
    ];
    writeFileSync(at("slurm.conf"), `${lines.join("\n")}\n`);
  }

  async start() {
    const at = (name) => join(this.folder, name);
    chmodSync(this.folder, 0o755);
    this.daemon("munged", "munged", ["--foreground", "--force", `--key-file=${at("munge.key")}`, `--socket=${at("munge.sock")}`, `--pid-file=${at("munged.pid")}`, `--log-file=${at("munged.log")}`, `--seed-file=${at("munge.seed")}`]);
    await pause(300);
    this.startController();
    for (const node of NODES) this.startNode(node);
    await until("Slurm has its nodes", START_MS, async () => {
      const { said } = await this.ask("sinfo", "--Node", "--noheader", "--format=%T");
      return said.trim().split("\n").filter((state) => state === "idle").length === NODES.length;
    });
    return this;
  }

  startController() {
    this.daemon("slurmctld", "slurmctld", ["-D", "-i"]);
  }

  startNode(node) {
    this.daemon(`slurmd-${node}`, "slurmd", ["-D", "-N", node]);
  }

  daemon(name, program, words) {
    const child = spawn(program, words, { env: this.env, stdio: ["ignore", "ignore", "pipe"], cwd: this.folder });
    child.said = "";
    child.stderr.on("data", (text) => (child.said += text));
    child.ended = new Promise((done) => child.once("exit", done));
    this.daemons.set(name, child);
  }

  async kill(name) {
    const child = this.daemons.get(name);
    child.kill("SIGKILL");
    await child.ended;
    this.daemons.delete(name);
  }

  /** What the controller knew is lost, as when it is killed before it has stored that; it goes on with this number. */
  forget(number) {
    appendFileSync(join(this.folder, "slurm.conf"), `FirstJobId=${number}\n`);
    rmSync(join(this.folder, "state"), { recursive: true });
    mkdirSync(join(this.folder, "state"));
  }

  /** What a command of Slurm says. */
  ask(program, ...words) {
    return new Promise((done) => {
      execFile(program, words, { env: this.env, timeout: START_MS }, (error, stdout, stderr) => done({ code: error ? error.code : 0, said: `${stdout}${stderr}` }));
    });
  }

  async must(program, ...words) {
    const { code, said } = await this.ask(program, ...words);
    assert.equal(code, 0, `${program} ${words.join(" ")}: ${said}`);
    return said.trim();
  }

  /** What went wrong, for who reads a failed test. */
  async complaints() {
    const seen = [await this.ask("squeue", "--states=all", "--format=%i %T %r %N %j"), await this.ask("sinfo", "--Node", "--format=%N %T %E")];
    const daemons = [...this.daemons].map(([name, { said }]) => `== ${name}\n${said.split("\n").slice(-8).join("\n")}`);
    return [...seen.map(({ said }) => said), ...daemons].join("\n");
  }

  async stop() {
    await this.ask("scancel", "--signal=KILL", "--full", "--state=RUNNING");
    await this.ask("scancel", "--user=root");
    await pause(1_000);
    for (const name of [...this.daemons.keys()].reverse()) await this.kill(name);
  }
}
