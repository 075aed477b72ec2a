// A test that passes on the second try is a failing test: there are no retries.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.mjs",
  outputDir: "../test-results",
  forbidOnly: true,
  fullyParallel: true,
  retries: 0,
  workers: 2,
  // Other tests may run beside these, on two cores: what takes seconds there says nothing about the console.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: "list",
  use: {
    browserName: "chromium",
    // A trace of each test, kept or not, is a fifth of what these tests take; `--trace on` makes one.
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
    },
  },
});
