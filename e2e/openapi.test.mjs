// The document of the native surface says what the Worker and the engine know, no more and no less.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const document = JSON.parse(read("public/openapi.json"));

/** What a value breaks of a schema, in the words that the document uses. */
function faults(schema, value, at = "", { schemas } = document.components) {
  const faulty = (schema, value, at) => faults(schema, value, at, { schemas });
  if (schema.$ref) return faulty(schemas[schema.$ref.split("/").at(-1)], value, at);
  for (const [word, isEnough] of [["oneOf", (n) => n === 1], ["anyOf", (n) => n > 0]]) {
    if (schema[word] && !isEnough(schema[word].filter((one) => faulty(one, value, at).length === 0).length)) return [`${at}: ${word}`];
  }
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  if (schema.type && ![schema.type].flat().includes(kind)) return [`${at}: ${kind}, not ${schema.type}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: ${value}`];
  if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) return [`${at}: ${value}`];
  if (kind === "array") return value.flatMap((one, index) => faulty(schema.items ?? {}, one, `${at}/${index}`));
  if (kind !== "object") return [];
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${at}: no ${name}`);
  const inside = Object.entries(value).flatMap(([name, one]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties ?? {};
    return known === false ? [`${at}: ${name}`] : faulty(known, one, `${at}/${name}`);
  });
  return [...missing, ...inside];
}

test("every route is in the document, and nothing else", () => {
  const row = /\b(get|post)\(\s*Call::[\w:()]+,\s*"([^"]+)",[^;]*?\)(?:\s*\.with\(&\[([^\]]*)\]\))?,\s*\n/g;
  const table = [...read("protocol/src/route.rs").matchAll(row)];
  assert.equal(table.length, Number(/ROUTES: \[Route; (\d+)\]/.exec(read("protocol/src/route.rs"))[1]));
  // A slot's round is the clock's alone, and what agents say is between them and the service.
  const routes = table.filter(([, , path]) => !path.includes("/slots/") && !path.includes("/agents/{agent}/"));
  const known = Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
  assert.deepEqual(known.sort(), routes.map(([, method, path]) => `${method} ${path}`).sort());
  for (const [, method, path, query] of routes) {
    const parameters = document.paths[path][method].parameters;
    const listed = (place) => parameters.filter((one) => one.in === place).map((one) => one.name);
    assert.deepEqual(listed("query"), [...(query ?? "").matchAll(/"(\w+)"/g)].map(([, name]) => name), path);
    assert.deepEqual(listed("path"), [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name), path);
  }
});

test("every operation and every object has a name, a place and an example", () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const names = operations.map((operation) => operation.operationId);
  assert.equal(new Set(names).size, names.length);
  assert.ok(document.servers.length > 0);
  for (const { operationId, requestBody, responses } of operations) {
    const contents = [requestBody, responses[200]].filter(Boolean).map((part) => part.content["application/json"]).filter(Boolean);
    for (const { schema, examples } of contents) {
      assert.ok(Object.keys(examples).length > 0, operationId);
      for (const { value } of Object.values(examples)) assert.deepEqual(faults(schema, value), [], operationId);
    }
    const refusals = Object.entries(responses).filter(([status]) => status >= 400);
    for (const [, refusal] of refusals) {
      const { schema } = refusal.content["application/json"];
      // How a lost cluster does is told with the status of a service that is not there.
      const forms = operationId === "get_cluster_health" ? (schema.anyOf ?? [schema]) : [schema];
      assert.ok(forms.at(-1).$ref.endsWith("/Refusal"), operationId);
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.equal(schema.title, name);
    assert.ok(schema.description, name);
    for (const word of ["oneOf", "anyOf"]) for (const one of schema[word] ?? []) assert.ok(one.$ref || one.type === "null", name);
    for (const inside of Object.values(schema.properties ?? {})) assert.ok(!inside.properties && !inside.enum, name);
  }
});

test("every operation of PAI that is served is in its product's document, with what is sent", () => {
  const rows = [...read("pai/src/operation/table.rs").matchAll(/\brow\(\s*(\w+),\s*"(\w+)",\s*"(\w+)",\s*"([^"]+)"/g)];
  assert.ok(rows.length >= 70, `${rows.length}`);
  const listed = ["Dlc", "Workspace", "Studio", "Eas", "Dsw"].flatMap((product) => {
    const { paths, components } = JSON.parse(read(`public/openapi-pai-${product.toLowerCase()}.json`));
    return Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, requestBody }]) => {
        const content = requestBody?.content["application/json"];
        for (const { value } of Object.values(content?.examples ?? {})) assert.deepEqual(faults(content.schema, value, "", components), [], operationId);
        return [product, operationId, method.toUpperCase(), path].join(" ");
      }),
    );
  });
  assert.deepEqual(listed.sort(), rows.map(([, ...row]) => row.join(" ")).sort());
});

test("every stored command, envelope, receipt and entry is as the document says", () => {
  const kinds = new Set();
  for (const [file, schema] of [["commands", "Command"], ["envelopes", "Envelope"], ["receipts", "Receipt"], ["entries", "Entry"]]) {
    for (const line of read(`engine/tests/fixtures/${file}.jsonl`).trim().split("\n")) {
      const value = JSON.parse(line);
      if (schema === "Command") kinds.add(Object.keys(value)[0]);
      assert.deepEqual(faults({ $ref: `#/components/schemas/${schema}` }, value), [], line);
    }
  }
  const named = ({ $ref }) => document.components.schemas[$ref.split("/").at(-1)];
  const listed = document.components.schemas.Command.oneOf.map((one) => Object.keys(named(one).properties)[0]);
  assert.deepEqual(listed.sort(), [...kinds].sort());
});

test("every field of a stored command is in the document, and a wrong one is not", () => {
  for (const line of read("engine/tests/fixtures/commands.jsonl").trim().split("\n")) {
    const command = JSON.parse(line);
    const [kind] = Object.keys(command);
    assert.notDeepEqual(faults({ $ref: "#/components/schemas/Command" }, { [kind]: { ...command[kind], surprise: 1 } }), [], line);
  }
});
