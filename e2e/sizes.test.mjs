// What people wait for, and what the Worker may weigh, as it travels.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";

const total = (compress, paths) =>
  paths.map((path) => compress(readFileSync(new URL(`../${path}`, import.meta.url))).length).reduce((sum, n) => sum + n);

test("the first screen of the console takes at most 350 KB", () => {
  const bytes = total(brotliCompressSync, ["dist/app/frontend_bg.wasm", "dist/app/frontend.js", "dist/app/split.js"]);
  assert.ok(bytes <= 350_000, `${bytes} bytes; see what has become part of it, and load it later`);
});

// 150 KB is the figure to reach; until then it must not grow.
test("the planner takes at most 165 KB, its loader 4 KB of them", () => {
  const loader = total(brotliCompressSync, ["dist/embed/planner.js"]);
  const bytes = total(brotliCompressSync, ["dist/embed/engine_bg.wasm", "dist/embed/engine.js", "dist/embed/worker.js"]);
  assert.ok(loader <= 4_000, `${loader} bytes of loader`);
  assert.ok(loader + bytes <= 165_000, `${loader + bytes} bytes; a page of somebody else's waits for them`);
});

test("the Worker takes at most 1 MB", () => {
  const bytes = total(gzipSync, ["build/worker/edge_bg.wasm", "build/worker/edge.js"]);
  assert.ok(bytes <= 1_000_000, `${bytes} bytes; what only the console needs is none of its business`);
});
