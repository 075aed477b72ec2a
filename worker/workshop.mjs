// The cluster `workshop`, whose jobs are processes of this computer: its agent is a child of the development server.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { load } from "./examples.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const CLUSTER = "workshop";
const EXAMPLE = join(ROOT, "public/examples/workshop.jsonl");
/** What its jobs execute. */
const PROGRAMS = join(ROOT, "docs/examples/workshop");
const NAME = "this-computer";
const GROUP = "bench";
/** Pretended GPUs: the example's programs need none. */
const NODES = ["bench-1=4", "bench-2=4"];

/** How long an agent may take to end: its jobs' checkpoints, and some more. */
const END_MS = 40_000;

const isRoot = () => process.getuid() === 0;
const folder = (state) => join(state, "workshop");
const ofAgent = (state) => join(folder(state), "agent");
/** The agent's key. */
const ofKey = (state) => join(ofAgent(state), "agent.json");

/** Makes a key for the agent, once. */
async function makeKey(server, program, state) {
  const file = ofKey(state);
  if (existsSync(file)) {
    // The server may stand at another port today.
    const joined = { ...JSON.parse(readFileSync(file, "utf8")), service: server.url };
    writeFileSync(`${file}.new`, JSON.stringify(joined, undefined, 2), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return;
  }
  mkdirSync(folder(state), { recursive: true, mode: 0o700 });
  const words = ["agent", "join", server.url, "--cluster", CLUSTER, "--name", NAME, "--groups", GROUP, "--state", ofAgent(state)];
  const env = { ...process.env, TIDEGATE_TOKEN: server.adminKey };
  await promisify(execFile)(program, words, { env, timeout: END_MS });
}

/**
 * The agent's process. It ends when its standard input does, so it does not outlive this process, however that ends. Without
 * any it ends at once, and what is here of its jobs with it.
 */
function run(program, state, { hasInput }) {
  const words = ["agent", "run", "--attached", "--state", ofAgent(state), ...NODES.flatMap((node) => ["--node", node])];
  if (isRoot()) words.push("--allow-root");
  const files = join(folder(state), "files");
  mkdirSync(files, { recursive: true, mode: 0o700 });
  const path = [PROGRAMS, dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, WORKSHOP_FOLDER: files };
  // A session of its own: ctrl-C in a terminal is for this process, which then ends the agent in order.
  const stdio = hasInput ? ["pipe", "ignore", "inherit"] : "ignore";
  const agent = spawn(program, words, { env, detached: true, stdio });
  const ended = new Promise((done) => agent.once("exit", (code, signal) => done(signal ?? code)).once("error", (error) => done(error.message)));
  return { agent, ended };
}

/** Waits for the end of an agent that was asked to end. */
async function end({ agent, ended }) {
  const late = setTimeout(() => agent.kill("SIGKILL"), END_MS);
  const how = await ended;
  clearTimeout(late);
  if (how !== 0) console.error(`${CLUSTER}: its agent has ended with ${how}; what it ran may still run`);
}

/** Ends what an agent of this state has left that was killed. */
export async function clear(program, state) {
  if (existsSync(ofKey(state))) await end(run(program, state, { hasInput: false }));
}

/** Loads the example and starts its agent. `stop` ends the jobs, which write their checkpoints, and then the agent. */
export async function start(server, program, state) {
  const address = `${server.url}/clusters/${CLUSTER}#key=${server.adminKey}`;
  if (!(await load(server, CLUSTER, EXAMPLE, state))) {
    console.log(`no agent is started for the cluster ${CLUSTER}`);
    return undefined;
  }
  try {
    await makeKey(server, program, state);
  } catch (error) {
    console.error(`${CLUSTER}: no agent: ${(error.stderr || error.message).trim()}`);
    return undefined;
  }
  const running = run(program, state, { hasInput: true });
  let isStopping = false;
  running.ended.then((how) => isStopping || console.error(`${CLUSTER}: its agent has ended (${how}), so nothing starts there`));
  // Nobody reads any more what is written to an agent that has ended.
  running.agent.stdin.on("error", () => {});
  const account = isRoot() ? "as root, because this server does" : "under your account";
  console.log(`a cluster whose jobs are processes here, ${account}: ${address}`);
  return {
    async stop() {
      isStopping = true;
      const hasEnded = running.agent.exitCode !== null || running.agent.signalCode !== null;
      running.agent.stdin.end();
      await (hasEnded ? clear(program, state) : end(running));
    },
  };
}
