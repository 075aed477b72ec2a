import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("the tree obeys the keys of a treegrid", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open();
  const tree = page.getByRole("treegrid", { name: "Quotas" });
  const root = tree.getByRole("row", { name: /^Quota1 / });
  await expect(root).toHaveAttribute("aria-expanded", "true");

  await tree.focus();
  await page.keyboard.press("ArrowLeft");
  await expect(root).toHaveAttribute("aria-expanded", "false");
  await expect(tree.getByRole("row", { name: /Quota1\.1/ })).toHaveCount(0);
  await expect(page).toHaveURL(/closed=Quota1/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("End");
  await expect(tree).toHaveAttribute("aria-activedescendant", await tree.getByRole("row", { name: /Quota1\.2/ }).getAttribute("id"));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Quota1.2", level: 1 })).toBeVisible();
  await page.goBack();
  await expect(tree).toBeVisible();
});

test("a slash leads to the search, a question mark shows the keys", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open();
  await expect(page.getByRole("treegrid", { name: "Quotas" })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.type("Quota1.1");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Quota1.1", level: 1 })).toBeVisible();
});

test("Ctrl K goes anywhere by a part of its name", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open("submit");
  await page.getByLabel("Name").first().focus();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Go to" });
  const options = palette.getByRole("option");
  await expect(palette.getByRole("combobox")).toBeFocused();
  await expect(options).toHaveCount(11);
  await page.keyboard.type("quota1");
  await expect(options).toHaveText(["Quota1Quota", "Quota1.1Quota", "Quota1.2Quota"]);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`)).toEqual([]);
  await page.keyboard.press("ArrowDown");
  await expect(palette.getByRole("option", { selected: true })).toHaveText("Quota1.1Quota");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Quota1.1", level: 1 })).toBeVisible();
  await expect(palette).toHaveCount(0);

  await page.keyboard.press("Control+k");
  await palette.getByRole("combobox").fill("no such thing");
  await expect(palette.getByRole("status")).toHaveText("No results.");
  await page.keyboard.press("Escape");
  await expect(palette).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await palette.getByRole("combobox").fill("training-a");
  await options.filter({ hasText: "training-a" }).first().click();
  await expect(page.getByRole("heading", { name: "training-a", level: 1 })).toBeVisible();
});
