// What readers wait for: prints bytes, times under throttling, and Lighthouse's scores. These depend on the machine, so
// nothing is compared; `--lighthouse` fetches that program for the occasion.
import { chromium } from "@playwright/test";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync } from "node:zlib";
import { start } from "../worker/runtime.mjs";
import { POLICY, serveFiles } from "./console/files.mjs";

// 200 packages that nothing else needs: fetched when asked for, and no dependency.
const LIGHTHOUSE = "lighthouse@12.8.2";
const RUNS = 5;
const THROTTLING = 4;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const planner = (scenario, more = "") => `<tidegate-planner scenario="${scenario}" height="560"${more}></tidegate-planner>`;
const page = (body) =>
  `<!doctype html><html lang="en"><title>A page</title><link rel="stylesheet" href="/embed/planner.css"><script type="module" src="/embed/planner.js"></script><main><h1>A page</h1>${body}</main>`;
const PAGES = {
  "/three": page(planner("scale-siblings") + planner("child-level") + planner("reclaim", ' lang="zh"')),
  "/click": page(planner("child-level", ' load="click"')),
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const ms = (numbers) => `${Math.round(median(numbers))} ms (${numbers.map(Math.round).join(", ")})`;

await planners();
if (process.argv.includes("--lighthouse")) await scores();

async function planners() {
  const { server, requests, url } = await serveFiles(PAGES);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const stood = [];
  const longest = [];
  const clicks = [];
  const again = [];
  for (let run = 0; run < RUNS; run++) {
    stood.push(...(await longTasks(browser, `${url}three`)));
    if (run === 0) printBytes(requests);
    longest.push(await longestTask(browser, `${url}three`));
    const [cold, warm] = await clickToResult(browser, `${url}click`);
    clicks.push(cold);
    again.push(warm);
  }
  console.log(`tasks over 50 ms while three planners load, ${RUNS} times: ${stood.length} ${stood.map(Math.round).join(", ")}`);
  console.log(`with a trace, longest task of page and navigation: ${ms(longest.map(([took]) => took))}`);
  console.log(`the most that a task computed: ${ms(longest.map(([, computed]) => computed))}`);
  console.log(`click to first result at ${THROTTLING}x throttling: ${ms(clicks)}`);
  console.log(`moving a slider to its result, then: ${ms(again)}`);
  await browser.close();
  server.close();
}

function printBytes(requests) {
  const size = (path) => brotliCompressSync(readFileSync(new URL(`../dist${path}`, import.meta.url))).length;
  const files = requests.filter((path) => path.startsWith("/embed/"));
  for (const path of files) console.log(`${path.padEnd(44)}${String(size(path)).padStart(8)} B brotli`);
  const engines = files.filter((path) => path.endsWith(".wasm")).length;
  console.log(`${"together".padEnd(44)}${String(files.map(size).reduce((sum, n) => sum + n)).padStart(8)} B; ${engines} engine`);
}

function haveResults(page) {
  return page.waitForFunction(() => [...document.querySelectorAll("tidegate-planner")].every((one) => one.shadowRoot.querySelector("table")));
}

// What a page calls long: tasks over 50 ms.
async function longTasks(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 2000 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.long = [];
    const note = (list) => window.long.push(...list.getEntries().map(({ duration }) => duration));
    new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
  });
  await page.goto(url);
  await haveResults(page);
  const tasks = await page.evaluate(() => new Promise((done) => setTimeout(() => done(window.long), 100)));
  await context.close();
  return tasks;
}

// The page's longest task, as it took and as it computed: on a busy machine a task stands still for most of its time.
async function longestTask(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 2000 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", { transferMode: "ReportEvents", categories: "toplevel,devtools.timeline,disabled-by-default-devtools.timeline" });
  await page.goto(url);
  await haveResults(page);
  const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
  await session.send("Tracing.end");
  await complete;
  const pages = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = events.filter(({ ph, name, pid, tid }) => ph === "X" && name.includes("RunTask") && pages.includes(`${pid} ${tid}`));
  await context.close();
  const longest = (field) => Math.max(...tasks.map((task) => task[field] ?? 0)) / 1000;
  return [longest("dur"), longest("tdur")];
}

async function clickToResult(browser, url) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLING });
  await page.goto(url, { waitUntil: "networkidle" });
  const after = (act) =>
    page.evaluate(
      (act) =>
        new Promise((done) => {
          const one = document.querySelector("tidegate-planner");
          const since = performance.now();
          one.addEventListener("tidegate-played", () => requestAnimationFrame(() => done(performance.now() - since)), { once: true });
          if (act === "click") return one.shadowRoot.querySelector("button").click();
          const slider = one.shadowRoot.querySelector("input");
          slider.value = 64_000;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      act,
    );
  const times = [await after("click"), await after("move")];
  await context.close();
  return times;
}

async function scores() {
  const out = mkdtempSync(join(tmpdir(), "lighthouse-"));
  const runtime = await start();
  const headers = { authorization: `Bearer ${runtime.adminKey}`, "content-type": "application/json" };
  for (const body of readFileSync(new URL("../public/examples/three-teams.jsonl", import.meta.url), "utf8").trim().split("\n")) {
    await fetch(`${runtime.url}/v1/clusters/demo/commands`, { method: "POST", headers, body });
  }
  const docs = await serveFiles({}, { "content-security-policy": `${POLICY.replace("img-src 'self'", "img-src 'self' data:")}; frame-src 'self'` });
  for (const [name, url] of [["a page of the book", `${docs.url}docs/child-level.html`], ["the console's first load", `${runtime.url}/clusters/demo#key=${runtime.adminKey}`]]) {
    const file = join(out, "report.json");
    const options = ["--yes", LIGHTHOUSE, url, "--quiet", "--output=json", `--output-path=${file}`];
    // Not in one step: the pages are served from here.
    await promisify(execFile)("npx", [...options, "--chrome-flags=--headless=new --no-sandbox --disable-gpu"], {
      env: { ...process.env, CHROME_PATH: CHROMIUM },
    });
    const { categories, audits } = JSON.parse(readFileSync(file, "utf8"));
    const score = Object.values(categories).map(({ title, score }) => `${title} ${Math.round(score * 100)}`);
    console.log(`Lighthouse, ${name}: ${score.join(", ")}`);
    const shown = ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift", "speed-index"];
    console.log(`  ${shown.map((id) => `${audits[id].title} ${audits[id].displayValue}`).join(", ")}`);
    const low = Object.values(categories).flatMap(({ id, auditRefs }) => (id === "performance" ? [] : auditRefs));
    for (const { id } of low) {
      if (audits[id].score !== 0) continue;
      const [first] = audits[id].details?.items ?? [];
      console.log(`  ${audits[id].title}: ${JSON.stringify(first)?.slice(0, 200)}`);
    }
  }
  await runtime.stop();
  docs.server.close();
  rmSync(out, { recursive: true });
}
