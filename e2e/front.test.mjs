// Connections to the development server: clients that poll hold them open between requests.
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
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
