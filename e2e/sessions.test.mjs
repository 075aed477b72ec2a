// How sessions end on the server, how many sockets they have, and how the master secret is changed.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { start } from "../worker/runtime.mjs";
import { Client } from "./acs.mjs";
import { Cluster, accessKey } from "./server.mjs";
import { listen } from "./socket.mjs";

const SOCKETS_MAX = 50;
const secret = () => randomBytes(16).toString("hex");

/** Runs with a runtime of these settings. */
async function within(settings, run) {
  const runtime = await start(settings);
  try {
    await run(runtime, (name, key = runtime.adminKey) => new Cluster({ url: runtime.url, key }, name));
  } finally {
    await runtime.stop();
  }
}

const signIn = async (here, { id: key, secret: shown }) => here.request("POST", "sessions", JSON.stringify({ key, secret: shown }), {});

test("who signs out is out, also after a restart, and nobody else is", async () => {
  await within({}, async (runtime, cluster) => {
    const here = await cluster("sessions").found();
    const key = await accessKey(here, "ann", { administers: true });
    const first = (await signIn(here, key)).body.token;
    await pause(5);
    const second = (await signIn(here, key)).body.token;
    assert.notEqual(first, second);
    const socket = await listen(`${runtime.url}/v1/clusters/sessions/events`, ["tidegate", `bearer.${first}`]);
    const ended = await cluster("sessions", first).post("sessions/end");
    assert.deepEqual([ended.status, ended.body], [200, { ended: true }]);
    assert.deepEqual(await socket.closed, { code: 1008, reason: "signed out" });
    assert.equal((await cluster("sessions", first).get("me")).status, 401);
    assert.equal((await cluster("sessions", second).get("me")).status, 200);
    assert.deepEqual((await here.post("sessions/end")).body, { ended: false });
    await runtime.restart();
    assert.equal((await cluster("sessions", first).get("me")).status, 401);
    assert.equal((await cluster("sessions", second).get("me")).status, 200);
    const pai = new Client(runtime.url, key);
    assert.equal((await pai.call("2020-12-03", "ListJobs", "GET", "/api/v1/jobs")).status, 200, "the key serves on");
  });
});

test("a session that nobody uses ends, and one with an open socket does not", async () => {
  await within({ variables: { SESSION_IDLE_S: "2" } }, async (runtime, cluster) => {
    const here = await cluster("idle").found();
    const tokens = [];
    for (const user of ["away", "busy", "watching"]) tokens.push((await signIn(here, await accessKey(here, user, { administers: true }))).body.token);
    const [away, busy, watching] = tokens.map((token) => cluster("idle", token));
    const socket = await listen(`${runtime.url}/v1/clusters/idle/events`, ["tidegate", `bearer.${tokens[2]}`]);
    assert.equal((await away.get("me")).status, 200);
    for (let turn = 0; turn < 6; turn += 1) {
      await pause(500);
      assert.equal((await busy.get("me")).status, 200, `${turn}`);
    }
    assert.equal((await away.get("me")).status, 401);
    await runtime.tick(Math.floor(Date.now() / 60_000) * 60_000);
    socket.close();
    await pause(300);
    assert.equal((await watching.get("me")).status, 200);
  });
});

test("a session has so many sockets and no more", async () => {
  await within({}, async (runtime, cluster) => {
    const here = await cluster("sockets").found();
    const token = (await signIn(here, await accessKey(here, "ann", { administers: true }))).body.token;
    const open = (bearer) => listen(`${runtime.url}/v1/clusters/sockets/events`, ["tidegate", `bearer.${bearer}`]);
    const sockets = [];
    for (let at = 0; at < SOCKETS_MAX; at += 1) sockets.push(await open(token));
    await assert.rejects(open(token), /status 422/);
    sockets.push(await open(runtime.adminKey));
    sockets[0].close();
    await pause(300);
    sockets.push(await open(token));
    sockets.forEach((socket) => socket.close());
  });
});

test("opening sockets uses up no guesses", async () => {
  await within({}, async (runtime, cluster) => {
    await cluster("guesses").found();
    const socket = await listen(`${runtime.url}/v1/clusters/guesses/events`, ["tidegate", `bearer.${runtime.adminKey}`]);
    socket.close();
    const noted = await fetch(`${runtime.url}/v1/incidents`, { headers: { authorization: `Bearer ${runtime.adminKey}` } });
    assert.deepEqual(await noted.json(), []);
  });
});

test("the master secret is changed while the one before serves", async () => {
  const state = mkdtempSync(join(tmpdir(), "tidegate-master-"));
  const [adminKey, old, next] = [secret(), secret(), secret()];
  const status = async (runtime, key) => (await new Client(runtime.url, key).call("2020-12-03", "ListJobs", "GET", "/api/v1/jobs")).status;
  try {
    let key;
    let token;
    let rotated;
    await within({ state, adminKey, masterSecret: old }, async (_, cluster) => {
      const here = await cluster("master").found();
      key = await accessKey(here, "ann", { administers: true });
      token = (await signIn(here, key)).body.token;
    });
    await within({ state, adminKey, masterSecret: next, variables: { MASTER_SECRET_BEFORE: old } }, async (runtime, cluster) => {
      assert.equal((await cluster("master", token).get("me")).status, 200, "sessions go on");
      assert.equal((await signIn(cluster("master"), key)).status, 200);
      assert.equal(await status(runtime, key), 200);
      const answer = await cluster("master").send("rotate", { rotate_key: { key: key.id, overlap_ms: 0 } });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      rotated = { id: key.id, secret: answer.headers.get("x-tidegate-secret") };
      assert.equal(await status(runtime, rotated), 200);
    });
    await within({ state, adminKey, masterSecret: next }, async (runtime, cluster) => {
      assert.equal(await status(runtime, rotated), 200);
      assert.equal((await cluster("master", token).get("me")).status, 401);
      assert.notEqual(await status(runtime, key), 200);
    });
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
});
