// The real runtime under load, killed at random; and its objects' storage removed at random moments. What was acknowledged
// is in the log once, and what KV shows is overwritten by nothing until it is restored.
//
//   node e2e/kills.mjs [--kills N] [--losses N] [--from N]      `cargo xtask chaos storage` takes the same
//
// Kills and losses are numbered. Each block of them has a storage of its own and a seed that its number gives, so that a
// later run goes on where an earlier one ended.
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Server } from "./server.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    losses: { type: "string", default: "20" },
    from: { type: "string", default: "0" },
  },
});
const [KILLS, LOSSES, FROM] = [values.kills, values.losses, values.from].map(Number);
for (const number of [KILLS, LOSSES, FROM]) assert.ok(Number.isSafeInteger(number) && number >= 0, `${number} is not a count`);
/** How many kills or losses one storage lives through. */
const BLOCK = { kill: 20, loss: 4 };
const WRITERS = 8;
const GPUS = 64;
/** How long the service runs before it is killed. */
const ALIVE_MS = [150, 1_500];
/** How long a restore may take, and how long it is waited in between. */
const RESTORE_MS = 30_000;
const AGAIN_MS = 100;
/** How often a restore is tried while both clusters go on by themselves. */
const DRILLS = 50;

/** Random numbers from a seed. */
class Random {
  constructor(seed) {
    this.state = BigInt(seed) + 1n;
  }

  below(bound) {
    this.state = (this.state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number((this.state >> 33n) % BigInt(bound));
  }

  between([low, high]) {
    return low + this.below(high - low);
  }
}

/** A cluster with its writers, and what they have been told. */
class Load {
  constructor(server, seed) {
    this.random = new Random(seed);
    this.server = server;
    this.cluster = server.cluster("load");
    /** What was answered, by the names of commands. */
    this.receipts = new Map();
    /** The log as far as it has been read: which revision each command led to. */
    this.log = new Map();
    this.read = 0;
    this.n_sent = 0;
    this.n_retries = 0;
    this.isOver = false;
  }

  command(number) {
    const { random } = this;
    const job = `job-${number}`;
    const other = `job-${random.below(number + 1)}`;
    const kind = random.below(10);
    if (kind < 7) {
      const pods = [{ count: 1 + random.below(4), amount: { gpu: 1000 * (1 + random.below(4)) } }];
      return { submit_job: { job, quota: "team", pods, duration_ms: 1_000 + random.below(20_000), priority: 1 + random.below(9) } };
    }
    if (kind === 7) return { cancel_job: { job: other } };
    if (kind === 8) return { set_priority: { job: other, priority: 1 + random.below(9) } };
    return { round: {} };
  }

  /** Sends a command until it is answered: who hears nothing asks again under the same name. */
  async send(id, command) {
    for (;;) {
      try {
        const { status, body } = await this.cluster.send(id, command);
        if (status < 500 && status !== 429 && body.code !== "storage_lost") return { status, body };
      } catch {
        // The service is being killed.
      }
      this.n_retries += 1;
      await pause(AGAIN_MS);
      if (this.isOver) return undefined;
    }
  }

  async write() {
    while (!this.isOver) {
      const number = this.n_sent++;
      const [id, command] = [`command-${number}`, this.command(number)];
      const answer = await this.send(id, command);
      if (answer?.status !== 200) continue;
      this.receipts.set(id, answer.body);
      if (this.random.below(10) > 0) continue;
      const again = await this.send(id, command);
      // A cluster that was restored may have forgotten the last moments: then it is a new command.
      const known = this.receipts.get(id);
      if (again && known) assert.deepEqual(again.body, known, `${id} got another answer the second time`);
      else if (again?.status === 200) this.receipts.set(id, again.body);
    }
  }

