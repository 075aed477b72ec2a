// The clock reaches clusters in batches, each an invocation with calls of its own, and in turns where not all can come.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";

const MINUTE = 60_000;
const figure = (metrics, name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics.body)?.[1]);

/** A runtime whose invocations make so many calls, and clusters. */
async function withClusters(calls, names, run) {
  const runtime = await start({ variables: { CLOCK_CALLS: `${calls}` } });
  try {
    const clusters = names.map((name) => new Cluster({ url: runtime.url, key: runtime.adminKey }, name));
    for (const cluster of clusters) await cluster.found();
    await run(runtime, clusters);
  } finally {
    await runtime.stop();
  }
}

/** A minute before now, so many minutes ago: no slot is decided before its time. */
const slotMs = (ago) => (Math.floor(Date.now() / MINUTE) - ago) * MINUTE;
const lastSlots = (clusters) => Promise.all(clusters.map(async (cluster) => figure(await cluster.get("metrics"), "tidegate_last_slot")));

test("helpers reach all of them within a minute", async () => {
  const names = Array.from({ length: 7 }, (_, number) => `c${number}`);
  await withClusters(10, names, async (runtime, clusters) => {
    const slot = slotMs(0);
    await runtime.tick(slot);
    assert.deepEqual(await lastSlots(clusters), names.map(() => slot / MINUTE));
    await runtime.tick(slot);
    assert.deepEqual(await lastSlots(clusters), names.map(() => slot / MINUTE), "a second event decides nothing");
    const { status, last_tick: lastTick } = await (await fetch(`${runtime.url}/health`)).json();
    assert.deepEqual([status, lastTick], ["ok", slot]);
  });
});

test("where not all can come, they take turns", async () => {
  await withClusters(1, ["a", "b", "c"], async (runtime, clusters) => {
    const first = slotMs(3);
    for (let minute = 0; minute < 3; minute += 1) await runtime.tick(first + minute * MINUTE);
    const slots = await lastSlots(clusters);
    assert.deepEqual(slots.map((slot) => slot - first / MINUTE).sort(), [0, 1, 2], "each has come once");
    await runtime.tick(first + 3 * MINUTE);
    assert.deepEqual((await lastSlots(clusters)).map((slot) => slot - first / MINUTE).sort(), [1, 2, 3], "and then the first again");
  });
});
