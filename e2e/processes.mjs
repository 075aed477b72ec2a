// What tests of jobs that are real processes look at: the cluster's object, and this computer's processes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** A job as the cluster's object has it now. */
export async function job(cluster, name) {
  const { body } = await cluster.get("hash");
  const snapshot = await cluster.get(`snapshot?min_revision=${body.revision}`);
  return snapshot.body.jobs.map(([, job]) => job).find(({ spec }) => spec.id === name);
}

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
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => environment(pid).includes(entry));
}

/** What a process was told; nothing of one that has ended. */
function environment(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
