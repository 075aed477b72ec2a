import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const compare = (page) => page.getByRole("table", { name: "Variants side by side" });

/** Every cell of a table, once nothing is under way. */
async function cells(page) {
  await expect(compare(page)).not.toContainText("…");
  await expect(page.getByText(/^Of 20 runs/)).toBeVisible();
  return compare(page).getByRole("cell").allTextContents();
}

test("two variants are compared, and a link shows the same to somebody without a key", async ({ page, runtime, browser }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ submit_job: { job: "waiting", quota: "Quota1.1", priority: 9, pods: [{ amount: { gpu: 16_000 } }], duration_ms: 7_200_000 } });
  await cluster.open("planner");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).fill("64000");
  await page.getByRole("button", { name: "Add a variant" }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).fill("56000");
  await expect(compare(page).getByRole("columnheader")).toHaveText(["Figure", "Base", "Variant A", "Variant B"], { timeout: 60_000 });
  await expect(compare(page).getByRole("row", { name: /^Evictions/ }).getByRole("cell")).toHaveText(["0", "1 ▼worse", "0"]);
  await expect(compare(page).getByRole("row", { name: /^Jobs started/ }).getByRole("cell")).toHaveText(["0", "1 ▲better", "0"]);
  const shown = await cells(page);

  await page.getByRole("button", { name: "Share" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  expect(link.length).toBeLessThan(8_000);
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await expect(compare(stranger).getByRole("columnheader")).toHaveText(["Figure", "Base", "Variant A", "Variant B"], { timeout: 60_000 });
  expect(await cells(stranger)).toEqual(shown);
  await stranger.getByRole("radio", { name: "Variant B" }).check();
  await expect(stranger.getByText("Quota1.1 48 → 56 GPUs, Quota1.2 80 → 72 GPUs")).toBeVisible();
  // How far somebody asks to look goes before how far the plan does.
  const further = await (await browser.newContext()).newPage();
  await further.goto(link.replace("#", "?look=72#"));
  await expect(further.getByLabel("Look ahead")).toHaveValue("72", { timeout: 60_000 });
  await further.context().close();

  // A file holds the same as the link.
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a file" }).click();
  expect((await saved).suggestedFilename()).toBe("plan.json");
  await stranger.getByLabel("Or open files").setInputFiles(await (await saved).path());
  await expect(stranger.getByLabel("Begin with")).toHaveValue("files");
  expect(await cells(stranger)).toEqual(shown);
  // Who has no cluster open has nothing to apply a plan to.
  await expect(stranger.getByRole("button", { name: "Apply to the cluster" })).toHaveCount(0);
  await stranger.context().close();
});

test("links that cannot be opened say why, in place", async ({ page }) => {
  await page.goto("/planner");
  await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
  await page.getByRole("button", { name: "Share" }).click();
  const [, whole] = (await page.getByLabel("Link", { exact: true }).inputValue()).split("#plan=");
  const faults = [
    [whole.slice(0, whole.length / 2), "the end of the link is missing"],
    [whole.replace("1.", "7."), "made by a newer planner (version 7)"],
    ["hello", "this is no link to a plan"],
  ];
  for (const [link, fault] of faults) {
    await page.goto(`/planner?${encodeURIComponent(fault)}#plan=${link}`);
    await expect(page.getByRole("alert")).toContainText(fault);
    // The rest of the page is unharmed.
    await page.getByLabel("Begin with").selectOption("Example: move GPUs between teams");
    await expect(page.getByText("3 quotas, ")).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  }
});
