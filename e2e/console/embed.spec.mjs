// The planner in pages of somebody else, under a strict content policy, served from files alone.
import AxeBuilder from "@axe-core/playwright";
import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { POLICY, serveFiles } from "./files.mjs";

const PAGE = `<!doctype html><html lang="en"><title>A page of documentation</title><link rel="stylesheet" href="/embed/planner.css"><script type="module" src="/embed/planner.js"></script>
<main><h1>How GPUs move</h1><p>Before the planners.</p>
<tidegate-planner scenario="scale-siblings" height="560"><img src="/embed/scenarios/scale-siblings.svg" alt="48 and 80 GPUs of two teams" width="640" height="140"></tidegate-planner>
<tidegate-planner scenario="child-level" height="560" load="click"></tidegate-planner>
<tidegate-planner scenario="reclaim" height="560" lang="zh"></tidegate-planner></main>`;

const page1 = { "/": PAGE };
const planner = (page, scenario) => page.locator(`tidegate-planner[scenario="${scenario}"]`);
const result = (one) => one.getByRole("table");
const WAITS = "more-b waits: it asks for 8 GPUs; Quota1.1 has 0 GPUs free";

async function violations(page) {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

test("three planners in a page, one engine, nothing moves", async ({ page }) => {
  const { server, requests, url } = await serveFiles(page1);
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.addInitScript(() => {
    window.shifts = [];
    const moved = ({ value, sources }) => `${value}: ${sources.map(({ node }) => node?.nodeName)}`;
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(moved))).observe({ type: "layout-shift", buffered: true });
  });
  await page.goto(url);
  await expect(result(planner(page, "scale-siblings"))).toBeVisible();
  await planner(page, "reclaim").scrollIntoViewIfNeeded();
  await expect(planner(page, "reclaim").getByRole("table", { name: "变更前后" })).toBeVisible();
  await planner(page, "child-level").getByRole("button", { name: "Try it" }).click();
  await expect(result(planner(page, "child-level"))).toBeVisible();
  expect(requests.filter((path) => path.endsWith(".wasm"))).toEqual(["/embed/engine_bg.wasm"]);
  expect(requests.filter((path) => !path.startsWith("/embed/") && path !== "/")).toEqual([]);
  expect(faults).toEqual([]);
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
  expect(await violations(page)).toEqual([]);
  server.close();
});

test("moving GPUs from one team to the other", async ({ page }) => {
  const { server, url } = await serveFiles(page1);
  await page.goto(url);
  const one = planner(page, "scale-siblings");
  const slider = one.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" });
  await expect(slider).toHaveValue("56000");
  await expect(one.locator("[part=events]")).toHaveText("after 1 min: more-b starts on 8 GPUs");
  await slider.fill("48000");
  await expect(one.locator("[part=events]")).toHaveText(`Nothing happens.${WAITS}`);
  await expect(one.getByRole("img")).toContainText("waits: more-b");
  await expect(one.locator("label b").last()).toHaveText("48 GPUs");
  server.close();
});

test("a page from another origin, by a script that its policy names", async ({ page }) => {
  const theirs = await serveFiles({}, { "access-control-allow-origin": "*" });
  const from = new URL(theirs.url).origin;
  const policy = `default-src 'none'; script-src ${from} 'wasm-unsafe-eval'; worker-src blob: ${from}; connect-src ${from}; img-src ${from}; style-src ${from}`;
  const ours = await serveFiles({ "/": PAGE.replaceAll('"/embed/', `"${from}/embed/`) }, { "content-security-policy": policy });
  await page.goto(ours.url);
  await expect(result(planner(page, "scale-siblings"))).toBeVisible();
  expect(ours.requests).toEqual(["/"]);
  theirs.server.close();
  ours.server.close();
});

test("a scenario that stands in the page", async ({ page }) => {
  const own = `<!doctype html><html lang="en"><title>Own</title><script type="module" src="/embed/planner.js"></script><main><tidegate-planner height="560">
quota Small 8
submit large Small DLC p5 16
submit small Small DLC p5 4
</tidegate-planner></main>`;
  const { server, url } = await serveFiles({ "/": own });
  await page.goto(url);
  await expect(page.locator("[part=events] li")).toHaveText(["small starts on 4 GPUs", "large waits: it asks for 16 GPUs; all that Small has is 8 GPUs"]);
  await page.getByRole("slider", { name: "large asks for" }).fill("4000");
  await expect(page.locator("[part=events] li")).toHaveText(["large starts on 4 GPUs", "small starts on 4 GPUs"]);
  server.close();
});

