// The machines: found, looked at, and taken out of service; each action asks first and says what it costs.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Agent } from "./agent.mjs";
import { Cluster } from "./cluster.mjs";

const gpus = (count) => ({ gpu: count * 1000 });
const dialog = (page) => page.getByRole("dialog");
const table = (page) => page.getByRole("region", { name: "Nodes", exact: true });
const card = (page, node) => page.getByRole("region", { name: node, exact: true });
const names = async (page) => (await table(page).getByRole("link").allTextContents()).sort();
const nodeOf = async (cluster, name) => (await cluster.read("snapshot")).nodes.find(({ id }) => id === name);
const phases = async (cluster) => Object.fromEntries((await cluster.read("snapshot")).jobs.map(([, { spec, phase }]) => [spec.id, typeof phase === "string" ? phase : Object.keys(phase)[0]]));

/** Three nodes of two groups, and two jobs: `wide` on n1 and n2, `small` on n1. */
async function machines(page, runtime, execution = "simulated") {
  const cluster = new Cluster(page, runtime);
  await cluster.send({ create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution } });
  for (const group of ["machines", "old"]) await cluster.send({ put_group: { group, resource_type: "lingjun" } });
  for (const node of ["n1", "n2"]) await cluster.send({ put_node: { node, group: "machines", node_type: "hgx", gpu_type: "H100", amount: gpus(8) } });
  await cluster.send({ put_node: { node: "n10", group: "old", amount: gpus(4) } });
  await cluster.send({ create_quota: { quota: "team", groups: ["machines", "old"], min: gpus(20) } });
  await cluster.send({ put_workspace: { workspace: "vision" } });
  await cluster.send({ attach_quota: { workspace: "vision", quota: "team" } });
  const script = execution === "reported" ? { script: { format: 1, command: ["sleep", "60"] } } : {};
  const submit = (job, pods, more = {}) => cluster.send({ submit_job: { job, quota: "team", pods, ...more } }, job, script);
  await submit("wide", [{ count: 2, amount: gpus(5) }], { fault_tolerance: {} });
  await submit("small", [{ amount: gpus(2) }], { workspace: "vision", user: "ann" });
  return cluster;
}

/** The question of a button: what it says, that it can be left without an effect, and its effect. */
async function asks(page, node, button, { says, unchanged, confirm, title }) {
  const open = () => card(page, node).getByRole("button", { name: button, exact: true }).click();
  await open();
  await expect(dialog(page)).toHaveAccessibleName(title ?? `${button} ${node}?`);
  for (const text of says) await expect(dialog(page)).toContainText(text);
  await page.screenshot({ path: `target/shots/nodes-${button.replace(" ", "-").toLowerCase()}.png` });
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect(await unchanged()).toBeTruthy();
  await open();
  await dialog(page).getByRole("button", { name: confirm ?? button }).click();
  await expect(dialog(page)).toHaveCount(0);
}

test("nodes are found by name, group and state, and one says who holds what", async ({ page, runtime }) => {
  const cluster = await machines(page, runtime);
  await cluster.send({ put_node: { node: "n10", group: "old", amount: gpus(4), status: "cordoned" } });
  await cluster.open();
  await page.getByRole("navigation").getByRole("link", { name: "Nodes" }).click();
  await expect(page.getByText("3 nodes, 4 GPUs free")).toBeVisible();
  const simulated = page.getByRole("link", { name: "simulated" });
  await expect(simulated).toHaveAccessibleDescription("Jobs are pretended here: nothing runs. Connect your machines.");
  await expect(simulated).toHaveAttribute("href", "/docs/own-machines.html");
  await page.getByLabel("Name or type").fill("h100");
  await expect(page.getByText("2 of 3 nodes")).toBeVisible();
  expect(await names(page)).toEqual(["n1", "n2"]);
  await page.getByLabel("Name or type").fill("");
  await page.getByLabel("State").selectOption("Cordoned");
  await expect(page.getByText("1 of 3 nodes")).toBeVisible();
  expect(await names(page)).toEqual(["n10"]);
  await page.getByLabel("State").selectOption("Any state");
  await page.getByLabel("Group").selectOption("machines");
  await page.getByLabel("Order").selectOption("Most free first");
  await expect(table(page).getByRole("link").first()).toHaveText("n2");
  await expect(table(page).getByRole("img", { name: "7 of 8 GPUs used" })).toBeVisible();

  await table(page).getByRole("link", { name: "n1", exact: true }).click();
  await expect(page).toHaveURL(/group=machines&sort=free&node=n1/);
  await expect(card(page, "n1").getByRole("heading", { name: "n1" })).toBeFocused();
  await expect(card(page, "n1")).toContainText("1 of 8 GPUs free");
  await expect(card(page, "n1").getByRole("row", { name: "wide In quota 5 GPUs" })).toBeVisible();
  await page.goBack();
  await expect(card(page, "n1")).toHaveCount(0);
  await page.goForward();
  await card(page, "n1").getByRole("link", { name: "small" }).click();
  await expect(page.getByRole("heading", { name: "small" })).toBeVisible();
  await expect(page.getByText("n1 (GPU 5, 6)")).toBeVisible();
});

