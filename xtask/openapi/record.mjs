// Records examples for the document: what a Worker is sent in a small story, and what it answers.
// `node xtask/openapi/record.mjs` after `cargo xtask build`.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { Cluster, Server, accessKey } from "../../e2e/server.mjs";
import { start } from "../../worker/runtime.mjs";

const FILE = new URL("examples.json", import.meta.url);
const FAULTY = new URL("../../e2e/faulty.mjs", import.meta.url);
/** How many requests are sent at once until one is told to wait. */
const BURST = 200;
/** How many commands, so many at once, leave the beginning out of the log that is at hand. */
const [LOG, LANES] = [1_200, 8];
const GPU = 1_000;
const OFFER = "gpu-8";

/** What a Worker answers whose secret is too short, and one that fails while it answers. */
async function ofFailures() {
  const runtime = await start({ masterSecret: "short", entry: readFileSync(FAULTY, "utf8") });
  try {
    const cluster = await new Cluster({ url: runtime.url, key: runtime.adminKey }, "prod").found();
    const unset = await cluster.send("key-ana", { create_key: { key: "prod.ana", user: "ana" } });
    // Used after a command has been stored and before it is answered.
    await fetch(`${runtime.url}/v1/fail/getWebSockets`);
    return [unset, await cluster.submit("one")];
  } finally {
    await runtime.stop();
  }
}

/** What is said of a job that really ran on a node that fell silent: the log that its agent has told, and what is overdue. */
async function ofRealJobs(server) {
  const cluster = await server.cluster("workshop").foundBy([
    { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } },
    { put_group: { group: "machines", resource_type: "lingjun" } },
    { put_node: { node: "n1", group: "machines", amount: { gpu: 8 * GPU } } },
    { create_quota: { quota: "team", groups: ["machines"], min: { gpu: 8 * GPU } } },
  ]);
  const made = await cluster.send("key-n1", { create_key: { key: "workshop.n1", user: "n1", serves: ["machines"] } });
  const shown = { key: "workshop.n1", secret: made.headers.get("x-tidegate-secret") };
  const opened = await cluster.request("POST", "sessions", JSON.stringify(shown), {});
  const say = async (call, said) => {
    const headers = { authorization: `Bearer ${opened.body.token}` };
    return (await cluster.request("POST", `agents/n1/${call}`, JSON.stringify({ format: 1, ...said }), headers)).body;
  };
  const { incarnation } = await say("hello", { store: "n1" });
  const submit_job = { job: "train-1", quota: "team", pods: [{ amount: { gpu: GPU } }] };
  await cluster.send("train-1", { submit_job }, { script: { format: 1, command: ["python", "train.py"] } });
  const nodes = [{ node: "n1", gpus: 8, status: "ready", reason: null }];
  const { want } = await say("sync", { incarnation, answered: null, nodes, runs: [] });
  const text = "epoch 1: loss 2.31\nepoch 2: loss 1.87\n";
  assert.deepEqual(await say("tail", { incarnation, run: want[0].run, bytes: text.length, text }), { is_kept: true });
  const log = (await cluster.get("jobs/train-1/log")).body;
  assert.equal((await cluster.send("silent", { node_silent: { node: "n1", since: Date.now() } })).status, 200);
  return { log, overdue: (await cluster.get("overdue")).body, agents: (await cluster.get("agents")).body };
}

const server = await new Server().start();
const examples = { requests: {}, answers: {}, refusals: {} };
const keep = (part, id, name, value) => ((examples[part][id] ??= {})[name] = value);

