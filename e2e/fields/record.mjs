// What the SDKs' own models say can be sent, and what the documentation says is refused of it.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");
const MODELS = resolve(ROOT, "../shared/pai/operations.json");
const DOCUMENTATION = resolve(ROOT, "docs/pai.md");
/** The models of training jobs, which the companion folder does not have, and where their operations are. */
const TRAINING = resolve(ROOT, "pai/tests/fixtures/training.txt");
const STUDIO = resolve(ROOT, "public/openapi-pai-studio.json");

/** Whether the companion folder with the models is there. */
export const hasModels = existsSync(MODELS);

const plain = (type) => type.replace(" (required)", "");
const one = (type) => type.replace(/^List\[(.*)\]$/, "$1");

/** The fields under one of a type: their paths, with `[0]` where a list is, and their types. */
function* leaves(models, name, of, path, inside = []) {
  const type = plain(of);
  const model = models[one(type)];
  const at = [...path, { name, isList: type.startsWith("List[") && model !== undefined }];
  if (model === undefined || inside.includes(model)) {
    yield { path: at, type: model === undefined ? type : "Dict" };
    return;
  }
  for (const [inner, of] of Object.entries(model)) yield* leaves(models, inner, of, at, [...inside, model]);
}

/** Every operation of all versions together, by version and name, with every field that can be sent with it. */
export function operations() {
  const found = new Map();
  for (const { operations, models } of JSON.parse(readFileSync(MODELS, "utf8"))) {
    for (const { action, version, method, path, query, body, json_in_query: json, request_model: model } of operations) {
      const key = `${version} ${action}`;
      if (!found.has(key)) found.set(key, { action, version, method, path, fields: new Map() });
      const { fields } = found.get(key);
      const types = models[model] ?? {};
      for (const [part, names] of Object.entries({ query, body })) {
        for (const name of Array.isArray(names) ? names : []) {
          const isJson = json.includes(name);
          const inside = isJson ? [{ path: [{ name, isList: false }], type: types[name] ?? "str" }] : leaves(models, name, types[name] ?? "str", []);
          for (const field of inside) fields.set(`${part} ${written(field.path)}`, { ...field, part, isJson });
        }
      }
    }
  }
  return [...found.values()];
}

const TYPES = { map: "Dict[str, str]", any: "Any" };
/** A type of the fixtures as the models write it. */
const modelled = (type) => (type.endsWith("[]") ? `List[${modelled(type.slice(0, -2))}]` : (TYPES[type] ?? type));

/** The operations of training jobs, in the same way. */
export function trainingOperations() {
  const [sent, models] = [new Map(), {}];
  for (const line of readFileSync(TRAINING, "utf8").trim().split("\n")) {
    const [head, fields] = line.split(": ");
    const [, name, part] = head.split(" ");
    const types = Object.fromEntries(fields.split(" ").map((field) => field.split(":")).map(([name, type]) => [name, modelled(type)]));
    if (part) sent.set(name, { part, types });
    else models[name] = types;
  }
  const { info, paths } = JSON.parse(readFileSync(STUDIO, "utf8"));
  const places = Object.entries(paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, { operationId }]) => [operationId, verb.toUpperCase(), path]));
  return places.filter(([action]) => /TrainingJob/.test(action)).map(([action, method, path]) => {
    const { part, types } = sent.get(action) ?? { types: {} };
    const inside = Object.entries(types).flatMap(([name, type]) => [...leaves(models, name, type, [])]);
    const fields = new Map(inside.map((field) => [`${part} ${written(field.path)}`, { ...field, part, isJson: false }]));
    return { action, version: info.version, method, path, fields };
  });
}

/** How many operations the documentation says are served. */
export const SERVED = Number(/SDKs (\d+) are served/.exec(readFileSync(DOCUMENTATION, "utf8"))?.[1]);

/** A path as the documentation writes it. */
export const written = (path) => path.map(({ name }) => name).join(".");

/** The refused fields of each operation, with the values that are no reason to refuse. */
export function refusals() {
  const [, section] = readFileSync(DOCUMENTATION, "utf8").split("\n## Fields that are refused\n");
  const found = new Map();
  for (const line of section.split("\n")) {
    const [, action, fields] = /^\| (\w+) \| (`.*) \| .* \|$/.exec(line) ?? [];
    if (action === undefined) continue;
    if (!found.has(action)) found.set(action, new Map());
    for (const [, name, but] of fields.matchAll(/`([^`]+)`(?: other than ([^`]+?))?(?=, `|$)/g)) {
      found.get(action).set(name, but?.split(", ") ?? []);
    }
  }
  return found;
}
