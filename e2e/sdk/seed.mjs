// The scripts of the seed `preemptible-jobs`, run with the vendor's SDK against a Worker.
//
//   node e2e/sdk/seed.mjs target/sdks/pinned/bin/python ../shared/seeds/preemptible-jobs.txt
//
// Both ask for one instance type. A discount is a bid on Lingjun and a price one on general computing, so each variant
// has a cluster that offers the type accordingly; and the discount is refused where the type is general.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { accessKey, ECS_TYPE, Server } from "../server.mjs";

const MINUTE_MS = 60_000;
/** Below neither bid at first, then at both. */
const [PRICE_BEFORE, PRICE_AFTER] = [12_000, 8_000];
const CASES = [
  { variant: "SpotDiscountLimit", on: "lingjun", expected: ["jobId is dlc…", "get_job: Bidding BelowMarket", "get_job: Running"] },
  { variant: "SpotPriceLimit", on: "general", expected: ["jobId is dlc…", "get_job: Queuing BelowMarket", "get_job: Running"] },
  { variant: "SpotDiscountLimit", on: "general", refusal: /discounts are for Lingjun only; bid a price on general computing/ },
];

function cluster(server, name, resource_type) {
  const instance = { cpu: 4_000, memory: 16_384 };
  const commands = [
    { create_cluster: { dimensions: ["cpu", "memory"].map((name) => ({ name, kind: name })) } },
    { create_offer: { offer: ECS_TYPE, resource_type, instance, inventory: 4, price: PRICE_BEFORE, terms: { original_price: 20_000 } } },
  ];
  return server.cluster(name).foundBy(commands);
}

/** The lines that the script prints, and what it says when it fails. */
async function run(python, seed, { server, name, on, variant }) {
  const offering = await cluster(server, name, on);
  const key = await accessKey(offering, "sdk", { administers: true });
  const words = ["e2e/sdk/seed.py", server.url, "--key-id", key.id, "--key-secret", key.secret, "--seed", seed, "--variant", variant];
  const child = spawn(python, words, { stdio: ["ignore", "pipe", "pipe"] });
  const lines = [];
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const ended = new Promise((end) => child.once("close", end));
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line.replace(/dlc\w+/, "dlc…"));
    console.log(`${variant} on ${on}: ${line}`);
    if (!line.includes("BelowMarket")) continue;
    assert.equal((await offering.send("price", { publish_price: { offer: ECS_TYPE, price: PRICE_AFTER } })).status, 200);
    await server.tick(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
  }
  return { lines, said, status: await ended };
}

const [python, seed] = process.argv.slice(2);
const server = await new Server().start();
try {
  for (const [index, { variant, on, expected, refusal }] of CASES.entries()) {
    const { lines, said, status } = await run(python, seed, { server, name: `seed-${index}`, on, variant });
    if (expected) {
      assert.equal(status, 0, said);
      assert.deepEqual(lines, expected);
    } else {
      assert.notEqual(status, 0);
      assert.match(said, refusal);
      console.log(`${variant} on ${on}: ${refusal.exec(said)[0]}`);
    }
  }
  console.log(`${CASES.length} passed, 0 failed`);
} finally {
  await server.stop();
}
