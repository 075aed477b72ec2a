// A Worker in a process of its own, with storage of its own, that can be killed and started again on what it has stored.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = resolve(fileURLToPath(import.meta.url), "../../worker/serve.mjs");

/** How long a start may take on a busy machine. */
const START_MS = 60_000;

export class Server {
  /**
   * With `lab`, the cluster for the SDKs is there as well, and `sdkKey` opens it. With `agent`, the path of the command
   * `tidegate`, so is the cluster of processes of this computer. The clock comes `every` so many seconds, or only when
   * it is told to. `variables` are those of wrangler.toml.
   */
  constructor({ lab = false, agent, every = 0, variables = {} } = {}) {
    this.lab = lab;
    this.agent = agent;
    this.every = every;
    this.variables = Object.entries(variables).flatMap(([name, value]) => ["--variable", `${name}=${value}`]);
    this.state = mkdtempSync(join(tmpdir(), "tidegate-e2e-"));
  }

  /** On what it has stored, or `fresh`. */
  async start({ fresh = false } = {}) {
    const [program, words] = this.call({ fresh });
    // Its own process group, so that a kill takes the runtime's processes with it.
    this.child = spawn(program, words, { detached: true, stdio: ["pipe", "pipe", "inherit"] });
    this.waiting = [];
    this.said = [];
    const lines = createInterface({ input: this.child.stdout });
    const address = await new Promise((found, failed) => {
      this.child.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
      const silent = () => this.kill().then(() => failed(new Error("the server does not tell its address")));
      const timer = setTimeout(silent, START_MS);
      lines.on("line", (line) => {
        this.said.push(line);
        const match = /^the console: (https?:\/\/[^/]+)\S*#key=(\w+)$/.exec(line);
        if (match) {
          clearTimeout(timer);
          found(match);
        }
        const key = /^its key for the SDKs: (\S+) (\S+)$/.exec(line);
        if (key) this.sdkKey = { id: key[1], secret: key[2] };
        if (/^(ticked|failed) /.test(line)) this.waiting.shift()?.(line);
      });
    });
    [, this.url, this.key] = address;
    return this;
  }

  /** How its program is called. */
  call({ fresh }) {
    const options = ["--port", "0", "--every", String(this.every), "--state", this.state, "--stdin", ...this.variables];
    if (this.lab) options.push("--lab");
    if (fresh) options.push("--fresh");
    if (this.agent) options.push("--agent", this.agent);
    return [process.execPath, [PROGRAM, ...options]];
  }

  /** The scheduled event of a minute. */
  async tick(slotMs) {
    const line = await new Promise((answered) => {
      this.waiting.push(answered);
      this.child.stdin.write(`tick ${slotMs}\n`);
    });
    if (!line.startsWith("ticked")) throw new Error(line);
  }

  /** Ends it in order, as ctrl-C would; its exit status. */
  async interrupt() {
    const ended = this.ended();
    this.child.kill("SIGINT");
    return ended;
  }

  /** Ends everything at once, as a power failure would. */
  async kill() {
    const ended = this.ended();
    process.kill(-this.child.pid, "SIGKILL");
    await ended;
  }

  /** Waits for the end of the process; its exit status. */
  ended() {
    const { exitCode, signalCode } = this.child;
    return exitCode ?? signalCode ?? new Promise((done) => this.child.once("exit", done));
  }

  /** What an agent runs has to be gone before its folder is. */
  async stop() {
    await (this.agent ? this.interrupt() : this.kill());
    rmSync(this.state, { recursive: true, force: true });
  }

  cluster(name) {
    return new Cluster(this, name);
  }
}

/** One cluster, as its clients see it. */
export class Cluster {
  constructor(server, name) {
    this.server = server;
    this.name = name;
  }

  /** Any request; `text` is sent as it is. */
  async request(method, path, text, headers = { authorization: `Bearer ${this.server.key}` }) {
    const answer = await fetch(`${this.server.url}/v1/clusters/${this.name}/${path}`, { method, body: text, headers });
    const body = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(body) : body };
  }

  get(path) {
    return this.request("GET", path);
  }

  post(path) {
    return this.request("POST", path);
  }

  send(id, command, more = {}) {
    return this.request("POST", "commands", JSON.stringify({ format: 1, id, command, ...more }));
  }

  submit(id, gpus = 1, quota = "team") {
    return this.send(id, { submit_job: { job: `job-${id}`, quota, pods: [{ amount: { gpu: gpus * 1000 } }] } });
  }

  /** A pool of GPUs with one root quota. */
  async found(gpus = 8) {
    const amount = { gpu: gpus * 1000 };
    const commands = [
      { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } },
      { put_group: { group: "pool", resource_type: "lingjun", pool: amount } },
      { create_quota: { quota: "team", groups: ["pool"], min: amount } },
    ];
    return this.foundBy(commands);
  }

  /** What these commands make, each of which must be accepted. */
  async foundBy(commands) {
    for (const [index, command] of commands.entries()) {
      const answer = await this.send(`founding-${index}`, command);
      if (answer.status !== 200) throw new Error(`founding failed: ${JSON.stringify(answer.body)}`);
    }
    return this;
  }

  async hash() {
    return (await this.get("hash")).body;
  }

  /** Every entry, from the object's own log. */
  async entries() {
    const { revision } = await this.hash();
    const answer = await this.get(`entries?after=0&min_revision=${revision}`);
    if (answer.status !== 200) throw new Error(`no entries: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
}

/** The type of the machines that quotas are counted in. */
export const NODE_TYPE = "ml.gu7xf.8xlarge-gu108";
/** An instance type of general computing. */
export const ECS_TYPE = "ecs.g7.xlarge";

/** 16 nodes of 8 GPUs, and two offers of the spot market; then a key that administers the cluster. */
export async function foundPai(cluster) {
  const instance = { gpu: 8_000, cpu: 128_000, memory: 1_048_576 };
  const node = (name) => ({ put_node: { node: name, group: "rg-1", node_type: NODE_TYPE, gpu_type: "GU108", amount: instance } });
  const commands = [
    { create_cluster: { dimensions: ["gpu", "cpu", "memory"].map((name) => ({ name, kind: name })) } },
    { put_group: { group: "rg-1", resource_type: "lingjun" } },
    ...Array.from({ length: 16 }, (_, number) => node(`node-${number}`)),
    { create_offer: { offer: NODE_TYPE, resource_type: "lingjun", instance, inventory: 4, price: 300_000, terms: { original_price: 1_000_000 } } },
    { create_offer: { offer: ECS_TYPE, resource_type: "general", instance: { cpu: 4_000, memory: 16_384 }, inventory: 4, price: 10_000, terms: { original_price: 20_000 } } },
  ];
  await cluster.foundBy(commands);
  return accessKey(cluster, "sdk", { administers: true });
}

/** A key of a user, with the secret that is shown once. */
export async function accessKey(cluster, user, more = {}) {
  const id = `${cluster.name}.${user}`;
  const answer = await cluster.send(`key-${user}`, { create_key: { key: id, user, ...more } });
  if (answer.status !== 200) throw new Error(`no key: ${JSON.stringify(answer.body)}`);
  return { id, secret: answer.headers.get("x-tidegate-secret") };
}
