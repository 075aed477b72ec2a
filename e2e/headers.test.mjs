// What browsers are told of pages and answers: which scripts run, who may show them in a frame, and what is sent on.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";
import { listen } from "./socket.mjs";

let runtime;
before(async () => (runtime = await start()));
after(() => runtime.stop());

const asked = (path) => fetch(`${runtime.url}${path}`);

/** The directives of a policy by their names. */
function policy(answer) {
  const directives = answer.headers.get("content-security-policy").split("; ");
  return Object.fromEntries(directives.map((text) => text.split(/ (.*)/s)));
}

function checkCommon(answer, path) {
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff", path);
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer", path);
  assert.match(answer.headers.get("strict-transport-security"), /^max-age=\d{8}$/, path);
}

test("pages of the console run their own scripts and are in nobody's frame", async () => {
  const page = readFileSync(new URL("../public/index.html", import.meta.url), "utf8");
  const scripts = [...page.matchAll(/<script type="module">(.*?)<\/script>/gs)].map(([, text]) => createHash("sha256").update(text).digest("base64"));
  assert.equal(scripts.length, 1);
  for (const path of ["/", "/demo/jobs", "/style.css", "/workbench/worker.js"]) {
    const answer = await asked(path);
    assert.equal(answer.status, 200, path);
    checkCommon(answer, path);
    const { "default-src": others, "script-src": script, "frame-ancestors": frames } = policy(answer);
    assert.deepEqual([others, script, frames], ["'none'", `'self' 'wasm-unsafe-eval' 'sha256-${scripts[0]}'`, "'none'"], path);
  }
});

test("pages of others may load the planner and have it in a frame", async () => {
  for (const path of ["/embed/", "/embed/planner.js", "/embed/worker.js", "/embed/engine_bg.wasm"]) {
    const answer = await asked(path);
    checkCommon(answer, path);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*", path);
    const { "script-src": script, "frame-ancestors": frames } = policy(answer);
    assert.deepEqual([script, frames], ["'self' 'wasm-unsafe-eval'", "*"], path);
  }
});

test("answers of both interfaces are no pages", async () => {
  const here = await new Cluster({ url: runtime.url, key: runtime.adminKey }, "headers").found();
  const headers = { authorization: `Bearer ${runtime.adminKey}` };
  for (const path of ["/health", "/v1/clusters", "/v1/nothing", "/metrics", "/api/v1/jobs"]) {
    const answer = await asked(path);
    checkCommon(answer, path);
    assert.deepEqual(policy(answer), { "default-src": "'none'", "frame-ancestors": "'none'" }, path);
  }
  for (const path of ["snapshot", "hash", "metrics", "me"]) {
    const answer = await fetch(`${runtime.url}/v1/clusters/headers/${path}`, { headers });
    assert.equal(answer.status, 200, path);
    checkCommon(answer, path);
    assert.equal(policy(answer)["frame-ancestors"], "'none'", path);
  }
  const socket = await listen(`${runtime.url}/v1/clusters/headers/events`, ["tidegate", `bearer.${runtime.adminKey}`]);
  assert.equal((await here.submit("one")).status, 200);
  socket.close?.();
});
