import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

const PAGES = "**/app/pages-*.wasm";

test.describe("when they cannot be fetched", () => {
  test.use({ expectedErrors: /Failed to fetch|net::ERR_FAILED/ });

  test("the first screen needs none of the later pages, and says so when one cannot be loaded", async ({ page, runtime }) => {
    const cluster = new Cluster(page, runtime);
    await cluster.loadExample();
    await page.route(PAGES, (route) => route.abort());
    await cluster.open();
    await expect(page.getByRole("treegrid", { name: "Quotas" }).getByRole("row", { name: /Quota1\.1/ })).toBeVisible();
    await expect(page.locator("main > [role=status]")).toContainText("changes are shown seconds late");
    await expect(page.locator("header")).toContainText("not live");

    await page.getByRole("link", { name: "Jobs" }).click();
    await expect(page.getByRole("alert")).toContainText("The page cannot be loaded");

    await page.unroute(PAGES);
    await page.getByRole("link", { name: "Rounds" }).click();
    await expect(page.getByRole("heading", { name: "Rounds" })).toBeVisible();
    await expect(page.locator("header")).toContainText(", live");
  });
});

test("the later pages are fetched before anybody asks for them", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  const fetched = page.waitForResponse(PAGES);
  await cluster.open();
  expect((await fetched).headers()["content-type"]).toBe("application/wasm");
});

test.describe("when the program itself cannot be fetched", () => {
  test.use({ expectedErrors: /Failed to fetch|net::ERR_FAILED/ });

  test("the page says what failed, and tries again", async ({ page, runtime }) => {
    const program = "**/app/frontend_bg.wasm";
    await page.route(program, (route) => route.abort());
    await page.goto(runtime.url);
    await expect(page.getByRole("alert")).toContainText("The console cannot be loaded");
    await expect(page.getByRole("alert")).toContainText("Jobs go on as they are");
    await page.screenshot({ path: "target/shots/not-loaded.png" });
    await page.unroute(program);
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("heading", { name: "Tidegate" })).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  });
});

test("a browser that keeps nothing for pages shows the console all the same", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await page.addInitScript(() => {
    const blocked = { get: () => { throw new DOMException("Access is denied for this document.", "SecurityError"); } };
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, blocked);
  });
  await cluster.open();
  await expect(page.getByRole("treegrid", { name: "Quotas" }).getByRole("row", { name: /Quota1\.1/ })).toBeVisible();
  await page.getByLabel("Colours").selectOption("dark");
  await page.getByRole("link", { name: "Jobs" }).click();
  await expect(page.getByRole("row", { name: /training-a/ })).toBeVisible();
});
