// Pages of what the document of the native surface has: its calls by group, its commands, and the fields of a type.

// What nearly every call may answer; beside one stand the others.
const USUAL = ["400", "401", "429", "500", "503"];

// The sections of the rules are for people who read code.
const cell = (text = "") => text.replace(/ \(rules [\d.]+\)/g, "").replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (text) => `\`${text}\``;

export function table(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");
}

export function calls({ paths }) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ ...call, name: `${method.toUpperCase()} ${path}` })),
  );
  const parts = [...grouped(all)].map(([tag, calls]) => `### ${tag[0].toUpperCase()}${tag.slice(1)}\n\n${calls.map(told).join("\n\n")}`);
  const usual = `Nearly every call may answer ${USUAL.join(", ")}; what else one may answer stands beneath it.`;
  return `${parts.join("\n\n")}\n\n### Refusals\n\n${usual}\n\n${table(["status", "what it means"], statuses(all))}`;
}

function grouped(all) {
  const groups = new Map();
  for (const call of all) groups.set(call.tags[0], [...(groups.get(call.tags[0]) ?? []), call]);
  return groups;
}

function told({ name, summary, description, parameters, responses }) {
  const asked = parameters.filter((one) => one.in === "query").map((one) => code(one.name));
  const who = description.split(/\. | may send it;| may\./)[0].replace(/^For those who/, "Those who").replace("the right `", "`");
  const refused = Object.keys(responses).filter((status) => Number(status) >= 400 && !USUAL.includes(status));
  const sentences = [
    `${summary}.`,
    asked.length > 0 && `May say ${asked.join(", ")}.`,
    `For: ${who[0].toLowerCase()}${who.slice(1)}.`,
    refused.length > 0 && `Refused with ${refused.join(", ")}.`,
  ];
  return `${code(name)}  \n${sentences.filter(Boolean).join(" ")}`;
}

// Each status with what it means; where calls say it in several ways, all of them.
function statuses(all) {
  const said = new Map();
  for (const [status, { description }] of all.flatMap(({ responses }) => Object.entries(responses))) {
    if (Number(status) >= 400) said.set(status, (said.get(status) ?? new Set()).add(description));
  }
  return [...said].sort().map(([status, words]) => [status, [...words].join(" ")]);
}

export function commands({ components: { schemas } }) {
  const all = schemas.Command.oneOf.map(({ $ref }) => schemas[$ref.split("/").at(-1)]);
  return table(["command", "what it does", "it must say", "it may say"], all.map((one) => {
    const [[name, { $ref }]] = Object.entries(one.properties);
    const { properties = {}, required = [], description } = schemas[$ref.split("/").at(-1)];
    const may = Object.keys(properties).filter((field) => !required.includes(field));
    return [code(name), description ?? one.description, required.map(code).join(", "), may.map(code).join(", ")];
  }));
}

export function fields({ components: { schemas } }, name) {
  if (!schemas[name]?.properties) throw new Error(`public/openapi.json has no fields of ${name}`);
  const rows = Object.entries(schemas[name].properties).map(([field, { description, ...schema }]) => [
    code(field),
    [description, ...words(schemas, schema)].join("<br>"),
  ]);
  return table(["setting", "what"], rows);
}

// The words that a setting may have, if it has words, with what each means.
function words(schemas, schema) {
  const resolved = (one) => (one.$ref ? schemas[one.$ref.split("/").at(-1)] : one);
  const named = resolved(schema);
  const all = (named.anyOf ?? [named]).map(resolved).filter((one) => one.enum);
  return all.flatMap(meanings);
}

export function rights({ components: { schemas } }) {
  return table(["right", "what"], meanings(schemas.Operation).map((line) => line.split(/(?<=`): /)));
}

function meanings({ enum: words, description }) {
  const lines = new Map([...(description ?? "").matchAll(/^- (`[^`]+`): (.*)$/gm)].map(([line, word]) => [word, line.slice(2)]));
  return words.map((word) => lines.get(code(word)) ?? code(word));
}
