// Where jobs really run, the form of a new job asks what it executes.
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("a job is submitted with its command, directory, variables and checkpoint signal", async ({ page, runtime }) => {
  const cluster = await new Cluster(page, runtime).foundMachine(8);
  const key = await cluster.send({ create_key: { key: `${cluster.name}.n1`, user: "n1", serves: ["machines"] } });
  expect(key.events.length).toBeGreaterThan(0);

  await cluster.open("submit");
  const form = page.getByRole("form", { name: "New job" });
  const submit = form.getByRole("button", { name: "Submit job" });
  await cluster.fillJob({ name: "train", quota: "team", module: "DLC", priority: 3, pods: 1, gpus: 8 });
  await expect(form).toContainText("Enter the command that the job executes");
  await expect(submit).toBeDisabled();
  await form.getByLabel("Command").fill("python train.py\necho done");
  await form.getByLabel("Working directory").fill("/data/train");
  await form.getByLabel("Checkpoint signal").selectOption("SIGUSR1");
  await form.getByLabel("Environment").fill("SEED");
  await expect(form).toContainText("“SEED” is not NAME=VALUE, such as SEED=7");
  await expect(submit).toBeDisabled();
  await form.getByLabel("Environment").fill("SEED=7\nWORD=high tide");
  await page.screenshot({ path: "target/shots/submit-command.png", fullPage: true });
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/commands"));
  await submit.click();
  const { command, script } = (await sent).postDataJSON();
  expect(command.submit_job.job).toBe("train");
  expect(script).toEqual({
    format: 1,
    command: ["sh", "-c", "python train.py\necho done"],
    directory: "/data/train",
    environment: { SEED: "7", WORD: "high tide" },
    checkpoint: "SIGUSR1",
  });
  await expect(page.getByRole("heading", { name: "train", exact: true })).toBeVisible();
  await expect(page.getByRole("main")).toContainText("Submitted.");
});

test("where jobs are simulated nothing is asked of that, and nothing is sent", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit");
  await cluster.fillJob({ name: "more", quota: "Quota1.1", module: "DLC", priority: 3, pods: 1, gpus: 8 });
  await expect(page.getByLabel("Command")).toHaveCount(0);
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/commands"));
  await page.getByRole("button", { name: "Submit job" }).click();
  expect((await sent).postDataJSON()).not.toHaveProperty("script");
});
