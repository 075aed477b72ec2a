// Agents that fall silent, in the real runtime: an agent is played by its requests, and by a socket that the runtime answers alone.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";
import { listen } from "./socket.mjs";

const MISSED_AFTER_S = 2;
/** Longer than an agent is missed before it is silent. */
const LONG_MS = 2 * MISSED_AFTER_S * 1000 + 500;
const MINUTE_MS = 60_000;
const state = mkdtempSync(join(tmpdir(), "tidegate-silence-"));
let runtime;
let cluster;
let slot = Math.floor(Date.now() / MINUTE_MS) - 100;
before(async () => {
  runtime = await start({ state, variables: { MISSED_AFTER_S: `${MISSED_AFTER_S}` } });
  cluster = new Cluster({ url: runtime.url, key: runtime.adminKey }, "silence");
  const amount = { gpu: 4000 };
  await cluster.foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    ...["one", "two"].flatMap((name) => [
      { put_group: { group: name, resource_type: "lingjun" } },
      { put_node: { node: `of-${name}`, group: name, amount } },
    ]),
    { create_quota: { quota: "team", groups: ["one", "two"], min: { gpu: 8000 } } },
  ]);
});
after(async () => {
  await runtime.stop();
  rmSync(state, { recursive: true, force: true });
});

/** An agent of one node, as its requests. */
async function agent(name) {
  const made = await cluster.send(`key-${name}`, { create_key: { key: `silence.${name}`, user: name, serves: [name] } });
  const secret = made.headers.get("x-tidegate-secret");
  const opened = await cluster.request("POST", "sessions", JSON.stringify({ key: `silence.${name}`, secret }), {});
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  const { token } = opened.body;
  const say = async (call, body) => {
    const answer = await cluster.request("POST", `agents/${name}/${call}`, JSON.stringify({ format: 1, ...body }), { authorization: `Bearer ${token}` });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const { incarnation } = await say("hello", { store: name });
  const nodes = [{ node: `of-${name}`, gpus: 4, status: "ready" }];
  const sync = (runs = []) => say("sync", { incarnation, answered: null, nodes, runs });
  const bell = () => listen(`${runtime.url}/v1/clusters/silence/agents/${name}/bell`, undefined, { authorization: `Bearer ${token}` });
  return { sync, bell };
}

/** What the cluster's minute finds: the nodes that are silent. */
async function tick() {
  slot += 1;
  await runtime.tick(slot * MINUTE_MS);
  const { body } = await cluster.get("hash");
  const snapshot = await cluster.get(`snapshot?min_revision=${body.revision}`);
  return snapshot.body.nodes.filter(({ silence }) => silence).map(({ id }) => id);
}

test("an agent whose socket stands is heard though it asks for nothing, and one without a socket is not", async () => {
  const [one, two] = [await agent("one"), await agent("two")];
  await one.sync();
  await two.sync();
  const script = { format: 1, command: ["sleep", "600"] };
  for (const job of ["first", "second"]) {
    const sent = await cluster.send(job, { submit_job: { job, quota: "team", pods: [{ amount: { gpu: 4000 } }] } }, { script });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
  }
  const [{ run, job }] = (await two.sync()).want;
  await two.sync([{ run, job, state: "running", told: false, since_ms: 0, log_bytes: 0, checkpoint_ms: null }]);
  const bell = await one.bell();
  const ask = setInterval(() => bell.send("ping"), 200);
  assert.deepEqual(await tick(), []);
  await pause(LONG_MS);
  assert.deepEqual(await tick(), [], "the other one is missed");
  await pause(LONG_MS);
  const { seq } = await cluster.hash();
  assert.deepEqual((await cluster.get("overdue")).body, []);
  assert.deepEqual(await tick(), ["of-two"]);
  await tick();
  assert.equal((await cluster.hash()).seq, seq + 3, "two rounds and one silence");

  const [overdue, ...others] = (await cluster.get("overdue")).body;
  assert.deepEqual(others, []);
  assert.deepEqual([overdue.node, overdue.job, overdue.run, overdue.awaited, overdue.amount], ["of-two", job, run, "word", { gpu: 4000 }]);
  assert.match(overdue.sentence, /^of-two has not been heard for \d+ s; 4 GPUs of job (first|second) are kept\.$/);

  clearInterval(ask);
  await pause(LONG_MS);
  await tick();
  await two.sync();
  assert.deepEqual(await tick(), [], "one is missed, and the other is back");
  await pause(LONG_MS);
  assert.ok((await tick()).includes("of-one"), "a socket that nobody asks on is no sign of life");
});
