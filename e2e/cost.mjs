// What requests of the vendor's SDKs cost in the Worker runtime, storage and nonces included, with few jobs in the
// cluster and with many:
//
//   node e2e/cost.mjs [JOBS]
//
// Printed is for how long the runtime was at work for one request, which other programs on the computer hardly change,
// and how long the slowest answer took. The requests are those of a member.
import { readdirSync, readFileSync } from "node:fs";
import { Client, send } from "./acs.mjs";
import { accessKey, foundPai, NODE_TYPE, Server } from "./server.mjs";

const [DLC, AIWORKSPACE, STUDIO] = ["2020-12-03", "2021-02-04", "2022-01-12"];
const [FEW, MANY] = [100, Number(process.argv[2] ?? 10_000)];
/** After so many requests at once a key has to go slowly. */
const REQUESTS_OF_KEY = 900;
const AT_ONCE = 8;
/** A tick of the kernel's clock. */
const TICK_MS = 10;
/** Requests of a kind that are measured, so many that a tick says nothing. */
const MEASURED = 200;

/** For how long a process and all below it have been at work. */
function workedMs(pid) {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /s, "").split(" ").map(Number);
      return [{ pid: Number(name), parent: fields[1], worked: (fields[11] + fields[12]) * TICK_MS }];
    } catch {
      return []; // It has ended in between.
    }
  });
  const below = (top) => processes.filter(({ parent }) => parent === top).reduce((sum, one) => sum + one.worked + below(one.pid), 0);
  return processes.find((one) => one.pid === pid).worked + below(pid);
}

/** A member's clients: each goes as fast as a key may, and then it is the next one's turn. */
class Member {
  constructor(server, keys) {
    this.clients = keys.map((key) => new Client(server.url, key));
    this.sent = 0;
  }

  next() {
    const client = this.clients[Math.floor(this.sent / REQUESTS_OF_KEY)];
    this.sent += 1;
    return client;
  }
}

async function member(server, cluster, requests) {
  const keys = [];
  while (keys.length * REQUESTS_OF_KEY < requests) keys.push(await accessKey(cluster, `ann-${keys.length}`, { user: "ann" }));
  return new Member(server, keys);
}

/** A workspace with one quota of the cluster's machines, in which ann may submit. */
async function team(administrator) {
  const { WorkspaceId } = await administrator.get(AIWORKSPACE, "CreateWorkspace", "POST", "/api/v1/workspaces", { WorkspaceName: "lab" });
  const Min = { NodeSpecs: [{ Type: NODE_TYPE, Count: 8 }] };
  const { QuotaId } = await administrator.get(STUDIO, "CreateQuota", "POST", "/api/v1/quotas", { QuotaName: "lab", ResourceType: "Lingjun", Min });
  const resource = { Name: "lab", GroupName: "lab", Spec: { clusterType: "private", resourceId: QuotaId } };
  await administrator.get(AIWORKSPACE, "CreateWorkspaceResource", "POST", `/api/v1/workspaces/${WorkspaceId}/resources`, { Resources: [resource] });
  const Members = [{ UserId: "ann", Roles: ["PAI.AlgoDeveloper"] }];
  await administrator.get(AIWORKSPACE, "CreateMember", "POST", `/api/v1/workspaces/${WorkspaceId}/members`, { Members });
  return { WorkspaceId, QuotaId };
}

function job({ WorkspaceId, QuotaId }, number) {
  const JobSpecs = [{ Type: "Worker", Image: "registry.local/x:1", PodCount: 1, ResourceConfig: { CPU: "1", GPU: "1", Memory: "1Gi" } }];
  const Priority = (number % 9) + 1;
  const Envs = { DATA: "/mnt/data", EPOCHS: "90" };
  return { WorkspaceId, ResourceId: QuotaId, Priority, DisplayName: `train-${number}`, JobType: "PyTorchJob", UserCommand: "python train.py --epochs 90", Envs, JobSpecs };
}

