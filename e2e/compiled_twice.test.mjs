// A browser compiles the functions that are called most a second time, for speed, on the cores on which the page is laid
// out meanwhile. So long functions must not be among them while planners load.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

// Chromium's; Node's own is smaller.
const BUDGET = 13_000_000;

test("of the planner's engine at most 25 KB are compiled twice while three planners load", () => {
  const script = new URL("three_planners.mjs", import.meta.url).pathname;
  const options = ["--trace-wasm-compilation-times", `--wasm-tiering-budget=${BUDGET}`];
  const told = execFileSync(process.execPath, [...options, script], { encoding: "utf8" });
  assert.match(told, /using Liftoff/, "the compiler tells what it does");
  const bodies = [...told.matchAll(/using TurboFan.* bodysize (\d+)/g)].map(([, size]) => Number(size));
  const bytes = bodies.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= 25_000, `${bytes} bytes in functions of ${bodies}; keep what every round runs through short`);
});
