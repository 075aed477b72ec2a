// What the runtime has acknowledged is still there when its process is killed.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { spawnRuntime } from "./child.mjs";

const rounds = async ({ url }) => (await (await fetch(`${url}/health`)).json()).rounds;

test("rounds outlive kill -9", async (t) => {
  const state = await mkdtemp(join(tmpdir(), "tidegate-"));
  t.after(() => rm(state, { recursive: true, force: true }));

  const before = await spawnRuntime({ state });
  await before.tick(60_000);
  await before.tick(60_000);
  await before.tick(120_000);
  assert.equal(await rounds(before), 2);
  await before.kill();

  const after = await spawnRuntime({ state });
  t.after(() => after.kill());
  assert.equal(await rounds(after), 2);
});
