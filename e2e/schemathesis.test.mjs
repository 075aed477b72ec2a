// Requests that a property-based tester makes up from the document of the native surface: nothing fails on our side, and
// every answer is as the document says. The gate makes up some hundred; `cargo xtask fuzz` at least five thousand.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { People } from "./people.mjs";
import { Server } from "./server.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const PYTHON = join(ROOT, "target/python");
const TESTER = "schemathesis==4.32.5";
/** How many requests are made up for each operation; if that is asked for, the corners of each parameter are tried as well. */
const EXAMPLES = process.env.TIDEGATE_EXAMPLES;
const [PHASES, AT_LEAST] = EXAMPLES ? ["coverage,fuzzing", 5_000] : ["fuzzing", 200];
const CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

/** The tester, in a virtual environment of its own. */
function tester() {
  const program = join(PYTHON, "bin/st");
  if (!existsSync(program)) {
    const run = (command, ...words) => assert.equal(spawnSync(command, words, { stdio: "inherit" }).status, 0, `${command} ${words.join(" ")}`);
    run("python3", "-m", "venv", PYTHON);
    run(join(PYTHON, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", TESTER);
  }
  return program;
}

const OFFER = { offer: "spot", resource_type: "lingjun", instance: { gpu: 8_000 }, inventory: 4, terms: { original_price: 1_000_000 } };
/** Names in paths: made-up ones alone would find nothing. */
const THERE = { job: ["guest-job", "carol-job", "nobody's"], offer: [OFFER.offer, "none"] };

/** The document, about one cluster that is there. */
function narrowed(cluster) {
  const document = JSON.parse(readFileSync(join(ROOT, "public/openapi.json"), "utf8"));
  for (const [path, item] of Object.entries(document.paths)) {
    const parameters = [item, ...Object.values(item)].flatMap((part) => part.parameters ?? []);
    for (const parameter of parameters) {
      const names = { cluster: [cluster], ...THERE }[parameter.name];
      if (names) parameter.schema = { type: "string", enum: names };
    }
    // A socket is no answer that can be judged.
    if (path.endsWith("/events")) delete document.paths[path];
  }
  return document;
}

test("no request that can be made up fails on our side", { timeout: 60 * 60_000 }, async () => {
  const program = tester();
  const server = await new Server().start();
  const place = mkdtempSync(join(tmpdir(), "tidegate-document-"));
  try {
    const people = await People.of(server, "made-up");
    await people.accepted("offer", { create_offer: OFFER });
    assert.equal((await people.cluster.post("flush")).status, 200);
    const file = join(place, "openapi.json");
    writeFileSync(file, JSON.stringify(narrowed("made-up")));
    const words = ["run", file, "--url", server.url, "--header", `Authorization: Bearer ${server.key}`, "--max-examples", EXAMPLES ?? "20"];
    words.push("--checks", CHECKS, "--phases", PHASES, "--mode", "all", "--seed", "1", "--continue-on-failure", "--request-timeout", "30", "--no-color");
    const child = spawn(program, words, { cwd: place, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (text) => (said += text));
    const status = await new Promise((ended) => child.once("exit", ended));
    console.log(said.slice(-6_000));
    assert.equal(status, 0);
    const [, count] = /(\d+) generated/.exec(said);
    assert.ok(Number(count) >= AT_LEAST, `${count} requests`);
    assert.equal((await people.cluster.get("hash")).status, 200);
  } finally {
    await server.stop();
    rmSync(place, { recursive: true, force: true });
  }
});
