// The story of training and inference in the console, with real processes: the cluster `workshop` of the development server.
import { join } from "node:path";
import { PROGRAM, buildProgram, freePort, processesWith } from "../processes.mjs";
import { expect, test } from "../runtime.mjs";
import { Server } from "../server.mjs";

/** Who was evicted is looked at again after a minute (rules 5.6). */
const BACKOFF_MS = 60_000;
const PATIENCE = { timeout: 40_000 };

let server;
test.beforeAll(async () => {
  buildProgram();
  server = await new Server({ agent: PROGRAM }).start();
});
test.afterAll(() => server.stop());

/** The processes of a job here, not those of other tests. */
const processes = (job) => processesWith(`TIDEGATE_JOB=${job}`).filter((pid) => processesWith(`WORKSHOP_FOLDER=${join(server.state, "workshop/files")}`).includes(pid));

test("training is watched, gives its GPUs to a service that is submitted, and goes on from its checkpoint", async ({ page }) => {
  test.setTimeout(BACKOFF_MS + 150_000);
  const open = (path) => page.goto(`${server.url}/clusters/workshop/${path}#key=${server.key}`);
  const state = (words) => page.locator(".page-head").getByText(words, { exact: true });
  const pane = page.getByRole("region", { name: "Log" }).locator("pre");

  await open("jobs/train-wide");
  await expect(state("Not in quota")).toBeVisible(PATIENCE);
  await expect(pane).toContainText("step 2 of", PATIENCE);
  expect(processes("train-wide").length).toBeGreaterThan(0);
  await page.screenshot({ path: "target/shots/real-jobs-1-training.png", fullPage: true });

  const port = await freePort();
  await open("submit");
  const form = page.getByRole("form", { name: "New job" });
  await form.getByLabel("Job name").fill("chat");
  await form.getByLabel("Quota").selectOption("inference");
  await form.getByLabel("Workspace").fill("team-a");
  await form.getByLabel("Module").selectOption("EAS");
  await form.getByLabel("Priority").selectOption("6");
  await form.getByLabel("GPUs per pod").fill("4");
  await form.getByLabel("Command").fill("exec workshop-serve.mjs");
  await form.getByLabel("Environment").fill(`PORT=${port}`);
  await expect(page.getByRole("region", { name: "Preview" })).toContainText("train-wide");
  await page.screenshot({ path: "target/shots/real-jobs-2-cost.png", fullPage: true });
  await form.getByRole("button", { name: /^Submit job/ }).click();
  await expect(pane).toContainText("chat serves", PATIENCE);
  const answer = await (await fetch(`http://127.0.0.1:${port}/?x=4`)).json();
  expect(answer.model).toBe("train-wide");
  await page.screenshot({ path: "target/shots/real-jobs-3-service.png", fullPage: true });

  await open("jobs/train-wide");
  await expect(pane).toContainText("checkpoint at step", PATIENCE);
  await expect(page.getByRole("region", { name: "What was taken from it" })).toContainText("chat");
  expect(processes("train-wide")).toEqual([]);
  await page.screenshot({ path: "target/shots/real-jobs-4-stopped.png", fullPage: true });

  await open("jobs/chat");
  await page.getByRole("button", { name: "Cancel job" }).click();
  await expect(state("Cancelled")).toBeVisible(PATIENCE);
  await open("jobs/train-wide");
  await expect(pane).toContainText(`train-wide goes on from step ${answer.step}:`, { timeout: BACKOFF_MS + PATIENCE.timeout });
  await expect(pane).toContainText(`step ${answer.step + 1} of`, PATIENCE);
  await page.screenshot({ path: "target/shots/real-jobs-5-goes-on.png", fullPage: true });
});
