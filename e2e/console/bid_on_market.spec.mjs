import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const PROTECTION_MS = 4_000;
const NETWORK = { VPC: "vpc-1", vSwitch: "vsw-1", "Security group": "sg-1" };

/** A cluster with one offer of 4 instances of 8 GPUs at 30 % of the original price. */
async function withOffer(page, runtime, resourceType) {
  const cluster = new Cluster(page, runtime);
  await cluster.declare();
  const terms = { original_price: 1_000_000, protection_ms: PROTECTION_MS, window_ms: 2_000, grace_period_ms: 0 };
  const offer = { offer: "gn8", resource_type: resourceType, instance: { gpu: 8_000 }, inventory: 4, price: 300_000, terms };
  await cluster.send({ create_offer: offer });
  return cluster;
}

function publish(cluster, price) {
  return cluster.send({ publish_price: { offer: "gn8", price } });
}

/** Lets minutes pass until the page says so. */
async function ticksUntil(cluster, seen) {
  await expect(async () => {
    await cluster.minutePasses();
    await expect(seen).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 60_000 });
}

/** What is at a label of the page's lists of facts. */
function fact(page, label) {
  return page.locator("dl.facts > div").filter({ has: page.locator("dt", { hasText: new RegExp(`^${label}$`) }) }).locator("dd");
}

function state(page, words) {
  return page.locator(".page-head").getByText(words, { exact: true });
}

test("a job on Lingjun is granted, released after its protection, bids again and resumes", async ({ page, runtime }) => {
  test.slow();
  const cluster = await withOffer(page, runtime, "lingjun");
  await cluster.open("submit");
  const form = page.getByRole("form", { name: "New job" });
  await form.getByLabel("Job name").fill("train");
  await form.getByLabel("Runs on").selectOption("gn8");
  await form.getByLabel("Bid", { exact: true }).selectOption("20");
  for (const [label, name] of Object.entries(NETWORK)) await form.getByLabel(label).fill(name);
  await form.getByLabel("Pods", { exact: true }).fill("4");
  await form.getByLabel("Duration").fill("2h");
  await form.getByLabel("Checkpoint every").fill("1s");
  await form.getByLabel("Automatic fault tolerance").check();
  await expect(cluster.preview()).toContainText("Waits");
  await expect(cluster.preview()).toContainText("10 points short");
  await form.getByLabel("Bid", { exact: true }).selectOption("40");
  await expect(cluster.preview()).toContainText("Starts at once");
  await expect(cluster.preview()).toContainText(/The price was at most 40 % in (\d) of the \1 hours? known\./);
  // Before it can be granted, so that its protection ends later than this says, however slow the page is.
  const started = Date.now();
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(state(page, "Spot")).toBeVisible();

  await publish(cluster, 600_000);
  await cluster.minutePasses();
  await expect(fact(page, "Price now")).toContainText("60 %");
  await expect(state(page, "Spot")).toBeVisible();
  await ticksUntil(cluster, state(page, "Bidding"));
  expect(Date.now() - started).toBeGreaterThanOrEqual(PROTECTION_MS);
  await expect(page.getByRole("region", { name: "What was taken from it" })).toContainText(/because its bid of 40 % is below the average price of gn8/);
  await expect(page.getByRole("region", { name: "Why it waits" })).toContainText("20 points short");
  await expect(page.getByRole("region", { name: "Restarts" })).toContainText(/Stopped 1 time: .* GPU-hours kept by checkpoints/);

  await publish(cluster, 200_000);
  await ticksUntil(cluster, state(page, "Spot"));
  const story = await page.getByRole("list", { name: "Timeline" }).getByRole("listitem").allTextContents();
  expect(story.reverse().map((line) => /Submitted|Started|Released|Queued again/.exec(line)?.[0])).toEqual(["Submitted", "Started", "Released", "Queued again", "Started"]);
  const { jobs } = await cluster.read("snapshot");
  const [, { progress }] = jobs.find(([, job]) => job.spec.id === "train");
  expect(progress.saved_ms).toBeGreaterThan(0);

  // Two grants, each at its market price, 4 instances: what the page says is what the bill says.
  await cluster.send({ cancel_job: { job: "train" } });
  await expect(state(page, "Cancelled")).toBeVisible();
  const cost = await fact(page, "Cost").textContent();
  const { lines, total } = await cluster.read("bills?by=job");
  expect(lines).toHaveLength(1);
  expect(total.micros % 400_000).toBe(0);
  expect(total.micros).toBeGreaterThanOrEqual(4 * (300_000 + 200_000));
  expect(cost).toBe(`${total.micros / 1_000_000} for ${total.minutes} minutes`);
  await cluster.open("bills?by=job");
  await expect(page.getByRole("row", { name: /train/ })).toContainText(String(total.micros / 1_000_000));
  const exporting = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as CSV" }).click();
  expect((await exporting).suggestedFilename()).toBe("bills-by-job.csv");
});

