// How a quota queues, lends and waits is set on its page and in plans, from one description.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const settingsOf = async (cluster, name) => (await cluster.read("snapshot")).quotas.find(({ id }) => id === name).settings;

test("queue, lending and periods are shown, changed and kept, and the policies stay", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  const before = await settingsOf(cluster, "Quota1");
  await cluster.open("quotas/Quota1");
  const grace = page.getByLabel("Grace period (s)");
  await expect(grace).toHaveValue(String(before.grace_period_ms / 1000));
  await expect(page.getByLabel("Queue strategy")).toHaveValue(before.strategy);

  const save = page.getByRole("button", { name: "Save policies" });
  await grace.fill("soon");
  await expect(page.getByText("Enter a number from 0 to 3600 s")).toBeVisible();
  await expect(save).toBeDisabled();
  await grace.fill("3601");
  await expect(save).toBeDisabled();
  await grace.fill("1.5");
  await page.getByLabel("Queue strategy").selectOption("strict-fifo");
  await page.getByLabel("What it leaves idle").selectOption("no");
  await page.getByLabel("Minimum run time (min)").fill("10");
  await page.getByLabel("Reserves after (h)").fill("2.5");
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)).toEqual([]);
  await page.screenshot({ path: "target/shots/quota-settings.png", fullPage: true });
  await save.click();
  await expect(page.getByText("The policies have been saved.")).toBeVisible();
  await expect(save).toBeDisabled();
  expect(await settingsOf(cluster, "Quota1")).toEqual({
    ...before,
    strategy: "strict-fifo",
    lends: false,
    grace_period_ms: 1_500,
    min_runtime_ms: 600_000,
    starvation_after_ms: 9_000_000,
  });
  await page.reload();
  await expect(page.getByLabel("Grace period (s)")).toHaveValue("1.5");
  await expect(page.getByLabel("Reserves after (h)")).toHaveValue("2.5");
});

test("what somebody else sets is shown while nothing is typed", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1.1");
  const settings = await settingsOf(cluster, "Quota1.1");
  await expect(page.getByLabel("Grace period (s)")).toHaveValue("30");
  await cluster.send({ update_quota: { quota: "Quota1.1", settings: { ...settings, grace_period_ms: 90_000 } } });
  await expect(page.getByLabel("Grace period (s)")).toHaveValue("90");
});

test("a plan changes the same settings and says which", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("planner");
  await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
  await page.getByLabel("Add a change").selectOption("Change policies");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const grace = page.getByRole("slider", { name: "Grace period" });
  await expect(grace).toBeFocused();
  await grace.press("ArrowRight");
  await page.getByLabel("Queue strategy").selectOption("balance");
  await expect(page.getByText("Quota1: grace period 30 s → 35 s, queue strategy Intelligent → Balance")).toBeVisible();
  await page.screenshot({ path: "target/shots/plan-settings.png", fullPage: true });
});
