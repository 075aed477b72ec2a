import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";

// Jobs one after the other in two quotas over a day, and one that is evicted.
const JOBS = [...Array(240).keys()].map((at) => `job-${at},${at * 360},${600 + (at % 7) * 900},${1 + (at % 8)},${at % 3 ? "a" : "b"},${1 + (at % 9)}`);
const FILES = [
  ["jobs.csv", ["job_id,submit_s,duration_s,gpus,group,priority", ...JOBS].join("\n")],
  ["quotas.csv", "group,parent,gpus\nroot,,16\na,root,8\nb,root,8\n"],
];

const timeline = (page) => page.getByRole("region", { name: "Who runs when" });
const picture = (page) => timeline(page).getByRole("group", { name: "Timeline" });
const sentence = (page) => timeline(page).getByText(/^From .* stretches of running/);
const table = (page) => timeline(page).getByRole("table");

async function open(page) {
  await page.goto("/planner");
  await expect(page.getByText("3 quotas, ")).toBeVisible({ timeout: 60_000 });
  await page.getByLabel("Or open files").setInputFiles(FILES.map(([name, text]) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) })));
  await expect(sentence(page)).toContainText(/From the start to .*: 240 stretches of running/, { timeout: 60_000 });
}

/** What the sentence says that is seen. */
async function seen(page) {
  return (await sentence(page).textContent()).split(":").slice(0, -1).join(":");
}

test("buttons zoom and move, the table follows, and the address keeps it", async ({ page }) => {
  await open(page);
  const whole = await seen(page);
  await timeline(page).getByText("The same as a table").click();
  await expect(table(page).getByRole("row")).not.toHaveCount(1);
  const first = await table(page).getByRole("row").nth(1).textContent();
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect(sentence(page)).not.toContainText(whole);
  await expect(page).toHaveURL(/window=\d+-\d+/);
  await expect(table(page).getByRole("row").nth(1)).not.toHaveText(first);
  const zoomed = await seen(page);
  const address = page.url();
  await page.getByRole("button", { name: "Later", exact: true }).click();
  await expect(page).not.toHaveURL(address);
  const later = await seen(page);
  expect(later).not.toBe(zoomed);
  await page.goBack();
  await expect(sentence(page)).toContainText(zoomed);
  await page.goForward();
  await expect(sentence(page)).toContainText(later);
  await page.getByRole("button", { name: "Whole run" }).click();
  await expect(sentence(page)).toContainText(whole);
  await expect(page).not.toHaveURL(/window=/);
});

test("keys zoom and move", async ({ page }) => {
  await open(page);
  const whole = await seen(page);
  await picture(page).focus();
  const told = [];
  for (const key of ["+", "ArrowRight", "PageUp", "End", "Home", "-"]) {
    const before = await seen(page);
    await page.keyboard.press(key);
    await expect(sentence(page), key).not.toContainText(`${before}:`);
    told.push(await seen(page));
  }
  // Half of the run in its middle, a tenth later, from the start, at the end, from the start again; all of it.
  const [middle, later, start, end, again, all] = told;
  expect(new Set([middle, later, start, end]).size).toBe(4);
  expect([again, all]).toEqual([start, whole]);
  expect(start).toMatch(/^From the start to /);
  expect(end.split(" to ")[1]).toBe(whole.split(" to ")[1]);
  await expect(picture(page)).toBeFocused();
});

test("a pointer drags, turns the wheel and clicks twice, and the page scrolls as ever", async ({ page }) => {
  await open(page);
  const whole = await seen(page);
  await picture(page).scrollIntoViewIfNeeded();
  const { x, y, width } = await picture(page).boundingBox();
  await page.mouse.dblclick(x + width / 4, y + 60);
  await expect(sentence(page)).not.toContainText(`${whole}:`);
  const zoomed = await seen(page);
  await page.mouse.move(x + width / 2, y + 60);
  await page.mouse.down();
  await page.mouse.move(x + width / 4, y + 60, { steps: 12 });
  await page.mouse.up();
  await expect(sentence(page)).not.toContainText(`${zoomed}:`);
  const dragged = await seen(page);
  await expect(page).toHaveURL(/window=\d+-\d+/);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  await expect(sentence(page)).not.toContainText(`${dragged}:`);
  const turned = await seen(page);
  await page.mouse.wheel(200, 0);
  await expect(sentence(page)).not.toContainText(`${turned}:`);
  const moved = await seen(page);
  // A wheel alone is the page's.
  const top = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, -300);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeLessThan(top);
  expect(await seen(page)).toBe(moved);
});

test("an address shows its part, its quota and its run", async ({ page, runtime }) => {
  await page.goto("/planner?from=move-gpus&look=72&whose=quota:Quota1.2&run=base&window=3600-7200");
  await expect(page.getByLabel("Look ahead")).toHaveValue("72", { timeout: 60_000 });
  await expect(sentence(page)).toContainText("From +1:00 to +2:00:");
  await expect(page.getByLabel("Show the base instead")).toBeChecked();
  await expect(page.getByLabel("Whose jobs")).toHaveValue("quota:Quota1.2");
  await timeline(page).getByText("The same as a table").click();
  await expect(table(page).getByRole("cell", { name: "Quota1.2", exact: true }).first()).toBeVisible();
  await expect(table(page).getByRole("cell", { name: "Quota1.1", exact: true })).toHaveCount(0);
  await page.getByLabel("Whose jobs").selectOption("all quotas and offers");
  await expect(page).not.toHaveURL(/whose=/);
  await expect(table(page).getByRole("cell", { name: "Quota1.1", exact: true }).first()).toBeVisible();
});

test("it can be read on a phone, and axe finds nothing", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open(page);
  const svg = picture(page).locator("svg");
  await expect.poll(async () => Number((await svg.getAttribute("viewBox")).split(" ")[2])).toBeLessThan(390);
  // Its words are as large as they say.
  const { width } = await svg.boundingBox();
  expect(Math.abs(width - Number((await svg.getAttribute("viewBox")).split(" ")[2]))).toBeLessThan(2);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await timeline(page).getByText("The same as a table").click();
  const { violations } = await new AxeBuilder({ page }).include("[aria-labelledby=plan-timeline]").analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`)).toEqual([]);
});

test("of a long table only what is seen is in the document", async ({ page }) => {
  await open(page);
  await timeline(page).getByText("The same as a table").click();
  const region = timeline(page).getByRole("region", { name: /^Stretches of running/ });
  await expect(table(page)).toHaveAttribute("aria-rowcount", "101");
  expect(await region.locator("tbody tr[aria-rowindex]").count()).toBeLessThan(60);
  await region.evaluate((element) => (element.scrollTop = element.scrollHeight));
  await expect(region.locator('tr[aria-rowindex="101"]')).toBeVisible();
  expect(await region.locator("tbody tr[aria-rowindex]").count()).toBeLessThan(60);
});
