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

/** How far the load of an example came. */
const BEGUN = "begun";
const LOADED = "loaded";

/** Brings a cluster back from what was published of it. Nothing is replaced: its storage is empty. */
async function restore({ url, adminKey }, cluster) {
  const headers = { authorization: `Bearer ${adminKey}` };
  const answer = await fetch(`${url}/v1/clusters/${cluster}/restore`, { method: "POST", headers });
  const text = await answer.text();
  if (answer.ok) console.log(`${cluster}: its storage was lost; restored revision ${JSON.parse(text).object.revision} from KV`);
  else console.error(`${cluster}: its storage was lost and cannot be restored (${answer.status}): ${text}`);
}

/**
 * Sends an example's commands to a cluster that nobody has begun. How far that came is kept in `state`: a load that was
 * interrupted goes on, since its commands carry ids, and whatever becomes of the cluster later is left alone. Whether the
 * cluster is the example's.
 */
export async function load(server, cluster, file, state) {
  if (!existsSync(file)) return false;
  const kept = state === undefined ? undefined : join(state, `${cluster}.example`);
  const known = kept !== undefined && existsSync(kept) ? readFileSync(kept, "utf8") : undefined;
  const keep = (word) => kept !== undefined && writeFileSync(kept, word);
  const there = await revision(server, cluster);
  if (there === LOST) await restore(server, cluster);
  if (known === LOADED) return true;
  if (there !== 0 && known === undefined) {
    if (there !== LOST) console.log(`${cluster}: it is there already, so the example is not loaded`);
    return false;
  }
  keep(BEGUN);
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
  for (const [index, body] of lines.entries()) {
    const answer = await send(server, cluster, body);
    if (answer.ok) continue;
    console.error(`${cluster}: the example's line ${index + 1} was refused (${answer.status}): ${await answer.text()}`);
    return false;
  }
  keep(LOADED);
  console.log(`loaded the example cluster ${cluster} (${lines.length} commands)`);
  return true;
}

/** How many events made a cluster; 0 if nobody has begun it, and otherwise the code of what it answers instead. */
async function revision({ url, adminKey }, cluster) {
  const answer = await fetch(`${url}/v1/clusters/${cluster}/hash`, { headers: { authorization: `Bearer ${adminKey}` } });
  const { revision, code } = await answer.json();
  return answer.status === 404 ? 0 : revision ?? code;
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
