// Every field that an SDK can send, with every operation that is served, to a running Worker: each is served or refused
// by its name. What is refused is what the documentation lists, and a filter that is served leaves out what does not fit.
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "./acs.mjs";
import { base, furnish, UNDONE } from "./fields/bases.mjs";
import { hasModels, operations, refusals, SERVED, trainingOperations, written } from "./fields/record.mjs";
import { foundPai, Server } from "./server.mjs";

/** How many requests are under way at once. */
const AT_ONCE = 8;
/** Fields of lists that choose nothing: they say in which order, how many, or how much of each. */
const SHAPES = new Set(["SortBy", "Sort", "Order", "PageNumber", "PageSize", "PageNum", "Verbose", "VerboseFields", "Fields"]);
/** Lists that have nothing here, whoever asks. */
const EMPTY = new Set(["2021-02-04 ListQuotas", "2021-02-04 ListConfigs"]);
/** By what a thing that was made is told, with all that was sent with it. */
const KEPT = {
  CreateJob: ({ JobId }) => ["2020-12-03", "GetJob", `/api/v1/jobs/${JobId}`],
  CreateQuota: ({ QuotaId }) => ["2022-01-12", "GetQuota", `/api/v1/quotas/${QuotaId}`],
  CreateTrainingJob: ({ TrainingJobId }) => ["2022-01-12", "GetTrainingJob", `/api/v1/trainingjobs/${TrainingJobId}`],
  CreateWorkspace: ({ WorkspaceId }) => ["2021-02-04", "GetWorkspace", `/api/v1/workspaces/${WorkspaceId}`],
  CreateInstance: ({ InstanceId }) => ["2022-01-01", "GetInstance", `/api/v2/instances/${InstanceId}`],
};

/** What a simulated job answers to those who read what it prints, whatever else they send. */
const PRINTS_NOTHING = "GetPodLogs is not served for this job: it is simulated, so nothing runs that could print";

/** How long a client waits that is told to. */
const WAIT_MS = 100;

/** A client that sends again what it is told to send later. */
class Patient extends Client {
  async call(...request) {
    for (;;) {
      const answer = await super.call(...request);
      if (answer.status !== 429) return answer;
      await pause(WAIT_MS);
    }
  }
}

let server;
let client;
let things;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
before(async () => {
  if (!hasModels) return;
  server = await new Server().start();
  client = new Patient(server.url, await foundPai(server.cluster("pai")), agent);
  things = await furnish(client);
});
after(async () => {
  agent.destroy();
  await server?.stop();
});

let made = 0;
/** Values of a type that say something, and that nothing else says. */
function samples(type) {
  switch (type) {
    case "str":
      return [`text-${(made += 1)}`];
    case "int":
      return [3];
    case "float":
      return [0.5];
    case "bool":
      return [true, false];
    case "List[str]":
      return [[`text-${(made += 1)}`]];
    case "List[int]":
      return [[3]];
    case "Any":
      return [`text-${(made += 1)}`];
    default:
      return [{ key: `text-${(made += 1)}` }];
  }
}

/** An object with a value at a path. What stands beside it stays. */
function put(object = {}, [{ name, isList }, ...rest], value) {
  if (rest.length === 0) return { ...object, [name]: value };
  if (!isList) return { ...object, [name]: put(object[name], rest, value) };
  const [first, ...others] = object[name] ?? [];
  return { ...object, [name]: [put(first, rest, value), ...others] };
}

/** As the SDKs write a query: objects with dots, unless they are sent as JSON. */
function* pairs(query, isJson, prefix = "") {
  for (const [name, value] of Object.entries(query)) {
    const isObject = typeof value === "object" && !Array.isArray(value);
    if (isObject && !isJson.has(name)) yield* pairs(value, isJson, `${prefix}${name}.`);
    else yield [`${prefix}${name}`, typeof value === "object" ? JSON.stringify(value) : typeof value === "boolean" ? (value ? "True" : "False") : `${value}`];
  }
}

/** Sends an operation with what it needs, and with a field if there is one. */
async function ask({ action, version, method, path }, field, value) {
  const needed = base(action, things, field && written(field.path));
  let { query, body } = needed;
  if (field?.part === "query") query = put(query, field.path, value);
  if (field?.part === "body") body = put(body, field.path, value);
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(needed.path[parameter(name, needed.path)]));
  const sent = [...pairs(query, new Set(field?.isJson ? [field.path[0].name] : []))];
  const search = sent.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return client.call(version, action, method, search ? `${filled}?${search}` : filled, body);
}

