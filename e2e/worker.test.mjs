// The Worker from outside: what its clients rely on, and what must survive a power failure.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Server } from "./server.mjs";
import { listen } from "./socket.mjs";

const MINUTE_MS = 60_000;

let server;
before(async () => (server = await new Server().start()));
after(() => server.stop());

/** Refused with this status and code, and nothing has changed. */
async function refused(cluster, status, code, attempt) {
  const start = await cluster.hash();
  const answer = await attempt();
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.code, code);
  assert.ok(answer.body.message.length > 10, answer.body.message);
  assert.deepEqual(await cluster.hash(), start);
  return answer.body;
}

test("a submission that fits starts at once, and a retry gets the first answer", async () => {
  const cluster = await server.cluster("retry").found();
  const first = await cluster.submit("one");
  assert.equal(first.status, 200);
  assert.ok(first.body.events.some((event) => event.started), JSON.stringify(first.body.events));
  const again = await cluster.submit("one");
  assert.deepEqual(again.body, first.body);
  assert.equal((await cluster.hash()).revision, first.body.revision);
});

test("a command id with another body is refused", async () => {
  const cluster = await server.cluster("taken").found();
  await cluster.submit("one", 1);
  const answer = await refused(cluster, 409, "taken", () => cluster.submit("one", 2));
  assert.deepEqual(answer.rejection, { taken: { noun: "command", name: "one" } });
});

test("a dry run tells what would happen and changes nothing", async () => {
  const cluster = await server.cluster("dry").found();
  const start = await cluster.hash();
  const job = { job: "tried", quota: "team", pods: [{ amount: { gpu: 1000 } }] };
  const answer = await cluster.send("try", { submit_job: job }, { dry_run: true });
  assert.equal(answer.status, 200);
  assert.ok(answer.body.events.some((event) => event.started));
  assert.deepEqual(await cluster.hash(), start);
  assert.equal((await cluster.send("try", { submit_job: job })).status, 200);
});

test("bad input is refused by name and changes nothing", async (t) => {
  const cluster = await server.cluster("bad").found();
  const good = { format: 1, id: "x", command: { round: {} } };
  const raw = (text) => () => cluster.request("POST", "commands", text);
  const json = (value) => raw(JSON.stringify(value));
  const cases = {
    "too large": [413, "too_large", raw(`"${"x".repeat(1024 * 1024)}"`)],
    "too deep": [400, "malformed", raw("[".repeat(100_000))],
    "cut off": [400, "malformed", raw(JSON.stringify(good).slice(0, -4))],
    "not JSON": [400, "malformed", raw("\u0000\u0001")],
    "nothing": [400, "malformed", raw("")],
    "an unknown field": [400, "malformed", json({ ...good, surprise: 1 })],
    "an unknown command": [400, "malformed", json({ ...good, command: { explode: {} } })],
    "an unknown format": [400, "unknown_format", json({ ...good, format: 2 })],
    "an empty id": [400, "malformed", json({ ...good, id: "" })],
    "an id kept for the clock": [400, "malformed", json({ ...good, id: "slot:1" })],
    "an unknown quota": [404, "unknown", () => cluster.submit("x", 1, "nowhere")],
    "a job without GPUs": [422, "empty_job", json({ ...good, command: { submit_job: { job: "x", quota: "team", pods: [{ amount: {} }] } } })],
    "a stale base": [409, "moved_on", json({ ...good, base: 1 })],
    "a slot of the future": [422, "out_of_range", json({ ...good, command: { round: { slot: 99_999_999 } } })],
  };
  for (const [name, [status, code, attempt]] of Object.entries(cases)) {
    await t.test(name, () => refused(cluster, status, code, attempt));
  }
});

test("what comes before a cluster has been created is refused with its name", async () => {
  const { status, body } = await server.cluster("unfounded").send("early", { put_group: { group: "m", resource_type: "lingjun" } });
  assert.deepEqual([status, body.code], [409, "not_now"], JSON.stringify(body));
  assert.match(body.message, /^cluster unfounded has not been created; send create_cluster/);
});

