import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("an empty cluster offers the three-team example", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.declare();
  await cluster.open();
  await page.getByRole("button", { name: "Load the three-team example" }).click();

  const tree = page.getByRole("treegrid", { name: "Quotas" });
  await expect(tree.getByRole("row", { name: /Quota1\.1/ })).toBeVisible();
  await expect(tree.getByRole("img", { name: /^128 GPUs guaranteed/ })).toHaveAccessibleName(/128 GPUs by children/);
  await expect(page.getByText("live")).toBeVisible();
  expect(page.url()).not.toContain("key=");
});
