import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("a cancelled job can be brought back while its moment lasts", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("jobs/training-a");
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect(page.getByText("training-a will be cancelled in 8 s.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("button", { name: "Cancel job" })).toBeEnabled();
  await expect(page.getByText("In quota", { exact: true })).toBeVisible();
});

test("selected jobs are cancelled together", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("jobs?q=training");
  await page.getByRole("checkbox", { name: "Select training-a" }).check();
  await page.getByRole("checkbox", { name: "Select training-b" }).check();
  await page.getByRole("button", { name: "Cancel 2 selected" }).click();
  const jobs = page.getByRole("grid", { name: "Jobs" });
  await expect(jobs.getByRole("row", { name: /training-a/ })).toContainText("Cancelled", { timeout: 60_000 });
  await expect(jobs.getByRole("row", { name: /training-b/ })).toContainText("Cancelled");
});

test("what is not to be seen any more is not cancelled", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("jobs");
  await page.getByRole("checkbox", { name: "Select training-a" }).check();
  await page.getByRole("checkbox", { name: "Select training-b" }).check();
  // One of them ends by itself.
  await cluster.send({ cancel_job: { job: "training-a" } });
  await expect(page.getByRole("button", { name: "Cancel 1 selected" })).toBeEnabled();
  await page.getByLabel("Name, workspace or user").fill("development");
  await expect(page.getByRole("button", { name: "Cancel selected" })).toBeDisabled();
});

test("whoever closes the page before a job is cancelled is asked", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("jobs/training-a");
  await page.getByRole("button", { name: "Cancel job" }).click();
  const asked = page.waitForEvent("dialog");
  const left = page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await left;
  await expect(page.getByText("training-a will be cancelled in 8 s.")).toBeVisible();
});
