import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const region = (page, name) => page.getByRole("region", { name });

test.describe("a cluster that moves on", () => {
  // The refusal is an error on the page as well.
  test.use({ expectedErrors: /409 \(Conflict\)/ });

  test("GPUs are dragged to another team, the answer is there at once, and the plan is applied", async ({ page, runtime }) => {
    const cluster = new Cluster(page, runtime);
    await cluster.loadExample();
    await cluster.open();
    await expect(page.getByRole("treegrid", { name: "Quotas" })).toBeVisible();
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const lever = page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" });
    await expect(lever).toBeFocused();
    await expect(lever).toHaveAttribute("aria-valuetext", "48 GPUs");
    for (let step = 48; step < 56; step++) await lever.press("ArrowRight");
    await expect(page.getByText("Quota1.1 48 → 56 GPUs, Quota1.2 80 → 72 GPUs")).toBeVisible();
    await expect(region(page, "At once").locator("svg")).toContainText("56 GPUs");
    const table = page.getByRole("table", { name: "Variants side by side" });
    await expect(table.getByRole("columnheader")).toHaveText(["Figure", "Base", "Variant A"]);
    await expect(table.getByRole("row", { name: /^GPU use/ })).not.toContainText("…");
    await expect(page.getByRole("table", { name: "Quotas and offers" }).getByRole("row", { name: /^Quota1.2/ })).toBeVisible();

    await page.getByRole("button", { name: "Apply to the cluster" }).click();
    await expect(page.getByText("The plan has been applied.")).toBeVisible();
    const { quotas } = await cluster.read("snapshot");
    expect(quotas.map(({ id, min }) => [id, min.amount])).toEqual([
      ["Quota1", [128_000]],
      ["Quota1.1", [56_000]],
      ["Quota1.2", [72_000]],
    ]);

    // The plan began with what was before: the same again is refused, and says what to do.
    await page.getByRole("button", { name: "Apply to the cluster" }).click();
    await expect(page.getByText(/the cluster is at \d+; look again/)).toBeVisible();
    await page.getByRole("button", { name: "Plan from the newest state" }).last().click();
    await expect(page.getByText("Quota1.1 keeps its amounts")).toBeVisible();
  });
});

test("what cannot be opened leaves the open plan as it is", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("planner");
  await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
  await page.getByLabel("Or open files").setInputFiles({ name: "plan.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).press("ArrowRight");
  await expect(region(page, "At once").locator("svg")).toContainText("49 GPUs");
});

test("what is typed is what the plan has", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("planner");
  await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const typed = page.getByRole("textbox", { name: "typed" });
  for (const [text, kept] of [["56", "56"], ["500", "128"], ["many", "128"]]) {
    await typed.fill(text);
    await typed.press("Tab");
    await expect(typed).toHaveValue(kept);
  }
  await expect(page.getByText("Quota1.1 48 → 128 GPUs, Quota1.2 80 → 0 GPUs")).toBeVisible();
  const after = page.getByRole("textbox", { name: "After" });
  for (const text of ["90m", "1 h 45 min"]) {
    await after.fill(text);
    await after.press("Tab");
    await expect(page.getByText(/is no period/)).toHaveCount(0);
  }
  await expect(after).toHaveValue("1 h 45 min");
});