test("a body that does not tell its size is cut at the limit", async () => {
  const cluster = await server.cluster("unmeasured").found();
  const part = "x".repeat(64 * 1024);
  const unmeasured = async function* () {
    for (let sent = 0; sent < 64; sent += 1) yield Buffer.from(part);
  };
  const headers = { authorization: `Bearer ${server.key}` };
  const url = `${server.url}/v1/clusters/unmeasured/commands`;
  const answer = await fetch(url, { method: "POST", body: unmeasured(), duplex: "half", headers });
  assert.equal(answer.status, 413);
  assert.equal((await answer.json()).code, "too_large");
  assert.equal((await cluster.hash()).seq, 3);
});

test("nothing but the health is open", async () => {
  const cluster = server.cluster("closed");
  const paths = ["snapshot", "head", "entries", "past", "rounds", "rounds/1", "jobs/x/why", "offers", "offers/x/history", "bills", "metrics", "hash", "events"];
  const requests = [...paths.map((path) => ["GET", path]), ...["commands", "restore", "flush"].map((path) => ["POST", path])];
  for (const [method, path] of requests) {
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "Bearer " }, { authorization: server.key }]) {
      const answer = await cluster.request(method, path, undefined, headers);
      assert.equal(answer.status, 401, `${method} ${path} ${JSON.stringify(headers)}`);
      assert.equal(answer.body.code, "unauthorised");
    }
  }
  await assert.rejects(listen(`${server.url}/v1/clusters/closed/events`, ["tidegate", "bearer.wrong"]), /status 401/);
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
  assert.equal((await fetch(`${server.url}/v1/clusters`)).status, 401);
});

test("wrong paths and methods are told apart", async () => {
  const cluster = server.cluster("paths");
  assert.equal((await cluster.get("nonsense")).body.code, "no_route");
  const wrong = await cluster.get("commands");
  assert.deepEqual([wrong.status, wrong.body.code, wrong.headers.get("allow")], [405, "wrong_method", "POST"]);
  assert.equal(wrong.headers.get("x-content-type-options"), "nosniff");
  const unknown = await cluster.request("GET", "me", undefined, {});
  assert.deepEqual([unknown.status, unknown.headers.get("www-authenticate")], [401, 'Bearer realm="tidegate"']);
  for (const path of ["/metrics", "/healthz"]) assert.equal((await fetch(`${server.url}${path}`)).status, 404, path);
  assert.equal((await cluster.post("slots/1")).body.code, "no_route");
  assert.equal((await server.cluster("Upper").get("head")).body.code, "bad_cluster");
  const nowhere = await cluster.get("snapshot");
  assert.deepEqual([nowhere.status, nowhere.body.rejection], [404, { unknown: { noun: "cluster", name: "paths" } }]);
});

test("a slot is decided once, and missed ones are counted", async () => {
  const cluster = await server.cluster("slots").found();
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  await server.tick(now - 5 * MINUTE_MS);
  const once = await cluster.hash();
  await server.tick(now - 5 * MINUTE_MS);
  await server.tick(now - 6 * MINUTE_MS);
  assert.deepEqual(await cluster.hash(), once);
  await server.tick(now - 2 * MINUTE_MS);
  const rounds = (await cluster.get(`rounds?min_revision=${(await cluster.hash()).revision}`)).body;
  const slots = rounds.flatMap((entry) => entry.events).filter((event) => event.rounded?.slot).map((event) => event.rounded);
  assert.deepEqual(slots.map(({ slot, missed }) => [slot, missed]), [
    [now / MINUTE_MS - 2, 2],
    [now / MINUTE_MS - 5, 0],
  ]);
});

