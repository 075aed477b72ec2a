// The PAI surface in the Worker runtime: who is believed, what is kept, and what holds under load.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, send, signed } from "./acs.mjs";
import { recordings } from "./recorded/files.mjs";
import { read } from "./recorded/request.mjs";
import { accessKey, foundPai, NODE_TYPE, Server } from "./server.mjs";

const MINUTE_MS = 60_000;
const DLC = "2020-12-03";
const AIWORKSPACE = "2021-02-04";
const STUDIO = "2022-01-12";
/** Codes by which a sender is not believed. */
const DISBELIEF = /^(Missing|Invalid)Auth|^InvalidSignature|^IncompleteSignature|^InvalidAccessKey|^InvalidContentSha|^InvalidTimeStamp|^SignatureD|^SignatureN|^InvalidSecurityToken|^InvalidBearerToken/;

let server;
let client;
before(async () => {
  server = await new Server().start();
  client = new Client(server.url, await foundPai(server.cluster("pai")));
});
after(() => server.stop());

/** The recorded requests of the SDKs, with the names of their headers in small letters. */
function recorded() {
  return recordings().map(({ name, bytes }) => {
    const { headers, ...request } = read(bytes);
    return { ...request, file: name, headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])) };
  });
}

/** A recorded request, signed anew for this server, key and time. */
function anew({ method, target, headers, body }, more = {}) {
  const [version, action] = [headers["x-acs-version"], headers["x-acs-action"]];
  const type = headers["content-type"] && { "content-type": headers["content-type"] };
  const { host, key } = client;
  return { method, target, body, headers: signed({ method, target, body, version, action, host, key, more: { ...type, ...more } }) };
}

test("every recorded request is believed, and none whose bytes were changed", async () => {
  const genuine = recorded().filter(({ file, headers }) => headers.authorization?.startsWith("ACS3-") && !file.includes("tampered_"));
  assert.ok(genuine.length >= 5, `${genuine.length} requests`);
  for (const request of genuine) {
    const code = (answer) => answer.body.Code ?? "";
    const believed = await send(server.url, anew(request));
    assert.doesNotMatch(code(believed), DISBELIEF, `${request.file}: ${JSON.stringify(believed.body)}`);
    const tampered = {
      "an action": ({ headers }) => (headers["x-acs-action"] = "DeleteWorkspace"),
      "a user agent": ({ headers }) => (headers["user-agent"] += "x"),
      "a date": ({ headers }) => (headers["x-acs-date"] = headers["x-acs-date"].replace(/\d\dZ$/, (end) => (end === "00Z" ? "01Z" : "00Z"))),
      "a path": (sent) => (sent.target = sent.target.replace("/api/v1", "/api/v1/x").replace("/api/v2", "/api/v2/x")),
      "a query": (sent) => (sent.target += `${sent.target.includes("?") ? "&" : "?"}Extra=1`),
      // What is sent as the body of another method does not reach the Worker.
      ...(["POST", "PUT"].includes(request.method) && { "a body": (sent) => (sent.body = Buffer.concat([sent.body, Buffer.from(" ")])) }),
      "an unsigned header": ({ headers }) => (headers["x-acs-extra"] = "1"),
      "no signature": ({ headers }) => delete headers.authorization,
    };
    for (const [what, change] of Object.entries(tampered)) {
      const sent = anew(request);
      change(sent);
      const answer = await send(server.url, sent);
      assert.match(code(answer), DISBELIEF, `${request.file} with ${what}: ${JSON.stringify(answer.body)}`);
    }
  }
});

test("recorded requests that are old, or signed in another way, are refused by name", async () => {
  for (const { file, method, target, headers, body } of recorded()) {
    const { host: _, ...rest } = headers;
    const answer = await send(server.url, { method, target, headers: { ...rest, host: client.host }, body });
    assert.match(answer.body.Code ?? "", DISBELIEF, `${file}: ${JSON.stringify(answer.body)}`);
    assert.ok(answer.body.RequestId && answer.body.Message, file);
  }
});

