// The vendor's two TypeScript clients, on which all of its TypeScript SDKs stand. The SDKs themselves are published
// without what they are generated from, so requests of every product are handed over here as the SDKs do it.
//
//   node e2e/sdk/typescript.mjs URL --key-id ID --key-secret SECRET
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { NODE_TYPE } from "../server.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "key-id": { type: "string" }, "key-secret": { type: "string" } },
});
const ENDPOINT = new URL(positionals[0]).host;
const REGION = "cn-wulanchabu";
const WAIT_MS = 60_000;
const PAUSE_MS = 300;
/** What a client does without being told otherwise. */
const RUNTIME = { autoretry: false, ignoreSSL: false, connectTimeout: 5_000, readTimeout: 10_000 };

const VERSIONS = { dlc: "2020-12-03", workspace: "2021-02-04", studio: "2022-01-12", eas: "2021-07-01", dsw: "2022-01-01" };
const NEEDS = { CPU: "4", GPU: "1", Memory: "16Gi" };

// The clients send even loop-back traffic through a proxy.
for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) for (const either of [name, name.toLowerCase()]) delete process.env[either];

const load = createRequire(import.meta.url);
/** The newer of the two keeps its models apart. */
const CLIENTS = {
  "openapi-client": () => {
    const { default: Client, Config, OpenApiRequest, Params } = load("@alicloud/openapi-client");
    return { Client, Config, OpenApiRequest, Params };
  },
  "openapi-core": () => {
    const { default: Client, $OpenApiUtil } = load("@alicloud/openapi-core");
    return { Client, ...$OpenApiUtil };
  },
};

/** Calls operations the way generated SDKs do. */
function caller({ Client, Config, OpenApiRequest, Params }) {
  const { "key-id": accessKeyId, "key-secret": accessKeySecret } = values;
  const client = new Client(new Config({ accessKeyId, accessKeySecret, endpoint: ENDPOINT, regionId: REGION, protocol: "HTTP" }));
  return async (product, action, method, pathname, { query, body } = {}) => {
    const params = new Params({
      action, version: VERSIONS[product], protocol: "HTTP", pathname, method,
      authType: "AK", style: "ROA", reqBodyType: "json", bodyType: "json",
    });
    const answer = await client.callApi(params, new OpenApiRequest({ query, body, headers: {} }), RUNTIME);
    assert.equal(answer.statusCode, 200);
    return answer.body;
  };
}

let passed = 0;
async function step(what, act) {
  try {
    const told = await act();
    passed += 1;
    return told;
  } catch (error) {
    error.message = `${what}: ${error.message}`;
    throw error;
  }
}

async function until(what, ask, wanted) {
  await step(what, async () => {
    const end = Date.now() + WAIT_MS;
    let seen = await ask();
    while (seen !== wanted && Date.now() < end) {
      await new Promise((wake) => setTimeout(wake, PAUSE_MS));
      seen = await ask();
    }
    assert.equal(seen, wanted);
  });
}

async function workspaces(call, name) {
  const { WorkspaceId } = await step("CreateWorkspace", () => call("workspace", "CreateWorkspace", "POST", "/api/v1/workspaces", { body: { WorkspaceName: name } }));
  const Min = { NodeSpecs: [{ Type: NODE_TYPE, Count: 1 }] };
  const quota = { QuotaName: `${name} 配额`, ResourceType: "Lingjun", Min };
  const { QuotaId } = await step("CreateQuota", () => call("studio", "CreateQuota", "POST", "/api/v1/quotas", { body: quota }));
  const resource = { Name: "ts_res", GroupName: "ts", Spec: { clusterType: "private", resourceId: QuotaId } };
  const attach = { Option: "CreateAndAttach", Resources: [resource] };
  await step("CreateWorkspaceResource", () => call("workspace", "CreateWorkspaceResource", "POST", `/api/v1/workspaces/${WorkspaceId}/resources`, { body: attach }));
  await step("ListQuotas", async () => {
    const { Quotas } = await call("studio", "ListQuotas", "GET", "/api/v1/quotas/", { query: { QuotaName: quota.QuotaName, ParentQuotaId: "" } });
    assert.deepEqual(Quotas.map(({ QuotaId }) => QuotaId), [QuotaId]);
  });
  return { WorkspaceId, QuotaId };
}

