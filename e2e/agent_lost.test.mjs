// The service loses its storage while jobs run: their agent goes on, and knows the service again when it is restored.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { start } from "../worker/runtime.mjs";
import { PROGRAM, buildProgram, freePort, job as jobOf, lives, phase, until as untilWithin } from "./processes.mjs";
import { Cluster } from "./server.mjs";

const PATIENCE_MS = 40_000;
/** Keys' secrets follow from it, so the one who restores has it. */
const MASTER_SECRET = randomBytes(16).toString("hex");
/** What the agent says once of a key that does not serve. */
const UNPROVED = /the key workshop\.worker does not open cluster workshop at .*the service has lost its storage \(restore it\); what runs goes on, and the agent keeps asking/g;

const folder = mkdtempSync(join(tmpdir(), "tidegate-agent-lost-"));
const state = join(folder, "service");
let runtime;
let agent;
before(async () => {
  buildProgram();
  runtime = await start({ state, masterSecret: MASTER_SECRET, port: await freePort() });
});
after(async () => {
  agent?.kill("SIGKILL");
  await runtime.stop();
  rmSync(folder, { recursive: true, force: true });
});

const until = (what, look) => untilWithin(what, PATIENCE_MS, look);
const cluster = () => new Cluster({ url: runtime.url, key: runtime.adminKey }, "workshop");
const reaches = (name, wanted) => until(`${name} is ${wanted}`, async () => phase(await jobOf(cluster(), name)) === wanted);
const isTold = (answer) => assert.equal(answer.status, 200, JSON.stringify(answer.body));

async function loseStorage() {
  const { adminKey, url } = runtime;
  await runtime.stop();
  rmSync(join(state, "do"), { recursive: true });
  runtime = await start({ state, adminKey, masterSecret: MASTER_SECRET, port: Number(new URL(url).port) });
}

/** Starts the agent, which has said what is in `said`. */
function run() {
  const agent = spawn(PROGRAM, ["agent", "run", "--state", join(folder, "agent"), "--node", "n1=1", "--allow-root"], { stdio: ["ignore", "ignore", "pipe"] });
  agent.said = "";
  agent.stderr.on("data", (text) => (agent.said += text));
  agent.ended = new Promise((done) => agent.once("exit", done));
  return agent;
}

test("an agent outlives the loss of the service's storage with its jobs, and only a revoked key ends it", async () => {
  const amount = { gpu: 1_000 };
  await cluster().foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    { put_node: { node: "n1", group: "machines", amount } },
    { create_quota: { quota: "team", groups: ["machines"], min: amount } },
  ]);
  const joining = ["agent", "join", runtime.url, "--cluster", "workshop", "--name", "worker", "--groups", "machines", "--state", join(folder, "agent")];
  await promisify(execFile)(PROGRAM, joining, { env: { ...process.env, TIDEGATE_TOKEN: runtime.adminKey } });
  agent = run();
  const script = { format: 1, command: ["sh", "-c", `echo $$ > ${join(folder, "pid")}; sleep 600`] };
  isTold(await cluster().send("held", { submit_job: { job: "held", quota: "team", pods: [{ amount }] } }, { script }));
  await reaches("held", "running");
  const pid = await until("its process is there", () => Number(readFileSync(join(folder, "pid"), "utf8")));
  isTold(await cluster().post("flush"));

  await loseStorage();
  await until("the agent says it", () => agent.said.match(UNPROVED));
  // One that begins now has runs to look after, so it waits as well.
  agent.kill("SIGTERM");
  await agent.ended;
  agent = run();
  await until("the next agent says it", () => agent.said.match(UNPROVED));
  const ending = await Promise.race([agent.ended, new Promise((over) => setTimeout(over, 2_000, "it lives"))]);
  assert.equal(ending, "it lives", agent.said);
  assert.ok(lives(pid), "so does what it runs");
  assert.equal(agent.said.match(UNPROVED).length, 1, "it is said once");

  isTold(await cluster().post("restore"));
  await reaches("held", "running");
  assert.ok(lives(pid));
  isTold(await cluster().send("cancel", { cancel_job: { job: "held" } }));
  await reaches("held", "ended");
  isTold(await cluster().send("revoke", { revoke_key: { key: "workshop.worker" } }));
  assert.equal(await agent.ended, 1);
  assert.match(agent.said, /the key workshop\.worker was revoked/);
});