test("a request is accepted once, about now, with its own key and secret", async () => {
  const list = (more, key = client.key) => {
    const parts = { method: "GET", target: "/api/v1/workspaces", version: AIWORKSPACE, action: "ListWorkspaces", host: client.host, key, ...more };
    return { method: "GET", target: parts.target, headers: signed(parts) };
  };
  const code = async (sent) => {
    const { status, body } = await send(server.url, sent);
    return status === 200 ? "accepted" : `${status} ${body.Code}`;
  };
  const once = list();
  assert.equal(await code(once), "accepted");
  assert.equal(await code(once), "400 SignatureNonceUsed");
  assert.equal(await code(list({ date: Date.now() - 14 * MINUTE_MS })), "accepted");
  for (const minutes of [-16, 16]) {
    assert.equal(await code(list({ date: Date.now() + minutes * MINUTE_MS })), "400 InvalidTimeStamp.Expired");
  }
  const { id, secret } = client.key;
  assert.equal(await code(list({}, { id, secret: `${secret}x` })), "400 SignatureDoesNotMatch");
  for (const other of ["nosuchkey", "pai.nosuchkey", "nosuchcluster.key", "~registry.key"]) {
    assert.equal(await code(list({}, { id: other, secret })), "404 InvalidAccessKeyId.NotFound");
  }
  const forged = list({ nonce: "f".repeat(32) }, { id, secret: "wrong" });
  assert.equal(await code(forged), "400 SignatureDoesNotMatch");
  assert.equal(await code(list({ nonce: "f".repeat(32) })), "accepted", "a forged request uses up no nonce");
  assert.equal(await code({ ...list(), method: "GET", target: "/api/v1/nothing", headers: { host: client.host } }), "400 MissingAuthorization");
});

test("who signs wrongly again and again is told to wait, and nobody else is", async () => {
  const [own, other] = [await accessKey(server.cluster("pai"), "own"), await accessKey(server.cluster("pai"), "other")];
  const list = (key, secret, address) => {
    const parts = { method: "GET", target: "/api/v1/workspaces", version: AIWORKSPACE, action: "ListWorkspaces", host: client.host, key: { ...key, secret } };
    return send(server.url, { ...parts, headers: { ...signed(parts), "cf-connecting-ip": address } });
  };
  const codes = [];
  while (codes.length < 2_000 && !codes.includes("Throttling")) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => list(own, "wrong", `2001:db8:0:1::${at + 1}`)));
    codes.push(...answers.map(({ body }) => body.Code));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) assert.ok(Number(refused.headers["x-acs-retry-after"]) > 0);
  }
  assert.ok(codes.includes("Throttling") && codes.filter((code) => code === "SignatureDoesNotMatch").length >= 400, `${codes.length} wrong signatures`);
  assert.equal((await list(own, own.secret, "2001:db8:0:2::1")).status, 200, "the owner comes from elsewhere");
  assert.equal((await list(other, other.secret, "2001:db8:0:1::1")).status, 200, "somebody else of that network");
});

test("a nonce is remembered after a power failure", async () => {
  const once = client.request(AIWORKSPACE, "ListWorkspaces", "GET", "/api/v1/workspaces");
  assert.equal((await send(server.url, once)).status, 200);
  await server.kill();
  await server.start();
  client = new Client(server.url, client.key);
  // The signature covers the host, and the server may have another port now: what is asked is whether it is known.
  const { headers, ...rest } = client.request(AIWORKSPACE, "ListWorkspaces", "GET", "/api/v1/workspaces", undefined, { nonce: once.headers["x-acs-signature-nonce"] });
  assert.equal((await send(server.url, { ...rest, headers })).body.Code, "SignatureNonceUsed");
});

