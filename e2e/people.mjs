// A cluster with people in it: the three teams of the seeds, with a member for each role in workspace-b.
import { accessKey, Cluster } from "./server.mjs";

export const ROLES = ["guest", "developer", "operator", "administrator", "owner"];

/** Everybody who sends something in the tests: members by their role, somebody with a key and no role, the cluster's. */
export const SENDERS = [...ROLES, "stranger", "cluster"];

const gpus = (count) => ({ gpu: count * 1000 });
const job = (name, quota, workspace, user) => ({ submit_job: { job: name, quota, workspace, user, pods: [{ amount: gpus(1) }] } });

/** `Quota1` with two children, one of which has a child of its own; another root; a workspace for each team. */
const TEAMS = [
  { create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } },
  { put_group: { group: "pool", resource_type: "lingjun", pool: gpus(192) } },
  { create_quota: { quota: "Quota1", groups: ["pool"], min: gpus(128) } },
  { create_quota: { quota: "Quota1.1", parent: "Quota1", min: gpus(48) } },
  { create_quota: { quota: "Quota1.2", parent: "Quota1", min: gpus(80) } },
  { create_quota: { quota: "Quota1.1.1", parent: "Quota1.1", min: gpus(8) } },
  { create_quota: { quota: "Quota2", groups: ["pool"], min: gpus(64) } },
  ...Object.entries({ "workspace-a": "Quota1", "workspace-b": "Quota1.1", "workspace-c": "Quota1.2" }).flatMap(([workspace, quota]) => [
    { put_workspace: { workspace } },
    { attach_quota: { workspace, quota } },
  ]),
  ...ROLES.map((role) => ({ put_member: { workspace: "workspace-b", user: role, roles: [role] } })),
  ...ROLES.map((role) => job(`${role}-job`, "Quota1.1", "workspace-b", role)),
  { put_member: { workspace: "workspace-c", user: "carol", roles: ["owner"] } },
  job("carol-job", "Quota1.2", "workspace-c", "carol"),
];

export class People {
  /** Founds the cluster; everybody gets a key and opens a session. */
  static async of(server, name) {
    const people = new People();
    people.cluster = server.cluster(name);
    people.senders = {};
    let sent = 0;
    for (const command of TEAMS) await people.accepted(`team-${(sent += 1)}`, command);
    for (const user of [...SENDERS, "carol"]) people.senders[user] = await people.signIn(server, user);
    return people;
  }

  async accepted(id, command) {
    const answer = await this.cluster.send(id, command);
    if (answer.status !== 200) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** A key by the administrator, a session for its secret, and the cluster as its holder sees it. */
  async signIn(server, user) {
    const { id: key, secret } = await accessKey(this.cluster, user, { administers: user === "cluster" });
    const session = await this.cluster.request("POST", "sessions", JSON.stringify({ key, secret }), {});
    if (session.status !== 200) throw new Error(JSON.stringify(session.body));
    return Object.assign(new Cluster({ url: server.url, key: session.body.token }, this.cluster.name), { secret, session: session.body });
  }
}
