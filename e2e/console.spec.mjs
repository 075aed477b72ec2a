import { expect, test } from "./runtime.mjs";

test("the console loads", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Tidegate" })).toBeVisible();
});