test("a job on general computing fails when it is released, and says why", async ({ page, runtime }) => {
  test.slow();
  const cluster = await withOffer(page, runtime, "general");
  await cluster.open("submit");
  const form = page.getByRole("form", { name: "New job" });
  await form.getByLabel("Job name").fill("debug");
  await form.getByLabel("Runs on").selectOption("gn8");
  await form.getByLabel("Price limit").fill("cheap");
  await expect(form.getByLabel("Price limit")).toHaveAccessibleDescription(/no price/);
  await form.getByLabel("Price limit").fill("0.4");
  await expect(cluster.preview()).toContainText("Starts at once");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(state(page, "Spot")).toBeVisible();

  await publish(cluster, 500_000);
  await ticksUntil(cluster, state(page, "Preempted"));
  await expect(page.getByRole("region", { name: "What was taken from it" })).toContainText(/its bid of 0\.4 is below the price of gn8, which is 0\.5/);
});

test("in an auction the bids make the price, and who bids more takes the instance", async ({ page, runtime }) => {
  test.slow();
  const cluster = new Cluster(page, runtime);
  await cluster.declare();
  const terms = { original_price: 1_000_000, protection_ms: 0, window_ms: 60_000, grace_period_ms: 0, price_source: "auction" };
  await cluster.send({ create_offer: { offer: "gn8", resource_type: "lingjun", instance: { gpu: 8_000 }, inventory: 1, terms } });
  const network = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };
  await cluster.send({ submit_job: { job: "low", spot: { offer: "gn8", discount_percent: 20, network }, pods: [{ amount: {} }] } });

  // Two rounds bring the price from a tenth to the one winning bid, five points each.
  await cluster.open("market");
  const price = page.getByRole("region", { name: "Price", exact: true });
  await expect(price.getByRole("img", { name: "costs 0.1 (10 %)" })).toBeVisible();
  for (const words of ["costs 0.15 (15 %)", "costs 0.2 (20 %)"]) {
    await cluster.minutePasses();
    await expect(price.getByRole("img", { name: words })).toBeVisible();
  }

  await cluster.open("submit");
  const form = page.getByRole("form", { name: "New job" });
  await form.getByLabel("Job name").fill("high");
  await form.getByLabel("Runs on").selectOption("gn8");
  await form.getByLabel("Bid", { exact: true }).selectOption("20");
  for (const [label, name] of Object.entries(NETWORK)) await form.getByLabel(label).fill(name);
  await expect(cluster.preview()).toContainText("Waits");
  await form.getByLabel("Bid", { exact: true }).selectOption("40");
  await expect(cluster.preview()).toContainText("Nothing has to change: the next round starts it.");
  await page.getByRole("button", { name: "Submit job" }).click();
  await expect(state(page, "Bidding")).toBeVisible();
  await ticksUntil(cluster, state(page, "Spot"));

  await cluster.open("jobs/low");
  await expect(state(page, "Preempted")).toBeVisible();
  await expect(page.getByRole("region", { name: "What was taken from it" })).toContainText("because high bids 40 % of the original price for gn8 and it bids 20 %");
  await cluster.open("market");
  await expect(price.getByRole("cell", { name: "0.25" })).toBeVisible();
  const inventory = page.getByRole("region", { name: "Inventory", exact: true });
  await expect(inventory.getByRole("columnheader", { name: "Held by jobs" })).toBeVisible();
  await expect(inventory.locator("svg polyline[stroke='#000007']")).toBeAttached();
});