let made = 0;
/** A workspace with a quota of so many nodes. */
async function team(nodes = 1) {
  const name = `team_${(made += 1)}`;
  const { WorkspaceId } = await client.get(AIWORKSPACE, "CreateWorkspace", "POST", "/api/v1/workspaces", { WorkspaceName: name });
  const Min = { NodeSpecs: [{ Type: NODE_TYPE, Count: nodes }] };
  const { QuotaId } = await client.get(STUDIO, "CreateQuota", "POST", "/api/v1/quotas", { QuotaName: name, ResourceType: "Lingjun", Min });
  const resource = { Name: name, GroupName: name, Spec: { clusterType: "private", resourceId: QuotaId } };
  await client.get(AIWORKSPACE, "CreateWorkspaceResource", "POST", `/api/v1/workspaces/${WorkspaceId}/resources`, { Resources: [resource] });
  return { WorkspaceId, QuotaId };
}

function job({ WorkspaceId, QuotaId }, more = {}) {
  const JobSpecs = [{ Type: "Worker", Image: "registry.local/x:1", PodCount: 1, ResourceConfig: { CPU: "1", GPU: "1", Memory: "1Gi" } }];
  return { WorkspaceId, ResourceId: QuotaId, DisplayName: "idle-ok 空闲", JobType: "PyTorchJob", UserCommand: "python train.py", Envs: { KEY: "värde" }, JobSpecs, ...more };
}

const create = (content) => client.get(DLC, "CreateJob", "POST", "/api/v1/jobs", content);

test("what the engine does not look at comes back, also from KV alone", async () => {
  const cluster = server.cluster("pai");
  const { JobId } = await create(job(await team()));
  const told = async () => {
    const { DisplayName, UserCommand, Envs, JobSpecs } = await client.get(DLC, "GetJob", "GET", `/api/v1/jobs/${JobId}`);
    return { DisplayName, UserCommand, Envs, image: JobSpecs[0].Image };
  };
  const expected = { DisplayName: "idle-ok 空闲", UserCommand: "python train.py", Envs: { KEY: "värde" }, image: "registry.local/x:1" };
  assert.deepEqual(await told(), expected);
  assert.equal((await cluster.post("flush")).status, 200);
  const restored = await cluster.post("restore?force=true");
  assert.equal(restored.body.outcome, "restored", JSON.stringify(restored.body));
  assert.deepEqual(await told(), expected);
});

test("what is kept beside a job is bounded", async () => {
  const command = "x".repeat(40_000);
  const { status, body } = await client.call(DLC, "CreateJob", "POST", "/api/v1/jobs", job(await team(), { UserCommand: command }));
  assert.deepEqual([status, body.Code], [400, "LimitExceeded"]);
  assert.match(body.Message, /32768/);
});

test("bad bodies are refused as objects", async () => {
  const raw = (text, more) => {
    const parts = { method: "POST", target: "/api/v1/jobs", body: text, version: DLC, action: "CreateJob", host: client.host, key: client.key, ...more };
    return send(server.url, { method: "POST", target: parts.target, body: text, headers: signed(parts) });
  };
  for (const text of ["[]", "{", "[".repeat(100_000), '{"JobSpecs":'.repeat(40)]) {
    assert.deepEqual((({ status, body }) => [status, body.Code])(await raw(text)), [400, "InvalidBody"]);
  }
  const large = await raw(`"${"x".repeat(1024 * 1024)}"`);
  assert.deepEqual([large.status, large.body.Code], [413, "RequestTooLarge"]);
  const unserved = await client.call(DLC, "GetJobMetrics", "GET", "/api/v1/jobs/a/metrics");
  assert.deepEqual([unserved.status, unserved.body.Code], [400, "UnsupportedOperation"]);
  const unknown = await client.call("1999-01-01", "CreateJob", "POST", "/api/v1/jobs", {});
  assert.deepEqual([unknown.status, unknown.body.Code], [400, "InvalidVersion"]);
});

