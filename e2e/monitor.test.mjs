// The figures say what an operator has to know.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "../worker/serve.mjs";
import { Cluster } from "./server.mjs";

let runtime;
before(async () => (runtime = await start()));
after(() => runtime.stop());

const cluster = (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name);
const figure = (metrics, name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics.body)?.[1]);

test("figures tell rounds, refusals and snapshots", async () => {
  const here = await cluster("figures").found();
  const before = await here.get("metrics");
  assert.equal((await here.submit("one")).status, 200);
  assert.notEqual((await here.submit("two", 1, "nowhere")).status, 200);
  await runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);
  const after = await here.get("metrics");
  assert.equal(figure(after, "tidegate_refusals_total") - figure(before, "tidegate_refusals_total"), 1);
  assert.ok(figure(after, "tidegate_rounds_total") > figure(before, "tidegate_rounds_total"));
  assert.equal(figure(after, "tidegate_snapshot_bytes"), 0);
  const copy = cluster("figures-copy");
  assert.equal((await here.post("flush")).status, 200);
  assert.equal((await copy.post("restore?from=figures")).status, 200);
  assert.equal((await copy.post("flush")).status, 200);
  assert.ok(figure(await copy.get("metrics"), "tidegate_snapshot_bytes") > 500, "a copy has a snapshot of its own");
});
