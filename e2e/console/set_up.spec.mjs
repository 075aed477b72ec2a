// An empty cluster is set up step by step, by somebody who has read nothing: machines, quotas, policies, people and keys.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const step = (page, title) => page.getByRole("region", { name: new RegExp(`^\\d\\. ${title}`) });
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

/** The page in both sizes; nothing sticks out of it. */
async function shoot(page, name) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    await page.screenshot({ path: `target/shots/${name}-${size}.png`, fullPage: true });
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(content, `${name} at ${viewport.width} px`).toBeLessThanOrEqual(window);
  }
  await page.setViewportSize(SIZES.desk);
}

test.describe("a cluster that nobody has made", () => {
  // It is not there until the first step has made it.
  test.use({ expectedErrors: /404|WebSocket/ });

  test("is set up in four steps, each also as a command and a file", async ({ page, runtime, browser }) => {
    test.slow();
    const cluster = new Cluster(page, runtime);
    await page.setViewportSize(SIZES.desk);
    await cluster.open();
    await expect(page.getByRole("button", { name: "Load the three-team example" })).toBeVisible();
    await shoot(page, "set-up-empty");
    await page.getByRole("link", { name: "Set up this cluster" }).click();
    await expect(page.getByText("0 of 4 steps done.")).toBeVisible();
    await expect(step(page, "Quotas").getByRole("button", { name: "Make quotas" })).toBeDisabled();

    const machines = step(page, "Machines");
    await machines.getByLabel("GPUs of each").fill("none");
    await expect(machines.getByText("GPUs of each: “none” is not a number from 1 to 64")).toBeVisible();
    await expect(machines.getByRole("button", { name: "Add machines" })).toBeDisabled();
    await machines.getByLabel("GPUs of each").fill("8");
    await machines.getByText("The same from a shell").click();
    await expect(machines.getByText(`tidegate login ${runtime.url}/clusters/${cluster.name}\ntidegate apply machines.toml`)).toBeVisible();
    await expect(machines.locator(".file")).toContainText('[cluster]\ndimensions = [{ name = "gpu", kind = "gpu" }]\nexecution = "reported"');
    await expect(step(page, "Policies").getByText("It is so already.")).toHaveCount(0);
    await expect(machines.locator(".file")).toContainText('node = "n8"\ngroup = "machines"\namount = { gpu = 8 }');
    await machines.getByRole("button", { name: "Add machines" }).click();
    await expect(machines.getByRole("heading")).toContainText("done");
    await expect(machines.getByText(`tidegate agent join ${runtime.url} --cluster ${cluster.name} --name n1 --groups machines`)).toBeVisible();

    const quotas = step(page, "Quotas");
    await expect(quotas.getByLabel("Teams")).toHaveValue("team-a 32\nteam-b 32");
    await quotas.getByLabel("Teams").fill("vision 50\nlanguage 24");
    await expect(quotas.getByText("The teams have 74 GPUs, and all machines 64: give less")).toBeVisible();
    await quotas.getByLabel("Teams").fill("vision 40\nlanguage 24");
    await quotas.getByRole("button", { name: "Make quotas" }).click();
    await expect(quotas.getByRole("heading")).toContainText("done");
    await expect(quotas.getByText("It is so already.")).toBeVisible();

    const policies = step(page, "Policies");
    await policies.getByLabel(/^Training of priority 1 to 3/).check();
    await policies.getByRole("button", { name: "Save policies" }).click();
    await expect(policies.getByRole("heading")).toContainText("done");

    const people = step(page, "People and keys");
    for (const role of ["guest", "developer", "operator", "administrator", "owner"]) {
      await expect(people.getByRole("term").filter({ hasText: new RegExp(`^${role}$`) })).toBeVisible();
    }
    await people.getByLabel("User").fill("ann");
    await people.getByLabel("Team").selectOption("vision");
    await people.getByRole("button", { name: "Add, and make a key" }).click();
    const secret = people.locator(".secret");
    await expect(secret).toContainText(`${cluster.name}.ann`);
    const key = await secret.textContent();
    await people.getByLabel("User").fill("bob");
    await people.getByLabel("Team").selectOption("language");
    await people.getByRole("button", { name: "Add, and make a key" }).click();
    await expect(secret).toContainText(`${cluster.name}.bob`);
    await expect(page.getByText("4 of 4 steps done.")).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`)).toEqual([]);
    await shoot(page, "set-up-done");

    const made = await cluster.read("snapshot");
    expect(made.cluster.execution).toBe("reported");
    expect(made.nodes.map(({ id }) => id)).toEqual(["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"]);
    expect(made.quotas.map(({ id }) => id)).toEqual(["all", "vision", "language"]);
    expect(made.quotas[1].settings.self_level).toMatchObject({ high: [7, 8, 9], low: [1, 2, 3], scope: "own" });
    expect(Object.keys(made.workspaces.language.members)).toEqual(["bob"]);

    // The lead logs in with the key, and submits without being told anything else.
    const theirs = await (await browser.newContext({ baseURL: runtime.url })).newPage();
    await theirs.goto(`/clusters/${cluster.name}`);
    await theirs.getByRole("textbox", { name: "Key" }).fill(key);
    await theirs.getByRole("button", { name: "Sign in" }).click();
    await expect(theirs.getByRole("treegrid", { name: "Quotas" }).getByText("vision")).toBeVisible();
    await theirs.context().close();
  });
});

test("what somebody has begun is set up further, and no example is loaded into it", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.send({ create_cluster: { dimensions: [{ name: "gpu", kind: "gpu" }], execution: "reported" } });
  await cluster.send({ put_group: { group: "machines", resource_type: "lingjun" } });
  await cluster.send({ put_node: { node: "n1", group: "machines", amount: { gpu: 4_000 } } });
  await cluster.open();
  await expect(page.getByRole("link", { name: "Set up this cluster" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Load the three-team example" })).toHaveCount(0);
  await page.getByRole("link", { name: "Set up this cluster" }).click();
  await step(page, "Machines").getByLabel("Machines", { exact: true }).fill("2");
  await step(page, "Machines").getByRole("button", { name: "Add machines" }).click();
  await expect(step(page, "Quotas").getByLabel("Teams")).toHaveValue("team-a 6\nteam-b 6");
  const { nodes } = await cluster.read("snapshot");
  expect(nodes.map(({ id, amount }) => [id, amount[0]])).toEqual([["n1", 4_000], ["n2", 8_000]]);
});
