import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

// Each view, and what must be seen before it is judged.
const VIEWS = [
  ["", (page) => page.getByRole("treegrid", { name: "Quotas" })],
  ["quotas/Quota1", (page) => page.getByRole("heading", { name: "Queue, lending and preemption" })],
  ["quotas/Quota1.1", (page) => page.getByRole("heading", { name: "Scale" })],
  ["quotas/nowhere", (page) => page.getByRole("heading", { name: "There is no quota nowhere" })],
  ["jobs", (page) => page.getByRole("link", { name: "training-a" })],
  ["jobs?q=nothing", (page) => page.getByText("No job matches these filters.")],
  ["jobs/training-a", (page) => page.getByRole("list", { name: "Timeline" })],
  ["jobs/waiting", (page) => page.getByRole("heading", { name: "Why it waits" })],
  ["submit?quota=Quota1", (page) => page.getByRole("region", { name: "Preview" })],
  ["submit?offer=gn8", (page) => page.getByLabel("Security group")],
  ["jobs/bidding", (page) => page.getByRole("heading", { name: "Bid and cost" })],
  ["nodes", (page) => page.getByText("No node matches.")],
  ["market", (page) => page.locator(".chart svg").last()],
  ["bills", (page) => page.getByRole("link", { name: "Export as CSV" })],
  ["workspaces", (page) => page.getByRole("link", { name: "workspace-b" })],
  ["workspaces/workspace-b", (page) => page.getByLabel("Role of lead")],
  ["workspaces/nowhere", (page) => page.getByRole("heading", { name: "There is no workspace nowhere" })],
  ["keys", (page) => page.getByRole("button", { name: "Revoke" })],
  ["audit", (page) => page.getByRole("cell", { name: "Key created" })],
  ["set-up", (page) => page.getByRole("region", { name: "4. People and keys" })],
  ["rounds", (page) => page.getByRole("list", { name: "Rounds" })],
];

for (const colorScheme of ["light", "dark"]) {
  test(`no view violates a rule of axe, ${colorScheme}`, async ({ page, runtime }) => {
    test.slow();
    await page.emulateMedia({ colorScheme });
    const cluster = new Cluster(page, runtime);
    await cluster.declare();
    await cluster.open();
    await expect(page.getByRole("button", { name: "Load the three-team example" })).toBeVisible();
    await judge(page, "empty");

    await cluster.loadExample();
    await cluster.send({ submit_job: { job: "waiting", quota: "Quota1.1", priority: 9, pods: [{ count: 1, amount: { gpu: 16000 } }] } });
    const terms = { original_price: 1_000_000 };
    await cluster.send({ create_offer: { offer: "gn8", resource_type: "lingjun", instance: { gpu: 8000 }, inventory: 4, price: 300_000, terms } });
    const network = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };
    for (const [job, discount_percent] of [["bidding", 20], ["granted", 40]]) {
      await cluster.send({ submit_job: { job, spot: { offer: "gn8", discount_percent, network }, pods: [{ amount: {} }] } });
    }
    await cluster.send({ put_member: { workspace: "workspace-b", user: "lead", roles: ["administrator"] } });
    await cluster.send({ create_key: { key: `${cluster.name}.lead`, user: "lead" } });
    for (const [path, seen] of VIEWS) {
      await cluster.open(path);
      await expect(seen(page)).toBeVisible();
      await judge(page, path);
    }
  });
}

async function judge(page, view) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
  expect(told, `on the view ${view}`).toEqual([]);
}
