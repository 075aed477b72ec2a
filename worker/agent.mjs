// An agent of this computer, as a child of the server: it ends when the server does, however that ends.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** How long an agent may take to end: its jobs' checkpoints, and some more. */
const END_MS = 40_000;

export const isRoot = () => process.getuid() === 0;

export class ChildAgent {
  /**
   * `program` is the command `tidegate`, `nodes` are as its `--node` takes them. With `stopsJobs`, what it runs ends with it;
   * otherwise that goes on, and the next agent with this `state` finds it.
   */
  constructor(program, { cluster, name, group, state, nodes, stopsJobs = false, env = {} }) {
    Object.assign(this, { program, cluster, name, group, state, nodes, stopsJobs, env, isStopping: false });
  }

  get #key() {
    return join(this.state, "agent.json");
  }

  /** Makes a key for it, once. */
  async join(server) {
    const file = this.#key;
    if (existsSync(file)) {
      // The server may stand at another port today.
      const joined = { ...JSON.parse(readFileSync(file, "utf8")), service: server.url };
      writeFileSync(`${file}.new`, JSON.stringify(joined, undefined, 2), { mode: 0o600 });
      renameSync(`${file}.new`, file);
      return;
    }
    mkdirSync(dirname(this.state), { recursive: true, mode: 0o700 });
    const { cluster, name, group, state } = this;
    const words = ["agent", "join", server.url, "--cluster", cluster, "--name", name, "--groups", group, "--state", state];
    const env = { ...process.env, TIDEGATE_TOKEN: server.adminKey };
    try {
      await promisify(execFile)(this.program, words, { env, timeout: END_MS });
    } catch (error) {
      throw new Error((error.stderr || error.message).trim());
    }
  }

  /** Starts its process; how that ends. Without input it ends at once. */
  start({ hasInput = true } = {}) {
    const words = ["agent", "run", "--attached", "--state", this.state, ...this.nodes.flatMap((node) => ["--node", node])];
    if (this.stopsJobs) words.push("--stop-jobs");
    if (isRoot()) words.push("--allow-root");
    // A session of its own: ctrl-C in a terminal is for this process, which then ends the agent in order.
    const stdio = hasInput ? ["pipe", "ignore", "inherit"] : "ignore";
    const child = spawn(this.program, words, { env: { ...process.env, ...this.env }, detached: true, stdio });
    // Nobody reads any more what is written to an agent that has ended.
    child.stdin?.on("error", () => {});
    this.child = child;
    this.ended = new Promise((done) => {
      child.once("exit", (code, signal) => done(signal ?? code)).once("error", (error) => done(error.message));
    });
    return this.ended;
  }

  get hasEnded() {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Ends it in order; how it has ended. */
  async stop() {
    this.isStopping = true;
    this.child.stdin?.end();
    const late = setTimeout(() => this.child.kill("SIGKILL"), END_MS);
    const how = await this.ended;
    clearTimeout(late);
    return how;
  }

  /** Ends what an agent with this state has left that was killed. */
  async clear() {
    if (!existsSync(this.#key)) return 0;
    this.start({ hasInput: false });
    return this.stop();
  }
}