/** Sends requests, some at once; tells their answers and how long the slowest took. */
async function all(count, request) {
  const answers = [];
  let [begun, slowest] = [0, 0];
  const line = async () => {
    while (begun < count) {
      const number = begun;
      begun += 1;
      const since = performance.now();
      answers.push(await request(number));
      slowest = Math.max(slowest, performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
  return { answers, slowest };
}

async function measured(server, request) {
  await request(MEASURED);
  const before = workedMs(server.child.pid);
  const { slowest } = await all(MEASURED, request);
  return { ms: (workedMs(server.child.pid) - before) / MEASURED, slowest };
}

/** The requests that are measured, by what they are called. */
function kinds({ server, cluster, ann, of, jobs, session }) {
  const get = (version, action, target) => () => ann.next().get(version, action, "GET", target);
  const running = jobs[0];
  const waiting = jobs.at(-1);
  const list = (query) => get(DLC, "ListJobs", `/api/v1/jobs?PageSize=20${query}`);
  const detail = `/api/v1/jobs/${running}`;
  const borne = async () => {
    const { headers, ...request } = ann.clients[0].request(DLC, "GetJob", "GET", detail);
    const { authorization: _, ...rest } = headers;
    const answer = await send(server.url, { ...request, headers: { ...rest, "x-acs-bearer-token": session, "x-acs-signature-type": "BEARERTOKEN" } });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  const why = async () => {
    const answer = await cluster.request("GET", `jobs/${waiting}/why`, undefined, { authorization: `Bearer ${session}` });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  };
  return {
    "GetJob, with a session's token": borne,
    "GetJob, signed": get(DLC, "GetJob", detail),
    "GetJob of one that waits": get(DLC, "GetJob", `/api/v1/jobs/${waiting}`),
    CreateJob: (number) => ann.next().get(DLC, "CreateJob", "POST", "/api/v1/jobs", job(of, number)),
    ListJobs: list(""),
    "ListJobs by status and user": list("&Status=Queuing&ShowOwn=True"),
    "ListJobs by part of a name": list("&DisplayName=train-1"),
    "ListJobs by framework": list("&JobType=PyTorchJob"),
    "ListJobs sorted by framework": list("&SortBy=JobType"),
    ListQuotaWorkloads: get(STUDIO, "ListQuotaWorkloads", `/api/v1/quotas/${of.QuotaId}/workloads?PageSize=20`),
    "why (native surface)": why,
  };
}

const [JOBS_OF_USER_MAX, JOBS_OF_WORKSPACE_MAX, JOBS_OF_CLUSTER_MAX] = Array(3).fill(2 * MANY);
const server = await new Server({ variables: { JOBS_OF_USER_MAX, JOBS_OF_WORKSPACE_MAX, JOBS_OF_CLUSTER_MAX } }).start();
try {
  const cluster = server.cluster("cost");
  const administrator = new Client(server.url, await foundPai(cluster));
  const of = await team(administrator);
  const ann = await member(server, cluster, MANY + 24 * MEASURED);
  const shown = { key: ann.clients.at(-1).key.id, secret: ann.clients.at(-1).key.secret };
  const session = (await cluster.request("POST", "sessions", JSON.stringify(shown), {})).body.token;
  const jobs = [];
  const rows = new Map();
  for (const count of [FEW, MANY]) {
    const create = (number) => ann.next().get(DLC, "CreateJob", "POST", "/api/v1/jobs", job(of, number));
    const { answers, slowest } = await all(count - jobs.length, create);
    jobs.push(...answers.map(({ JobId }) => JobId));
    console.log(`${count} jobs; the slowest CreateJob on the way took ${Math.round(slowest)} ms`);
    if ((await cluster.post("flush")).status !== 200) throw new Error("not published");
    for (const [name, request] of Object.entries(kinds({ server, cluster, ann, of, jobs, session }))) {
      rows.set(name, [...(rows.get(name) ?? []), await measured(server, request)]);
    }
  }
  const cell = ({ ms, slowest }) => `${ms.toFixed(1)} ms (slowest ${Math.round(slowest)})`.padStart(26);
  console.log(`${"at work for a request, with so many jobs".padEnd(42)}${String(FEW).padStart(26)}${String(MANY).padStart(26)}`);
  for (const [name, [few, many]] of rows) console.log(`${name.padEnd(42)}${cell(few)}${cell(many)}  x${(many.ms / few.ms).toFixed(1)}`);
} finally {
  await server.stop();
}
