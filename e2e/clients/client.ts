// Submits, follows, explains, scales, bids and cancels with what openapi-typescript makes of the document. That this is
// compiled is the greater part of the test: a command or an event that the generator had dropped would be no type.
import createClient from "openapi-fetch";
import type { components, paths } from "./native.js";

type Schemas = components["schemas"];

declare const process: { argv: string[] };

const GPU = 1_000;
const [, , url, key, cluster, offer] = process.argv as [string, string, string, string, string, string];
const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
const path = { cluster };
let sent = 0;

function check(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

const gpus = (count: number): Schemas["AmountByName"] => ({ gpu: count * GPU });

const ask = (command: Schemas["Command"]) =>
  client.POST("/v1/clusters/{cluster}/commands", {
    params: { path },
    body: { format: 1, id: `typescript-${(sent += 1)}`, command },
  });

async function send(command: Schemas["Command"]) {
  const { data, error } = await ask(command);
  check(data !== undefined, error);
  return data;
}

const submission = (job: string, count: number): Schemas["Command"] => ({
  submit_job: { job, quota: "team", pods: [{ amount: gpus(count) }] },
});

const started = (receipt: Awaited<ReturnType<typeof send>>) =>
  receipt.events.filter((event) => typeof event === "object" && "started" in event).length;

// Submit: one job fills the quota, another one waits.
const first = await send(submission("typescript-runs", 8));
check(started(first) === 1, first);
const second = await send(submission("typescript-waits", 2));
check(started(second) === 0, second);

// Follow: the entry of the second command stands after the first one's revision.
const entries = await client.GET("/v1/clusters/{cluster}/entries", {
  params: { path, query: { after: first.revision, min_revision: second.revision } },
});
check(entries.data?.length === 1, entries.error);
const [entry] = entries.data;
check(entry !== undefined && "submit_job" in entry.envelope.command, entry);
check(entry.envelope.command.submit_job.job === "typescript-waits", entry);
const query = { min_revision: second.revision };
const snapshot = await client.GET("/v1/clusters/{cluster}/snapshot", { params: { path, query } });
check(snapshot.data !== undefined && snapshot.data.revision >= second.revision, snapshot.error);

// Explain.
const explain = (job: string) => client.GET("/v1/clusters/{cluster}/jobs/{job}/why", { params: { path: { cluster, job } } });
const waits = await explain("typescript-waits");
check(waits.data !== undefined && "hold" in waits.data, waits.error);
check(waits.data.reason.length > 0 && waits.data.hold.attempts.length > 0, waits.data);
const runs = await explain("typescript-runs");
check(runs.data !== undefined && !("hold" in runs.data), runs.error);
const unknown = await explain("nobody's");
check(unknown.error?.code === "unknown", unknown.data);

// Scale.
const scaled = await send({ scale_quotas: { targets: [{ quota: "team", min: gpus(7) }], mode: "drain" } });
check(scaled.events.some((event) => typeof event === "object" && "quotas_scaled" in event), scaled);

// Bid.
const network = { vpc: "vpc-1", vswitch: "vsw-1", security_group: "sg-1" };
const spot: Schemas["SpotRequest"] = { offer, strategy: "with_price_limit", discount_percent: 50, network };
await send({ submit_job: { job: "typescript-bids", spot, pods: [{ amount: {} }] } });
const { revision } = await send(submission("typescript-later", 1));
const offers = await client.GET("/v1/clusters/{cluster}/offers", { params: { path, query: { min_revision: revision } } });
const [shown] = offers.data ?? [];
check(shown !== undefined && shown.offer === offer && shown.waiting.length + shown.running.length === 1, offers);

// Cancel.
const cancelled = await send({ cancel_job: { job: "typescript-runs" } });
check(cancelled.events.some((event) => typeof event === "object" && "ended" in event), cancelled);
const refused = await ask({ cancel_job: { job: "nobody's" } });
check(refused.error?.rejection != null, refused.data);

console.log(`typescript: ${sent} commands`);