try {
  const cluster = server.cluster("prod");
  let number = 0;
  /** Sends a command, and keeps it under a name if it has one. */
  const send = async (name, command, status = 200) => {
    const envelope = { format: 1, id: `ana-${number++}`, command };
    const answer = await cluster.request("POST", "commands", JSON.stringify(envelope));
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    if (name && status === 200) {
      keep("requests", "send_command", name, envelope);
      keep("answers", "send_command", name, answer.body);
    }
    return answer.body;
  };
  const read = async (id, path, name = "answer", status = 200) => {
    const { status: is, body } = await cluster.get(path);
    assert.equal(is, status, `${path}: ${JSON.stringify(body)}`);
    keep("answers", id, name, body);
    return body;
  };
  const plain = async (path, options = {}) => {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${server.key}` }, ...options });
    return { status: answer.status, body: await answer.json() };
  };

  await send("create_cluster", { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } });
  await send(null, { put_group: { group: "pool", resource_type: "lingjun", pool: { gpu: 8 * GPU } } });
  await send("create_quota", { create_quota: { quota: "team", groups: ["pool"], min: { gpu: 8 * GPU } } });
  const pods = (gpus) => [{ amount: { gpu: gpus * GPU } }];
  await send("submit_job", { submit_job: { job: "train-1", quota: "team", priority: 4, pods: pods(8) } });
  await send(null, { submit_job: { job: "train-2", quota: "team", pods: pods(2) } });
  const terms = { original_price: 1_000_000 };
  await send("create_offer", { create_offer: { offer: OFFER, resource_type: "lingjun", instance: { gpu: 8 * GPU }, inventory: 2, price: 300_000, terms } });
  const network = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };
  const spot = { offer: OFFER, strategy: "with_price_limit", discount_percent: 50, network };
  await send("bid", { submit_job: { job: "spot-1", spot, pods: [{ amount: {} }] } });
  await read("explain_job", "jobs/train-2/why", "waits");
  await read("explain_job", "jobs/train-1/why", "runs");
  await send("set_priority", { set_priority: { job: "train-2", priority: 9 } });
  await send("scale_quotas", { scale_quotas: { targets: [{ quota: "team", min: { gpu: 6 * GPU } }], mode: "drain" } });
  await send("cancel_job", { cancel_job: { job: "train-1" } });
  const key = await accessKey(cluster, "ana", { administers: true });
  const shown = { key: key.id, secret: key.secret };
  const opened = await cluster.request("POST", "sessions", JSON.stringify(shown), {});
  assert.equal(opened.status, 200);
  keep("requests", "open_session", "request", { ...shown, secret: "the secret that was shown once" });
  keep("answers", "open_session", "answer", { ...opened.body, token: "the token of a session" });
  await cluster.post("flush").then(({ body }) => keep("answers", "publish_now", "answer", body));
  await server.tick(Math.floor(Date.now() / 60_000) * 60_000);

  await read("get_snapshot", "snapshot");
  await read("get_head", "head");
  await read("list_entries", "entries?after=0&count=2");
  await read("get_past_snapshot", "past?revision=1");
  const { revision } = await cluster.hash();
  const [round] = await read("list_rounds", `rounds?count=1&min_revision=${revision}`);
  await read("get_round", `rounds/${round.revision}`);
  await read("list_offers", "offers");
  await read("get_offer_history", `offers/${OFFER}/history`);
  await read("get_bills", "bills?by=job");
  await read("get_me", "me");
  await read("list_keys", "keys");
  await read("list_audit", "audit?count=2");
  await read("get_position", "hash");
  const { log, overdue, agents } = await ofRealJobs(server);
  keep("answers", "get_job_log", "answer", log);
  keep("answers", "list_overdue", "answer", overdue);
  keep("answers", "list_agents", "answer", agents);
  await cluster.post("flush");
  const [{ key: object }] = (await cluster.get("head")).body.segments;
  const { body: text } = await cluster.get(`objects/${encodeURIComponent(object)}`);
  const part = encodeURIComponent(object.replace("c/prod/", ""));
  const imported = await server.cluster("prod-again").request("POST", `imported/${part}`, text);
  assert.equal(imported.status, 200, JSON.stringify(imported.body));
  keep("answers", "import_object", "answer", imported.body);
  const restored = await cluster.post("restore");
  assert.equal(restored.status, 200, JSON.stringify(restored.body));
  keep("answers", "restore_cluster", "answer", restored.body);
  keep("answers", "get_health", "answer", (await plain("/health")).body);
  await read("get_cluster_health", "health");
  assert.equal((await server.cluster("workshop").get("health")).body.state, "degraded");
  keep("answers", "get_cluster_health", "degraded", (await server.cluster("workshop").get("health")).body);
  await read("list_incidents", "incidents");
  await plain("/v1/clusters/prod/me", { headers: { authorization: "Bearer nobody" } });
  const doomed = await server.cluster("old").found();
  await doomed.submit("one");
  const cost = await doomed.get("deletion");
  keep("answers", "get_deletion", "cost", cost.body);
  const deleted = await doomed.post(`delete?confirm=${cost.body.confirm}`);
  assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
  keep("answers", "delete_cluster", "answer", deleted.body);
  keep("answers", "get_deletion", "deleted", (await doomed.get("deletion")).body);
  keep("answers", "list_service_incidents", "answer", (await plain("/v1/incidents")).body);
  const guests = await cluster.request("POST", "sessions", JSON.stringify(shown), {});
  const ended = await cluster.request("POST", "sessions/end", "", { authorization: `Bearer ${guests.body.token}` });
  assert.equal(ended.status, 200, JSON.stringify(ended.body));
  keep("answers", "sign_out", "answer", ended.body);
  keep("answers", "list_clusters", "answer", (await plain("/v1/clusters")).body);

  const refusals = [
    await plain("/v1/clusters/prod/commands", { method: "POST", body: "{" , headers: { authorization: `Bearer ${server.key}` } }),
    await plain("/v1/clusters/prod/me", { headers: {} }),
    await plain("/v1/clusters/prod/jobs/nobody/why"),
    await plain("/v1/clusters/prod/events"),
    await plain("/v1/clusters/prod/restore?force=perhaps", { method: "POST" }),
  ];
  const refused = async (command) => {
    const body = JSON.stringify({ format: 1, id: `ana-${number++}`, command });
    refusals.push(await plain("/v1/clusters/prod/commands", { method: "POST", body, headers: { authorization: `Bearer ${server.key}` } }));
  };
  await refused({ submit_job: { job: "train-1", quota: "team", pods: pods(1) } });
  await refused({ submit_job: { job: "train-3", quota: "team", pods: [] } });
  await refused({ cancel_job: { job: "x".repeat(1 << 20) } });
  const guest = await accessKey(cluster, "guest");
  const session = await cluster.request("POST", "sessions", JSON.stringify({ key: guest.id, secret: guest.secret }), {});
  const asGuest = (path) => plain(path, { headers: { authorization: `Bearer ${session.body.token}` } });
  refusals.push(await asGuest("/v1/clusters/prod/hash"));
  for (let turn = 0; turn < LOG; turn += LANES) {
    const lanes = [...Array(LANES).keys()].map((lane) => ({ set_priority: { job: "train-2", priority: 1 + ((turn + lane) % 9) } }));
    await Promise.all(lanes.map((command) => send(null, command)));
  }
  await cluster.post("flush");
  await send(null, { put_workspace: { workspace: "team" } });
  await send(null, { put_member: { workspace: "team", user: "guest", roles: ["guest"] } });
  refusals.push(await asGuest("/v1/clusters/prod/entries?after=1&count=500"));
  for (let hurried; hurried === undefined; ) {
    const burst = await Promise.all(Array.from({ length: BURST }, () => asGuest("/v1/clusters/prod/me")));
    hurried = burst.find(({ status }) => status === 429);
    if (hurried) refusals.push(hurried);
  }
  refusals.push(...(await ofFailures()));
  assert.deepEqual([...new Set(refusals.map(({ status }) => status))].sort(), [400, 401, 403, 404, 409, 410, 413, 422, 426, 429, 500, 503], JSON.stringify(refusals));
  for (const { status, body } of refusals.reverse()) examples.refusals[status] = body;
  writeFileSync(FILE, `${JSON.stringify(examples, null, 1)}\n`);
  console.log(`refusals: ${Object.keys(examples.refusals)}`);
} finally {
  await server.stop();
}