/** The models write parameters of paths in different cases. */
const parameter = (name, known) => Object.keys(known).find((one) => one.toLowerCase() === name.toLowerCase().replaceAll("_", "")) ?? name;

/** Whether an operation is served: what is not is refused before anything else is looked at. */
async function isServed({ action, version, method, path }) {
  const { body } = await client.call(version, action, method, path.replace(/\{\w+\}/g, "none"));
  return !(body.Code === "UnsupportedOperation" && body.Message.startsWith(`${action} is not served here: `));
}

/** Does something with each of a list, several at a time. */
async function each(list, act) {
  const rest = [...list];
  const worker = async () => {
    while (rest.length > 0) await act(rest.shift());
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The listed field that a field is or stands in, if it is refused with this value. */
function refusalOf(refused, path, value) {
  const names = path.map((_, depth) => written(path.slice(0, depth + 1)));
  return names.find((name) => refused?.has(name) && !refused.get(name).some((but) => but.toLowerCase() === `${value}`.toLowerCase()));
}

/** The items of an answer with a list. */
const items = (body) => Object.values(body).find(Array.isArray) ?? [];

/** What is wrong with the answer to a field, if anything is. */
async function fault(operation, field, value, refused, all) {
  const { status, body } = await ask(operation, field, value);
  const { action } = operation;
  const { Code: code, Message: message = "" } = body;
  const listed = refusalOf(refused, field.path, value);
  const told = `${status} ${code ?? ""} ${message}`;
  if (listed !== undefined) {
    const isNamed = code === "UnsupportedOperation" && message.replaceAll("[0]", "").startsWith(`${action} with ${listed} is not served here: `);
    return isNamed ? undefined : `is listed as refused and answered ${told}`;
  }
  if (message === PRINTS_NOTHING) return undefined;
  if (status !== 200) {
    const isNamed = code !== "UnsupportedOperation" && [field.path.at(-1).name, ...said(value)].some((part) => message.includes(part));
    return status < 500 && isNamed ? undefined : `answered ${told}`;
  }
  if (field.part === "query" && action.startsWith("List") && typeof value === "string" && !SHAPES.has(field.path.at(-1).name)) {
    if (all.length === 0) return EMPTY.has(`${operation.version} ${action}`) ? undefined : "chooses from nothing";
    return items(body).length === 0 ? undefined : "chooses what does not fit";
  }
  const untold = KEPT[action] && texts(value).length > 0 ? await isTold(action, body, value) : undefined;
  if (UNDONE[action]) await client.get(...UNDONE[action](body));
  return untold;
}

/** The texts in a value. */
const texts = (value) => (typeof value === "string" ? [value] : typeof value === "object" ? Object.values(value).flatMap(texts) : []);

/** By what a refusal may name a value: whole numbers and switches stand in any sentence. */
const said = (value) => (Number.isInteger(value) ? [] : typeof value === "number" ? [`${value}`] : texts(value));

/** Whether what was made is told as it was sent. */
async function isTold(action, made, value) {
  const [version, get, target] = KEPT[action](made);
  const thing = JSON.stringify(await client.get(version, get, "GET", target));
  return texts(value).every((text) => thing.includes(text)) ? undefined : `is not told by ${get}`;
}

test("each field is served or refused by its name", { skip: !hasModels && "../shared/pai/operations.json is not there" }, async () => {
  const refused = refusals();
  const asked = [...operations(), ...trainingOperations()];
  const served = [];
  await each(asked, async (operation) => {
    if (await isServed(operation)) served.push(operation);
  });
  assert.equal(served.length, SERVED, "as many operations are served as docs/pai.md says");
  const faults = [];
  let count = 0;
  const fields = served.flatMap((operation) => [...operation.fields.values()].map((field) => [operation, field]));
  const lists = new Map();
  for (const operation of served.filter(({ action }) => action.startsWith("List"))) lists.set(operation, items((await ask(operation)).body));
  await each(fields, async ([operation, field]) => {
    for (const value of samples(field.type)) {
      count += 1;
      const found = await fault(operation, field, value, refused.get(operation.action), lists.get(operation));
      if (found) faults.push(`${operation.action} ${field.part} ${written(field.path)} = ${JSON.stringify(value)} ${found}`);
    }
  });
  assert.deepEqual(faults, []);
  assert.ok(count > 1_000, `${count} requests`);
  console.log(`${served.length} operations, ${fields.length} fields, ${count} values`);
});
