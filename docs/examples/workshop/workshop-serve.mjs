#!/usr/bin/env node
// A small inference service: it answers http://127.0.0.1:PORT/?x=4 by the newest checkpoint of a training job, until it is
// told to end.
//
//   PORT             where it listens, on this machine alone; 8790 unless set
//   MODEL            the job whose checkpoint it reads; train-wide unless set
//   WORKSHOP_FOLDER  where checkpoints are kept; the folder of the run unless set
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const { PORT = "8790", MODEL = "train-wide", WORKSHOP_FOLDER = ".", TIDEGATE_JOB: job = "serve" } = process.env;
const { TIDEGATE_NODE: node = "none", CUDA_VISIBLE_DEVICES: gpus = "none" } = process.env;
/** Numbers of a checkpoint are in millionths. */
const ONE = 1e6;

let served = 0;

/** Seconds since the machine was started: by them the lines of several jobs can be compared. */
const say = (text) => console.log(`[${readFileSync("/proc/uptime", "utf8").split(" ")[0]}] ${text}`);

/** What a training job has learned so far; nothing before its first checkpoint. */
function model() {
  try {
    const [step, slope, offset] = readFileSync(join(WORKSHOP_FOLDER, `${MODEL}.checkpoint`), "utf8").split(" ").map(Number);
    return { step, slope: slope / ONE, offset: offset / ONE };
  } catch (error) {
    if (error.code === "ENOENT") return { step: 0, slope: 0, offset: 0 };
    throw error;
  }
}

function answer(url) {
  const x = Number(new URL(url, "http://localhost").searchParams.get("x") ?? "1");
  if (!Number.isFinite(x)) return { status: 400, body: { message: "x is not a number" } };
  const { step, slope, offset } = model();
  served += 1;
  const y = slope * x + offset;
  say(`request ${served}: x = ${x}, y = ${y.toFixed(3)} by ${MODEL} at step ${step}`);
  return { status: 200, body: { x, y, model: MODEL, step, job, node, gpus } };
}

const server = createServer((asked, reply) => {
  const { status, body } = answer(asked.url);
  reply.writeHead(status, { "content-type": "application/json" });
  reply.end(`${JSON.stringify(body)}\n`);
});
server.on("error", (error) => {
  say(`cannot listen on port ${PORT}: ${error.code}; set PORT to another one`);
  process.exit(1);
});
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => {
    say(`${job} ends after ${served} requests`);
    // What is being answered is answered; connections that only stay open are not waited for.
    server.close();
    server.closeIdleConnections();
  });
}
server.listen(Number(PORT), "127.0.0.1", () => {
  say(`${job} serves http://127.0.0.1:${server.address().port}/?x=4 on node ${node}, GPUs ${gpus}`);
});
