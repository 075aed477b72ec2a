// Runs the built Worker and console on this computer: `cargo xtask dev`, and the end-to-end tests.
//
// As a program:  node worker/serve.mjs [--port 8787] [--every 60] [--state DIR] [--fresh] [--stdin] [--watch] [--lab] [--agent PROGRAM]
//                                      [--variable NAME=VALUE]
//   --every SECONDS   how often the clock ticks, at whole multiples; 0 stops it
//   --stdin           read commands from standard input: `tick MILLISECONDS` is answered `ticked MILLISECONDS`
//   --watch           build and reload when a source file is saved
//   --variable        sets a variable of wrangler.toml; may come several times
//   --lab             load a second cluster as well: machines of two types, two offers, and a key for the SDKs
//   --agent PROGRAM   load the cluster `workshop` as well, whose jobs are processes of this computer: PROGRAM is `tidegate`
// As a module:   const runtime = await start({ port: 0 }); await runtime.tick(Date.now()); await runtime.stop();
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Log, LogLevel, Miniflare } from "miniflare";
import { load, sdkKey } from "./examples.mjs";
import { stand } from "./front.mjs";
import { rebuildOnSave } from "./watch.mjs";
import * as workshop from "./workshop.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const BUILT = ["build/worker/shim.js", "build/worker/edge.js", "build/worker/edge_bg.wasm", "dist/index.html"];
const KEY_FILE = join(ROOT, ".wrangler/dev.vars");
const STATE = join(ROOT, ".wrangler/state/v3");
const EXAMPLES = join(ROOT, "public/examples");

// The entry comes first; bindgen adds snippets of its own under names that change.
function modules(entry) {
  const generated = readdirSync(join(ROOT, "build/worker"), { recursive: true })
    .filter((file) => file.endsWith(".js") && file !== "shim.js")
    .map((file) => ({ type: "ESModule", path: `build/worker/${file}` }));
  return [
    ...(entry === undefined ? [] : [{ type: "ESModule", path: "build/worker/entry.js", contents: entry }]),
    { type: "ESModule", path: "build/worker/shim.js" },
    ...generated,
    { type: "CompiledWasm", path: "build/worker/edge_bg.wasm" },
  ];
}

// What wrangler.toml says, in the words of the local runtime. Nothing here connects to another computer.
function options({ port, state, adminKey, masterSecret, variables, entry, log }) {
  return {
    host: "127.0.0.1",
    port,
    cf: false,
    telemetry: { enabled: false },
    log: new Log(log ? LogLevel.WARN : LogLevel.NONE),
    handleRuntimeStdio: log ? undefined : (stdout, stderr) => [stdout, stderr].forEach((pipe) => pipe.resume()),
    defaultPersistRoot: state,
    name: "tidegate",
    compatibilityDate: "2026-04-01",
    rootPath: ROOT,
    modulesRoot: "build/worker",
    modules: modules(entry),
    bindings: { ADMIN_KEY: adminKey, MASTER_SECRET: masterSecret, ...variables },
    kvNamespaces: { CLUSTERS: "CLUSTERS" },
    durableObjects: { CLUSTER: { className: "ClusterObject", useSQLite: true } },
    assets: {
      directory: "dist",
      routerConfig: {
        has_user_worker: true,
        static_routing: { user_worker: ["/v1/*", "/api/*", "/resourcegroups/*", "/health", "/healthz", "/metrics"] },
      },
      assetConfig: { not_found_handling: "single-page-application" },
    },
  };
}

/**
 * Starts a runtime. Without `state`, in a new directory that `stop` removes. `variables` are those of wrangler.toml; `entry` is
 * the text of a module around the Worker's own.
 */
