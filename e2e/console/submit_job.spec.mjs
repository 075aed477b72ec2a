import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const INFERENCE = { name: "inference", quota: "Quota1", module: "EAS", priority: 6, pods: 2, gpus: 16 };

test("the preview names exactly the jobs that are then evicted", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit");
  await cluster.fillJob(INFERENCE);

  await expect(cluster.preview()).toContainText("Starts, and evicts 2 jobs");
  const foreseen = await cluster.previewedVictims();
  expect(foreseen).toHaveLength(2);
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(page.getByRole("heading", { name: "inference", level: 1 })).toBeVisible();

  const { jobs } = await cluster.read("snapshot");
  const taken = jobs.filter(([, job]) => job.phase.stopping).map(([, job]) => job.spec.id);
  expect(taken.sort()).toEqual(foreseen);
});

test("a victim's page says by whom, under which rule, and what was lost", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit");
  await cluster.fillJob(INFERENCE);
  await expect(cluster.preview()).toContainText("evicts 2 jobs");
  const [victim] = await cluster.previewedVictims();
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(page.getByRole("heading", { name: "inference", level: 1 })).toBeVisible();

  await page.getByRole("searchbox", { name: "Search jobs and quotas" }).fill(victim);
  await page.keyboard.press("Enter");
  const taken = page.getByRole("region", { name: "What was taken from it" });
  await expect(taken).toContainText("inference");
  await expect(taken).toContainText("child-level preemption by Quota1");
  await expect(taken).toContainText(/lost/);
});

test("a job that fits starts at once", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ cancel_job: { job: "training-a" } });
  await cluster.open("submit?quota=Quota1.1");
  await cluster.fillJob({ name: "small", quota: "Quota1.1", module: "DLC", priority: 1, pods: 1, gpus: 16 });
  await expect(cluster.preview()).toContainText("Starts at once");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(page.getByText("In quota", { exact: true })).toBeVisible();
});

test("a fault is told at its field, and nothing can be submitted", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit?quota=Quota1.1");
  await page.getByLabel("Duration").fill("soon");
  await expect(page.getByLabel("Duration")).toHaveAccessibleDescription(/no period/);
  await expect(page.getByRole("button", { name: "Submit job" })).toBeDisabled();
});

test("a borrower that would end for good when it is taken back says so, and is queued again at one click", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ cancel_job: { job: "training-a" } });
  await cluster.open("submit");
  await cluster.fillJob({ name: "borrower", quota: "Quota1.2", module: "DLC", priority: 1, pods: 1, gpus: 8 });
  const form = page.getByRole("form", { name: "New job" });
  const warning = form.getByText("When idle resources are taken back from it, it ends for good");
  await expect(warning).toHaveCount(0);
  await form.getByLabel("Idle resources").selectOption("Acceptable: own quota first, idle otherwise");
  await expect(cluster.preview()).toContainText("Starts at once");
  await expect(warning).toBeVisible();
  await page.screenshot({ path: "target/shots/submit-for-good.png", fullPage: true });
  await form.getByRole("button", { name: "Queue it again instead" }).click();
  await expect(warning).toHaveCount(0);
  await expect(form.getByRole("checkbox", { name: "Automatic fault tolerance" })).toBeChecked();
  await form.getByRole("button", { name: "Submit job" }).click();
  await expect(page.getByRole("heading", { name: "borrower", level: 1 })).toBeVisible();
  const [, { spec, phase }] = (await cluster.read("snapshot")).jobs.find(([, job]) => job.spec.id === "borrower");
  expect(spec.fault_tolerance).toEqual({ max_restarts: 3 });
  expect(phase.running.placed.charge).toBe("idle");
});
