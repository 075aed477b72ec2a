import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("GPUs move from one team to the other, with a preview", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1.1");
  const scale = page.getByRole("region", { name: "Scale" });
  await scale.getByLabel("Guaranteed GPUs").fill("56");
  await expect(cluster.preview()).toContainText("Would be refused");
  await expect(scale.getByRole("button", { name: "Scale" })).toBeDisabled();

  await scale.getByLabel("The difference goes to, or comes from").selectOption("Quota1.2");
  await expect(cluster.preview()).toContainText("Moves no job");
  await scale.getByRole("button", { name: "Scale" }).click();
  await expect(page.getByText("The amounts have been changed.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Use" })).toContainText("56 GPUs guaranteed");
});
