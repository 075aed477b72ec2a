// An agent of one test: it says what real ones say, and runs nothing.
export class Agent {
  /** Makes its key, signs in and says hello. */
  static async join(cluster, name, serves) {
    const key = `${cluster.name}.${name}`;
    const made = await cluster.answerTo({ create_key: { key, user: name, serves } });
    const shown = { key, secret: made.headers.get("x-tidegate-secret") };
    const agent = new Agent();
    agent.url = `${cluster.runtime.url}/v1/clusters/${cluster.name}`;
    agent.name = name;
    agent.token = (await agent.post("sessions", shown)).token;
    agent.incarnation = (await agent.say("hello", { store: name })).incarnation;
    return agent;
  }

  /** Tells of its nodes that each has so many GPUs, and of some why nothing can begin there; of no runs. */
  sync(gpus, unfit = {}) {
    const node = ([node, count]) => ({ node, gpus: count, status: unfit[node] ? "unfit" : "ready", reason: unfit[node] ?? null });
    return this.say("sync", { incarnation: this.incarnation, answered: null, nodes: Object.entries(gpus).map(node), runs: [] });
  }

  say(call, said) {
    return this.post(`agents/${this.name}/${call}`, { format: 1, ...said });
  }

  async post(path, body) {
    const headers = { "content-type": "application/json", ...(this.token ? { authorization: `Bearer ${this.token}` } : {}) };
    const answer = await fetch(`${this.url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
    return answer.json();
  }
}
