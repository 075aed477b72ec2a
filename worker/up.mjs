// The service and an agent on this computer, on what `state` has stored: `tidegate up`, which holds the lock of `state`.
//
//   node worker/up.mjs --state DIR --cluster NAME --program PROGRAM [--port 8787] [--node NAME=GPUS] [--address https://...]
//                      [--variable NAME=VALUE] [--no-agent] [--from-backup]
//   --program PROGRAM   the command `tidegate`
//   --address           under which address others reach it, through a proxy that encrypts
//   --from-backup       `state` was put back from a backup: its clusters are restored from what they have published
//   --variable          sets a variable of wrangler.toml; may come several times
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import workerd from "workerd";
import { ChildAgent } from "./agent.mjs";
import { ask, clusters, deletion, found, restoreLost } from "./examples.mjs";
import { stand } from "./front.mjs";
import { fail, secretsOf, start, startClock } from "./runtime.mjs";

const GROUP = "machines";
const QUOTA = "all";
const WORKSPACE = "default";

/** A round each minute, as on the real platform. */
const EVERY_S = 60;
/** An agent that has ended is started again, each time after a longer pause. */
const PAUSE_FIRST_MS = 1_000;
const PAUSE_MAX_MS = 60_000;

function commandLine() {
  const { values } = parseArgs({
    options: {
      state: { type: "string" },
      cluster: { type: "string" },
      program: { type: "string" },
      port: { type: "string", default: "8787" },
      node: { type: "string", multiple: true, default: [] },
      address: { type: "string" },
      "no-agent": { type: "boolean", default: false },
      "from-backup": { type: "boolean", default: false },
      variable: { type: "string", multiple: true, default: [] },
    },
  });
  const variables = Object.fromEntries(values.variable.map((text) => text.split(/=(.*)/s)));
  return { ...values, hasAgent: !values["no-agent"], isBackup: values["from-backup"], nodes: values.node, port: Number(values.port), variables };
}

/** What a cluster of this computer begins with: one quota has all of its GPUs. */
function beginning(nodes) {
  const machines = nodes.map((text) => /^(.*)=(\d+)$/.exec(text)).map(([, node, gpus]) => ({ node, gpu: Number(gpus) * 1000 }));
  const commands = [
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: GROUP, resource_type: "lingjun" } },
    ...machines.map(({ node, gpu }) => ({ put_node: { node, group: GROUP, amount: { gpu } } })),
    { create_quota: { quota: QUOTA, groups: [GROUP], min: { gpu: machines.reduce((sum, { gpu }) => sum + gpu, 0) } } },
    { put_workspace: { workspace: WORKSPACE } },
    { attach_quota: { workspace: WORKSPACE, quota: QUOTA } },
  ];
  return commands.map((command, at) => JSON.stringify({ format: 1, id: `up-${at + 1}`, command }));
}

/** Keeps the agent running until it is asked to stop. */
async function keepRunning(agent) {
  for (let pauseMs = PAUSE_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
    const how = await agent.start();
    if (agent.isStopping) return;
    console.error(`the agent has ended (${how}); it is started again in ${pauseMs / 1000} s, and what runs goes on`);
    await pause(pauseMs, undefined, { ref: false });
    if (agent.isStopping) return;
  }
}

/** A cluster that comes after another one has an agent of its own: keys and runs belong to one cluster alone. */
function agentFolder(state, cluster) {
  const [first, own] = [join(state, "agent"), join(state, `agent-${cluster}`)];
  const joined = join(first, "agent.json");
  return existsSync(joined) && JSON.parse(readFileSync(joined, "utf8")).cluster !== cluster ? own : first;
}

/** Starts the agent of this computer in the cluster that was made for it. */
async function startAgent(server, { program, cluster, nodes, state }) {
  const name = nodes[0].split("=")[0];
  const agent = new ChildAgent(program, { cluster, name, group: GROUP, state: agentFolder(state, cluster), nodes });
  await agent.join(server);
  keepRunning(agent);
  return agent;
}

/** What to do where the cluster was not made here, but was loaded from a backup, say: its groups may be other machines'. */
function withoutAgent(url, { cluster, nodes }) {
  const name = nodes[0].split("=")[0];
  const join = `tidegate agent join ${url} --cluster ${cluster} --name ${name} --groups GROUP`;
  const run = `tidegate agent run ${nodes.map((node) => `--node ${node}`).join(" ")}`;
  return `${cluster} was not made for this computer, so none of its jobs run here; to run them, choose one of its groups: ${join}; then: ${run}`;
}

/**
 * Puts the clusters' own storage aside, so that they are restored from what they have published. Only a restore says that runs
 * are numbered anew: a copy of the storage would give the numbers again that were given since.
 */
function putAside(state) {
  const storage = join(state, "service/do");
  const aside = join(state, `service/do.before-${new Date().toISOString().replaceAll(":", "-")}`);
  if (existsSync(storage)) renameSync(storage, aside);
}

/** Publishes what is not published yet, so that a copy of the folder is whole. */
async function publishAll(server) {
  for (const cluster of await clusters(server)) {
    const answer = await ask(server, "POST", `/${cluster}/flush`);
    // One that is deleted has nothing more to publish.
    if (!answer.ok && answer.status !== 410) console.log(`${cluster} is not published whole (${answer.status}): ${await answer.text()}`);
  }
}

async function main() {
  const asked = commandLine();
  const { state, cluster, port, address, hasAgent, isBackup, nodes, variables } = asked;
  mkdirSync(state, { recursive: true, mode: 0o700 });
  // `tidegate` stands in for it where it is started, so that it ends with this process.
  process.env.TIDEGATE_WORKERD = workerd.default;
  if (isBackup) putAside(state);
  const runtime = await start({ state: join(state, "service"), ...secretsOf(join(state, "secrets")), variables, log: true });
  // Nobody is answered before all is there: an agent that asks for what is still to be restored would be told that its key
  // opens nothing, and would end.
  const server = { url: runtime.url, adminKey: runtime.adminKey };
  let front;
  let agent;
  let stopClock;
  let isStopping = false;
  const stop = async (status) => {
    if (isStopping) return;
    isStopping = true;
    stopClock?.();
    await agent?.stop();
    await publishAll(server).catch((error) => console.log(`not published whole: ${error.message}`));
    front?.stop();
    await runtime.stop();
    console.log("stopped; jobs that run go on, and the next start finds them");
    process.exit(status);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) {
    // The runtime's own listener would end this process before the runtime has shut down.
    process.removeAllListeners(signal);
    process.on(signal, () => stop(0));
  }

  if (isBackup) await restoreLost(server);
  const what = nodes.length > 0 ? "its first node, quota and workspace" : "its first quota and workspace";
  const deleted = await deletion(server, cluster);
  const isOurs = deleted === undefined && (await found(server, cluster, beginning(nodes), state, what));
  front = await stand(runtime, port, { address, isLast: true });
  if (deleted !== undefined) console.log(`${deleted}; or make another one for this computer: tidegate up --cluster NAME`);
  else if (hasAgent && !isOurs) console.error(withoutAgent(front.url, asked));
  else if (hasAgent && !isStopping) agent = await startAgent({ ...server, url: front.url }, asked);
  stopClock = startClock(runtime, EVERY_S);
  console.log(`served at ${front.url}`);
  if (deleted === undefined) console.log(`from a shell: tidegate login ${address ?? front.url}/clusters/${cluster}, with the key after #key= below`);
  console.log(`the console: ${address ?? front.url}/clusters/${cluster}#key=${runtime.adminKey}`);
}

main().catch(fail);
