// The cluster `workshop`, whose jobs are processes of this computer: its agent is a child of the development server.
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ChildAgent, isRoot } from "./agent.mjs";
import { load } from "./examples.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const CLUSTER = "workshop";
const EXAMPLE = join(ROOT, "public/examples/workshop.jsonl");
/** What its jobs execute. */
const PROGRAMS = join(ROOT, "docs/examples/workshop");
/** Pretended GPUs: the example's programs need none. */
const NODES = ["bench-1=4", "bench-2=4"];

function agentOf(program, state) {
  const folder = join(state, "workshop");
  const path = [PROGRAMS, dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { PATH: path, WORKSHOP_FOLDER: join(folder, "files") };
  const name = "this-computer";
  return new ChildAgent(program, { cluster: CLUSTER, name, group: "bench", state: join(folder, "agent"), nodes: NODES, stopsJobs: true, env });
}

function tellEnd(how) {
  if (how !== 0) console.error(`${CLUSTER}: its agent has ended with ${how}; what it ran may still run`);
}

/** Ends what an agent of this state has left that was killed. */
export async function clear(program, state) {
  tellEnd(await agentOf(program, state).clear());
}

/** Loads the example and starts its agent. `stop` ends the jobs, which write their checkpoints, and then the agent. */
export async function start(server, program, state) {
  const address = `${server.url}/clusters/${CLUSTER}#key=${server.adminKey}`;
  if (!(await load(server, CLUSTER, EXAMPLE, state))) {
    console.log(`no agent is started for the cluster ${CLUSTER}`);
    return undefined;
  }
  const agent = agentOf(program, state);
  try {
    await agent.join(server);
  } catch (error) {
    console.error(`${CLUSTER}: no agent: ${error.message}`);
    return undefined;
  }
  mkdirSync(agent.env.WORKSHOP_FOLDER, { recursive: true, mode: 0o700 });
  agent.start().then((how) => agent.isStopping || console.error(`${CLUSTER}: its agent has ended (${how}), so nothing starts there`));
  const account = isRoot() ? "as root, because this server does" : "under your account";
  console.log(`a cluster whose jobs are processes here, ${account}: ${address}`);
  return {
    async stop() {
      agent.isStopping = true;
      tellEnd(agent.hasEnded ? await agent.clear() : await agent.stop());
    },
  };
}
