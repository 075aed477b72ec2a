import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

/** More entries than there are between two snapshots. */
const CHAPTER = 1104;

const row = (page, name) => page.getByRole("table", { name: "Variants side by side" }).getByRole("row", { name }).getByRole("cell");

async function replayed(cluster) {
  const job = { job: "waiting", quota: "Quota1.1", priority: 9, pods: [{ amount: { gpu: 16_000 } }] };
  await cluster.send({ submit_job: job });
}

/** So much happens that the snapshot before is not the newest any more. */
async function live(cluster, chapters) {
  for (let number = 0; number < chapters * CHAPTER; number += 8) {
    const turns = [...Array(8).keys()].map((lane) => ({ set_priority: { job: "waiting", priority: 1 + ((number + lane) % 9) } }));
    await Promise.all(turns.map((command) => cluster.send(command)));
    if ((number + 8) % CHAPTER === 0) await cluster.post("flush");
  }
}

test("what happened is replayed and varied", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await replayed(cluster);
  await cluster.open("planner");
  await page.getByLabel("Begin with").selectOption("What happened");
  await expect(page.getByText(/^What happened in .*: 3 quotas, 0 jobs, \d+ more to come\.$/)).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText("9 commands of the log follow the beginning.")).toBeVisible();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("slider", { name: "Quota1.1, the rest of Quota1.2" }).fill("64000");
  await expect(row(page, /^Jobs better off/)).toHaveText(["–", "1 / 1"]);
  // What has happened cannot be made otherwise.
  await expect(page.getByRole("button", { name: "Apply to the cluster" })).toBeDisabled();
});

test("a moment before the newest snapshots is begun with, and what follows is what really happened", async ({ page, runtime }) => {
  test.slow();
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await replayed(cluster);
  const { revision } = await cluster.read("snapshot");
  await live(cluster, 1);
  // What happens after the moment: others go, and the waiting job starts.
  for (const job of ["training-a", "training-b"]) await cluster.send({ cancel_job: { job } });
  await live(cluster, 1);
  const now = await cluster.read("snapshot");
  const is = (name) => Object.keys(now.jobs.map(([, job]) => job).find((job) => job.spec.id === name).phase)[0];
  expect([is("waiting"), is("training-a")]).toEqual(["running", "ended"]);

  await page.goto(`/clusters/${cluster.name}/planner?from=past&since=r${revision}#key=${runtime.adminKey}`);
  await expect(page.getByRole("spinbutton", { name: "or since revision" })).toHaveValue(String(revision));
  const facts = page.getByText(new RegExp(`^What happened in ${cluster.name}: 3 quotas, \\d+ jobs, ${2 * CHAPTER + 2} more to come\\.$`));
  await expect(facts).toBeVisible({ timeout: 60_000 });
  // Nobody waits at its end, as it was; with a change it is otherwise.
  await expect(row(page, /^Jobs waiting at the end/).first()).toHaveText("0", { timeout: 60_000 });
  await page.getByLabel("Add a change").selectOption("Cancel a job");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("region", { name: "Changes" }).getByLabel("Job").fill("waiting");
  const started = row(page, /^Jobs started/);
  await expect(async () => {
    const [base, variant] = (await started.allTextContents()).map((text) => parseInt(text, 10));
    expect(variant).toBe(base - 1);
  }).toPass({ timeout: 60_000 });

  // The revision is in the address, and so is what one chooses instead.
  await page.getByRole("spinbutton", { name: "or since revision" }).fill(String(revision + 5));
  await page.getByRole("spinbutton", { name: "or since revision" }).press("Enter");
  await expect(page).toHaveURL(new RegExp(`since=r${revision + 5}`));
  await expect(facts).toBeHidden({ timeout: 60_000 });
  await expect(page.getByText(/^What happened in .* more to come\.$/)).toBeVisible();
  await page.goBack();
  await expect(facts).toBeVisible({ timeout: 60_000 });
});

test("the reading of a long log tells how far it is, and can be given up", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await replayed(cluster);
  await cluster.open("planner");
  await expect(page.getByText(/as it is, revision \d+/)).toBeVisible({ timeout: 60_000 });
  let answer;
  await page.route(/entries\?after=\d+&count=/, (route) => (answer = () => route.continue()));
  await page.getByLabel("Begin with").selectOption("What happened");
  await expect(page.getByRole("progressbar", { name: "Reading the log" })).toBeVisible();
  await expect(page.getByText("Reading the log: 0 entries")).toBeVisible();
  await page.getByRole("button", { name: "Stop reading" }).click();
  await expect(page.getByText("The reading of the log has been given up.")).toBeVisible();
  await expect(page.getByRole("progressbar", { name: "Reading the log" })).toBeHidden();
  await answer();
  // What was open is open still.
  await expect(page.getByText(/as it is, revision \d+/)).toBeVisible();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(row(page, /^Jobs finished/).nth(1)).toHaveText(/^\d+/, { timeout: 60_000 });
});

test("a beginning that is refused leaves the choice on what is open, and can be chosen again", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  // Quotas, and no job yet.
  await cluster.loadExample(5);
  await cluster.open("planner");
  const beginning = page.getByLabel("Begin with");
  await expect(page.getByText(/as it is, revision \d+/)).toBeVisible({ timeout: 60_000 });
  for (let turn = 0; turn < 2; turn++) {
    await beginning.selectOption("What happened");
    await expect(page.getByRole("alert")).toContainText("no job has been submitted since");
    await expect(beginning).toHaveValue("live");
    await expect(page.getByText(/as it is, revision \d+/)).toBeVisible();
  }
  await replayed(cluster);
  await beginning.selectOption("What happened");
  await expect(page.getByText(/^What happened in .*: 3 quotas, 0 jobs, \d+ more to come\.$/)).toBeVisible({ timeout: 60_000 });
  await expect(beginning).toHaveValue("past");
  // It is some seconds long by now, and says so.
  await expect(page.getByLabel("Look ahead").getByRole("option", { name: "0 hours" })).toHaveCount(0);
  await expect(page.getByLabel("Look ahead").locator("option:checked")).toHaveText(/^\d+ (s|min|h)/);
});
