// Who may do what, over HTTP: every role, operation and relation, each cell by a request of its own.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { People, SENDERS } from "./people.mjs";
import { Server } from "./server.mjs";
import { listen } from "./socket.mjs";

let server;
let people;
before(async () => {
  server = await new Server().start();
  people = await People.of(server, "teams");
});
after(() => server.stop());

/** `+` for allowed, `-` for denied, `?` for "there is no such thing". */
const MARKS = { 200: "+", 403: "-", 404: "?" };

let tried = 0;
async function marks(request) {
  let text = "";
  for (const name of SENDERS) {
    const answer = await request(people.senders[name], name);
    text += MARKS[answer.status] ?? `[${answer.status} ${JSON.stringify(answer.body)}]`;
  }
  return text;
}

/** What each sender is told of a command, of which nothing is stored; `USER` is whoever sends it. */
function told(command) {
  return marks((cluster, name) => {
    const one = JSON.parse(JSON.stringify(command).replaceAll("USER", name));
    return cluster.send(`try-${(tried += 1)}`, one, { dry_run: true });
  });
}

const submit = (quota, workspace, user) => ({ submit_job: { job: "new", quota, workspace, user, pods: [{ amount: { gpu: 1000 } }] } });
const settings = (quota) => ({ update_quota: { quota, settings: {} } });
const member = (user, roles, workspace = "workspace-b") => ({ put_member: { workspace, user, roles } });

// Columns: guest, developer, operator, administrator, owner, somebody without a role, an administrator of the cluster.
const COMMANDS = [
  ["submit in one's workspace", submit("Quota1.1", "workspace-b"), "-++++?+"],
  ["submit in one's own name", submit("Quota1.1", "workspace-b", "USER"), "-++++?+"],
  ["submit in another name", submit("Quota1.1", "workspace-b", "somebody"), "------+"],
  ["submit outside every workspace", submit("Quota1.1"), "------+"],
  ["submit to the parent", submit("Quota1", "workspace-b"), "-----?["],
  ["submit to a sibling", submit("Quota1.2", "workspace-b"), "-----?["],
  ["submit to a child", submit("Quota1.1.1", "workspace-b"), "-----?["],
  ["submit in another workspace", submit("Quota1.2", "workspace-c"), "??????+"],
  ["cancel one's own job", { cancel_job: { job: "USER-job" } }, "-++++??"],
  ["cancel another member's job", { cancel_job: { job: "guest-job" } }, "--+++?+"],
  ["cancel another workspace's job", { cancel_job: { job: "carol-job" } }, "??????+"],
  ["cancel no job", { cancel_job: { job: "no-such-job" } }, "???????"],
  ["change one's own priority", { set_priority: { job: "USER-job", priority: 9 } }, "-++++??"],
  ["change another member's priority", { set_priority: { job: "guest-job", priority: 9 } }, "--+++?+"],
  ["change another workspace's priority", { set_priority: { job: "carol-job", priority: 9 } }, "??????+"],
  ["settings of one's quota", settings("Quota1.1"), "---++-+"],
  ["settings of the parent", settings("Quota1"), "------+"],
  ["settings of a sibling", settings("Quota1.2"), "------+"],
  ["settings of a child", settings("Quota1.1.1"), "------+"],
  ["settings of another root", settings("Quota2"), "------+"],
  ["scale one's quota", { scale_quotas: { targets: [{ quota: "Quota1.1", min: { gpu: 47_000 } }] } }, "------+"],
  ["scale the parent", { scale_quotas: { targets: [{ quota: "Quota1", min: { gpu: 128_000 } }] } }, "------+"],
  ["a child of one's quota", { create_quota: { quota: "new", parent: "Quota1.1", min: { gpu: 1000 } } }, "------+"],
  ["a root", { create_quota: { quota: "new", groups: ["pool"], min: { gpu: 0 } } }, "------+"],
  ["scale a sibling", { scale_quotas: { targets: [{ quota: "Quota1.2", min: { gpu: 79_000 } }] } }, "------+"],
  ["delete the parent", { delete_quota: { quota: "Quota1" } }, "------["],
  ["delete a child", { delete_quota: { quota: "Quota1.1.1" } }, "------+"],
  ["attach a quota", { attach_quota: { workspace: "workspace-b", quota: "Quota1" } }, "-----?+"],
  ["attach to another workspace", { attach_quota: { workspace: "workspace-c", quota: "Quota1.1" } }, "??????+"],
  ["change the workspace", { put_workspace: { workspace: "workspace-b", name: "B" } }, "---++-+"],
  ["change another workspace", { put_workspace: { workspace: "workspace-c", name: "C" } }, "------+"],
  ["a new workspace", { put_workspace: { workspace: "new" } }, "------+"],
  ["a new member", member("new", ["developer"]), "---++?+"],
  ["a new owner", member("new", ["owner"]), "----+?+"],
  ["raise oneself", member("USER", ["owner"]), "----+?+"],
  ["a member of another workspace", member("new", ["guest"], "workspace-c"), "??????+"],
  ["leave", { remove_member: { workspace: "workspace-b", user: "USER" } }, "+++++??"],
  ["send a member away", { remove_member: { workspace: "workspace-b", user: "guest" } }, "+--++?+"],
  ["send the owner away", { remove_member: { workspace: "workspace-b", user: "owner" } }, "----+?+"],
  ["a key of one's own", { create_key: { key: "teams.new", user: "USER" } }, "+++++-+"],
  ["a key of somebody else", { create_key: { key: "teams.new", user: "carol" } }, "------+"],
  ["a key that administers", { create_key: { key: "teams.new", user: "USER", administers: true } }, "------+"],
  ["rotate one's key", { rotate_key: { key: "teams.USER" } }, "+++++-+"],
  ["rotate another's key", { rotate_key: { key: "teams.carol" } }, "??????+"],
  ["revoke another's key", { revoke_key: { key: "teams.carol" } }, "??????+"],
  ["machines", { put_group: { group: "more", resource_type: "lingjun", pool: { gpu: 1000 } } }, "------+"],
  ["an offer", { create_offer: { offer: "o", resource_type: "lingjun", instance: { gpu: 1000 }, inventory: 1, terms: { original_price: 1000 } } }, "------+"],
  ["a round", { round: {} }, "------+"],
  ["delete another workspace", { delete_workspace: { workspace: "workspace-c" } }, "??????[409"],
];

