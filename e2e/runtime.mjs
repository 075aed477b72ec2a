// What every browser test starts from: a runtime of its own, and a page on which nothing may go wrong unseen.
import { test as base } from "@playwright/test";
import { start } from "../worker/runtime.mjs";

export { expect } from "@playwright/test";

export const test = base.extend({
  // One per worker process, on a free port, storing in a directory of its own. Tests that change state name
  // a cluster of their own.
  runtime: [
    async ({}, use) => {
      // One of the tests has a cluster of 10,000 jobs, and some more.
      const runtime = await start({ variables: { JOBS_OF_CLUSTER_MAX: "20000" } });
      await use(runtime);
      await runtime.stop();
    },
    { scope: "worker" },
  ],

  baseURL: async ({ runtime }, use) => use(runtime.url),

  // What a test makes the page report: a request that is made to fail is an error on the page too.
  expectedErrors: [/^$/, { option: true }],

  // A panic of the console is an error on the page: it fails the test that caused it.
  page: async ({ page, expectedErrors }, use) => {
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await use(page);
    const unexpected = errors.filter((error) => !expectedErrors.test(error));
    if (unexpected.length > 0) throw new Error(`the page reported: ${unexpected.join("\n")}`);
  },
});
