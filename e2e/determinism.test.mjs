// The same state, time and commands give the same bytes: native, in Node, and in the Worker runtime.
//
// `cargo test --package engine` has written random runs with the digests of their native bytes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inWorker } from "./bytes/in_worker.mjs";
import { run } from "./bytes/run.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
const WASM = join(TARGET, "wasm32-unknown-unknown/wasm/bytes_of_runs.wasm");
const N_CASES = 1_000;

const stored = (name) =>
  readFileSync(join(TARGET, "tmp", name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const cases = [
  { what: "run", list: stored("runs.jsonl"), input: ({ commands }) => commands },
  { what: "plan", list: stored("plans.jsonl"), input: ({ input }) => input },
];
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

test("Node gives the native bytes", async (t) => {
  const { instance } = await WebAssembly.instantiate(readFileSync(WASM));
  for (const { what, list, input } of cases) {
    await t.test(what, () => {
      assert.equal(list.length, N_CASES);
      for (const item of list) {
        assert.equal(digest(run(instance, what, input(item))), item.sha256, `the ${what} of seed ${item.seed}`);
      }
    });
  }
});

const WORKER = `
  import module from "./bytes_of_runs.wasm";
  import { run } from "./bytes/run.mjs";
  const instance = new WebAssembly.Instance(module);
  export default {
    fetch: async (request) => new Response(run(instance, new URL(request.url).pathname.slice(1), await request.text())),
  };
`;

test("the Worker runtime gives the native bytes", async (t) => {
  const send = inWorker(t, { worker: WORKER, files: ["bytes/run.mjs"], wasm: WASM });
  for (const { what, list, input } of cases) {
    for (const item of list) {
      const answer = await send(what, input(item));
      assert.equal(answer.status, 200, `the ${what} of seed ${item.seed}`);
      assert.equal(digest(new Uint8Array(await answer.arrayBuffer())), item.sha256, `the ${what} of seed ${item.seed}`);
    }
  }
});
