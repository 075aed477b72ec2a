// The past of a cluster over HTTP: from the newest snapshot before any moment, portion by portion, to what is now.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { People } from "./people.mjs";
import { Server } from "./server.mjs";

let server;
before(async () => (server = await new Server().start()));
after(() => server.stop());

/** More entries than there are between two snapshots: the priority of a job goes up and down. */
const CHAPTER = 1104;

/** So many chapters, each published with a snapshot at its end. */
async function live(cluster, job, chapters) {
  for (let number = 0; number < chapters * CHAPTER; number += 8) {
    const lanes = [...Array(8).keys()].map((lane) => number + lane);
    await Promise.all(lanes.map((one) => cluster.send(`turn-${one}`, { set_priority: { job, priority: 1 + (one % 9) } })));
    if ((number + 8) % CHAPTER === 0) assert.equal((await cluster.post("flush")).status, 200);
  }
}

/** Every entry after a revision, asked for in portions. */
async function onward(cluster, after, count) {
  const entries = [];
  for (;;) {
    const answer = await cluster.get(`entries?after=${after}&count=${count}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.ok(answer.body.length <= count);
    if (answer.body.length === 0) return entries;
    entries.push(...answer.body);
    after = entries.at(-1).revision;
  }
}

test("the whole past can be read from any moment on, although the log has dropped it", async () => {
  const cluster = await server.cluster("long").found();
  await cluster.submit("one");
  await live(cluster, "job-one", 3);
  const { seq, revision } = await cluster.hash();
  const all = await onward(cluster, 0, 1000);
  assert.equal(all.length, seq);
  for (const [at, entry] of all.entries()) assert.equal(entry.revision, (all[at - 1]?.revision ?? 0) + entry.events.length);
  for (const wanted of [0, 1, 700, 1800, 2500, revision - 3, revision, revision + 10]) {
    const from = (await cluster.get(`past?revision=${wanted}`)).body.revision;
    assert.ok(from <= wanted && wanted - from < 2 * CHAPTER, `${from} for ${wanted}`);
    const tail = await onward(cluster, from, 700);
    assert.deepEqual(tail.map((one) => one.revision), all.map((one) => one.revision).filter((one) => one > from));
  }
  // By time: everything that was decided then or later is after the snapshot.
  const { at } = all[2 * CHAPTER];
  const from = (await cluster.get(`past?time=${at}`)).body.revision;
  assert.ok(all.filter((one) => one.at >= at).every((one) => one.revision > from));
  assert.ok(from > 500, `${from}`);
  for (const query of ["", "?time=1&revision=1", "?time=soon", "?revision=-1"]) {
    const answer = await cluster.get(`past${query}`);
    assert.deepEqual([answer.status, answer.body.code], [400, "bad_query"], query);
  }
});

test("the audit is read in parts, and each command comes once", async () => {
  const cluster = await server.cluster("parts").found();
  await cluster.submit("one");
  // Most of them change nothing, and have the revision of the one before.
  for (let turn = 0; turn < 12; turn += 1) {
    const answer = await cluster.send(`turn-${turn}`, { set_priority: { job: "job-one", priority: turn < 7 ? 5 : 6 } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
  const all = (await cluster.entries()).map((entry) => entry.envelope.id).reverse();
  assert.equal(all.length, 16);
  for (const count of [1, 2, 3, 5, 16]) {
    const read = [];
    for (let query = `audit?count=${count}`; ; query = `audit?count=${count}&before=${read.at(-1).revision}`) {
      const { body } = await cluster.get(query);
      if (body.length === 0) break;
      read.push(...body);
    }
    assert.deepEqual(read.map((entry) => entry.envelope.id), all, `${count} at once`);
  }
});

test("only administrators read further back than the log goes", async () => {
  const people = await People.of(server, "veiled");
  await live(people.cluster, "developer-job", 1);
  const { revision } = await people.cluster.hash();
  assert.ok((await people.cluster.get(`past?revision=${revision}`)).body.revision > 900, "there is a snapshot");
  assert.equal((await people.cluster.get("entries?after=1&count=500")).body.length, 500);
  for (const sender of ["developer", "carol"]) {
    const past = await people.senders[sender].get(`past?revision=${revision}`);
    assert.deepEqual([past.status, past.body.code], [403, "denied"], JSON.stringify(past.body));
    assert.equal((await people.senders[sender].get("entries?after=1&count=500")).status, 410);
    // What a console that has been away for a moment asks for.
    assert.equal((await people.senders[sender].get(`entries?after=${revision - 3}`)).status, 200);
  }
});

test("whoever reads the past beside the object finds what was written last, and what they may see by now", async () => {
  const people = await People.of(server, "beside");
  const { developer, guest, cluster } = people.senders;
  await live(people.cluster, "developer-job", 1);
  for (let turn = 0; turn < 12; turn += 1) {
    // Nobody has published it yet.
    assert.equal((await developer.send(`own-${turn}`, { set_priority: { job: "developer-job", priority: 1 + (turn % 9) } })).status, 200);
    const newest = await developer.get("audit?count=1");
    assert.deepEqual([newest.status, newest.body[0]?.envelope.id], [200, `own-${turn}`], JSON.stringify(newest.body));
    assert.equal(newest.headers.get("x-tidegate-newest"), null);
  }
  const { seq, revision } = await people.cluster.hash();
  const round = await developer.get(`rounds/${revision}`);
  assert.deepEqual([round.status, round.body.revision], [200, revision]);
  // All of it, to the first command: what is published long ago and what is not published at all, each once.
  const found = [];
  for (let next = ""; next !== null; ) {
    const page = await cluster.get(`audit?count=200${next && `&before=${next}`}`);
    if (page.status === 429) await pause(1_000);
    else {
      assert.equal(page.status, 200, JSON.stringify(page.body));
      found.push(...page.body.map(({ envelope }) => envelope.id));
      next = page.headers.get("x-tidegate-next-before");
    }
  }
  assert.deepEqual([found.length, new Set(found).size, found[0], found.at(-1)], [seq, seq, "own-11", "team-1"]);
  // Roles are those of now, though KV shows those of before.
  const seen = async () => (await guest.get("audit?count=200")).body.filter(({ envelope }) => envelope.id.startsWith("own-"));
  assert.equal((await seen()).length, 12);
  await people.accepted("out", { remove_member: { workspace: "workspace-b", user: "guest" } });
  const out = await guest.get("audit?count=200");
  assert.ok(out.status === 403 || !JSON.stringify(out.body).includes("developer-job"), JSON.stringify(out.body).slice(0, 300));
});

test("reads of the past are counted by what they cost, and nobody outside counts", async () => {
  const people = await People.of(server, "dear");
  // What was taken before the cost was known is given back.
  for (let turn = 0; turn < 90; turn += 1) assert.equal((await people.senders.guest.get("audit?count=1")).status, 200, `${turn}`);
  // Of many that are under way at once few are begun. How many overlap is the machine's business, so they are sent until some do.
  let statuses = [];
  for (let turn = 0; turn < 20 && !statuses.includes(429); turn += 1) {
    const many = await Promise.all([...Array(400).keys()].map(() => people.senders.guest.get("audit?count=1")));
    statuses = many.map(({ status }) => status);
  }
  assert.ok(statuses.includes(429), `${statuses}`);
  assert.equal((await people.senders.developer.get("audit?count=1")).status, 200, "others go on");
  const charge = { method: "POST", body: "1000000 dear.developer" };
  for (const path of ["/charge", "/v1/clusters/dear/charge"]) assert.ok([404, 405].includes((await fetch(`${server.url}${path}`, charge)).status), path);
});