test.describe("a wrong bid", () => {
  // The last answer of this test is a refusal.
  test.use({ expectedErrors: /422/ });

  test("what an offer does not take is named while it is typed, and nothing is stored", async ({ page, runtime }) => {
    const cluster = await withOffer(page, runtime, "general");
    const terms = { original_price: 1_000_000 };
    await cluster.send({ create_offer: { offer: "gn9", resource_type: "lingjun", instance: { gpu: 8_000 }, inventory: 4, price: 300_000, terms } });
    const { revision } = await cluster.read("snapshot");
    await cluster.open("submit");
    const form = page.getByRole("form", { name: "New job" });
    await form.getByLabel("Job name").fill("wrong");
    await form.getByLabel("Runs on").selectOption("gn8");
    await form.getByLabel("Price limit").fill("-1");
    await expect(form.getByLabel("Price limit")).toHaveAccessibleDescription(/no price/);
    await form.getByLabel("Price limit").fill("5");
    await expect(cluster.preview()).toContainText("Would be refused");
    await expect(cluster.preview()).toContainText("it bids a price of 5, and the market asks 0.1 to 1; bid inside of that");
    await form.getByLabel("Price limit").fill("0.4");
    await form.getByLabel("Framework").selectOption("MPI");
    await expect(cluster.preview()).toContainText("spot instances of general computing run PyTorch only");
    await form.getByLabel("Framework").selectOption("PyTorch");
    await form.getByLabel("Automatic fault tolerance").check();
    await expect(cluster.preview()).toContainText("which general computing does not support; switch it off");
    await form.getByLabel("Runs on").selectOption("gn9");
    await expect(cluster.preview()).toContainText("its network lacks a VPC, a vSwitch, a security group; Lingjun needs all three");
    await page.getByRole("button", { name: "Submit job" }).click();
    await expect(page.getByText("its network lacks a VPC, a vSwitch, a security group; Lingjun needs all three").first()).toBeVisible();
    expect((await cluster.read("snapshot")).revision).toBe(revision);
  });
});

test("the market shows price, average, bids and inventory, drawn and as tables", async ({ page, runtime }) => {
  const cluster = await withOffer(page, runtime, "lingjun");
  await publish(cluster, 500_000);
  await cluster.send({ set_inventory: { offer: "gn8", inventory: 6 } });
  const network = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };
  const spot = { offer: "gn8", discount_percent: 30, network };
  await cluster.send({ submit_job: { job: "low", spot, pods: [{ amount: {} }] } });
  await cluster.open("market");

  const price = page.getByRole("region", { name: "Price", exact: true });
  await expect(price.getByRole("img", { name: "costs 0.5 (50 %)" })).toBeVisible();
  await expect(price.locator("svg polyline[stroke='#000003']")).toBeAttached();
  await expect(price.locator("svg polyline[stroke='#000005']").first()).toBeAttached();
  await expect(price.getByRole("table").getByRole("row")).toHaveCount(3);
  const inventory = page.getByRole("region", { name: "Inventory", exact: true });
  await expect(inventory.locator("svg polyline[stroke='#000006']")).toBeAttached();
  await expect(inventory.getByRole("cell", { name: "6", exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Bids" })).toContainText("0.3 (30 %)");

  // The charts are loaded when they are to be seen, not before.
  const loaded = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto("about:blank");
  await cluster.open("jobs");
  await expect(page.getByRole("link", { name: "low" })).toBeVisible();
  expect(loaded.filter((path) => path.includes("charts"))).toEqual([]);
  await page.getByRole("link", { name: "Market" }).click();
  await expect(price.locator("svg")).toBeAttached();
  expect(loaded).toContain("/app/charts_bg.wasm");
});

test("an answer that comes late does not replace a newer one", async ({ page, runtime }) => {
  const cluster = await withOffer(page, runtime, "lingjun");
  const price = page.getByRole("region", { name: "Price", exact: true });
  // The first answer is held back until the second has been shown.
  let release;
  const held = new Promise((resolve) => (release = resolve));
  let n_asked = 0;
  await page.route("**/offers/gn8/history?*", async (route) => {
    n_asked += 1;
    const isFirst = n_asked === 1;
    const response = await route.fetch();
    if (isFirst) await held;
    await route.fulfill({ response });
  });
  await cluster.open("market");
  await expect(page.getByText("live")).toBeVisible();
  await expect.poll(() => n_asked).toBe(1);
  await publish(cluster, 500_000);
  const prices = price.getByRole("table").getByRole("row");
  await expect(prices).toHaveCount(3);
  const late = page.waitForResponse("**/offers/gn8/history?*");
  release();
  await (await late).finished();
  await expect(page.getByRole("img", { name: "costs 0.5 (50 %)" })).toBeVisible();
  await expect(prices).toHaveCount(3);
});
