// What takes something from somebody says what, and asks before it is sent; what takes nothing is sent at once.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const gpus = (count) => ({ gpu: count * 1000 });
const INFERENCE = { job: "inference", quota: "Quota1", module: "EAS", priority: 6, pods: [{ count: 2, amount: gpus(16) }] };
const SWITCH = "Jobs submitted here may take from descendants";

const dialog = (page) => page.getByRole("dialog");
const stopping = async (cluster) => (await cluster.read("snapshot")).jobs.filter(([, job]) => job.phase.stopping).map(([, job]) => job.spec.id).sort();
const policyOf = async (cluster) => (await cluster.read("snapshot")).quotas[0].settings.child_level ?? null;

/** The names of the jobs in the question, sorted. */
async function victims(page) {
  const lines = await dialog(page).getByRole("list", { name: "Would be evicted" }).getByRole("listitem").allTextContents();
  return lines.map((line) => line.split(" ")[0]).sort();
}

/** The example without child-level preemption, and a job of the parent that waits for it. */
async function waiting(page, runtime) {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ update_quota: { quota: "Quota1", settings: {} } });
  await cluster.send({ submit_job: INFERENCE });
  return cluster;
}

test("a policy that evicts two jobs asks first, with their names and what is lost", async ({ page, runtime }) => {
  const cluster = await waiting(page, runtime);
  await cluster.open("quotas/Quota1");
  await page.getByRole("switch", { name: SWITCH }).check();
  const save = page.getByRole("button", { name: "Save policies" });
  await save.click();
  await expect(dialog(page)).toHaveAccessibleName("Evict 2 jobs?");
  await expect(dialog(page)).toContainText(/Unsaved work lost: .*GPU-hours\./);
  await expect(dialog(page)).toContainText("Evicts 2 jobs, and starts 1 job");
  await expect(dialog(page).getByRole("list", { name: "Would start" })).toContainText("inference");
  await expect(dialog(page).getByRole("list", { name: "Would be evicted" })).toContainText("Owner: workspace-c.");
  await expect(dialog(page).getByRole("button", { name: "Cancel" })).toBeFocused();
  const asked = await victims(page);
  expect(asked).toEqual(["development-d", "development-e"]);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)).toEqual([]);
  await page.screenshot({ path: "target/shots/ask-policies.png" });

  for (const leave of [() => dialog(page).getByRole("button", { name: "Cancel" }).click(), () => page.keyboard.press("Escape")]) {
    await leave();
    await expect(dialog(page)).toHaveCount(0);
    await expect(save).toBeFocused();
    expect([await stopping(cluster), await policyOf(cluster)]).toEqual([[], null]);
    await save.press("Enter");
    await expect(dialog(page)).toBeVisible();
  }
  await dialog(page).getByRole("button", { name: /^Save and evict 2 jobs, lose .*0\.\d+ GPU-hours$/ }).click();
  await expect(page.getByText("The policies have been saved.")).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  expect(await stopping(cluster)).toEqual(asked);
  expect(await policyOf(cluster)).not.toBeNull();
});

test("a policy that evicts nobody is saved at once", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1");
  const finding = page.getByText("Nothing is left for jobs of Quota1 itself");
  await expect(finding).toHaveCount(0);
  await page.getByRole("switch", { name: SWITCH }).uncheck();
  await expect(finding).toBeVisible();
  await page.getByRole("button", { name: "Save policies" }).click();
  await expect(page.getByText("The policies have been saved.")).toBeVisible();
  await expect(dialog(page)).toHaveCount(0);
  expect(await policyOf(cluster)).toBeNull();
});

test("whoever answers after the cluster has moved on is asked about the jobs that it would be now", async ({ page, runtime }) => {
  const cluster = await waiting(page, runtime);
  await cluster.open("quotas/Quota1");
  await page.getByRole("switch", { name: SWITCH }).check();
  await page.getByRole("button", { name: "Save policies" }).click();
  await expect(dialog(page)).toHaveAccessibleName("Evict 2 jobs?");
  await cluster.send({ set_priority: { job: "development-e", priority: 9 } });
  // By then the page knows of both.
  await cluster.send({ submit_job: { job: "later", quota: "Quota1", idle: "only", pods: [{ amount: gpus(8) }] } });
  await expect(page.getByText("later", { exact: true })).toHaveCount(1);
  const confirm = dialog(page).getByRole("button", { name: /^Save and evict 2 jobs/ });
  await confirm.click();
  await expect.poll(() => victims(page)).toEqual(["development-c", "development-d"]);
  expect(await stopping(cluster)).toEqual([]);
  await confirm.click();
  await expect(page.getByText("The policies have been saved.")).toBeVisible();
  expect(await stopping(cluster)).toEqual(["development-c", "development-d"]);
});

