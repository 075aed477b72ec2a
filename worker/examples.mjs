// The clusters with which a development server begins.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Who uses the SDKs on the second cluster, and administers it. */
const USER = "you";

async function send({ url, adminKey }, cluster, body) {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  return fetch(`${url}/v1/clusters/${cluster}/commands`, { method: "POST", headers, body });
}

/** What a cluster answers whose storage is gone, while KV still shows it. */
const LOST = "storage_lost";

/** Brings a cluster back from what was published of it. Nothing is replaced: its storage is empty. */
async function restore({ url, adminKey }, cluster) {
  const headers = { authorization: `Bearer ${adminKey}` };
  const answer = await fetch(`${url}/v1/clusters/${cluster}/restore`, { method: "POST", headers });
  const text = await answer.text();
  if (answer.ok) console.log(`${cluster}: its storage was lost; restored revision ${JSON.parse(text).object.revision} from KV`);
  else console.error(`${cluster}: its storage was lost and cannot be restored (${answer.status}): ${text}`);
}

/** Sends an example's commands. They carry ids, so sending them again changes nothing. */
export async function load(server, cluster, file) {
  if (!existsSync(file)) return;
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
  for (const [index, body] of lines.entries()) {
    const answer = await send(server, cluster, body);
    if (answer.ok) continue;
    const text = await answer.text();
    if (index === 0 && text.includes(`"${LOST}"`)) return restore(server, cluster);
    console.error(`${cluster}: the example's line ${index + 1} was refused (${answer.status}): ${text}`);
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
