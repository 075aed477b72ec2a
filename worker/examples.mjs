// The clusters with which a development server begins.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Who uses the SDKs on the second cluster, and administers it. */
const USER = "you";

async function send({ url, adminKey }, cluster, body) {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  return fetch(`${url}/v1/clusters/${cluster}/commands`, { method: "POST", headers, body });
}

/** Sends an example's commands. They carry ids, so sending them again changes nothing. */
export async function load(server, cluster, file) {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
  for (const [index, body] of lines.entries()) {
    const answer = await send(server, cluster, body);
    if (answer.ok) continue;
    console.error(`${cluster}: the example's line ${index + 1} was refused (${answer.status}): ${await answer.text()}`);
    return;
  }
  console.log(`loaded the example cluster ${cluster} (${lines.length} commands)`);
}

/** A key of a cluster for the SDKs. Its secret is told once, so it is kept beside what the server stores. */
export async function sdkKey(server, cluster, state) {
  const file = join(state, `${cluster}-key.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const id = `${cluster}.${USER}`;
  const command = { create_key: { key: id, user: USER, administers: true } };
  const answer = await send(server, cluster, JSON.stringify({ format: 1, id: `key-${USER}`, command }));
  const secret = answer.headers.get("x-tidegate-secret");
  if (!answer.ok || secret === null) {
    console.error(`${cluster}: no key could be made (${answer.status}): ${await answer.text()}`);
    return undefined;
  }
  writeFileSync(file, JSON.stringify({ id, secret }), { mode: 0o600 });
  return { id, secret };
}