test("where WebAssembly is not allowed the picture stays, with a message", async ({ page }) => {
  const { server, url } = await serveFiles(page1, { "content-security-policy": POLICY.replace(" 'wasm-unsafe-eval'", "") });
  await page.goto(url);
  const one = planner(page, "scale-siblings");
  await expect(one.locator("[part=events]")).toContainText("does not run here");
  await expect(one.getByRole("img", { name: "48 and 80 GPUs of two teams" })).toBeVisible();
  await expect(page.getByText("Before the planners.")).toBeVisible();
  server.close();
});

test("where workers are not allowed the picture stays, with a message", async ({ page }) => {
  const { server, url } = await serveFiles(page1, { "content-security-policy": POLICY.replace("worker-src 'self'", "worker-src 'none'") });
  await page.goto(url);
  await expect(planner(page, "scale-siblings").locator("[part=events]")).toContainText("could not be loaded");
  await expect(planner(page, "scale-siblings").getByRole("img")).toBeVisible();
  server.close();
});

test("a planner that is reached after the engine was lost says so as well", async ({ page }) => {
  for (const how of ["policy", "constructor"]) {
    const policy = how === "policy" ? POLICY.replace("worker-src 'self'", "worker-src 'none'") : POLICY;
    const { server, url } = await serveFiles(page1, { "content-security-policy": policy });
    if (how === "constructor") {
      await page.addInitScript(() => {
        window.Worker = class {
          constructor() {
            throw new DOMException("no workers here", "SecurityError");
          }
        };
      });
    }
    await page.goto(url);
    await expect(planner(page, "scale-siblings").locator("[part=events]")).toContainText("The planner could not be loaded");
    await planner(page, "child-level").getByRole("button", { name: "Try it" }).click();
    await expect(planner(page, "child-level").locator("[part=events]")).toContainText("The planner could not be loaded");
    server.close();
  }
});

test("a scenario that could not be fetched can be tried again", async ({ page }) => {
  const { server, url } = await serveFiles(page1);
  await page.route("**/child-level.txt", (route) => route.abort(), { times: 1 });
  await page.goto(url);
  const one = planner(page, "child-level");
  await one.getByRole("button", { name: "Try it" }).click();
  await expect(one.locator("[part=events]")).toContainText("This scenario could not be loaded: child-level");
  await one.getByRole("button", { name: "Try it" }).click();
  await expect(result(one)).toBeVisible();
  // Wherever it is put then, it can be asked again.
  await one.evaluate((element) => element.parentNode.append(element));
  await one.getByRole("button", { name: "Try it" }).click();
  await expect(one.getByRole("button", { name: "Try it" })).toBeHidden();
  server.close();
});

test("when the engine breaks in the middle, every planner says so and keeps its picture", async ({ page }) => {
  const engine = readFileSync(new URL("../../dist/embed/engine.js", import.meta.url), "utf8");
  const broken = `${engine}\nSession.prototype.work = () => { throw new WebAssembly.RuntimeError("unreachable"); };`;
  const { server, url } = await serveFiles({ ...page1, "/embed/engine.js": broken });
  await page.setViewportSize({ width: 1280, height: 2000 });
  await page.goto(url);
  for (const scenario of ["scale-siblings", "reclaim"]) {
    await expect(planner(page, scenario).locator("[part=events]")).toContainText("does not run here: unreachable");
    await expect(planner(page, scenario).getByRole("img")).toBeVisible();
  }
  server.close();
});

test("what is wrong with one scenario is said there, and the others work", async ({ page }) => {
  const body = `<!doctype html><html lang="en"><title>Wrong</title><script type="module" src="/embed/planner.js"></script><main><p>Prose.</p>
<tidegate-planner scenario="no-such-thing"></tidegate-planner>
<tidegate-planner id="wrong">quota Q eight</tidegate-planner>
<tidegate-planner id="sum">quota Q 8
quota A 16 in Q</tidegate-planner>
<tidegate-planner id="cut" link="1.cXVvdGE"></tidegate-planner>
<tidegate-planner id="future" link="7.cXVvdGE.abcdef"></tidegate-planner>
<tidegate-planner scenario="child-level"></tidegate-planner></main>`;
  const { server, url } = await serveFiles({ "/": body });
  await page.goto(url);
  const said = (selector) => page.locator(`${selector} [part=events]`);
  await page.locator('tidegate-planner[scenario="child-level"]').scrollIntoViewIfNeeded();
  await expect(said("[scenario=no-such-thing]")).toHaveText("This scenario could not be loaded: no-such-thing (404)");
  await expect(said("#wrong")).toHaveText('line 1, column 9: "eight" is no number of GPUs');
  await expect(said("#sum")).toContainText("A would need 16 GPUs");
  await expect(said("#cut")).toHaveText("the end of the link is missing; copy it again, all of it");
  await expect(said("#future")).toContainText("made by a newer planner (version 7)");
  await expect(page.getByText("Prose.")).toBeVisible();
  await expect(said("[scenario=child-level]")).toContainText("infer-a starts on 16 GPUs");
  server.close();
});

