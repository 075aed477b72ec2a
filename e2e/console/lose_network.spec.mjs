import { expect, test } from "../runtime.mjs";
import { Cluster } from "./cluster.mjs";

test("without a network the console says so, keeps what it has, and comes back", async ({ page, runtime, context }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  await cluster.open();
  await expect(page.getByText("live")).toBeVisible();

  await context.setOffline(true);
  await expect(page.getByText("There is no network.")).toBeVisible();
  await expect(page.getByText(/offline: \d+ s old/)).toBeVisible();
  await expect(page.getByRole("treegrid", { name: "Quotas" }).getByRole("row", { name: /Quota1\.1/ })).toBeVisible();

  await context.setOffline(false);
  await expect(page.getByText("live")).toBeVisible();
  await cluster.send({ cancel_job: { job: "training-a" } });
  await expect(page.getByRole("row", { name: /Quota1\.1/ }).getByRole("img")).toHaveAccessibleName(/16 GPUs idle/);
});

test("a connection that nobody cut and that carries nothing is given up and made again", async ({ page, runtime }) => {
  const cluster = new Cluster(page, runtime);
  await cluster.loadExample();
  let isDead = false;
  let connections = 0;
  let answers = 0;
  await page.routeWebSocket(/\/events$/, (client) => {
    connections += 1;
    const server = client.connectToServer();
    const belongs = isDead;
    client.onMessage((message) => isDead === belongs && server.send(message));
    server.onMessage((message) => {
      if (isDead !== belongs) return;
      client.send(message);
      answers += message === "pong";
    });
  });
  await page.clock.install();
  await cluster.open();
  await expect(page.getByText("live")).toBeVisible();
  // As long as it is answered it stands, however quiet the cluster is.
  for (let asked = 1; asked <= 3; asked++) {
    await page.clock.runFor(30_000);
    await expect.poll(() => answers).toBe(asked);
  }
  await expect(page.getByText("live")).toBeVisible();
  expect(connections).toBe(1);

  isDead = true;
  await cluster.send({ cancel_job: { job: "training-a" } });
  await page.clock.runFor(30_000);
  await page.clock.runFor(10_000);
  await expect.poll(() => connections).toBe(2);
  await expect(page.getByText("live")).toBeVisible();
  await expect(page.getByRole("row", { name: /Quota1\.1/ }).getByRole("img")).toHaveAccessibleName(/16 GPUs idle/);
});
