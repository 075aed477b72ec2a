// The built Worker and console in the local runtime, with everything that wrangler.toml binds. Programs: `serve.mjs`, `up.mjs`.
//
//   const runtime = await start({ port: 0 }); await runtime.tick(Date.now()); await runtime.stop();
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const BUILT = ["build/worker/shim.js", "build/worker/edge.js", "build/worker/edge_bg.wasm", "dist/index.html"];

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
    // KV of this computer shows at once what was put, so that nobody has to wait for it.
    bindings: { KV_LATE_S: "0", ADMIN_KEY: adminKey, MASTER_SECRET: masterSecret, ...variables },
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
 * Starts a runtime. Without `state`, in a new directory that `stop` removes. `variables` are those of wrangler.toml, `others` are
 * further secrets; `entry` is the text of a module around the Worker's own.
 */
export async function start({ port = 0, state, adminKey = secret(), masterSecret = secret(), others, variables, entry, log = false } = {}) {
  const missing = BUILT.filter((path) => !existsSync(join(ROOT, path)));
  if (missing.length > 0) throw new Error(`${missing.join(", ")} missing: run \`cargo xtask build --dev\` first`);

  const own = state === undefined ? mkdtempSync(join(tmpdir(), "tidegate-")) : undefined;
  const settings = options({ port, state: own ?? state, adminKey, masterSecret, variables: { ...variables, ...others }, entry, log });
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

/** The secrets in this file, made on first use; nobody else may read it. Others, such as MONITOR_KEY, may be written into it. */
export function secretsOf(file) {
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, `ADMIN_KEY=${secret()}\nMASTER_SECRET=${secret()}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  const lines = readFileSync(file, "utf8").matchAll(/^([A-Z_]+)=(\S{32,})$/gm);
  const secrets = Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
  for (const name of ["ADMIN_KEY", "MASTER_SECRET"]) {
    // A new one would end every access key without a word.
    if (secrets[name] === undefined) throw new Error(`${file} has no ${name}: put the file back, or remove it, which makes every access key invalid`);
  }
  const { ADMIN_KEY: adminKey, MASTER_SECRET: masterSecret, ...others } = secrets;
  return { adminKey, masterSecret, others };
}

// Ticks at whole multiples of the period, as cron does at whole minutes, so that each slot comes once. What it returns
// stops it.
export function startClock(runtime, everySeconds) {
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

/** Ends the program: it could not start. */
export function fail(error) {
  const isTaken = error.code === "EADDRINUSE" || error.code === "ERR_ADDRESS_IN_USE" || /address already in use/i.test(error.message);
  console.error(isTaken ? "the port is taken: choose another with --port" : (error.stack ?? error.message));
  process.exit(1);
}