export async function start({ port = 0, state, adminKey = secret(), masterSecret = secret(), variables = {}, entry, log = false } = {}) {
  const missing = BUILT.filter((path) => !existsSync(join(ROOT, path)));
  if (missing.length > 0) throw new Error(`${missing.join(", ")} missing: run \`cargo xtask build --dev\` first`);

  const own = state === undefined ? mkdtempSync(join(tmpdir(), "tidegate-")) : undefined;
  const settings = options({ port, state: own ?? state, adminKey, masterSecret, variables, entry, log });
  let miniflare = new Miniflare(settings);
  let url = (await miniflare.ready).origin;

  return {
    adminKey,
    get url() {
      return url;
    },
    /** One cron event for this slot. Fails if the Worker's handler fails. */
    async tick(slotMs) {
      const worker = await miniflare.getWorker();
      const { outcome } = await worker.scheduled({ scheduledTime: new Date(slotMs), cron: "* * * * *" });
      if (outcome !== "ok") throw new Error(`the scheduled event ended with ${outcome}`);
    },
    /** What it has published, to look at and to damage. */
    kv: () => miniflare.getKVNamespace("CLUSTERS"),
    /** A new process on what the old one has stored, under the same address. */
    async restart() {
      await miniflare.dispose();
      miniflare = new Miniflare({ ...settings, port: Number(new URL(url).port) });
      url = (await miniflare.ready).origin;
    },
    /** Takes up a new build; what is stored stays. */
    reload: () => miniflare.setOptions({ ...settings, modules: modules(entry), port: Number(new URL(url).port) }),
    async stop() {
      await miniflare.dispose();
      if (own) rmSync(own, { recursive: true, force: true });
    },
  };
}

const secret = () => randomBytes(16).toString("hex");

/** The secrets of this working copy, made on first use and never committed. */
function developmentSecrets() {
  const known = existsSync(KEY_FILE) ? readFileSync(KEY_FILE, "utf8") : "";
  const secrets = {};
  for (const name of ["ADMIN_KEY", "MASTER_SECRET"]) {
    secrets[name] = new RegExp(`^${name}=([0-9a-f]{32})$`, "m").exec(known)?.[1] ?? secret();
  }
  mkdirSync(join(KEY_FILE, ".."), { recursive: true });
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(KEY_FILE, lines.join(""), { mode: 0o600 });
  return { adminKey: secrets.ADMIN_KEY, masterSecret: secrets.MASTER_SECRET };
}

// Ticks at whole multiples of the period, as cron does at whole minutes, so that each slot comes once. What it returns
// stops it.
function startClock(runtime, everySeconds) {
  if (everySeconds === 0) return () => {};
  const periodMs = everySeconds * 1000;
  let isStopped = false;
  const wait = () => {
    const slotMs = (Math.floor(Date.now() / periodMs) + 1) * periodMs;
    setTimeout(async () => {
      if (isStopped) return;
      await runtime.tick(slotMs).catch((error) => isStopped || console.error(`round: ${error.message}`));
      wait();
    }, slotMs - Date.now());
  };
  wait();
  return () => (isStopped = true);
}

async function reload(runtime) {
  try {
    await runtime.reload();
    console.log("reloaded");
  } catch (error) {
    console.error(`not reloaded: ${error.message}`);
  }
}

function obeyStdin(runtime) {
  createInterface({ input: process.stdin }).on("line", async (line) => {
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
  const runtime = await start({ state, ...developmentSecrets(), variables, log: true });
  const front = await stand(runtime, port);

  let isStopping = false;
  let agent;
  let stopClock;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    // The runtime's own listener would end this process before the runtime has shut down.
    process.removeAllListeners(signal);
    process.on(signal, async () => {
      if (isStopping) return;
      isStopping = true;
      stopClock?.();
      await agent?.stop();
      front.stop();
      await runtime.stop();
      process.exit(0);
    });
  }

  const server = { url: front.url, adminKey: runtime.adminKey };
  await load(server, "demo", join(EXAMPLES, "three-teams.jsonl"), state);
  if (lab) await tellOfLab(server, state);
  if (program && !isStopping) agent = await workshop.start(server, program, state);
  stopClock = startClock(runtime, every);
  if (stdin) obeyStdin(runtime);
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    const isTaken = error.code === "ERR_ADDRESS_IN_USE" || /address already in use/i.test(error.message);
    console.error(isTaken ? "the port is taken: choose another with --port" : (error.stack ?? error.message));
    process.exit(1);
  });
}
