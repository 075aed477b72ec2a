// Services that are updated while they run: their instances are counted every second, before, during and after.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "./acs.mjs";
import { foundPai, NODE_TYPE, Server } from "./server.mjs";

const SECOND_MS = 1_000;
/** Longer than the grace period of a quota that states none. */
const GRACE_MS = 31 * SECOND_MS;
const DLC = "2020-12-03";
const EAS = "2021-07-01";
const STUDIO = "2022-01-12";

let server;
let client;
before(async () => {
  server = await new Server().start();
  client = new Client(server.url, await foundPai(server.cluster("services")));
});
after(() => server.stop());

/** A root quota of so many machines, or a child of one. */
async function quota(name, machines, more = {}) {
  const Min = { NodeSpecs: [{ Type: NODE_TYPE, Count: machines }] };
  const body = { QuotaName: name, ResourceType: "Lingjun", Min, ...more };
  return (await client.get(STUDIO, "CreateQuota", "POST", "/api/v1/quotas", body)).QuotaId;
}

/** A service of one machine for each instance. */
async function service(name, quota, instance, priority = 5) {
  const metadata = { name, instance, gpu: 8, quota_id: quota };
  await client.get(EAS, "CreateService", "POST", "/api/v2/services", { metadata, options: { priority } });
  const path = `/api/v2/services/local/${name}`;
  const told = () => client.get(EAS, "DescribeService", "GET", path);
  const running = async () => {
    const { Instances } = await client.get(EAS, "ListServiceInstances", "GET", `${path}/instances`);
    return Instances.filter(({ Status }) => Status === "Running").map(({ InstanceName, StartTime }) => `${InstanceName} ${StartTime}`);
  };
  return { told, running, update: (change) => client.get(EAS, "UpdateService", "PUT", path, change) };
}

/** The lowest number of instances that runs from now on, looked at every second, while something is done. */
async function lowest(service, seconds, action) {
  const counts = [(await service.told()).RunningInstance];
  const looks = (async () => {
    for (let second = 0; second < seconds; second += 1) {
      await pause(SECOND_MS);
      counts.push((await service.told()).RunningInstance);
    }
  })();
  await action();
  counts.push((await service.told()).RunningInstance);
  await looks;
  return Math.min(...counts);
}

async function train(quota, pods, priority) {
  const body = {
    DisplayName: "train", JobType: "PyTorchJob", UserCommand: "true", ResourceId: quota, Priority: priority,
    JobSpecs: [{ Type: "Worker", PodCount: pods, ResourceConfig: { GPU: "8" } }],
  };
  const { JobId } = await client.get(DLC, "CreateJob", "POST", "/api/v1/jobs", body);
  return {
    status: async () => (await client.get(DLC, "GetJob", "GET", `/api/v1/jobs/${JobId}`)).Status,
    stop: () => client.get(DLC, "StopJob", "POST", `/api/v1/jobs/${JobId}/stop`),
  };
}

test("in a full quota the instances that run go on, and the missing one waits for its turn", async () => {
  const team = await quota("full", 5);
  const chat = await service("chat", team, 4);
  const other = await train(team, 1, 5);
  const [before, { CreateTime }] = [await chat.running(), await chat.told()];
  assert.equal(await lowest(chat, 3, () => chat.update({ metadata: { instance: 5 } })), 4);
  assert.deepEqual(await chat.running(), before);
  assert.deepEqual([await other.status(), (await chat.told()).PendingInstance], ["Running", 1]);
  assert.equal(await lowest(chat, 2, () => chat.update({ options: { priority: 7 } })), 4);
  assert.equal(await lowest(chat, 2, () => other.stop()), 4);
  const now = await chat.told();
  assert.deepEqual([now.RunningInstance, now.PendingInstance, now.CreateTime], [5, 0, CreateTime]);
  assert.deepEqual((await chat.running()).slice(0, 4), before);
});

test("in a free quota a service grows and shrinks, and the first instances are the same all the time", async () => {
  const chat = await service("roomy", await quota("free", 4), 2);
  const before = await chat.running();
  assert.equal(await lowest(chat, 2, () => chat.update({ metadata: { instance: 4 } })), 2);
  assert.deepEqual([(await chat.running()).length, (await chat.running()).slice(0, 2)], [4, before]);
  assert.equal(await lowest(chat, 2, () => chat.update({ metadata: { instance: 2 } })), 2);
  assert.deepEqual(await chat.running(), before);
});

test("at a parent the missing instances evict training of a child", async () => {
  const parent = await quota("parent", 4, { QuotaConfig: { EnableSubQuotaPreemption: true } });
  const child = await quota("child", 4, { ParentQuotaId: parent });
  const chat = await service("busy", parent, 1, 6);
  const other = await train(child, 3, 3);
  assert.equal(await other.status(), "Running");
  const before = await chat.running();
  assert.equal(await lowest(chat, 3, () => chat.update({ metadata: { instance: 3 } })), 1);
  assert.equal(await other.status(), "Restarting");
  assert.deepEqual(await chat.running(), before);
  // The training may take its grace period to stop; then the missing instances start, without a tick of the clock.
  await pause(GRACE_MS);
  assert.equal((await chat.told()).RunningInstance, 3);
  assert.deepEqual((await chat.running()).slice(0, 1), before);
});
