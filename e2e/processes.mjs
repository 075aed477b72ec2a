// What tests of jobs that are real processes look at: the cluster's object, and this computer's processes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");

/** The command `tidegate`. */
export const PROGRAM = join(resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target"), "debug/tidegate");

/** Builds that command. */
export function buildProgram() {
  execFileSync("cargo", ["build", "--quiet", "--locked", "--bin", "tidegate"], { cwd: ROOT, stdio: "inherit" });
}

/** A port of this computer on which nobody listens. */
export const freePort = () =>
  new Promise((found) => {
    const socket = createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => found(port));
    });
  });

/** All jobs as the cluster's object has them now. */
export async function jobs(cluster) {
  const { body } = await cluster.get("hash");
  return (await cluster.get(`snapshot?min_revision=${body.revision}`)).body.jobs.map(([, job]) => job);
}

/** The one of this name. */
export const job = async (cluster, name) => (await jobs(cluster)).find(({ spec }) => spec.id === name);

/** Queued, starting, running, stopping or ended. */
export function phase({ phase, run }) {
  const [name] = Object.keys(phase);
  return name === "running" && !run.confirmed ? "starting" : name;
}

/** Waits until something is so; what it is then. */
export async function until(what, patienceMs, look) {
  const end = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) assert.fail(`not in time: ${what}`);
    await pause(50);
  }
}

/** Whether a process is there, even if it has ended and nobody has waited for it. */
export function lives(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The living processes with this in their environment, such as `TIDEGATE_JOB=train`. */
export function processesWith(entry) {
  return pids().filter((pid) => toldTo(pid, "environ").split("\0").includes(entry));
}

/** Ends the runs of an agent whose state is in this folder: supervisors and jobs live on without it. */
export function endProcessesOf(folder) {
  for (const pid of pids().filter((pid) => `${toldTo(pid, "cmdline")}${toldTo(pid, "environ")}`.includes(folder))) end(pid);
}

/** Ends a process, unless it has ended meanwhile, as a job does with its supervisor. */
export function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

const pids = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);

/** What a process was told, as `cmdline` or `environ`; nothing of one that has ended. */
function toldTo(pid, what) {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "utf8");
  } catch {
    return "";
  }
}
