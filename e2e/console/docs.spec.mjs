// The documentation as it is built: its planners work where nothing inline is allowed.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { POLICY, serveFiles } from "./files.mjs";

const policy = `${POLICY.replace("img-src 'self'", "img-src 'self' data:")}; frame-src 'self'`;
const serve = () => serveFiles({}, { "content-security-policy": policy });

test("a page of the book with its planners", async ({ page }) => {
  const { server, url } = await serve();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(`${url}docs/child-level.html`);
  const first = page.getByRole("group", { name: "Scenario: child-level", exact: true });
  await expect(first.getByText("dev-c1 is evicted: child-level preemption; 16 GPU-hours lost")).toBeVisible();
  await expect(first.getByRole("table")).toBeVisible();
  // Everything is there without scrolling inside.
  expect(await first.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThanOrEqual(0);
  await first.getByRole("slider", { name: "infer-a asks for" }).fill("64000");
  await expect(first.getByText("train-b is evicted: child-level preemption")).toBeVisible();
  await expect(first.getByText("2 worse off")).toBeVisible();
  const second = page.getByRole("group", { name: "Scenario: child-level-unused" });
  await second.scrollIntoViewIfNeeded();
  await expect(second.getByRole("table")).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
  expect(faults).toEqual([]);
  await page.getByRole("link", { name: "Planners in your pages" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Planners in your pages");
  await page.locator("tidegate-planner").scrollIntoViewIfNeeded();
  await expect(page.getByText("finetune starts on 24 GPUs")).toBeVisible();
  await page.locator("iframe").scrollIntoViewIfNeeded();
  await expect(page.frameLocator("iframe").getByRole("table", { name: "变更前后" })).toBeVisible({ timeout: 60_000 });
  server.close();
});

test("without scripts the book shows its pictures and scenarios", async ({ browser }) => {
  const { server, url } = await serve();
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(`${url}docs/child-level.html`);
  const pictures = page.getByRole("img", { name: "How it begins" });
  await expect(pictures).toHaveCount(8);
  // They have their room in any case; only what is drawn has a width of its own.
  const drawn = () => pictures.evaluateAll((all) => all.filter(({ naturalWidth }) => naturalWidth > 0).length);
  await expect.poll(drawn).toBe(8);
  await page.getByText("The scenario, and what the engine says").first().click();
  await expect(page.getByText("> dev-c1 preempted for infer-a")).toBeVisible();
  server.close();
});

test("the book is searched in the reader's browser", async ({ page }) => {
  const { server, url } = await serve();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(`${url}docs/child-level.html`);
  const everywhere = page.getByRole("searchbox", { name: "Search the book" });
  await everywhere.fill("grace period");
  await everywhere.press("Enter");
  await expect(page).toHaveURL(/search\.html\?q=grace/);
  const field = page.getByRole("searchbox", { name: "Words to look for" });
  await expect(field).toHaveValue("grace period");
  await expect(page.getByRole("status")).toHaveText(/matches/);
  await field.fill("grace checkpoint signal");
  await expect(page.getByRole("main").getByRole("link", { name: "For researchers: Not losing work" })).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  await field.fill("nobody writes this word");
  await expect(page.getByRole("status")).toHaveText("No matches.");
  await field.fill("judged again after a minute");
  await expect(page.getByRole("status")).toHaveText(/[0-9] matches/);
  const best = page.getByRole("main").getByRole("listitem").getByRole("link").first();
  await expect(best).toHaveText("After an eviction: An evicted job is judged again after a minute, then after two");
  await best.click();
  await expect(page).toHaveURL(/docs\/backoff\.html#an-evicted-job/);
  expect(faults).toEqual([]);
  server.close();
});

test("the book in Chinese", async ({ page }) => {
  const { server, url } = await serve();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(`${url}docs/child-level.html`);
  await page.getByRole("link", { name: "中文" }).click();
  await expect(page).toHaveURL(/docs\/zh\/child-level\.html$/);
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("父级与子级");
  const first = page.locator("tidegate-planner").first();
  await expect(first.getByRole("table", { name: "变更前后" })).toBeVisible();
  await expect(first.getByText("dev-c1 被抢占：子级抢占；损失 16 GPU 小时")).toBeVisible();
  expect(await first.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThanOrEqual(0);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  const everywhere = page.getByRole("searchbox", { name: "搜索本书" });
  await everywhere.fill("宽限期检查点信号");
  await everywhere.press("Enter");
  await expect(page).toHaveURL(/docs\/zh\/search\.html\?q=/);
  await expect(page.getByRole("status")).toHaveText(/^共 [0-9]+ 处。$/);
  await page.getByRole("main").getByRole("link", { name: "写给研究人员：不丢失工作" }).click();
  // The address is the English one, so that the way back leads to the same place.
  await expect(page).toHaveURL(/docs\/zh\/researcher\.html#not-losing-work$/);
  await page.getByRole("link", { name: "English" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("For researchers");
  expect(faults).toEqual([]);
  server.close();
});
