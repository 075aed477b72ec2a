import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const JOBS = 10_000;

test("the answer follows a drag on a cluster of 10,000 jobs", async ({ page, runtime }) => {
  test.slow();
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  // Small jobs in both teams: most of them wait.
  const jobs = Array.from({ length: JOBS }, (_, at) => ({
    submit_job: {
      job: `many-${at}`,
      quota: at % 2 ? "Quota1.1" : "Quota1.2",
      priority: 1 + (at % 9),
      pods: [{ amount: { gpu: 1000 * (1 + (at % 4)) } }],
      duration_ms: 600_000 + (at % 60) * 60_000,
    },
  }));
  for (let at = 0; at < JOBS; at += 200) await cluster.send({ apply_plan: { commands: jobs.slice(at, at + 200) } });
  await cluster.open("planner");
  await expect(page.getByText(`${JOBS + 8} jobs`)).toBeVisible({ timeout: 60_000 });
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const lever = page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" });
  await expect(lever).toBeFocused();

  // From the moment at which the lever moves to the moment at which the picture shows where it is.
  await page.evaluate(() => {
    window.answers = [];
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.longest = Math.max(window.longest, entry.duration)))).observe({ type: "longtask" });
    const lever = document.querySelector(".plan-change input[type=range]");
    const picture = document.querySelector(".plan-picture");
    let moved;
    lever.addEventListener("input", () => (moved = { at: performance.now(), gpus: `${lever.value / 1000} GPUs` }), true);
    new MutationObserver(() => {
      if (moved && picture.textContent.includes(moved.gpus)) {
        window.answers.push(performance.now() - moved.at);
        moved = undefined;
      }
    }).observe(picture, { childList: true, subtree: true });
  });
  const { x, y, width, height } = await lever.boundingBox();
  const place = (gpus) => [x + 8 + ((width - 16) * gpus) / 128, y + height / 2];
  await page.mouse.move(...place(48));
  await page.mouse.down();
  for (let gpus = 49; gpus <= 56; gpus++) {
    await page.mouse.move(...place(gpus));
    await expect(page.locator(".plan-picture")).toContainText(`${gpus} GPUs`);
  }
  await page.mouse.up();
  await expect(page.getByText("Quota1.1 48 → 56 GPUs, Quota1.2 80 → 72 GPUs")).toBeVisible();
  const answers = await page.evaluate(() => window.answers.sort((a, b) => a - b));
  expect(answers.length).toBeGreaterThanOrEqual(8);
  const median = answers[Math.floor(answers.length / 2)];
  console.log(`48 -> 56 and 80 -> 72 on ${JOBS} jobs: median ${median.toFixed(1)} ms over ${answers.length} answers, longest ${answers.at(-1).toFixed(1)} ms; longest task of the page ${await page.evaluate(() => window.longest)} ms`);
  await expect(page.getByRole("row", { name: /^Jobs finished/ }).getByRole("cell").nth(1)).toHaveText(/^\d+/, { timeout: 60_000 });
});
