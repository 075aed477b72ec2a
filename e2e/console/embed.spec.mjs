// The planner in a page of somebody else: three of them under a strict content policy, served from files alone.
import AxeBuilder from "@axe-core/playwright";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { expect, test } from "@playwright/test";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self'; style-src 'self'";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json", ".svg": "image/svg+xml", ".css": "text/css" };
const PAGE = `<!doctype html><html lang="en"><title>A page of documentation</title><link rel="stylesheet" href="/embed/planner.css"><script type="module" src="/embed/planner.js"></script>
<main><h1>How GPUs move</h1>
<tidegate-planner plan="move-gpus" height="560"><img src="/embed/plans/move-gpus.svg" alt="48 and 80 GPUs of two teams" width="640" height="140"></tidegate-planner>
<tidegate-planner plan="child-level" height="560" load="click"></tidegate-planner>
<tidegate-planner plan="idle" height="560" lang="zh"></tidegate-planner></main>`;

function serve(policy = POLICY) {
  const requests = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://docs").pathname;
    requests.push(path);
    const headers = { "content-security-policy": policy, "content-type": TYPES[extname(path)] ?? "text/html" };
    if (path === "/favicon.ico") return response.writeHead(204, headers).end();
    try {
      const body = path === "/" ? PAGE : readFileSync(new URL(`../../dist${path}`, import.meta.url));
      response.writeHead(200, headers).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  return new Promise((ready) => server.listen(0, "127.0.0.1", () => ready({ server, requests, url: `http://127.0.0.1:${server.address().port}/` })));
}

const planner = (page, plan) => page.locator(`tidegate-planner[plan="${plan}"]`);

test("three planners in a page, one engine, nothing moves and nothing blocks", async ({ page }) => {
  const { server, requests, url } = await serve();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.addInitScript(() => {
    window.shifts = [];
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.shifts.push(`${entry.value}: ${entry.sources.map(({ node }) => node?.nodeName + (node?.getAttribute?.("part") ?? ""))}`))).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.longest = Math.max(window.longest, entry.duration)))).observe({ type: "longtask", buffered: true });
  });
  await page.goto(url);
  await expect(planner(page, "move-gpus").getByRole("table")).toBeVisible();
  await planner(page, "idle").scrollIntoViewIfNeeded();
  await expect(planner(page, "idle").getByRole("table", { name: "变更前后" })).toBeVisible();
  await planner(page, "child-level").getByRole("button", { name: "Try it" }).click();
  await expect(planner(page, "child-level").getByRole("table")).toBeVisible();
  expect(requests.filter((path) => path.endsWith(".wasm"))).toEqual(["/embed/engine_bg.wasm"]);
  expect(faults).toEqual([]);
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
  console.log(`longest task: ${await page.evaluate(() => window.longest)} ms`);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  server.close();
});

test("moving GPUs from one team to the other", async ({ page }) => {
  const { server, url } = await serve();
  await page.goto(url);
  const one = planner(page, "move-gpus");
  const slider = one.getByRole("slider");
  await expect(slider).toHaveValue("48000");
  await slider.fill("56000");
  await expect(one.locator("[part=events]")).toHaveText("more-b starts on 8 GPUs");
  await expect(one.getByText("In 12 h: 1 better off, 2 worse off (jobs)")).toBeVisible();
  await slider.fill("48000");
  await expect(one.locator("[part=events]")).toHaveText("Nothing changes at once.");
  server.close();
});

test("where WebAssembly is not allowed the picture stays, with a message", async ({ page }) => {
  const { server, url } = await serve(POLICY.replace(" 'wasm-unsafe-eval'", ""));
  await page.goto(url);
  const one = planner(page, "move-gpus");
  await expect(one.locator("[part=events]")).toContainText("does not run here");
  await expect(one.getByRole("img", { name: "48 and 80 GPUs of two teams" })).toBeVisible();
  server.close();
});

test("a frame follows its link", async ({ page, browser }) => {
  const { server, url } = await serve();
  await page.goto(`${url}embed/index.html?plan=move-gpus`);
  await page.getByRole("slider").fill("56000");
  await expect(page.getByText("1 better off, 2 worse off (jobs)")).toBeVisible();
  await expect(page).toHaveURL(/#plan=1\./);
  const picture = await page.getByRole("img").first().evaluate((svg) => svg.outerHTML);
  const fresh = await (await browser.newContext()).newPage();
  await fresh.goto(page.url());
  await expect(fresh.getByRole("slider")).toHaveValue("56000");
  await expect(fresh.getByText("1 better off, 2 worse off (jobs)")).toBeVisible();
  expect(await fresh.getByRole("img").first().evaluate((svg) => svg.outerHTML)).toBe(picture);
  await fresh.goto(page.url().slice(0, -20));
  await fresh.reload();
  await expect(fresh.locator("[part=events]")).toHaveText("the end of the link is missing; copy it again, all of it");
  server.close();
});