test("reads come from KV with their age, and from the object for a newer revision", async () => {
  const cluster = await server.cluster("reads").found();
  assert.equal((await cluster.post("flush")).status, 200);
  const { revision } = await cluster.hash();
  const published = await cluster.get("snapshot");
  assert.deepEqual([published.headers.get("x-tidegate-source"), published.body.revision], ["kv", revision]);
  assert.ok(Number(published.headers.get("x-tidegate-age-ms")) >= 0);

  const receipt = (await cluster.submit("one", 9)).body;
  const own = await cluster.get("snapshot");
  assert.deepEqual([own.status, own.body.revision], [200, receipt.revision], "who has written reads what they wrote");
  const ahead = await cluster.get(`snapshot?min_revision=${receipt.revision + 1}`);
  assert.deepEqual([ahead.status, ahead.body.code], [409, "not_yet"]);
  assert.match(ahead.body.message, new RegExp(`revision ${receipt.revision + 1} is wanted, and the cluster is at ${receipt.revision}`));
  const newest = await cluster.get(`snapshot?min_revision=${receipt.revision}`);
  assert.equal(newest.body.revision, receipt.revision);
  assert.equal(newest.headers.get("x-tidegate-revision"), String(receipt.revision));

  const entries = (await cluster.get(`entries?after=${revision}&min_revision=${receipt.revision}`)).body;
  assert.deepEqual(entries.map((entry) => entry.envelope.id), ["one"]);
  assert.deepEqual(entries[0].events, receipt.events);
  assert.equal(entries[0].envelope.by, "administrator");
  assert.equal((await cluster.get(`rounds/${receipt.revision}`)).body.revision, receipt.revision);

  const why = (await cluster.get("jobs/job-one/why")).body;
  assert.equal(why.status, "Queued", JSON.stringify(why));
  assert.match(why.reason, /GPU/);
  assert.deepEqual(Object.keys(why.help), ["sentence", "command", "resubmit", "lacks"]);
  assert.equal((await cluster.get("jobs/nobody/why")).status, 404);

  const metrics = (await cluster.get("metrics")).body;
  assert.match(metrics, /^tidegate_queue_depth 1$/m);
  assert.match(metrics, /^tidegate_publication_failures 0$/m);
  assert.equal((await cluster.post("flush")).status, 200);
  assert.match((await cluster.get("metrics")).body, /^tidegate_unpublished_entries 0$[^]*^tidegate_published_age_seconds \d$/m);
  assert.match(metrics, /^tidegate_gpus_guaranteed\{dimension="gpu"\} 8$/m);
});

test("what is committed reaches KV by itself", async () => {
  const cluster = await server.cluster("outbox").found();
  for (let number = 0; number < 20; number += 1) await cluster.submit(`n${number}`);
  const { revision } = await cluster.hash();
  const deadline = Date.now() + 10_000;
  let head;
  do {
    await new Promise((passed) => setTimeout(passed, 200));
    head = (await cluster.get("head")).body;
  } while (head.revision < revision && Date.now() < deadline);
  assert.equal(head.revision, revision);
  // 23 commands in a moment are few publications.
  assert.ok(head.segments.length <= 6, `${head.segments.length} segments`);
});

test("a socket is told of every entry", async () => {
  const cluster = await server.cluster("push").found();
  const socket = await listen(`${server.url}/v1/clusters/push/events`, ["tidegate", `bearer.${server.key}`]);
  assert.equal(socket.protocol, "tidegate");
  const other = await listen(`${server.url}/v1/clusters/push/events`, ["tidegate", `bearer.${server.key}`]);
  // An address is written to logs: no credential is read from it.
  await assert.rejects(listen(`${server.url}/v1/clusters/push/events?key=${server.key}`), /status 401/);
  for (const id of ["a", "b"]) {
    const receipt = (await cluster.submit(id)).body;
    for (const listener of [socket, other]) {
      const entry = JSON.parse(await listener.next());
      assert.deepEqual([entry.envelope.id, entry.revision, entry.events], [id, receipt.revision, receipt.events]);
    }
  }
  socket.send("ping");
  assert.equal(await socket.next(), "pong");
  socket.close();
  other.close();
});

