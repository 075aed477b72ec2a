// The first ten minutes in the console: from an address and a key to 64 GPUs that two teams share, and back to nothing. What
// the console cannot do, such as to start an agent, is done by the command that it names. Clicks and times are printed.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROGRAM, buildProgram, freePort } from "../processes.mjs";
import { expect, test } from "../runtime.mjs";
import { Server } from "../server.mjs";
import { Hand } from "./hand.mjs";

const PATIENCE = { timeout: 40_000 };
/** As many as it takes; more is a step back. */
const CLICKS_MAX = 120;
const NODES = Array.from({ length: 8 }, (_, nth) => `n${nth + 1}`);

/** A service whose address stays the same when it is started again, as that of `tidegate up` does. */
class Service extends Server {
  call(options) {
    const [program, words] = super.call(options);
    words[words.indexOf("--port") + 1] = String(this.port);
    return [program, words];
  }
}

let server, folder, agent;
test.beforeAll(async () => {
  test.setTimeout(120_000);
  buildProgram();
  folder = mkdtempSync(join(tmpdir(), "tidegate-ten-minutes-"));
  server = new Service();
  server.port = await freePort();
  await server.start();
});
test.afterAll(async () => {
  agent?.kill("SIGKILL");
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A command as it is typed, by the administrator. */
const typed = (line) => {
  const [, ...words] = line.split(" ");
  const env = { ...process.env, HOME: folder, TIDEGATE_TOKEN: server.key };
  return promisify(execFile)(PROGRAM, words, { env, cwd: folder });
};

// The service is away for a while, and in the end the cluster is gone.
test.use({ expectedErrors: /404|410|WebSocket|ERR_CONNECTION|Failed to fetch|Failed to load/ });

test("a newcomer has two teams on 64 GPUs, a job that waits, a loan that is taken back, and nothing left in the end", async ({ page, browser }) => {
  test.setTimeout(240_000);
  page.setDefaultTimeout(PATIENCE.timeout);
  const hand = new Hand();
  const region = (of, name) => of.getByRole("region", { name });
  const set = (title) => region(page, new RegExp(`^\\d\\. ${title}`));
  const state = (of, words) => of.locator(".page-head").getByText(words, { exact: true });
  const address = `${server.url}/clusters/lab`;

  await hand.step("machines: 8 of 8 GPUs", page, async () => {
    await page.goto(`${address}#key=${server.key}`);
    await hand.click(page.getByRole("link", { name: "Set up this cluster" }));
    await hand.click(set("Machines").getByRole("button", { name: "Add machines" }));
    await expect(set("Machines").getByRole("heading")).toContainText("done");
  });

  await hand.step("two teams: quotas of 40 and 24", page, async () => {
    await hand.fill(set("Quotas").getByLabel("Teams"), "vision 40\nlanguage 24");
    await hand.click(set("Quotas").getByRole("button", { name: "Make quotas" }));
    await expect(set("Quotas").getByRole("heading")).toContainText("done");
    await hand.check(set("Policies").getByLabel(/^Training of priority 1 to 3/));
    await hand.click(set("Policies").getByRole("button", { name: "Save policies" }));
    await expect(set("Policies").getByText("It is so already.")).toBeVisible();
  });

  const keys = {};
  await hand.step("two leads with keys", page, async () => {
    const people = set("People and keys");
    for (const [user, team] of [["ann", "vision"], ["bob", "language"]]) {
      await hand.fill(people.getByLabel("User"), user);
      await hand.choose(people.getByLabel("Team"), team);
      await hand.click(people.getByRole("button", { name: "Add, and make a key" }));
      await expect(people.locator(".secret")).toContainText(`lab.${user}`);
      keys[user] = await people.locator(".secret").textContent();
    }
    await expect(page.getByText("4 of 4 steps done.")).toBeVisible();
  });

  await hand.step("an agent for the machines, by the page's command", page, async () => {
    const shown = await page.locator("pre.shell", { hasText: "tidegate agent join" }).first().textContent();
    await typed(/^tidegate agent join .*$/m.exec(shown)[0]);
    // One agent stands for all eight machines here.
    const nodes = NODES.flatMap((node) => ["--node", `${node}=8`]);
    agent = spawn(PROGRAM, ["agent", "run", "--allow-root", ...nodes], { env: { ...process.env, HOME: folder }, stdio: "ignore" });
    await hand.click(page.getByRole("navigation").getByRole("link", { name: "Nodes" }));
    await expect(page.getByText(/n1/).first()).toBeVisible(PATIENCE);
  });

  /** Somebody's own browser. */
  const signedIn = async (user) => {
    const own = await (await browser.newContext({ baseURL: server.url })).newPage();
    own.setDefaultTimeout(PATIENCE.timeout);
    await own.goto(address);
    await hand.fill(own.getByRole("textbox", { name: "Key" }), keys[user]);
    await hand.click(own.getByRole("button", { name: "Sign in" }));
    await expect(own.getByRole("treegrid", { name: "Quotas" })).toBeVisible();
    return own;
  };
  let ann, bob;
  await hand.step("two logins", page, async () => {
    [ann, bob] = [await signedIn("ann"), await signedIn("bob")];
  });

  /** A job by the form, from wherever one is. */
  const submit = async (of, name, pods, gpus, more = async () => {}) => {
    await hand.click(of.getByRole("link", { name: "Submit" }).first());
    const form = of.getByRole("form", { name: "New job" });
    await hand.fill(form.getByLabel("Job name"), name);
    const team = of === bob ? "language" : "vision";
    await hand.choose(form.getByLabel("Quota"), team);
    await hand.fill(form.getByLabel("Workspace"), team);
    await hand.fill(form.getByLabel("Pods", { exact: true }), String(pods));
    await hand.fill(form.getByLabel("GPUs per pod"), String(gpus));
    await hand.fill(form.getByLabel("Command"), "sleep 3600");
    await more(form);
    await hand.click(form.getByRole("button", { name: /^Submit job/ }));
    await expect(of.getByRole("heading", { name, level: 1 })).toBeVisible(PATIENCE);
  };

  await hand.step("a first job on all that vision has", page, async () => {
    await submit(ann, "big", 5, 8);
    await expect(state(ann, "In quota")).toBeVisible(PATIENCE);
    await ann.screenshot({ path: "target/shots/ten-minutes-ann-big.png", fullPage: true });
  });

  await hand.step("a second one waits, and says why", page, async () => {
    await submit(ann, "next", 1, 8);
    await expect(region(ann, "Why it waits")).toContainText("vision has 40 GPUs of its own, 0 GPUs of it free");
    await ann.screenshot({ path: "target/shots/ten-minutes-ann-next.png", fullPage: true });
  });

  await hand.step("it is given up, and a sweep borrows what language leaves", page, async () => {
    await hand.click(ann.getByRole("button", { name: "Cancel job" }));
    await expect(state(ann, "Cancelled")).toBeVisible(PATIENCE);
    await submit(ann, "sweep", 3, 8, async (form) => {
      await hand.choose(form.getByLabel("Idle resources"), "only");
      await hand.check(form.getByRole("checkbox", { name: "Automatic fault tolerance" }));
    });
    await expect(state(ann, "Not in quota")).toBeVisible(PATIENCE);
    await ann.screenshot({ path: "target/shots/ten-minutes-ann-sweep.png", fullPage: true });
  });

  await hand.step("language takes it back, after it was said what that costs", page, async () => {
    await submit(bob, "chat", 2, 8, async () => {
      await expect(region(bob, "Preview")).toContainText("Starts, and evicts 1 job");
      await bob.screenshot({ path: "target/shots/ten-minutes-bob-cost.png", fullPage: true });
    });
    await expect(state(bob, "In quota")).toBeVisible(PATIENCE);
    await expect(state(ann, "Preempted, queued again")).toBeVisible(PATIENCE);
    await ann.screenshot({ path: "target/shots/ten-minutes-ann-preempted.png", fullPage: true });
  });

  await hand.step("the service is restarted; pages and jobs go on", page, async () => {
    await server.interrupt();
    await server.start();
    await hand.click(bob.getByRole("navigation").getByRole("link", { name: "Jobs" }));
    await expect(bob.getByRole("row", { name: /chat/ })).toContainText("In quota", PATIENCE);
    await hand.click(ann.getByRole("navigation").getByRole("link", { name: "Jobs" }));
    await expect(ann.getByRole("row", { name: /big/ })).toContainText("In quota", PATIENCE);
  });

  await hand.step("a backup, saved and put back as another cluster", page, async () => {
    await typed(`tidegate backup save ${address} lab.backup`);
    await typed(`tidegate backup load lab.backup ${server.url}/clusters/again`);
    await page.goto(`${server.url}/clusters/again/jobs`);
    await expect(page.getByRole("row", { name: /chat/ })).toBeVisible(PATIENCE);
    await expect(page.getByRole("row", { name: /big/ })).toBeVisible();
  });

  /** What the cluster's page of workspaces asks before it deletes it. */
  const remove = async (name) => {
    await page.goto(`${server.url}/clusters/${name}/workspaces`);
    await hand.fill(page.getByLabel("The cluster's name"), name);
    await hand.click(page.getByRole("button", { name: "Delete cluster" }));
    await page.screenshot({ path: `target/shots/ten-minutes-delete-${name}.png`, fullPage: true });
    await hand.click(page.getByRole("dialog").getByRole("button", { name: "Delete for good" }));
    await expect(page.getByRole("alert")).toContainText(`luster ${name} was deleted`, PATIENCE);
  };
  await hand.step("the copy is deleted in one", page, () => remove("again"));

  await hand.step("jobs are cancelled together", page, async () => {
    await page.goto(`${address}/jobs`);
    for (const name of ["big", "sweep", "chat"]) await hand.check(page.getByRole("row", { name: new RegExp(name) }).getByRole("checkbox"));
    await hand.click(page.getByRole("button", { name: /^Cancel/ }).first());
    for (const name of ["big", "chat"]) await expect(page.getByRole("row", { name: new RegExp(name) })).toContainText("Cancelled", PATIENCE);
  });

  /** Opens what a page lists, and deletes it. */
  const removeOne = async (list, name) => {
    await hand.click(page.getByRole("navigation").getByRole("link", { name: list }));
    await hand.click(page.getByRole("link", { name, exact: true }).first());
    await hand.click(page.getByRole("button", { name: /^Delete/ }).first());
    await hand.click(page.getByRole("dialog").getByRole("button", { name: /^Delete/ }));
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(page.getByText(new RegExp(`\\b${name} was deleted`)).first()).toBeVisible();
  };
  await hand.step("workspaces, quotas and machines are deleted one by one", page, async () => {
    for (const workspace of ["vision", "language"]) await removeOne("Workspaces", workspace);
    for (const quota of ["vision", "language", "all"]) await removeOne("Quotas", quota);
    for (const node of NODES) await removeOne("Nodes", node);
  });
  await hand.step("and the cluster itself", page, () => remove("lab"));

  console.log(hand.table());
  expect(hand.clicks).toBeLessThanOrEqual(CLICKS_MAX);
});
