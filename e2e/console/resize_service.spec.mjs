// A service changes its number of pods on its page, with a preview, and is asked first where pods end.
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

/** A full quota: a service of four pods, and training on the rest. */
async function service(page, runtime) {
  const cluster = new Cluster(page, runtime);
  const pods = (count) => [{ count, amount: { gpu: 1000 } }];
  await cluster.send({ create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }] } });
  await cluster.send({ put_group: { group: "pool", resource_type: "lingjun", pool: { gpu: 8000 } } });
  await cluster.send({ create_quota: { quota: "Team", groups: ["pool"], min: { gpu: 8000 } } });
  await cluster.send({ submit_job: { job: "chat", quota: "Team", module: "EAS", priority: 5, pods: pods(4) } });
  await cluster.send({ submit_job: { job: "train", quota: "Team", priority: 5, pods: pods(4) } });
  return cluster;
}

test("a service gets more pods: what runs stays, and the missing ones are a part with its own page", async ({ page, runtime }) => {
  const cluster = await service(page, runtime);
  await cluster.open("jobs/chat");
  const size = page.getByRole("region", { name: "Size" });
  const resize = size.getByRole("button", { name: "Resize" });
  await expect(size.getByLabel("Pods", { exact: true })).toHaveValue("4");
  await expect(resize).toBeDisabled();
  await size.getByLabel("Pods", { exact: true }).fill("0");
  await expect(size).toContainText("Enter a number of pods from 1 to 10000");
  await size.getByLabel("Pods", { exact: true }).fill("6");
  await expect(cluster.preview()).toContainText("chat is to have 6 pods");
  await expect(cluster.preview()).toContainText("chat+1 waits");
  await page.screenshot({ path: "target/shots/resize-service.png", fullPage: true });
  await resize.click();
  await expect(page.getByText("The service has been resized.")).toBeVisible();
  const parts = page.getByRole("region", { name: "Parts" });
  await expect(parts).toContainText("chat+1: 2 pods, queued");
  await parts.getByRole("link", { name: "chat+1" }).click();
  await expect(page.getByRole("region", { name: "Part of" })).toContainText("chat");
  await expect(page.getByRole("region", { name: "Size" })).toBeHidden();
});

test("fewer pods are asked first, with what ends", async ({ page, runtime }) => {
  const cluster = await service(page, runtime);
  await cluster.open("jobs/chat");
  const size = page.getByRole("region", { name: "Size" });
  await size.getByLabel("Pods", { exact: true }).fill("1");
  await expect(cluster.preview()).toContainText("chat is to have 1 pod and gave up 3 pods");
  await size.getByRole("button", { name: "Resize" }).click();
  const question = page.getByRole("dialog");
  await expect(question).toHaveAccessibleName("Take pods from 1 job?");
  await expect(question).toContainText("gave up 3 pods");
  await question.getByRole("button", { name: /^Resize and take pods from 1 job/ }).click();
  await expect(page.getByText("The service has been resized.")).toBeVisible();
  await expect(size.getByLabel("Pods", { exact: true })).toHaveValue("1");
});
