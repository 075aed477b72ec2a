import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("what happened is replayed and varied", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  const job = { job: "waiting", quota: "Quota1.1", priority: 9, pods: [{ amount: { gpu: 16_000 } }] };
  await cluster.send({ submit_job: job });
  await cluster.open("planner");
  await page.getByLabel("Begin with").selectOption("What happened in its last week");
  await expect(page.getByText(/^What happened in .*: 3 quotas, 0 jobs, \d+ more to come\.$/)).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText("9 commands of the log follow the beginning.")).toBeVisible();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).fill("64000");
  const row = (name) => page.getByRole("table", { name: "Variants side by side" }).getByRole("row", { name }).getByRole("cell");
  await expect(row(/^Jobs better off/)).toHaveText(["–", "1 / 1"]);
  // What has happened cannot be made otherwise.
  await expect(page.getByRole("button", { name: "Apply to the cluster" })).toBeDisabled();
});
