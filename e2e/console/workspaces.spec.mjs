// An administrator makes a workspace and a lead; the lead sees and does what is theirs, and reads why not the rest.
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test.use({ expectedErrors: /401/ });

test("a lead works in their own workspace", async ({ page, runtime, browser }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("workspaces");
  await page.getByLabel("Workspace's name").fill("vision");
  await page.getByRole("button", { name: "Create workspace" }).click();
  await page.getByRole("link", { name: "vision" }).click();
  await page.getByRole("form", { name: "Attach a quota" }).getByLabel("Quota").selectOption("Quota1.2");
  await page.getByRole("button", { name: "Attach quota" }).click();
  await expect(page.getByRole("button", { name: "Detach Quota1.2" })).toBeVisible();
  for (const [user, role] of [["lead", "administrator"], ["ann", "developer"]]) {
    await page.getByRole("textbox", { name: "User" }).fill(user);
    await page.getByRole("form", { name: "New member" }).getByLabel("Role").selectOption(role);
    await expect(page.getByText("submits jobs, and cancels, resizes and prioritises their own")).toBeVisible();
    await page.getByRole("button", { name: "Add member" }).click();
    await expect(page.getByLabel(`Role of ${user}`)).toHaveValue(role);
  }
  await cluster.send({ submit_job: { job: "anns-job", quota: "Quota1.2", workspace: "vision", user: "ann", pods: [{ amount: { gpu: 4000 } }] } });
  await page.screenshot({ path: "target/shots/workspace.png", fullPage: true });

  await page.goto(`/clusters/${cluster.name}/keys`);
  // What it begins with comes with the page's data.
  await expect(page.getByLabel("Whose it is")).toHaveValue("administrator");
  await page.getByLabel("Whose it is").fill("lead");
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = await page.locator("code.secret").textContent();
  expect(secret).toMatch(new RegExp(`^${cluster.name}\\.[\\w-]+:[0-9a-f]{64}$`));
  await page.screenshot({ path: "target/shots/keys.png", fullPage: true });

  const lead = await (await browser.newContext({ baseURL: runtime.url })).newPage();
  await lead.goto(`/clusters/${cluster.name}`);
  await lead.getByRole("textbox", { name: "Key" }).fill(`${secret}0`);
  await lead.getByRole("button", { name: "Sign in" }).click();
  await expect(lead.getByText("The key or its secret is wrong")).toBeVisible();
  await lead.getByRole("textbox", { name: "Key" }).fill(secret);
  await lead.getByRole("button", { name: "Sign in" }).click();
  await expect(lead.getByRole("treegrid")).toBeVisible();
  await expect(lead.getByText("The key or its secret is wrong")).toHaveCount(0);

  await lead.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
  await expect(lead.getByRole("link", { name: "anns-job" })).toBeVisible();
  await expect(lead.getByText("training-a")).toHaveCount(0);
  await expect(lead.getByText("development-a")).toHaveCount(0);
  await lead.screenshot({ path: "target/shots/lead-jobs.png", fullPage: true });

  await lead.getByRole("navigation").getByRole("link", { name: "Workspaces" }).click();
  await expect(lead.getByText("Signed in as lead.")).toBeVisible();
  await expect(lead.getByRole("link", { name: "workspace-b" })).toHaveCount(0);
  await expect(lead.getByRole("button", { name: "Create workspace" })).toBeDisabled();
  await lead.getByRole("link", { name: "vision" }).click();
  await lead.getByLabel("Role of ann").selectOption("operator");
  await expect(lead.getByText("ann is operator now.")).toBeVisible();
  await expect(page.getByLabel("Whose it is")).toBeVisible();
  const { workspaces } = await cluster.read("snapshot");
  expect(workspaces.vision.members.ann.roles).toEqual(["operator"]);
  await expect(lead.getByRole("button", { name: "Attach quota" })).toBeDisabled();
  await lead.screenshot({ path: "target/shots/lead-workspace.png", fullPage: true });

  await lead.getByRole("link", { name: "Quota1.2" }).click();
  const scale = lead.getByRole("button", { name: "Scale" });
  await expect(scale).toBeDisabled();
  await expect(scale).toHaveAccessibleDescription(
    "lead may not create, scale or delete a quota of the workspace; that takes the role cluster administrator, and theirs is administrator.",
  );
  await lead.screenshot({ path: "target/shots/lead-quota.png", fullPage: true });

  await page.goto(`/clusters/${cluster.name}/audit`);
  const row = page.getByRole("row").filter({ hasText: "ann is operator of workspace vision now" });
  await expect(row.getByRole("cell", { name: "lead", exact: true })).toBeVisible();
  await page.screenshot({ path: "target/shots/audit.png", fullPage: true });

  await lead.getByRole("navigation").getByRole("link", { name: "Workspaces" }).click();
  await lead.getByRole("button", { name: "Sign out" }).click();
  await lead.getByRole("textbox", { name: "Key" }).fill(secret);
  await lead.getByRole("button", { name: "Sign in" }).click();
  await expect(lead.getByText("Signed in as lead.")).toBeVisible();

  const [key] = secret.split(":");
  await page.goto(`/clusters/${cluster.name}/keys`);
  await page.getByRole("button", { name: `Revoke ${key}` }).click();
  await page.getByRole("dialog", { name: `Revoke ${key}?` }).getByRole("button", { name: `Revoke ${key}` }).click();
  await expect(lead.getByRole("heading", { name: "Sign in" })).toBeVisible();
});