test("commands: each role, operation and relation", async (t) => {
  for (const [name, command, expected] of COMMANDS) {
    await t.test(name, async () => {
      const marks = await told(command);
      assert.ok(expected.includes("[") ? marks.startsWith(expected) : marks === expected, `${marks}, expected ${expected}`);
    });
  }
});

const READS = [
  ["snapshot", "+++++-+"],
  ["entries?after=0", "+++++-+"],
  ["rounds", "+++++-+"],
  ["audit", "+++++-+"],
  ["offers", "+++++-+"],
  ["bills", "+++++-+"],
  ["metrics", "+++++-+"],
  ["me", "+++++++"],
  ["keys", "+++++++"],
  ["jobs/guest-job/why", "+++++?+"],
  ["jobs/carol-job/why", "??????+"],
  ["jobs/no-such-job/why", "???????"],
  ["hash", "------+"],
  ["head", "------+"],
];

test("reads: each role", async (t) => {
  assert.equal((await people.cluster.post("flush")).status, 200);
  for (const [path, expected] of READS) {
    await t.test(path, async () => assert.equal(await marks((cluster) => cluster.get(path)), expected));
  }
  await t.test("flush", async () => assert.equal(await marks((cluster) => cluster.post("flush")), "------+"));
});

/** Whatever a member of workspace-b may not know. */
const SECRETS = /carol|workspace-[ac]|teams\.owner/;

test("a member reads nothing of another workspace but amounts", async (t) => {
  const developer = people.senders.developer;
  for (const path of ["snapshot", "entries?after=0", "rounds", "audit", "offers", "bills", "keys", "jobs/guest-job/why"]) {
    await t.test(path, async () => {
      const text = JSON.stringify((await developer.get(path)).body);
      assert.doesNotMatch(text, SECRETS);
    });
  }
  const { jobs, workspaces } = (await developer.get("snapshot")).body;
  assert.deepEqual(Object.keys(workspaces), ["workspace-b"]);
  const names = jobs.map(([no, { spec }]) => (spec.workspace ? "own" : spec.id.replace(no, "N")));
  assert.deepEqual(names, [...Array(5).fill("own"), "another workspace's job N"]);
});

test("a socket tells a member what they may know, and ends with the key", async () => {
  const cluster = people.cluster;
  const watcher = await people.signIn(server, "developer2").catch((error) => error);
  await people.accepted("join", member("developer2", ["developer"]));
  const watch = () => listen(`${server.url}/v1/clusters/teams/events`, ["tidegate", `bearer.${watcher.session.token}`]);
  const socket = await watch();
  await cluster.send("secret-cancel", { cancel_job: { job: "carol-job" } });
  const entry = JSON.parse(await socket.next());
  assert.equal(entry.envelope.command, null);
  assert.doesNotMatch(JSON.stringify(entry), SECRETS);
  await people.accepted("revoke", { revoke_key: { key: "teams.developer2" } });
  assert.equal((await watcher.get("me")).status, 401);
  await assert.rejects(watch(), /status 401/);
  socket.close();
});
