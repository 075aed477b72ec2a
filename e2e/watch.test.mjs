// What the development server builds again for.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sources } from "../worker/watch.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");

test("a save in any crate of the console or the Worker is one", () => {
  const watched = sources(ROOT).map((path) => relative(ROOT, path));
  for (const crate of ["engine", "protocol", "pai", "worker", "frontend", "console-model", "planner"]) {
    assert.ok(watched.includes(`${crate}/src`), `${crate} is not watched`);
  }
  for (const path of watched) assert.ok(existsSync(resolve(ROOT, path)), `${path} is not there`);
  assert.ok(!watched.includes("cli/src"), "what neither of them uses");
});
