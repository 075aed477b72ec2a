// The SDKs' recorded requests, byte by byte: production's verification accepts each of them and none with anything
// changed, in Node and in the Worker runtime. The recorded secret and moment go in with them, which no deployed Worker
// would take; so the verification runs in a module of its own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inWorker } from "./bytes/in_worker.mjs";
import { judged } from "./recorded/judge.mjs";
import { recordings } from "./recorded/files.mjs";
import { header, read } from "./recorded/request.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
const WASM = join(TARGET, "wasm32-unknown-unknown/wasm/requests.wasm");

/** What is told of a request that is no signed one of the recorded key. */
const NOT_ACCEPTED = {
  auth_acs4_ListJobs: "InvalidSignatureMethod",
  auth_bearer_ListJobs: "bearer",
  auth_legacy_roa_v2_ListJobs: "InvalidSignatureMethod",
  tampered_seed004_CreateJob_discount: "InvalidContentSha256",
};

const sum = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

async function check(where, judge) {
  let [accepted, changed, refused] = [0, 0, 0];
  const codes = {};
  for (const { name, bytes } of recordings()) {
    const request = read(bytes);
    const outcome = await judge(bytes);
    if (NOT_ACCEPTED[name] !== undefined) {
      assert.equal(outcome.as_recorded, NOT_ACCEPTED[name], name);
      refused += 1;
      continue;
    }
    assert.match(header(request, "authorization"), /^ACS3-HMAC-SHA256 /);
    assert.equal(outcome.as_recorded, "accepted", name);
    assert.deepEqual(outcome.accepted, [], `${name}: accepted although changed`);
    assert.ok(sum(outcome.refused) > 500, `${name}: ${sum(outcome.refused)} changes`);
    accepted += 1;
    changed += sum(outcome.refused);
    for (const [code, count] of Object.entries(outcome.refused)) codes[code] = (codes[code] ?? 0) + count;
  }
  assert.ok(accepted >= 8 && refused === 4, `${accepted} accepted, ${refused} refused`);
  console.log(`${where}: ${accepted} of ${accepted} recorded signatures verify; refused are ${refused} of ${refused} recordings that are tampered with or signed in another way, and ${changed} of ${changed} changed requests`);
  console.log(Object.entries(codes).map(([code, count]) => `  ${code} ${count}`).join("\n"));
}

test("in Node", async () => {
  const { instance } = await WebAssembly.instantiate(readFileSync(WASM));
  await check("Node", (bytes) => judged(instance, bytes));
});

const WORKER = `
  import module from "./requests.wasm";
  import { judged } from "./recorded/judge.mjs";
  const instance = new WebAssembly.Instance(module);
  export default { fetch: async (request) => Response.json(judged(instance, new Uint8Array(await request.arrayBuffer()))) };
`;

test("in the Worker runtime", async (t) => {
  const files = ["recorded/judge.mjs", "recorded/request.mjs", "bytes/run.mjs"];
  const send = inWorker(t, { worker: WORKER, files, wasm: WASM });
  await check("the Worker runtime", async (bytes) => {
    const answer = await send("", bytes);
    assert.equal(answer.status, 200);
    return answer.json();
  });
});
