// The same state, time and commands give the same bytes: native, in Node, and in the Worker runtime.
//
// `cargo test --package engine` has written random runs with the digests of their native bytes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";
import { run } from "./bytes/run.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
const WASM = join(TARGET, "wasm32-unknown-unknown/wasm/bytes_of_runs.wasm");
const RUNS = join(TARGET, "tmp/runs.jsonl");
const N_RUNS = 1_000;

const runs = readFileSync(RUNS, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("Node gives the native bytes", async () => {
  const { instance } = await WebAssembly.instantiate(readFileSync(WASM));
  assert.equal(runs.length, N_RUNS);
  for (const { seed, commands, sha256 } of runs) {
    assert.equal(digest(run(instance, commands)), sha256, `the run of seed ${seed}`);
  }
});

const WORKER = `
  import module from "./bytes.wasm";
  import { run } from "./run.mjs";
  const instance = new WebAssembly.Instance(module);
  export default { fetch: async (request) => new Response(run(instance, await request.text())) };
`;

test("the Worker runtime gives the native bytes", async (t) => {
  const miniflare = new Miniflare({
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    compatibilityDate: "2026-04-01",
    modulesRoot: "/",
    modules: [
      { type: "ESModule", path: "/worker.mjs", contents: WORKER },
      { type: "ESModule", path: "/run.mjs", contents: readFileSync(join(ROOT, "e2e/bytes/run.mjs"), "utf8") },
      { type: "CompiledWasm", path: "/bytes.wasm", contents: readFileSync(WASM) },
    ],
  });
  t.after(() => miniflare.dispose());
  for (const { seed, commands, sha256 } of runs) {
    const answer = await miniflare.dispatchFetch("http://bytes/", { method: "POST", body: commands });
    assert.equal(answer.status, 200, `the run of seed ${seed}`);
    assert.equal(digest(new Uint8Array(await answer.arrayBuffer())), sha256, `the run of seed ${seed}`);
  }
});
