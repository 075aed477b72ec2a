// What is deleted says what goes with it; what may not be deleted says why.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const dialog = (page) => page.getByRole("dialog");

test("a quota is deleted when nothing is in it, and says until then what is", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample(6);
  const [parent, child] = ["Quota1", "Quota1.1"];
  await cluster.open(`quotas/${parent}`);
  const button = (name) => page.getByRole("button", { name: `Delete ${name}`, exact: true });
  await expect(button(parent)).toBeDisabled();
  await expect(button(parent)).toHaveAccessibleDescription(/has the child Quota1.1; delete its children first/);
  await cluster.send({ submit_job: { job: "one", quota: child, pods: [{ amount: { gpu: 1000 } }] } });
  await cluster.open(`quotas/${child}`);
  await expect(button(child)).toHaveAccessibleDescription(/has the job one, which has not ended; cancel it or wait for it/);
  await cluster.send({ cancel_job: { job: "one" } });
  await button(child).click();
  await expect(dialog(page)).toHaveAccessibleName("Delete Quota1.1?");
  await expect(dialog(page)).toContainText("Quota1.1 guarantees 48 GPUs; they go back to Quota1.");
  await page.screenshot({ path: "target/shots/delete-quota.png" });
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  expect((await cluster.read("snapshot")).quotas.find(({ id }) => id === child).is_deleted).toBeFalsy();
  await button(child).click();
  await dialog(page).getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Quota1.1 was deleted.")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Quotas" })).toBeVisible();
  await expect(page.getByRole("treegrid").getByText("Quota1.1")).toHaveCount(0);
});

test("a workspace is deleted with what its members lose", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ put_workspace: { workspace: "vision" } });
  await cluster.send({ attach_quota: { workspace: "vision", quota: "Quota1.2" } });
  await cluster.send({ put_member: { workspace: "vision", user: "ann", roles: ["developer"] } });
  await cluster.open("workspaces/workspace-c");
  await expect(page.getByRole("button", { name: "Delete workspace-c" })).toHaveAccessibleDescription(/has the job .+, which has not ended/);
  await cluster.open("workspaces/vision");
  await page.getByRole("button", { name: "Delete vision" }).click();
  await expect(dialog(page)).toContainText("Its member loses all roles there.");
  await expect(dialog(page)).toContainText("Quota1.2 stays, without this workspace.");
  await dialog(page).getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("vision was deleted.")).toBeVisible();
  await expect(page).toHaveURL(/\/workspaces$/);
  expect((await cluster.read("snapshot")).workspaces.vision).toBeUndefined();
});

test.describe("a cluster", () => {
  // What is gone is an error on the page as well, and so is a cost that is not the one that was told.
  test.use({ expectedErrors: /409|410|WebSocket/ });

  test("is deleted once its name is typed and what it costs is confirmed as it is", async ({ page, runtime }) => {
    const cluster = new Cluster(page, runtime);
    await cluster.loadExample();
    await cluster.open("workspaces");
    const button = page.getByRole("button", { name: "Delete cluster" });
    await expect(button).toBeDisabled();
    await page.getByLabel("The cluster's name").fill("another");
    await expect(button).toBeDisabled();
    await page.getByLabel("The cluster's name").fill(cluster.name);
    await button.click();
    await expect(dialog(page)).toContainText("8 running jobs end, 0 queued jobs go.");
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)).toEqual([]);
    await page.screenshot({ path: "target/shots/delete-cluster.png" });
    await cluster.send({ cancel_job: { job: "training-a" } });
    const confirm = dialog(page).getByRole("button", { name: "Delete for good" });
    await confirm.click();
    await expect(dialog(page)).toContainText("7 running jobs end, 0 queued jobs go.");
    expect((await cluster.get("deletion")).running).toBe(7);
    await confirm.click();
    await expect(page.getByRole("alert")).toContainText(`luster ${cluster.name} was deleted`);
  });
});
