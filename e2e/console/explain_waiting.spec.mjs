import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("without child-level preemption the job waits, and its page says why and what would start it", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1");
  await page.getByRole("switch", { name: "Jobs submitted here may take from descendants" }).uncheck();
  await page.getByRole("button", { name: "Save policies" }).click();
  await expect(page.getByText("The policies have been saved.")).toBeVisible();

  await page.getByRole("link", { name: "Submit a job here" }).click();
  await cluster.fillJob({ name: "inference", quota: "Quota1", module: "EAS", priority: 6, pods: 2, gpus: 16 });
  await expect(cluster.preview()).toContainText("Waits");
  await page.getByRole("button", { name: "Submit job" }).click();

  const why = page.getByRole("region", { name: "Why it waits" });
  await expect(why).toContainText("Child-level preemption of Quota1 is switched off");
  await expect(why).toContainText("What would start it now");
  await expect(why).toContainText(/[Ss]witch on child-level preemption/);
  await expect(why.getByText("Quota1 has 0 GPUs of its own").first()).toBeVisible();

  await why.getByText("Look at this change").click();
  await expect(cluster.preview()).toContainText("Would be evicted");
  await why.getByRole("button", { name: "Make this change" }).click();
  await expect(page.getByRole("dialog")).toHaveAccessibleName("Evict 2 jobs?");
  await page.getByRole("button", { name: /^Make this change and evict 2 jobs, lose / }).click();
  await expect(page.getByText("Starting", { exact: true })).toBeVisible();
});

test("a smaller job that would start takes the place of the one that waits at one click", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ cancel_job: { job: "training-a" } });
  await cluster.send({ submit_job: { job: "large", quota: "Quota1.1", pods: [{ count: 3, amount: { gpu: 8000 } }] } });
  await cluster.open("jobs/large");
  const why = page.getByRole("region", { name: "Why it waits" });
  await expect(why).toContainText("2 pods");
  await why.getByText("Look at this change").click();
  await expect(why.getByRole("list", { name: "Would start" })).toContainText("large-2");
  await why.getByRole("button", { name: "Make this change" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Make this change and end 1 job" }).click();
  await expect(page.getByText("The change has been made.")).toBeVisible();
  await cluster.open("jobs/large-2");
  await expect(page.getByText("In quota", { exact: true })).toBeVisible();
});
