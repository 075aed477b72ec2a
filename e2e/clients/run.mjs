// Clients that generators make of the documents, against a Worker in its runtime. A generator that warns has left
// something out, so a warning is a failure. `node e2e/clients/run.mjs PYTHON`, whose environment has the generator.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Server } from "../server.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, "../..");
const BUILD = join(ROOT, "build/clients");
const [PYTHON] = process.argv.slice(2);
const NATIVE = "openapi";
const OFFER = { offer: "gpu-8", resource_type: "lingjun", instance: { gpu: 8_000 }, inventory: 2, price: 300_000, terms: { original_price: 1_000_000 } };
const OPTIONS = {
  target: "es2022", module: "nodenext", strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, lib: ["es2022", "dom"], types: [],
};

/** Runs a program, and returns everything that it says. */
function run(program, words, env = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { cwd: BUILD, encoding: "utf8", env: { ...process.env, ...env } });
  const said = `${stdout ?? ""}${stderr ?? ""}`;
  assert.equal(status, 0, `${program} ${words.join(" ")}\n${error ?? said}`);
  return said;
}

const tool = (path) => join(ROOT, "node_modules", path);
const documents = readdirSync(join(ROOT, "public")).filter((name) => /^openapi.*\.json$/.test(name));
assert.ok(documents.length > 1, `${documents}`);
rmSync(BUILD, { recursive: true, force: true });
mkdirSync(join(BUILD, "python"), { recursive: true });

for (const name of documents) {
  const document = join(ROOT, "public", name);
  const known = name.replace(/\.json$/, "");
  const folder = known === NATIVE ? "tidegate" : known.replaceAll("-", "_");
  // What it makes is tidied by a program that stands beside it.
  const env = { PATH: [dirname(PYTHON), process.env.PATH].join(delimiter) };
  const words = ["generate", "--path", document, "--output-path", join(BUILD, "python", folder), "--meta", "none", "--fail-on-warning"];
  run(join(dirname(PYTHON), "openapi-python-client"), words, env);
  const types = known === NATIVE ? "native.d.ts" : `${known}.d.ts`;
  const said = run(process.execPath, [tool("openapi-typescript/bin/cli.js"), document, "--output", join(BUILD, types)]);
  assert.doesNotMatch(said, /warn|⚠/i, said);
}

// Every object of the document is a model, and so is every command.
const schemas = JSON.parse(readFileSync(join(ROOT, "public", `${NATIVE}.json`), "utf8")).components.schemas;
const models = readFileSync(join(BUILD, "python/tidegate/models/__init__.py"), "utf8");
const commands = schemas.Command.oneOf.map(({ $ref }) => $ref.split("/").at(-1));
const objects = Object.entries(schemas).flatMap(([name, { properties }]) => (properties ? [name] : []));
assert.deepEqual([...commands, ...objects].filter((name) => !models.includes(`"${name}"`)), []);
console.log(`${documents.length} documents, ${commands.length} commands, ${objects.length} objects`);

copyFileSync(join(HERE, "client.ts"), join(BUILD, "client.ts"));
writeFileSync(join(BUILD, "package.json"), JSON.stringify({ type: "module" }));
writeFileSync(join(BUILD, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, include: ["*.ts"] }));
run(process.execPath, [tool("typescript/bin/tsc"), "--project", BUILD]);

const server = await new Server().start();
try {
  const client = async (name, program, words, env) => {
    const cluster = await server.cluster(name).found();
    const offered = await cluster.send("offer", { create_offer: OFFER });
    assert.equal(offered.status, 200, JSON.stringify(offered.body));
    process.stdout.write(run(program, [...words, server.url, server.key, name, OFFER.offer], env));
  };
  await client("typescript", process.execPath, [join(BUILD, "client.js")]);
  await client("python", PYTHON, [join(HERE, "client.py")], { PYTHONPATH: join(BUILD, "python"), PYTHONDONTWRITEBYTECODE: "1" });
} finally {
  await server.stop();
}
