// What a role does not allow can be seen, cannot be clicked, and says why not.
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

// Before the sign-in nobody knows who looks.
test.use({ expectedErrors: /401/ });

test("a guest reads why they change nothing", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.send({ put_workspace: { workspace: "vision" } });
  await cluster.send({ attach_quota: { workspace: "vision", quota: "Quota1.2" } });
  for (const [user, role] of [["gus", "guest"], ["ann", "developer"]]) {
    await cluster.send({ put_member: { workspace: "vision", user, roles: [role] } });
  }
  const job = { quota: "Quota1.2", workspace: "vision", pods: [{ amount: { gpu: 4000 } }] };
  for (const [name, user] of [["anns-job", "ann"], ["gus-job", "gus"]]) await cluster.send({ submit_job: { job: name, user, ...job } });
  const reason = (action) => new RegExp(`^(gus-job: )?gus may not ${action}; that takes the role .+, and theirs is guest\\.$`, "i");
  const isDenied = async (name, action) => {
    const button = page.getByRole("button", { name, exact: true });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAccessibleDescription(reason(action));
  };

  await page.goto(`/clusters/${cluster.name}`);
  await page.getByRole("textbox", { name: "Key" }).fill(await cluster.keyOf("gus"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("checkbox", { name: "Select gus-job" }).check();
  await isDenied("Cancel 1 selected", "cancel their own job");
  await page.screenshot({ path: "target/shots/guest-jobs.png", fullPage: true });

  await page.getByRole("link", { name: "anns-job" }).click();
  await isDenied("Cancel job", "cancel another member's job");
  await page.screenshot({ path: "target/shots/guest-job.png", fullPage: true });

  await page.getByRole("navigation").getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("main").getByRole("link", { name: "Submit a job" }).click();
  await cluster.fillJob({ name: "new-job", quota: "Quota1.2", module: "DLC", priority: 1, pods: 1, gpus: 1 });
  const submit = page.getByRole("button", { name: "Submit job" });
  await expect(submit).toBeDisabled();
  await expect(submit).toHaveAccessibleDescription("gus may submit jobs only in a workspace; name one of theirs.");
  await page.getByRole("textbox", { name: "Workspace" }).fill("vision");
  await isDenied("Submit job", "submit to a quota of the workspace");
  await page.screenshot({ path: "target/shots/guest-submit.png", fullPage: true });
});
