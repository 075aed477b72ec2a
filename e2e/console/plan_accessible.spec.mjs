import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

for (const colorScheme of ["light", "dark"]) {
  test(`the planner violates no rule of axe, with a change of every kind, ${colorScheme}`, async ({ page, runtime }) => {
    test.slow();
    await page.emulateMedia({ colorScheme });
    const cluster = new Cluster(page, runtime);
    await cluster.loadExample();
    const terms = { original_price: 1_000_000 };
    await cluster.send({ create_offer: { offer: "gn8", resource_type: "lingjun", instance: { gpu: 8000 }, inventory: 4, price: 300_000, terms } });
    // The planner begins with what has been published.
    await cluster.post("flush");
    await cluster.open("planner");
    const kinds = page.getByLabel("Add a change");
    await expect(kinds.getByRole("option")).toHaveCount(9, { timeout: 60_000 });
    for (const kind of await kinds.getByRole("option").allTextContents()) {
      await kinds.selectOption(kind);
      await page.getByRole("button", { name: "Add", exact: true }).click();
    }
    await page.getByText("Preemption policies").click();
    await page.getByText("Job by job").click();
    await page.getByText("The same as a table").click();
    await page.getByRole("button", { name: "Share" }).click();
    await expect(page.getByLabel("Link", { exact: true })).toHaveValue(/\/planner#plan=1\./);
    await expect(page.getByRole("table", { name: "Quotas and offers" }).getByRole("row", { name: /^Quota1.2/ })).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`)).toEqual([]);
  });
}