async function jobs(call, { WorkspaceId, QuotaId }) {
  const JobSpecs = [{ Type: "Worker", Image: "image", PodCount: 1, ResourceConfig: NEEDS }];
  const job = { WorkspaceId, ResourceId: QuotaId, DisplayName: "a b+c/é", JobType: "PyTorchJob", UserCommand: "echo 'ä' && true", JobSpecs, Settings: { Tags: { by: "typescript" } } };
  const { JobId } = await step("CreateJob", () => call("dlc", "CreateJob", "POST", "/api/v1/jobs", { body: job }));
  const get = () => call("dlc", "GetJob", "GET", `/api/v1/jobs/${JobId}`, { query: { NeedDetail: "true" } });
  await until("GetJob", async () => (await get()).Status, "Running");
  await step("what was sent", async () => assert.equal((await get()).UserCommand, job.UserCommand));
  await step("ListJobs", async () => {
    const query = { WorkspaceId, DisplayName: "B+C/É", Status: "Running,Queuing", Tags: JSON.stringify({ by: "typescript" }) };
    const { Jobs, TotalCount } = await call("dlc", "ListJobs", "GET", "/api/v1/jobs", { query });
    assert.deepEqual([TotalCount, Jobs[0].JobId], [1, JobId]);
  });
  await step("StopJob", () => call("dlc", "StopJob", "POST", `/api/v1/jobs/${JobId}/stop`));
  await until("a stopped job", async () => (await get()).Status, "Stopped");
  await step("a refusal", async () => {
    const refused = call("dlc", "GetJob", "GET", "/api/v1/jobs/none");
    await assert.rejects(refused, (error) => error.code.endsWith("JobNotFound") && error.message.includes("there is no job none"));
  });
}

async function services(call, { WorkspaceId, QuotaId }, name) {
  const path = `/api/v2/services/${REGION}/${name}`;
  const metadata = { name, instance: 2, cpu: 4, gpu: 1, memory: 16_384, quota_id: QuotaId, workspace_id: WorkspaceId };
  await step("CreateService", () => call("eas", "CreateService", "POST", "/api/v2/services", { body: { metadata } }));
  const describe = () => call("eas", "DescribeService", "GET", path);
  const scale = (instance) => call("eas", "UpdateService", "PUT", path, { body: { metadata: { instance } } });
  await until("a service", async () => (await describe()).RunningInstance, 2);
  await step("UpdateService up", () => scale(4));
  await until("a larger service", async () => (await describe()).RunningInstance, 4);
  await step("UpdateService down", () => scale(1));
  await until("a smaller service", async () => (await describe()).RunningInstance, 1);
  await step("DeleteService", () => call("eas", "DeleteService", "DELETE", path));
}

async function instances(call, { WorkspaceId, QuotaId }) {
  const made = { InstanceName: "ts_notebook", WorkspaceId, ResourceId: QuotaId, ImageUrl: "image", RequestedResource: NEEDS };
  const { InstanceId } = await step("CreateInstance", () => call("dsw", "CreateInstance", "POST", "/api/v2/instances", { body: made }));
  const path = `/api/v2/instances/${InstanceId}`;
  const status = async () => (await call("dsw", "GetInstance", "GET", path)).Status;
  await until("an instance", status, "Running");
  await step("StopInstance", () => call("dsw", "StopInstance", "PUT", `${path}/stop`));
  await until("a stopped instance", status, "Stopped");
  await step("DeleteInstance", () => call("dsw", "DeleteInstance", "DELETE", path));
}

for (const [client, make] of Object.entries(CLIENTS)) {
  const call = caller(make());
  const name = `ts_${client.split("-")[1]}_${Date.now() % 10 ** 9}`;
  try {
    const place = await workspaces(call, name);
    await jobs(call, place);
    await services(call, place, name);
    await instances(call, place);
  } catch (error) {
    console.error(`${client}: ${error.stack}`);
    process.exit(1);
  }
}
console.log(`${passed} passed, 0 failed`);
