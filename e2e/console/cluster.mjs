// A cluster of one test, and the console's pages of it, by roles and labels.
import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";

const EXAMPLE = new URL("../../public/examples/three-teams.jsonl", import.meta.url);
const MINUTE_MS = 60_000;

export class Cluster {
  constructor(page, runtime) {
    this.page = page;
    this.runtime = runtime;
    this.name = `test-${randomUUID()}`;
  }

  /** Sends a command without the console; `more` stands beside it, such as what a job executes. */
  async send(command, id, more) {
    return (await this.answerTo(command, id, more)).json();
  }

  async answerTo(command, id = randomUUID(), more = {}) {
    const answer = await fetch(`${this.runtime.url}/v1/clusters/${this.name}/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.runtime.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ format: 1, id, command, ...more }),
    });
    if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
    return answer;
  }

  /** A key of a user, as it is pasted at the sign-in. */
  async keyOf(user) {
    const key = `${this.name}.${user}`;
    const made = await this.answerTo({ create_key: { key, user } });
    return `${key}:${made.headers.get("x-tidegate-secret")}`;
  }

  /** What the cluster answers to a read, at least as new as everything that was sent. */
  async read(path) {
    const { revision } = await this.get("hash");
    return this.get(`${path}${path.includes("?") ? "&" : "?"}min_revision=${revision}`);
  }

  async get(path) {
    const headers = { authorization: `Bearer ${this.runtime.adminKey}` };
    const answer = await fetch(`${this.runtime.url}/v1/clusters/${this.name}/${path}`, { headers });
    if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
    return answer.json();
  }

  /** Something that the cluster is asked to do beside its commands, such as `flush`. */
  async post(path) {
    const headers = { authorization: `Bearer ${this.runtime.adminKey}` };
    const answer = await fetch(`${this.runtime.url}/v1/clusters/${this.name}/${path}`, { method: "POST", headers });
    if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
  }

  /** The example: three teams, 128 GPUs, all of them in use; or only its first commands. */
  async loadExample(count = Infinity) {
    const lines = readFileSync(EXAMPLE, "utf8").split("\n").filter((line) => line.trim() !== "");
    for (const line of lines.slice(0, count)) {
      const { id, command } = JSON.parse(line);
      await this.send(command, id);
    }
  }

  /** One node, `n1`, whose jobs really run, and the quota `team` that has its GPUs. */
  async foundMachine(gpus) {
    const amount = { gpu: gpus * 1_000 };
    await this.send({ create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } });
    await this.send({ put_group: { group: "machines", resource_type: "lingjun" } });
    await this.send({ put_node: { node: "n1", group: "machines", amount } });
    await this.send({ create_quota: { quota: "team", groups: ["machines"], min: amount } });
    return this;
  }

  /** A cluster that has been declared and has nothing in it. */
  declare() {
    return this.loadExample(1);
  }

  /** A page of the console, such as `jobs`; the key comes with the address. */
  async open(path = "") {
    const tail = path === "" ? "" : `/${path}`;
    await this.page.goto(`/clusters/${this.name}${tail}#key=${this.runtime.adminKey}`);
  }

  /** The console's clock runs on; the cluster's goes by events of the clock. */
  async minutePasses() {
    this.slotMs = (this.slotMs ?? Date.now()) + MINUTE_MS;
    await this.runtime.tick(this.slotMs);
  }

  /** Fills in the form of a new job; what is left out stays as it is. */
  async fillJob({ name, quota, module, priority, pods, gpus }) {
    const form = this.page.getByRole("form", { name: "New job" });
    await form.getByLabel("Job name").fill(name);
    await form.getByLabel("Quota").selectOption(quota);
    await form.getByLabel("Module").selectOption(module);
    await form.getByLabel("Priority").selectOption(String(priority));
    await form.getByLabel("Pods", { exact: true }).fill(String(pods));
    await form.getByLabel("GPUs per pod").fill(String(gpus));
  }

  preview() {
    return this.page.getByRole("region", { name: "Preview" });
  }

  /** The names of the jobs that the preview would evict, sorted. */
  async previewedVictims() {
    const links = this.preview().getByRole("list", { name: "Would be evicted" }).getByRole("link");
    return (await links.allTextContents()).sort();
  }
}
