// Connections to the development server: clients that poll hold them open between requests.
import assert from "node:assert/strict";
import { Agent, get, request } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Server } from "./server.mjs";

/** Longer than the runtime itself keeps a connection without requests. */
const IDLE_MS = 6_000;

let server;
before(async () => {
  server = await new Server().start();
});
after(() => server.stop());

function ask(agent) {
  return new Promise((answered, failed) => {
    const request = get(`${server.url}/health`, { agent }, (answer) => {
      answer.resume();
      answer.on("end", () => answered({ status: answer.statusCode, isReused: request.reusedSocket }));
    });
    request.on("error", failed);
  });
}

test("a connection outlives the pause of a client that polls", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  assert.deepEqual(await ask(agent), { status: 200, isReused: false });
  await pause(IDLE_MS);
  assert.deepEqual(await ask(agent), { status: 200, isReused: true });
  agent.destroy();
});

/** The status of a request with these headers, and the code of a refusal. */
function answered(method, path, headers) {
  return new Promise((done, failed) => {
    const asked = request(`${server.url}${path}`, { method, headers }, async (answer) => {
      const text = (await answer.toArray()).join("");
      done([answer.statusCode, text.startsWith("{") ? JSON.parse(text).code : undefined]);
    });
    asked.on("upgrade", (answer, socket) => (socket.destroy(), done([answer.statusCode, undefined])));
    asked.on("error", failed);
    asked.end(method === "POST" ? "{}" : undefined);
  });
}

test("who asks under another name is not let in", async () => {
  const port = new URL(server.url).port;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "localhost"]) {
    assert.deepEqual(await answered("GET", "/health", { host }), [200, undefined], host);
  }
  for (const host of ["tidegate.example.org", `127.0.0.1.example.org:${port}`, "localhost@example.org", "]"]) {
    assert.deepEqual(await answered("GET", "/health", { host }), [403, "other_host"], host);
  }
});

test("a page of another origin reads and sends nothing", async () => {
  const commands = "/v1/clusters/demo/commands";
  const own = await answered("POST", commands, { origin: server.url });
  assert.deepEqual(own, await answered("POST", commands, {}), "it is as if no page had asked");
  assert.notEqual(own[1], "other_origin");
  for (const origin of ["http://example.org", "https://127.0.0.1", "null"]) {
    assert.deepEqual(await answered("POST", commands, { origin }), [403, "other_origin"], origin);
    assert.deepEqual(await answered("GET", "/health", { origin }), [200, undefined], origin);
    const socket = { origin, connection: "upgrade", upgrade: "websocket" };
    assert.deepEqual(await answered("GET", "/v1/clusters/demo/socket", socket), [403, undefined], origin);
  }
});
