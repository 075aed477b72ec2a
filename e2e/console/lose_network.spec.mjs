import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("without a network the console says so, keeps what it has, and comes back", async ({ page, runtime, context }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open();
  await expect(page.getByText("live")).toBeVisible();

  await context.setOffline(true);
  await expect(page.getByText("There is no network.")).toBeVisible();
  await expect(page.getByText(/offline: \d+ s old/)).toBeVisible();
  await expect(page.getByRole("treegrid", { name: "Quotas" }).getByRole("row", { name: /Quota1\.1/ })).toBeVisible();

  await context.setOffline(false);
  await expect(page.getByText("live")).toBeVisible();
  await cluster.send({ cancel_job: { job: "training-a" } });
  await expect(page.getByRole("row", { name: /Quota1\.1/ }).getByRole("img")).toHaveAccessibleName(/16 GPUs idle/);
});
