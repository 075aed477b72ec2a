// The clusters with which a development server begins: loaded once, and never into what somebody has begun.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { load } from "../worker/examples.mjs";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";

const EXAMPLE = new URL("../public/examples/three-teams.jsonl", import.meta.url).pathname;
const LINES = readFileSync(EXAMPLE, "utf8").trim().split("\n");

const folder = mkdtempSync(join(tmpdir(), "tidegate-examples-"));
let runtime;
before(async () => (runtime = await start()));
after(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true, force: true });
});

const cluster = (name) => new Cluster({ url: runtime.url, key: runtime.adminKey }, name);
const loaded = (name, file = EXAMPLE) => load({ url: runtime.url, adminKey: runtime.adminKey }, name, file, folder);
const revision = async (name) => (await cluster(name).hash()).revision;

/** How many commands are sent meanwhile. */
async function sentBy(work) {
  const real = globalThis.fetch;
  let sent = 0;
  globalThis.fetch = (url, ...rest) => {
    if (`${url}`.endsWith("/commands")) sent += 1;
    return real(url, ...rest);
  };
  await work().finally(() => (globalThis.fetch = real));
  return sent;
}

test("what has become of an example is left alone", async () => {
  assert.equal(await loaded("whole"), true);
  const known = await revision("whole");
  assert.equal(await sentBy(async () => assert.equal(await loaded("whole"), true)), 0);
  assert.equal(await revision("whole"), known);
});

test("a load that was interrupted goes on", async () => {
  const half = join(folder, "half.jsonl");
  // The last line is refused, as if nothing more had come.
  writeFileSync(half, [...LINES.slice(0, 5), "{}"].join("\n"));
  assert.equal(await loaded("half", half), false);
  assert.equal(await loaded("half"), true);
  assert.equal(await revision("half"), await revision("whole"));
});

test("a cluster that somebody has begun is no example", async () => {
  const { command } = JSON.parse(LINES[0]);
  await cluster("mine").foundBy([command]);
  const known = await revision("mine");
  assert.equal(await sentBy(async () => assert.equal(await loaded("mine"), false)), 0);
  assert.equal(await revision("mine"), known);
});
