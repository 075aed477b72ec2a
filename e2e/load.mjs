// The service under load for some minutes: how long commands take, and how much memory the runtime has, over time.
//
//   node e2e/load.mjs [MINUTES]      `cargo xtask bench load [MINUTES]`; needs what `cargo xtask build` makes
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Server } from "./server.mjs";

const MINUTES = Number(process.argv[2] ?? 10);
assert.ok(MINUTES > 0, `${process.argv[2]} is not a number of minutes`);
const WRITERS = 8;
/** How long each of them waits after an answer. */
const PAUSE_MS = 200;
const GPUS = 64;
const ROW_MS = 30_000;
/** How many unfinished jobs there are at most: then one is cancelled for each that comes. */
const UNFINISHED = 500;

const server = await new Server({ every: 2 }).start();
const cluster = server.cluster("load");
const begin = Date.now();
let isOver = false;
let number = 0;
/** How long commands of this row took. */
let took = [];
/** Names of jobs that may not have ended. */
const jobs = [];

/** A new job, and once there are many the end of an old one. */
function command() {
  if (jobs.length > UNFINISHED) return { cancel_job: { job: jobs.shift() } };
  const job = `job-${number}`;
  jobs.push(job);
  const pods = [{ count: 1 + (number % 4), amount: { gpu: 1000 * (1 + (number % 3)) } }];
  return { submit_job: { job, quota: "team", pods, duration_ms: 1_000 * (1 + (number % 60)), priority: 1 + (number % 9) } };
}

async function write() {
  while (!isOver) {
    number += 1;
    const from = performance.now();
    const { status, body } = await cluster.send(`command-${number}`, command());
    took.push(performance.now() - from);
    // A job may have ended by itself.
    assert.ok(status === 200 || status === 409, JSON.stringify(body));
    await pause(PAUSE_MS);
  }
}

/** Bytes of the memory of the runtime's processes, without Node's. */
function memory() {
  const status = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/status`, "utf8");
    } catch {
      return "";
    }
  };
  const of = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = pids.map(status).filter((text) => of(text, "PPid") === server.child.pid);
  return children.reduce((sum, text) => sum + of(text, "VmRSS") * 1024, 0);
}

function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const column = (value, width = 10) => String(value).padStart(width);
const ms = (value) => column(value.toFixed(1));
const mb = (bytes) => column((bytes / 1e6).toFixed(1));

try {
  await cluster.found(GPUS);
  const writers = Promise.all(Array.from({ length: WRITERS }, write));
  const heading = ["seconds", "commands", "p50 ms", "p99 ms", "max ms", "jobs", "memory MB"];
  console.log(heading.map((text) => column(text)).join(""));
  const [all, rows] = [[], []];
  while (Date.now() - begin < MINUTES * 60_000) {
    await Promise.race([pause(ROW_MS), writers]);
    const row = took.sort((one, other) => one - other);
    took = [];
    all.push(...row);
    const { body } = await cluster.get("snapshot");
    const held = memory();
    rows.push(held);
    const seconds = Math.round((Date.now() - begin) / 1_000);
    const [p50, p99] = [0.5, 0.99].map((part) => ms(quantile(row, part)));
    console.log(column(seconds) + column(row.length) + p50 + p99 + ms(row.at(-1)) + column(body.jobs.length) + mb(held));
  }
  isOver = true;
  await writers;
  all.sort((one, other) => one - other);
  const [p50, p99] = [0.5, 0.99].map((part) => ms(quantile(all, part)).trim());
  const half = rows.length >> 1;
  const most = (some) => mb(Math.max(...some)).trim();
  console.log(
    `${all.length} commands, p50 ${p50} ms, p99 ${p99} ms; memory at most ${most(rows.slice(0, half))} MB in the first half ` +
      `and ${most(rows.slice(half))} MB in the second`,
  );
} finally {
  await server.stop();
}
