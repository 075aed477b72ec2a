// What a job prints, on its page: while it runs on this computer, and when it has ended.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { PROGRAM, buildProgram } from "../processes.mjs";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";


test.beforeAll(() => {
  buildProgram();
});

/** A cluster whose one node is this computer, and its agent. */
async function machine(page, runtime, folder) {
  const cluster = await new Cluster(page, runtime).foundMachine(2);
  const state = join(folder, "agent");
  const env = { ...process.env, TIDEGATE_TOKEN: runtime.adminKey };
  execFileSync(PROGRAM, ["agent", "join", runtime.url, "--cluster", cluster.name, "--name", "one", "--groups", "machines", "--state", state], { env });
  const words = ["agent", "run", "--attached", "--stop-jobs", "--state", state, "--node", "n1=2"];
  if (process.getuid() === 0) words.push("--allow-root");
  const agent = spawn(PROGRAM, words, { stdio: ["pipe", "ignore", "ignore"] });
  return { cluster, agent };
}

test("what a job prints is followed on its page, searched, saved, and complete at its end", async ({ page, runtime }) => {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-log-"));
  const { cluster, agent } = await machine(page, runtime, folder);
  const ended = new Promise((done) => agent.once("exit", done));
  try {
    const until = (name) => `until [ -e ${join(folder, name)} ]; do sleep 0.1; done`;
    const script = `echo step 1\n${until("two")}\nfor i in $(seq 2 200); do echo step $i; done\n${until("end")}\necho the last line`;
    const submit_job = { job: "train", quota: "team", pods: [{ amount: { gpu: 1_000 } }] };
    await cluster.send({ submit_job }, "train", { script: { format: 1, command: ["sh", "-c", script] } });
    await cluster.open("jobs/train");
    const log = page.getByRole("region", { name: "Log" });
    const pane = log.locator("pre");
    await expect(pane).toHaveText(/^step 1\n$/);
    await expect(page.getByRole("region", { name: "What it asks for" })).toContainText("Runs onn1 (GPU 0)");

    writeFileSync(join(folder, "two"), "");
    await expect(pane).toContainText("step 200");
    await expect.poll(() => pane.evaluate(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - clientHeight - scrollTop)).toBeLessThan(2);
    await page.screenshot({ path: "target/shots/job-log.png", fullPage: true });
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await log.getByLabel("Only lines with").fill("STEP 19");
    await expect(pane).toHaveText(/^step 19\nstep 190\n[^]*step 199\n$/);

    await log.getByLabel("Only lines with").fill("");
    writeFileSync(join(folder, "end"), "");
    await expect(pane).toContainText("the last line");
    await expect(page.getByRole("main")).toContainText("Succeeded");
    const saving = page.waitForEvent("download");
    await log.getByRole("button", { name: "Download" }).click();
    const saved = readFileSync(await (await saving).path(), "utf8");
    expect(saved).toBe(`${Array.from({ length: 200 }, (_, at) => `step ${at + 1}\n`).join("")}the last line\n`);

    await page.reload();
    await expect(pane).toContainText("the last line");
  } finally {
    agent.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a cluster whose jobs are simulated shows no log", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("jobs/training-a");
  await expect(page.getByRole("heading", { name: "What has happened" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Log" })).toHaveCount(0);
});