test("a bid below the market waits with its reason, and runs once the price has come down", async () => {
  const { WorkspaceId } = await team();
  const SpotSpec = { SpotStrategy: "SpotWithPriceLimit", SpotDiscountLimit: 0.2 };
  const JobSpecs = [{ Type: "Worker", Image: "i", PodCount: 1, EcsSpec: NODE_TYPE, SpotSpec }];
  const UserVpc = { VpcId: "vpc", SwitchId: "vsw", SecurityGroupId: "sg" };
  const { JobId } = await create({ WorkspaceId, DisplayName: "bid", JobType: "PyTorchJob", UserCommand: "true", JobSpecs, UserVpc });
  const told = () => client.get(DLC, "GetJob", "GET", `/api/v1/jobs/${JobId}`);
  const { Status, ReasonCode, ReasonMessage } = await told();
  assert.deepEqual([Status, ReasonCode], ["Bidding", "BelowMarket"], ReasonMessage);
  const price = await server.cluster("pai").send("price-down", { publish_price: { offer: NODE_TYPE, price: 200_000 } });
  assert.equal(price.status, 200, JSON.stringify(price.body));
  await server.tick(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS);
  const after = await told();
  assert.deepEqual([after.Status, after.StatusHistory.map((entry) => entry.Status)], ["Running", ["Bidding", "Running"]]);
});

test("what another workspace has does not exist", async () => {
  const [mine, other] = [await team(), await team()];
  const theirs = await create(job(other));
  const members = { Members: [{ UserId: "ann", Roles: ["PAI.AlgoDeveloper"] }] };
  await client.get(AIWORKSPACE, "CreateMember", "POST", `/api/v1/workspaces/${mine.WorkspaceId}/members`, members);
  const ann = new Client(server.url, await accessKey(server.cluster("pai"), "ann"));
  const code = async (...parts) => (({ status, body }) => `${status} ${body.Code}`)(await ann.call(...parts));
  assert.equal(await code(DLC, "GetJob", "GET", `/api/v1/jobs/${theirs.JobId}`), "404 JobNotFound");
  assert.equal(await code(DLC, "StopJob", "POST", `/api/v1/jobs/${theirs.JobId}/stop`), "404 JobNotFound");
  assert.equal(await code(AIWORKSPACE, "GetWorkspace", "GET", `/api/v1/workspaces/${other.WorkspaceId}`), "404 WorkspaceNotFound");
  assert.equal(await code(DLC, "CreateJob", "POST", "/api/v1/jobs", job(other)), "404 WorkspaceNotFound");
  assert.equal(await code(STUDIO, "DeleteQuota", "DELETE", `/api/v1/quotas/${mine.QuotaId}`), "403 Forbidden");
  const own = await ann.get(DLC, "CreateJob", "POST", "/api/v1/jobs", job(mine));
  const { UserId } = await ann.get(DLC, "GetJob", "GET", `/api/v1/jobs/${own.JobId}`);
  assert.equal(UserId, "ann");
  const list = await ann.get(DLC, "ListJobs", "GET", "/api/v1/jobs");
  assert.deepEqual(list.Jobs.map(({ JobId }) => JobId), [own.JobId]);
});

test("many at once are answered before the SDKs give up", async () => {
  const of = await team(2);
  const created = await Promise.all(Array.from({ length: 100 }, () => create(job(of))));
  assert.equal(new Set(created.map(({ JobId }) => JobId)).size, 100);
  const lists = await Promise.all(Array.from({ length: 20 }, () => client.get(DLC, "ListJobs", "GET", `/api/v1/jobs?WorkspaceId=${of.WorkspaceId}&PageSize=100`)));
  for (const { TotalCount, Jobs } of lists) assert.deepEqual([TotalCount, Jobs.length], [100, 100]);
  // Only what is kept beside the jobs knows their frameworks.
  const byFramework = (type) => client.get(DLC, "ListJobs", "GET", `/api/v1/jobs?WorkspaceId=${of.WorkspaceId}&JobType=${type}&SortBy=JobType&PageSize=1`);
  assert.deepEqual([(await byFramework("PyTorchJob")).TotalCount, (await byFramework("MPIJob")).TotalCount], [100, 0]);
});
