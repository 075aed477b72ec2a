// The clusters with which a server begins.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Who uses the SDKs on the second cluster, and administers it. */
const USER = "you";

/** A request of the administrator below `/v1/clusters`. */
export function ask({ url, adminKey }, method, path, body) {
  const headers = { authorization: `Bearer ${adminKey}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  return fetch(`${url}/v1/clusters${path}`, { method, headers, body });
}

const send = (server, cluster, body) => ask(server, "POST", `/${cluster}/commands`, body);

/** The names of all clusters. */
export async function clusters(server) {
  const answer = await ask(server, "GET", "");
  if (!answer.ok) throw new Error(`the clusters cannot be listed (${answer.status}): ${await answer.text()}`);
  return answer.json();
}

/** What a cluster answers whose storage is gone, while KV still shows it. */
const LOST = "storage_lost";

/** What a cluster answers that is asked where it is, with the status. */
async function standing(server, cluster) {
  const answer = await ask(server, "GET", `/${cluster}/hash`);
  return { status: answer.status, ...(await answer.json()) };
}

/** When and how a cluster was deleted, in a sentence; nothing of any other. */
export async function deletion(server, cluster) {
  const { code, message } = await standing(server, cluster);
  return code === "deleted" ? message : undefined;
}

/** How far the load of an example came. */
const BEGUN = "begun";
const LOADED = "loaded";

/** Brings back every cluster whose storage is gone, from what was published of it. */
export async function restoreLost(server) {
  for (const cluster of await clusters(server)) {
    if ((await revision(server, cluster)) === LOST) await restore(server, cluster);
  }
}

/** Brings a cluster back from what was published of it. Nothing is replaced: its storage is empty. */
async function restore(server, cluster) {
  for (;;) {
    const answer = await ask(server, "POST", `/${cluster}/restore`);
    const text = await answer.text();
    if (!answer.ok) return console.error(`${cluster}: its storage was lost and cannot be restored (${answer.status}): ${text}`);
    const { outcome, object } = JSON.parse(text);
    // It takes several steps, each of which is asked for.
    if (outcome !== "restoring") return console.log(`${cluster}: its storage was lost; restored revision ${object.revision} from KV`);
  }
}

/** Loads an example into a cluster that nobody has begun; whether the cluster is the example's. */
export async function load(server, cluster, file, state) {
  if (!existsSync(file)) return false;
  const bodies = readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
  return found(server, cluster, bodies, state, "the example");
}

/**
 * Sends the commands of `what` to a cluster that nobody has begun. How far that came is kept in `state`: what was interrupted
 * goes on, since the commands carry ids, and whatever becomes of the cluster later is left alone. Whether the cluster was made
 * of them.
 */
export async function found(server, cluster, bodies, state, what) {
  const kept = state === undefined ? undefined : join(state, `${cluster}.example`);
  const known = kept !== undefined && existsSync(kept) ? readFileSync(kept, "utf8") : undefined;
  const keep = (word) => kept !== undefined && writeFileSync(kept, word);
  const there = await revision(server, cluster);
  if (there === LOST) await restore(server, cluster);
  if (known === LOADED) return true;
  if (there !== 0 && known === undefined) {
    if (there !== LOST) console.log(`${cluster}: it is there already, so ${what} is not loaded`);
    return false;
  }
  keep(BEGUN);
  for (const [index, body] of bodies.entries()) {
    const answer = await send(server, cluster, body);
    if (answer.ok) continue;
    console.error(`${cluster}: line ${index + 1} of ${what} was refused (${answer.status}): ${await answer.text()}`);
    return false;
  }
  keep(LOADED);
  console.log(`${cluster}: loaded ${what} (${bodies.length} commands)`);
  return true;
}

/** How many events made a cluster; 0 if nobody has begun it, and otherwise the code of what it answers instead. */
async function revision(server, cluster) {
  const { status, revision, code } = await standing(server, cluster);
  return status === 404 ? 0 : revision ?? code;
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