test("a frame follows its link, and tells its height", async ({ page, browser }) => {
  const host = `<!doctype html><html lang="en"><title>Host</title><script src="/embed/host.js"></script><main><iframe title="Planner" src="/embed/index.html?scenario=scale-siblings" width="700" height="100"></iframe></main>`;
  const policy = `${POLICY}; frame-src 'self'`;
  const { server, url } = await serveFiles({ "/": host }, { "content-security-policy": policy });
  await page.goto(url);
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("table")).toBeVisible();
  const needs = () => frame.locator("html").evaluate((root) => root.offsetHeight);
  await expect.poll(async () => (await page.locator("iframe").boundingBox()).height - (await needs())).toBeGreaterThanOrEqual(0);
  expect(await needs()).toBeGreaterThan(250);

  await page.goto(`${url}embed/index.html?scenario=scale-siblings`);
  await page.getByRole("slider").last().fill("48000");
  await expect(page.locator("[part=events]")).toHaveText(`Nothing happens.${WAITS}`);
  await expect(page).toHaveURL(/#plan=1\./);
  const picture = await page.getByRole("img").evaluate((svg) => svg.outerHTML);
  const fresh = await (await browser.newContext()).newPage();
  await fresh.goto(page.url());
  await expect(fresh.getByRole("slider").last()).toHaveValue("48000");
  await expect(fresh.locator("[part=events]")).toHaveText(`Nothing happens.${WAITS}`);
  expect(await fresh.getByRole("img").evaluate((svg) => svg.outerHTML)).toBe(picture);
  expect(await violations(fresh)).toEqual([]);

  // What is shared needs no name, and another link in the same tab is another plan.
  const link = page.url().split("#")[1];
  await fresh.goto(`${url}embed/index.html#${link}`);
  await expect(fresh.getByRole("slider").last()).toHaveValue("48000");
  await expect(fresh.locator("tidegate-planner")).not.toHaveAttribute("scenario");
  await page.getByRole("slider").last().fill("40000");
  await expect(page).not.toHaveURL(new RegExp(`${link.slice(-9)}$`));
  await fresh.goto(`${url}embed/index.html#${page.url().split("#")[1]}`);
  await expect(fresh.getByRole("slider").last()).toHaveValue("40000");
  await fresh.goto(page.url().slice(0, -20));
  await fresh.reload();
  await expect(fresh.locator("[part=events]")).toHaveText("the end of the link is missing; copy it again, all of it");
  server.close();
});

test("themes, forced colours and print", async ({ page }) => {
  const { server, url } = await serveFiles({ "/": PAGE.replace('height="560" lang="zh"', 'height="560" lang="zh" theme="dark"') });
  await page.goto(url);
  const one = planner(page, "scale-siblings");
  await expect(result(one)).toBeVisible();
  await planner(page, "reclaim").scrollIntoViewIfNeeded();
  await expect(result(planner(page, "reclaim"))).toBeVisible();
  const surface = (scenario) => planner(page, scenario).evaluate((element) => getComputedStyle(element).backgroundColor);
  expect([await surface("scale-siblings"), await surface("reclaim")]).toEqual(["rgb(255, 255, 255)", "rgb(22, 25, 29)"]);
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await surface("scale-siblings")).toBe("rgb(22, 25, 29)");
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
  const bar = one.locator("svg g rect").first();
  const canvas = await page.evaluate(() => getComputedStyle(document.body.appendChild(Object.assign(document.createElement("p"), { style: "color:Canvas" }))).color);
  expect(await bar.evaluate((rect) => getComputedStyle(rect).fill)).toBe(canvas);
  await page.emulateMedia({ forcedColors: "none", media: "print" });
  await expect(one.getByRole("slider").first()).toBeHidden();
  await expect(result(one)).toBeVisible();
  expect(await one.evaluate((element) => element.scrollHeight <= element.clientHeight + 2)).toBe(true);
  server.close();
});