test("scaling that evicts asks, scaling that lets jobs finish does not", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1.1");
  const form = page.getByRole("region", { name: "Scale" });
  await form.getByLabel("Guaranteed GPUs").fill("32");
  await form.getByLabel("The difference goes to, or comes from").selectOption("Quota1.2");
  await form.getByRole("checkbox", { name: "Evict what is no longer covered" }).check();
  await form.getByRole("button", { name: "Scale" }).click();
  await expect(dialog(page)).toHaveAccessibleName("Evict 1 job?");
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  expect(await stopping(cluster)).toEqual([]);
  await form.getByRole("checkbox", { name: "Evict what is no longer covered" }).uncheck();
  await form.getByRole("button", { name: "Scale" }).click();
  await expect(page.getByText("The amounts have been changed.")).toBeVisible();
  expect(await stopping(cluster)).toEqual([]);

  await form.getByLabel("Guaranteed GPUs").fill("16");
  await form.getByRole("checkbox", { name: "Evict what is no longer covered" }).check();
  await form.getByLabel("Guaranteed GPUs").press("Enter");
  await expect(dialog(page)).toHaveAccessibleName("Evict 2 jobs?");
  const asked = await victims(page);
  await dialog(page).getByRole("button", { name: /^Scale and evict 2 jobs, lose / }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect.poll(() => stopping(cluster)).toEqual(asked);
});

test("a plan that evicts asks before it is applied", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ submit_job: { job: "waiting", quota: "Quota1.1", priority: 9, pods: [{ amount: gpus(16) }] } });
  await cluster.open("planner");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).fill("64000");
  const apply = page.getByRole("button", { name: "Apply to the cluster" });
  await apply.click();
  await expect(dialog(page)).toHaveAccessibleName("Evict 1 job?");
  const asked = await victims(page);
  expect(asked).toHaveLength(1);
  await page.screenshot({ path: "target/shots/ask-plan.png" });
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect(await stopping(cluster)).toEqual([]);
  await expect(page.getByText("The plan has been applied.")).toHaveCount(0);

  await apply.click();
  await dialog(page).getByRole("button", { name: /^Apply and evict 1 job, lose / }).click();
  await expect(page.getByText("The plan has been applied.")).toBeVisible();
  expect(await stopping(cluster)).toEqual(asked);
});

test("submitting and cancelling name what they cost", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit");
  await cluster.fillJob({ name: "inference", quota: "Quota1", module: "EAS", priority: 6, pods: 2, gpus: 16 });
  await expect(page.getByRole("button", { name: /^Submit job and evict 2 jobs, lose .*GPU-hours$/ })).toBeEnabled();
  await page.getByRole("form", { name: "New job" }).getByLabel("Quota").selectOption("Quota1.1");
  await expect(page.getByRole("button", { name: "Submit job", exact: true })).toBeEnabled();

  await cluster.open("jobs/training-a");
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect(page.getByText(/training-a will be cancelled in 8 s\. Unsaved work lost: .*GPU-hours\./)).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
});

test("members, quotas and keys are not taken away at one click", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  const [key] = (await cluster.keyOf("ann")).split(":");
  await cluster.send({ put_workspace: { workspace: "vision" } });
  await cluster.send({ attach_quota: { workspace: "vision", quota: "Quota1.2" } });
  await cluster.send({ put_member: { workspace: "vision", user: "ann", roles: ["developer"] } });
  await cluster.send({ submit_job: { job: "anns-job", quota: "Quota1.2", workspace: "vision", user: "ann", pods: [{ amount: gpus(4) }] } });

  const asks = async (button, says, isUnchanged) => {
    await page.getByRole("button", { name: button }).click();
    await expect(dialog(page)).toContainText(says);
    await dialog(page).getByRole("button", { name: "Cancel" }).click();
    await expect(dialog(page)).toHaveCount(0);
    expect(await isUnchanged(await cluster.read("snapshot"))).toBeTruthy();
    await page.getByRole("button", { name: button }).click();
    await dialog(page).getByRole("button", { name: button }).click();
    await expect(dialog(page)).toHaveCount(0);
  };
  await cluster.open("workspaces/vision");
  await asks("Remove ann", "ann loses all roles in vision.Their job there goes on.", ({ workspaces }) => workspaces.vision.members.ann);
  await expect(page.getByText("ann is no member any more.")).toBeVisible();
  await cluster.send({ cancel_job: { job: "anns-job" } });
  await asks("Detach Quota1.2", "Jobs of vision can no longer be submitted to Quota1.2.", ({ workspaces }) => workspaces.vision.quotas.length === 1);
  await expect(page.getByText("Quota1.2 is detached.")).toBeVisible();

  await cluster.open("keys");
  await asks(`Rotate ${key}`, "The secret that serves now stops in 1 h.", ({ keys }) => keys[key].generation === 1);
  await expect(page.locator("code.secret")).toContainText(key);
  await asks(`Revoke ${key}`, "It cannot be brought back.", ({ keys }) => !keys[key].is_revoked);
  await expect(page.getByRole("row", { name: key })).toContainText("revoked");
});

test.describe("what would be refused", () => {
  // The refusal is an error on the page as well.
  test.use({ expectedErrors: /409 \(Conflict\)/ });

  test("is not asked about", async ({ page, runtime }) => {
    const cluster = new Cluster(page, runtime);
    await cluster.loadExample();
    await cluster.open("workspaces/workspace-c");
    await page.getByRole("button", { name: "Detach Quota1.2" }).click();
    await expect(page.getByText(/quota Quota1.2 has the job development-a/)).toBeVisible();
    await expect(dialog(page)).toHaveCount(0);
  });
});
