// Runs the built Worker and console on this computer: `cargo xtask dev`, and the end-to-end tests.
//
//   node worker/serve.mjs [--port 8787] [--every 60] [--state DIR] [--fresh] [--stdin] [--watch] [--lab] [--agent PROGRAM]
//                         [--variable NAME=VALUE]
//   --every SECONDS   how often the clock ticks, at whole multiples; 0 stops it
//   --stdin           read commands from standard input: `tick MILLISECONDS` is answered `ticked MILLISECONDS`; ends
//                     when it is closed
//   --watch           build and reload when a source file is saved
//   --variable        sets a variable of wrangler.toml; may come several times
//   --lab             load a second cluster as well: machines of two types, two offers, and a key for the SDKs
//   --agent PROGRAM   load the cluster `workshop` as well, whose jobs are processes of this computer: PROGRAM is `tidegate`
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { load, sdkKey } from "./examples.mjs";
import { stand } from "./front.mjs";
import { fail, secretsOf, start, startClock } from "./runtime.mjs";
import { rebuildOnSave } from "./watch.mjs";
import * as workshop from "./workshop.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
/** The secrets of this working copy, which are never committed. */
const SECRETS = join(ROOT, ".wrangler/dev.vars");
const STATE = join(ROOT, ".wrangler/state/v3");
const EXAMPLES = join(ROOT, "public/examples");

async function reload(runtime) {
  try {
    await runtime.reload();
    console.log("reloaded");
  } catch (error) {
    console.error(`not reloaded: ${error.message}`);
  }
}

/** Commands of the program that started this one; ends with it. */
function obeyStdin(runtime, stop) {
  const lines = createInterface({ input: process.stdin });
  lines.on("close", stop);
  lines.on("line", async (line) => {
    const [word, slotMs] = line.trim().split(/\s+/);
    try {
      if (word !== "tick") throw new Error(`unknown command: ${line}`);
      await runtime.tick(Number(slotMs));
      console.log(`ticked ${slotMs}`);
    } catch (error) {
      console.log(`failed ${error.message}`);
    }
  });
}

function commandLine() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      every: { type: "string", default: "60" },
      state: { type: "string", default: STATE },
      fresh: { type: "boolean", default: false },
      stdin: { type: "boolean", default: false },
      watch: { type: "boolean", default: false },
      lab: { type: "boolean", default: false },
      agent: { type: "string" },
      variable: { type: "string", multiple: true, default: [] },
    },
  });
  const variables = Object.fromEntries(values.variable.map((text) => text.split(/=(.*)/s)));
  return { ...values, variables, port: Number(values.port), every: Number(values.every) };
}

async function main() {
  const { port, every, state, fresh, stdin, watch, lab, agent: program, variables } = commandLine();
  if (fresh) {
    if (program) await workshop.clear(program, state);
    rmSync(state, { recursive: true, force: true });
  }
  const runtime = await start({ state, ...secretsOf(SECRETS), variables, log: true });
  const front = await stand(runtime, port);

  let isStopping = false;
  let agent;
  let stopClock;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    stopClock?.();
    await agent?.stop();
    front.stop();
    await runtime.stop();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) {
    // The runtime's own listener would end this process before the runtime has shut down.
    process.removeAllListeners(signal);
    process.on(signal, stop);
  }

  const server = { url: front.url, adminKey: runtime.adminKey };
  await load(server, "demo", join(EXAMPLES, "three-teams.jsonl"), state);
  if (lab) await tellOfLab(server, state);
  if (program && !isStopping) agent = await workshop.start(server, program, state);
  stopClock = startClock(runtime, every);
  if (stdin) obeyStdin(runtime, stop);
  if (watch) rebuildOnSave(ROOT, () => reload(runtime));
  console.log(`the console: ${front.url}/clusters/demo#key=${runtime.adminKey}`);
}

/** The second cluster, on which everything of docs/pai.md can be tried. */
async function tellOfLab(server, state) {
  await load(server, "lab", join(EXAMPLES, "lab.jsonl"), state);
  const key = await sdkKey(server, "lab", state);
  console.log(`a cluster for the SDKs: ${server.url}/clusters/lab#key=${server.adminKey}`);
  if (key) console.log(`its key for the SDKs: ${key.id} ${key.secret}`);
}

main().catch(fail);
