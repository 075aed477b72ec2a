// A small Worker around a WebAssembly module, in the Worker runtime.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";

const E2E = resolve(fileURLToPath(import.meta.url), "../..");

/** Starts `worker`, which imports the module by its file's name and files of e2e by their paths; it ends with the test. Gives what sends to it. */
export function inWorker(t, { worker, files, wasm }) {
  const miniflare = new Miniflare({
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    compatibilityDate: "2026-04-01",
    modulesRoot: "/",
    modules: [
      { type: "ESModule", path: "/worker.mjs", contents: worker },
      ...files.map((name) => ({ type: "ESModule", path: `/${name}`, contents: readFileSync(join(E2E, name), "utf8") })),
      { type: "CompiledWasm", path: `/${basename(wasm)}`, contents: readFileSync(wasm) },
    ],
  });
  t.after(() => miniflare.dispose());
  return (path, body) => miniflare.dispatchFetch(`http://worker/${path}`, { method: "POST", body });
}
