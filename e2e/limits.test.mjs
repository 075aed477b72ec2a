// How many unfinished jobs there may be, on both surfaces, and that others go on when somebody has too many.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Client } from "./acs.mjs";
import { People } from "./people.mjs";
import { Cluster } from "./server.mjs";

const DLC = "2020-12-03";
const ADVICE = "(wait until some have ended, or cancel some; large ones count more)";

let runtime;
before(async () => (runtime = await start({ variables: { JOBS_OF_USER_MAX: "6", JOBS_OF_WORKSPACE_MAX: "12" } })));
after(() => runtime.stop());

const server = () => ({ url: runtime.url, key: runtime.adminKey, cluster: (name) => new Cluster({ url: runtime.url, key: runtime.adminKey }, name) });
const job = (name) => ({ submit_job: { job: name, quota: "Quota1.1", workspace: "workspace-b", pods: [{ amount: { gpu: 1000 } }] } });

test("who has too many jobs is told so on both surfaces, and nobody else is", async () => {
  const people = await People.of(server(), "limits");
  const { developer, operator } = people.senders;
  // One of theirs is there already.
  for (let more = 0; more < 5; more += 1) assert.equal((await developer.send(`d${more}`, job(`d${more}`))).status, 200);
  const refused = await developer.send("d5", job("d5"));
  const message = `7 unfinished jobs of user developer ${ADVICE} are more than the 6 allowed`;
  assert.deepEqual([refused.status, refused.body.code, refused.body.message], [422, "limit", message]);
  const plan = await developer.send("plan", { apply_plan: { commands: [job("p")] } });
  assert.notEqual(plan.status, 200);
  const pai = new Client(runtime.url, { id: "limits.developer", secret: developer.secret });
  const Envs = { LARGE: "x".repeat(100) };
  const JobSpecs = [{ Type: "Worker", Image: "i", PodCount: 1, ResourceConfig: { GPU: "1" } }];
  const body = { WorkspaceId: "workspace-b", ResourceId: "Quota1.1", DisplayName: "one", JobType: "PyTorchJob", UserCommand: "true", JobSpecs, Envs };
  const created = await pai.call(DLC, "CreateJob", "POST", "/api/v1/jobs", body);
  assert.deepEqual([created.status, created.body.Code, created.body.Message], [400, "LimitExceeded", message]);
  assert.equal((await operator.send("o", job("o"))).status, 200, "others go on");
  assert.equal((await developer.send("gone", { cancel_job: { job: "d0" } })).status, 200);
  assert.equal((await developer.send("d5 again", job("d5"))).status, 200, "one has ended");
  const metrics = await people.cluster.get("metrics");
  assert.match(metrics.body, /^tidegate_memory_bytes [1-9]\d{6,}$/m);
});
