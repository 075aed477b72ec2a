import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "../runtime.mjs";

// A week of Philly, where it is at hand; a trace like it otherwise.
const TRACES = new URL("../../../shared/traces/", import.meta.url);
const QUOTAS = "group,parent,gpus\nroot,,512\na,root,256\nb,root,256\n";

function made(count) {
  const lines = ["job_id,submit_s,duration_s,gpus,group,priority,idle,fault_tolerance"];
  for (let at = 0; at < count; at++) lines.push(`j${at},${at * 45},${600 + ((at * 7919) % 20_000)},${1 + (at % 8)},${at % 3 ? "a" : "b"},${1 + (at % 9)},off,no`);
  return lines.join("\n");
}

function philly() {
  const jobs = new URL("philly_week.csv", TRACES);
  if (!existsSync(jobs)) return [["jobs.csv", made(13_488)], ["quotas.csv", QUOTAS]];
  return [["philly_week.csv", readFileSync(jobs, "utf8")], ["philly_quotas.csv", readFileSync(new URL("philly_quotas.csv", TRACES), "utf8")]];
}

/** Drops files on the page, as a hand does. */
async function drop(page, files) {
  const transfer = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) transfer.items.add(new File([text], name, { type: "text/csv" }));
    return transfer;
  }, files);
  await page.getByRole("region", { name: "Beginning" }).dispatchEvent("drop", { dataTransfer: transfer });
}

const base = (page) => page.getByRole("table", { name: "Variants side by side" }).getByRole("row", { name: /^Jobs finished/ }).getByRole("cell");

test("a trace that is dropped runs with progress, can be cancelled, and never blocks the page", async ({ page }) => {
  test.slow();
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.longest = Math.max(window.longest, entry.duration)))).observe({ type: "longtask" });
  });
  await page.goto("/planner");
  await expect(base(page).first()).toHaveText(/^\d+$/, { timeout: 60_000 });
  await drop(page, philly());
  await expect(page.getByText(/13488 more to come/)).toBeVisible();
  const progress = page.getByRole("progressbar", { name: "Progress" });
  await expect(progress).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(progress).toBeHidden();
  await expect(base(page).first()).toHaveCount(0);
  await expect(page.getByText("What was under way has been given up.")).toBeVisible();

  // Any change takes it up again.
  await page.evaluate(() => (window.longest = 0));
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(progress).toBeVisible();
  await expect(base(page).nth(1)).toHaveText(/^\d+/, { timeout: 60_000 });
  const pace = await page.locator(".plan-pace").innerText();
  console.log(`a week of Philly, base and variant: ${pace.replace(/\s*Cancel\s*/, "")}; longest task ${await page.evaluate(() => window.longest)} ms`);
  expect(pace).toMatch(/\d+ events, \d+ a second/);
  expect(Number(await base(page).first().textContent())).toBeGreaterThan(13_000);
});

test("a broken line is named, and what was open stays", async ({ page }) => {
  await page.goto("/planner");
  await expect(page.getByText("Move GPUs from Team C to Team B: 3 quotas")).toBeVisible({ timeout: 60_000 });
  const lines = made(20).split("\n");
  lines[7] = lines[7].replace(/^j6,\d+/, "j6,soon");
  await drop(page, [["mine.csv", lines.join("\n")], ["quotas.csv", QUOTAS]]);
  await expect(page.getByRole("alert")).toContainText('mine.csv, line 8, column submit_s: the value "soon" cannot be used');
  await expect(page.getByText("Move GPUs from Team C to Team B: 3 quotas")).toBeVisible();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(base(page).nth(1)).toHaveText(/^\d+/);
  await drop(page, [["large.csv", made(1_000_000)], ["quotas.csv", QUOTAS]]);
  await expect(page.getByRole("alert")).toContainText("large.csv has 1000000 lines, a page reads at most 300000", { timeout: 60_000 });
});