test("killed in the middle of submissions: every acknowledged one is there once, and KV alone rebuilds it", async () => {
  const doomed = await new Server().start();
  try {
    let cluster = await doomed.cluster("doomed").found(64);
    const acknowledged = new Map();
    let isDown = false;
    const sender = async (lane) => {
      for (let number = 0; number < 50; number += 1) {
        const id = `lane${lane}-${number}`;
        try {
          const answer = await cluster.submit(id);
          if (answer.status === 200) acknowledged.set(id, answer.body);
        } catch (error) {
          if (!isDown) throw error;
          return;
        }
        if (acknowledged.size === 120 && !isDown) {
          isDown = true;
          await doomed.kill();
        }
      }
    };
    await Promise.all([0, 1, 2, 3].map(sender));
    assert.ok(acknowledged.size >= 120 && acknowledged.size < 200, `${acknowledged.size} acknowledged`);

    await doomed.start();
    cluster = doomed.cluster("doomed");
    const entries = await cluster.entries();
    const ids = entries.map((entry) => entry.envelope.id);
    assert.equal(new Set(ids).size, ids.length, "no command is there twice");
    for (const id of acknowledged.keys()) assert.ok(ids.includes(id), `${id} was acknowledged and is lost`);
    for (const [id, receipt] of [...acknowledged].slice(-5)) assert.deepEqual((await cluster.submit(id)).body, receipt);

    assert.equal((await cluster.post("flush")).status, 200);
    const here = await cluster.hash();
    const copy = doomed.cluster("copy");
    const restored = await copy.post("restore?from=doomed");
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.deepEqual([restored.body.outcome, restored.body.kv, restored.body.object], ["restored", here, here]);
    assert.deepEqual(await copy.hash(), here);

    const [id, receipt] = [...acknowledged][0];
    assert.deepEqual((await copy.submit(id)).body, receipt, "the copy knows what was answered");
    assert.equal((await copy.post("restore?from=doomed")).body.outcome, "same");
    assert.equal((await copy.submit("something-new")).status, 200);
    assert.equal((await copy.post("restore?from=doomed")).body.code, "has_log");
    const changed = await copy.hash();
    assert.equal((await copy.post("restore?from=doomed&force=true")).body.code, "would_go_back");
    assert.deepEqual(await copy.hash(), changed);
    const young = await doomed.cluster("young").found();
    assert.equal((await young.post("restore?from=doomed&force=true")).body.outcome, "restored");
    assert.deepEqual(await young.hash(), here);
  } finally {
    await doomed.stop();
  }
});

test("a state that no row and no part can hold survives a kill and a restore", async () => {
  // Each job counts for sixteen.
  const large = await new Server({ variables: { JOBS_OF_CLUSTER_MAX: 20_000 } }).start();
  try {
    const cluster = await large.cluster("large").found();
    const pods = [{ amount: { gpu: 1000 } }];
    const job = (id) => ({ submit_job: { job: id, name: "n".repeat(4000), quota: "team", pods } });
    // A snapshot is made after a thousand entries.
    for (let number = 0; number < 1000; number += 8) {
      const ids = [...Array(8).keys()].map((lane) => `job-${number + lane}`);
      await Promise.all(ids.map((id) => cluster.send(id, job(id))));
    }
    assert.equal((await cluster.post("flush")).status, 200);
    assert.ok((await cluster.get("head")).body.snapshot, "there is a snapshot");
    const here = await cluster.hash();
    await large.kill();
    await large.start();
    assert.deepEqual(await large.cluster("large").hash(), here);
    assert.deepEqual((await large.cluster("copy").post("restore?from=large")).body.object, here);
    await large.kill();
    await large.start();
    assert.deepEqual(await large.cluster("copy").hash(), here);
  } finally {
    await large.stop();
  }
});
