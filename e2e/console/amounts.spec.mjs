// A field for an amount that is empty, or has something else in it, says so and is not sent: nothing typed is not 0.
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const guaranteed = async (cluster) => (await cluster.read("snapshot")).quotas.map(({ id, min }) => [id, min.amount[0]]);
const AMOUNTS = [["Quota1", 128_000], ["Quota1.1", 48_000], ["Quota1.2", 80_000]];

async function isAskedFor(page, field, text, says, button) {
  await field.fill(text);
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(says);
  await expect(button).toBeDisabled();
  await field.press("Enter");
}

test("an emptied guarantee gives nothing away; a 0 says what it gives", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("quotas/Quota1.1");
  const form = page.getByRole("region", { name: "Scale" });
  const field = form.getByLabel("Guaranteed GPUs");
  const scale = form.getByRole("button", { name: "Scale" });
  await form.getByLabel("The difference goes to, or comes from").selectOption("Quota1.2");
  const asked = "Enter the GPUs that Quota1.1 is guaranteed; 0 gives all of them away";
  for (const [text, says] of [["", asked], ["  ", asked], ["many", /“many” is not an amount/], ["-8", /“-8” is not an amount/]]) {
    await isAskedFor(page, field, text, says, scale);
  }
  await page.screenshot({ path: "target/shots/amount-empty.png", fullPage: true });
  expect(await guaranteed(cluster)).toEqual(AMOUNTS);

  await field.fill("0");
  await expect(field).not.toHaveAttribute("aria-invalid");
  await expect(cluster.preview()).toContainText("Quota1.1 gives all of its 48 GPUs to Quota1.2 and keeps none.");
  await expect(scale).toBeEnabled();
  await page.screenshot({ path: "target/shots/amount-zero.png", fullPage: true });
});

test("a job with an emptied field is not submitted", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  const terms = { original_price: 1_000_000 };
  await cluster.send({ create_offer: { offer: "g7", resource_type: "general", instance: { gpu: 1000 }, inventory: 4, price: 300_000, terms } });
  await cluster.open("submit?quota=Quota1.1");
  const submit = page.getByRole("button", { name: "Submit job" });
  await expect(submit).toBeEnabled();
  for (const [label, says, good] of [
    ["GPUs per pod", "Enter the GPUs that each pod needs; 0 for none", "8"],
    ["Pods", "Enter the number of pods", "1"],
  ]) {
    const field = page.getByLabel(label, { exact: true });
    await isAskedFor(page, field, "", says, submit);
    await field.fill(good);
    await expect(submit).toBeEnabled();
  }
  await page.getByRole("checkbox", { name: "Automatic fault tolerance" }).check();
  await isAskedFor(page, page.getByLabel("Restarts at most"), "", "Enter the number of restarts", submit);
  await page.getByRole("checkbox", { name: "Automatic fault tolerance" }).uncheck();
  await page.getByLabel("Runs on").selectOption("g7");
  await isAskedFor(page, page.getByLabel("Price limit"), "", "Enter the price limit, such as 0.25", submit);
  expect((await cluster.read("snapshot")).jobs).toHaveLength(8);
});

test("an emptied lever of a plan keeps what it had", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("planner");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const typed = page.getByRole("textbox", { name: "typed" });
  for (const text of ["", "many", "-8"]) {
    await typed.fill(text);
    await typed.press("Tab");
    await expect(typed).toHaveValue("48");
  }
});
