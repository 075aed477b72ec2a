// A panic in the object: it is answered as a failure of ours, and nothing is lost, because whoever comes next is served
// from what has been stored.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { accessKey, Cluster } from "./server.mjs";
import { listen } from "./socket.mjs";

let runtime;
before(async () => (runtime = await start({ entry: readFileSync(new URL("faulty.mjs", import.meta.url), "utf8") })));
after(() => runtime.stop());

const cluster = (name) => new Cluster({ url: runtime.url, key: runtime.adminKey }, name);

/** The object panics when it uses this next. */
const failAt = (name) => fetch(`${runtime.url}/v1/fail/${name}`);
/** Used after a command has been stored and before it is answered. */
const AFTER_COMMIT = "getWebSockets";
/** Used when an object is made. */
const AT_BEGIN = "storage";

function assertOurs({ status, body }) {
  assert.deepEqual([status, body.code, body.rejection], [500, "internal", null], JSON.stringify(body));
  assert.match(body.message, /sending the same again is safe/);
}

test("a command that was stored before the panic is there once, and a retry gets its answer", async () => {
  const here = await cluster("stored").found();
  const { revision, seq } = await here.hash();
  const watching = await listen(`${runtime.url}/v1/clusters/stored/events`, ["tidegate", `bearer.${runtime.adminKey}`]);
  await failAt(AFTER_COMMIT);
  assertOurs(await here.submit("one"));
  const again = await here.submit("one");
  assert.equal(again.status, 200, JSON.stringify(again.body));
  assert.ok(again.body.events.some((event) => event.started), "it started when it was stored");
  const after = await here.hash();
  assert.deepEqual([after.seq, after.revision], [seq + 1, revision + again.body.events.length]);
  // Who watches is told of what comes next, and sees by its revision that something was missed.
  const next = await here.submit("two");
  const told = JSON.parse(await watching.next());
  assert.deepEqual([told.envelope.id, told.revision - told.events.length], ["two", after.revision]);
  assert.equal(told.revision, next.body.revision);
  watching.close();
});

test("an object that panics as it begins is made again by the next call", async () => {
  const here = await cluster("begin").found();
  const known = await here.hash();
  await failAt(AFTER_COMMIT);
  assertOurs(await here.submit("one"));
  await failAt(AT_BEGIN);
  assertOurs(await here.get("hash"));
  const after = await here.hash();
  assert.equal(after.seq, known.seq + 1);
});

test("of many at once none is lost and none comes twice, however often the object panics", async () => {
  const here = await cluster("many").found(64);
  let panics = 0;
  const lane = async (number) => {
    for (let at = 0; at < 25; at += 1) {
      const id = `lane${number}-${at}`;
      if (number === 0 && at % 6 === 3) await failAt(AFTER_COMMIT);
      for (let tries = 0; ; tries += 1) {
        const answer = await here.submit(id);
        if (answer.status === 200) break;
        assertOurs(answer);
        panics += 1;
        assert.ok(tries < 20, `${id} was never accepted`);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  assert.ok(panics >= 4, `${panics} answers were lost`);
  const ids = (await here.entries()).map((entry) => entry.envelope.id).filter((id) => id.startsWith("lane"));
  assert.deepEqual(ids.toSorted(), [0, 1, 2, 3].flatMap((number) => [...Array(25).keys()].map((at) => `lane${number}-${at}`)).sort());
  // What is published in the meantime and after leads to the same state.
  assert.equal((await here.post("flush")).status, 200);
  const copy = cluster("copy");
  assert.equal((await copy.post("restore?from=many")).status, 200);
  assert.deepEqual(await copy.hash(), await here.hash());
});

test("the SDKs are told in their own words", async () => {
  const here = await cluster("words").found();
  const { id: key, secret } = await accessKey(here, "ann");
  const session = await here.request("POST", "sessions", JSON.stringify({ key, secret }), {});
  const headers = { "x-acs-version": "2020-12-03", "x-acs-action": "ListJobs", "x-acs-signature-type": "BEARERTOKEN", "x-acs-bearer-token": session.body.token };
  const list = () => fetch(`${runtime.url}/api/v1/jobs`, { headers });
  assert.equal((await list()).status, 200);
  await failAt(AT_BEGIN);
  const answer = await list();
  const { Code, Message, RequestId } = await answer.json();
  assert.deepEqual([answer.status, Code], [503, "ServiceUnavailable"]);
  assert.ok(Message.length > 10 && /^[0-9A-F-]{36}$/.test(RequestId), Message);
  assert.equal((await list()).status, 200);
});