  /** The log after a revision, up to another one, portion by portion. */
  async entries(after, revision) {
    const entries = [];
    for (let last = after; last < revision; last = entries.at(-1).revision) {
      const { status, body } = await this.cluster.get(`entries?after=${last}&count=1000&min_revision=${revision}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(body.length > 0, `nothing follows revision ${last}, and ${revision} is there`);
      entries.push(...body);
    }
    return entries;
  }

  /** Reads what is new in the log: each entry follows the one before it, and no command is there twice. */
  async follow() {
    const { revision } = await this.cluster.hash();
    for (const entry of await this.entries(this.read, revision)) {
      assert.equal(entry.revision - entry.events.length, this.read, `${entry.envelope.id} does not follow`);
      assert.ok(!this.log.has(entry.envelope.id), `${entry.envelope.id} is in the log twice`);
      this.log.set(entry.envelope.id, entry);
      this.read = entry.revision;
    }
  }

  /** Everything that was acknowledged is in the log, with the same events. */
  check() {
    for (const [id, receipt] of this.receipts) {
      // What changed nothing leaves the revision as it was, and such entries are not listed.
      if (receipt.events.length === 0) continue;
      const entry = this.log.get(id);
      assert.ok(entry, `${id} was acknowledged and is not in the log`);
      assert.deepEqual([entry.revision, entry.events], [receipt.revision, receipt.events], id);
    }
  }

  /** Forgets what the log had beyond a revision. */
  forget(revision) {
    let gone = 0;
    for (const [id, receipt] of this.receipts) {
      if (receipt.revision <= revision) continue;
      gone += receipt.events.length > 0 ? 1 : 0;
      this.receipts.delete(id);
    }
    for (const [id, entry] of this.log) if (entry.revision > revision) this.log.delete(id);
    this.read = Math.min(this.read, revision);
    return gone;
  }

  /** KV alone gives the same cluster. Both go on by themselves, so it is tried until neither has moved meanwhile. */
  async drill() {
    for (let tries = 0; tries < DRILLS; tries += 1) {
      assert.equal((await this.cluster.post("flush")).status, 200);
      const here = await this.cluster.hash();
      const { object } = await restored(this.server.cluster(`copy-${tries}`), "restore?from=load");
      if (object.seq === here.seq) return assert.deepEqual(object, here, "KV alone gives another cluster");
    }
    assert.fail("it never stood still for a restore");
  }
}

async function restored(cluster, path) {
  const deadline = Date.now() + RESTORE_MS;
  for (;;) {
    const { status, body } = await cluster.post(path);
    if (status === 200 && body.outcome !== "restoring") return body;
    assert.ok(Date.now() < deadline && [200, 503].includes(status), JSON.stringify(body));
    await pause(AGAIN_MS);
  }
}

/** Kills the service and starts it again, until the number is reached. */
async function kills(load, count) {
  for (let kill = 0; kill < count; kill += 1) {
    await pause(load.random.between(ALIVE_MS));
    await load.server.kill();
    await load.server.start();
    await load.follow();
  }
  return 0;
}

/** Removes what all objects have stored, as if their disk were gone; what is sent before the restore is refused. */
async function losses(load, count) {
  const { server, cluster, random } = load;
  let gone = 0;
  for (let loss = 0; loss < count; loss += 1) {
    await pause(random.between(ALIVE_MS) + 1_000);
    await server.kill();
    const objects = join(server.state, "do");
    assert.ok(readdirSync(objects).length > 0, "objects were stored");
    rmSync(objects, { recursive: true });
    await server.start();
    const shown = (await cluster.get("head")).body;
    const refused = await cluster.send(`anew-${loss}`, { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } });
    assert.deepEqual([refused.status, refused.body.code], [409, "storage_lost"], JSON.stringify(refused.body));
    await pause(random.below(1_000));
    assert.deepEqual((await cluster.get("head")).body, shown, "the head was overwritten");
    await restored(cluster, "restore");
    // Whoever was told of something that had not come to KV: it is gone, and so is what was read of it.
    gone += load.forget(shown.revision);
    const found = new Map((await load.entries(0, shown.revision)).map((entry) => [entry.envelope.id, entry]));
    for (const [id, entry] of load.log) assert.deepEqual(found.get(id), entry, `${id} is missing after the restore`);
    await load.follow();
  }
  return gone;
}

/** A storage that lives through some kills or losses while writers write. */
async function block(kind, number, count) {
  const server = await new Server({ every: 2 }).start();
  try {
    const load = new Load(server, 2 * number + (kind === "kill" ? 0 : 1));
    await load.cluster.found(GPUS);
    const writers = Array.from({ length: WRITERS }, () => load.write());
    const gone = await Promise.race([kind === "kill" ? kills(load, count) : losses(load, count), Promise.all(writers)]);
    load.isOver = true;
    await Promise.all(writers);
    await load.follow();
    load.check();
    await load.drill();
    const { size } = load.receipts;
    return { acknowledged: size, entries: load.log.size, retries: load.n_retries, gone };
  } finally {
    await server.stop();
  }
}

/** All blocks of a kind that are left. */
async function all(kind, total) {
  const sum = { acknowledged: 0, entries: 0, retries: 0, gone: 0 };
  let done = 0;
  for (let number = FROM; done < total; number += 1) {
    const count = Math.min(BLOCK[kind], total - done);
    const begin = Date.now();
    const found = await block(kind, number, count);
    for (const name of Object.keys(sum)) sum[name] += found[name];
    done += count;
    console.log(`block ${number}: ${count} of kind ${kind}, ${JSON.stringify(found)}, ${Math.round((Date.now() - begin) / 1_000)} s`);
  }
  return { done, ...sum };
}

const killed = await all("kill", KILLS);
console.log(
  `${killed.done} kills: ${killed.acknowledged} commands acknowledged, lost 0, doubled 0; ${killed.entries} entries; ` +
    `${killed.retries} sent again since nobody answered`,
);
const lost = await all("loss", LOSSES);
console.log(
  `${lost.done} times the storage was removed: nothing overwritten, ${lost.entries} entries restored or written since; ` +
    `${lost.gone} acknowledged commands had not come to KV yet and were gone`,
);
process.exit(0);