test("cordoning, uncordoning and draining ask, say what they cost, and do that", async ({ page, runtime }) => {
  const cluster = await machines(page, runtime);
  await cluster.open("nodes?node=n1");
  const status = async () => (await nodeOf(cluster, "n1")).status;
  await asks(page, "n1", "Cordon", {
    says: ["No new pods start on n1.", "Free there, and idle from now on: 1 of 8 GPUs.", "2 jobs go on there."],
    unchanged: async () => (await status()) === "ready",
  });
  await expect(page.getByText("n1 is cordoned.")).toBeVisible();
  await expect(card(page, "n1")).toContainText("Draining");
  expect(await status()).toBe("cordoned");
  expect(await phases(cluster)).toEqual({ small: "running", wide: "running" });

  await cluster.send({ submit_job: { job: "next", quota: "team", pods: [4, 3, 1].map((count) => ({ amount: gpus(count) })) } });
  await expect.poll(() => phases(cluster)).toMatchObject({ next: "queued" });
  await asks(page, "n1", "Uncordon", {
    says: ["New pods may start on n1: 1 of 8 GPUs free.", "next started on 8 GPUs"],
    unchanged: async () => (await status()) === "cordoned",
  });
  await expect(page.getByText("New pods may start on n1 again.")).toBeVisible();
  expect(await status()).toBe("ready");
  await expect.poll(() => phases(cluster)).toMatchObject({ next: "running" });
  await cluster.send({ cancel_job: { job: "next" } });

  await expect(card(page, "n1").getByRole("row")).toHaveCount(3);
  await asks(page, "n1", "Drain", {
    says: ["Its 2 jobs are cancelled: a running job is not moved to another node.", "To let them finish, cordon the node instead.", "Unsaved work lost:"],
    unchanged: async () => (await status()) === "ready",
    confirm: /^Drain and end 2 jobs, lose .*GPU-hours$/,
  });
  await expect(page.getByText("n1 is cordoned, and its jobs are cancelled.")).toBeVisible();
  await expect(card(page, "n1")).toContainText("Nothing runs there.");
  expect(await phases(cluster)).toMatchObject({ small: "ended", wide: "ended" });
  expect(await status()).toBe("cordoned");
});

test.describe("a deletion that is refused first", () => {
  test.use({ expectedErrors: /422/ });

  test("a node goes once nothing is guaranteed by it, and somebody has agreed to what is left", async ({ page, runtime }) => {
    const cluster = await machines(page, runtime);
    for (const job of ["small", "wide"]) await cluster.send({ cancel_job: { job } });
    await cluster.open("nodes?node=n1");
    await card(page, "n1").getByRole("button", { name: "Delete" }).click();
    await expect(page.getByText(/team would need 20 GPUs/i)).toBeVisible();
    expect((await nodeOf(cluster, "n1")).is_deleted).toBeFalsy();
    await cluster.send({ scale_quotas: { targets: [{ quota: "team", min: gpus(12) }] } });
    // Opened anew, since the message may cover the button.
    await cluster.open("nodes?node=n1");
    await asks(page, "n1", "Delete", {
      says: ["Group machines has 8 GPUs less: 8 are left."],
      unchanged: async () => !(await nodeOf(cluster, "n1")).is_deleted,
    });
    await expect(page.getByText("n1 was deleted.")).toBeVisible();
    await expect(card(page, "n1")).toHaveCount(0);
    expect(await names(page)).toEqual(["n10", "n2"]);
    expect(await nodeOf(cluster, "n1")).toMatchObject({ is_deleted: true });
  });
});

test("a node whose agent says why nothing can begin there shows that, and is declared dead", async ({ page, runtime }) => {
  const cluster = await machines(page, runtime, "reported");
  const agent = await Agent.join(cluster, "west", ["machines"]);
  await agent.sync({ n1: 8, n2: 8 }, { n2: "the driver shows no GPU" });
  await Agent.join(cluster, "new", ["old"]);
  await cluster.open("nodes?node=n2");
  await expect(page.getByRole("link", { name: "simulated" })).toHaveCount(0);
  await expect(card(page, "n2")).toContainText("Agent west says that nothing can begin here: the driver shows no GPU.");
  await expect(card(page, "n2")).toContainText("Draining");
  const agents = page.getByRole("region", { name: "Agents" });
  await expect(agents.getByRole("row", { name: /^west \d+ s ago machines n1, n2$/ })).toBeVisible();
  await expect(agents.getByRole("row", { name: /^new .* old$/ })).toBeVisible();
  await card(page, "n2").getByRole("button", { name: "Uncordon" }).click();
  await expect(dialog(page)).toContainText("Until then it is cordoned again at once.");
  await dialog(page).getByRole("button", { name: "Cancel" }).click();

  await cluster.send({ node_silent: { node: "n1", since: Date.now() - 240_000 } });
  await table(page).getByRole("link", { name: "n1", exact: true }).click();
  await expect(card(page, "n1")).toContainText("n1 has not been heard for 4 min; 2 GPUs of job small are kept.");
  await expect(card(page, "n1")).toContainText("n1 has not been heard for 4 min; 5 GPUs of job wide are kept.");
  for (const [width, colorScheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)).toEqual([]);
    await page.screenshot({ path: `target/shots/nodes-${width}-${colorScheme}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await asks(page, "n1", "Declare dead", {
    says: ["Only for a machine that is switched off or gone", "2 jobs lose their runs there.", "small", "wide"],
    unchanged: async () => (await nodeOf(cluster, "n1")).status === "ready",
    confirm: /^Declare dead/,
    title: "Declare n1 dead?",
  });
  await expect(page.getByText("n1 was declared dead.")).toBeVisible();
  await expect(card(page, "n1").getByText("Dead", { exact: true })).toBeVisible();
  expect((await nodeOf(cluster, "n1")).status).toBe("dead");
  await expect(card(page, "n1").getByRole("row", { name: /^small/ })).toHaveCount(0);
  expect(await phases(cluster)).toMatchObject({ wide: "stopping" });
});

test.describe("who does not administer the cluster", () => {
  // Before the sign-in nobody knows who looks.
  test.use({ expectedErrors: /401/ });

  test("sees the machines and why nothing can be done to them, and others' jobs without their names", async ({ page, runtime }) => {
    const cluster = await machines(page, runtime);
    await cluster.send({ put_member: { workspace: "vision", user: "ann", roles: ["developer"] } });
    await page.goto(`/clusters/${cluster.name}/nodes?node=n1`);
    await page.getByRole("textbox", { name: "Key" }).fill(await cluster.keyOf("ann"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(card(page, "n1").getByRole("row", { name: "small In quota 2 GPUs" })).toBeVisible();
    await expect(card(page, "n1").getByRole("row", { name: "a job of another workspace In quota 5 GPUs" })).toBeVisible();
    await expect(page.getByText("wide")).toHaveCount(0);
    for (const name of ["Cordon", "Drain"]) {
      const button = card(page, "n1").getByRole("button", { name, exact: true });
      await expect(button).toBeDisabled();
      await expect(button).toHaveAccessibleDescription(/^ann may not .+/);
    }
  });
});
