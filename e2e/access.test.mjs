// Ways in: sessions of access keys, tokens of Cloudflare Access, and how each of them ends.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { start } from "../worker/runtime.mjs";
import { Cluster } from "./server.mjs";
import { listen } from "./socket.mjs";

const MINUTE_MS = 60_000;
const TEAM = "https://team.cloudflareaccess.com";
const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });
const team = pair();
const ACCESS_KEYS = JSON.stringify({ keys: [{ ...team.publicKey.export({ format: "jwk" }), kid: "k1", alg: "RS256", use: "sig" }] });
const variables = { ACCESS_TEAM: TEAM, ACCESS_AUDIENCE: "app", ACCESS_KEYS, ACCESS_ADMINISTRATORS: "root@example.com, other@example.com" };

const MASTER = randomBytes(16).toString("hex");

let runtime;
let cluster;
before(async () => {
  runtime = await start({ variables, masterSecret: MASTER });
  cluster = await new Cluster({ url: runtime.url, key: runtime.adminKey }, "access").found();
});
after(() => runtime.stop());

let sent = 0;
async function accepted(command) {
  const answer = await cluster.send(`access-${(sent += 1)}`, command);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer;
}

const signIn = (key, secret) => cluster.request("POST", "sessions", JSON.stringify({ key, secret }), {});
const as = (token) => new Cluster({ url: runtime.url, key: token }, "access");
const create = (key, user, more = {}) => accepted({ create_key: { key: `access.${key}`, user, ...more } });
const secretOf = (answer) => answer.headers.get("x-tidegate-secret");

test("a secret is shown once, opens a session, and nothing else does", async () => {
  const made = await create("ann", "ann");
  const secret = secretOf(made);
  assert.match(secret, /^[0-9a-f]{64}$/);
  const again = await cluster.send(made.body.id, { create_key: { key: "access.ann", user: "ann" } });
  assert.deepEqual([again.status, secretOf(again)], [200, null]);
  const asked = await create("ann", "ann");
  assert.equal(secretOf(asked), null, "asking for what is there shows nothing");
  assert.doesNotMatch(JSON.stringify((await cluster.get("snapshot")).body), new RegExp(secret));
  const session = await signIn("access.ann", secret);
  assert.equal(session.status, 200, JSON.stringify(session.body));
  assert.deepEqual([session.body.user, session.body.administers], ["ann", false]);
  const me = await as(session.body.token).get("me");
  assert.deepEqual(me.body, { user: "ann", administers: false, key: "access.ann" });
  for (const [key, wrong] of [["access.ann", secret.replace(/./, (c) => (c === "0" ? "1" : "0"))], ["access.bob", secret], ["no key", secret]]) {
    assert.equal((await signIn(key, wrong)).status, 401, key);
  }
  const { token } = session.body;
  for (const forged of [`${token}0`, token.slice(0, -1), token.replace("access.ann", "access.bob"), token.replace(/\.1\./, ".2."), "", "x"]) {
    assert.equal((await as(forged).get("me")).status, 401, forged);
  }
});

test("a session ends with its secret, and what the log says of its commands is who sent them", async () => {
  await accepted({ put_workspace: { workspace: "w" } });
  await accepted({ attach_quota: { workspace: "w", quota: "team" } });
  await accepted({ put_member: { workspace: "w", user: "bob", roles: ["developer"] } });
  const secret = secretOf(await create("bob", "bob"));
  const { token } = (await signIn("access.bob", secret)).body;
  const job = { job: "bobs", quota: "team", workspace: "w", pods: [{ amount: { gpu: 1000 } }] };
  const answer = await as(token).send("bobs-command", { submit_job: job }, { by: "administrator" });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const [entry] = (await cluster.get("audit?count=1&min_revision=1000")).body;
  assert.deepEqual([entry.envelope.by, entry.envelope.command.submit_job.user], ["bob", "bob"]);
  const [key] = (await as(token).get("keys")).body;
  assert.equal(key.key, "access.bob");
  assert.ok(Math.abs(key.last_used - Date.now()) < 120_000, JSON.stringify(key));
  const rotated = await as(token).send("rotate-bob", { rotate_key: { key: "access.bob", overlap_ms: 0 } });
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  assert.equal((await as(token).get("me")).status, 401);
  assert.equal((await signIn("access.bob", secret)).status, 401);
  assert.equal((await signIn("access.bob", secretOf(rotated))).status, 200);
});

test("a key is named after its cluster", async () => {
  const answer = await cluster.send("foreign-key", { create_key: { key: "other.ann", user: "ann" } });
  assert.deepEqual([answer.status, answer.body.code], [422, "structure"]);
  const planned = await cluster.send("planned-key", { apply_plan: { commands: [{ create_key: { key: "other.ann", user: "ann" } }] } });
  assert.deepEqual([planned.status, planned.body.code], [422, "structure"]);
  const { token } = (await signIn("access.root", secretOf(await create("root", "root", { administers: true })))).body;
  const other = new Cluster({ url: runtime.url, key: token }, "another-cluster");
  assert.equal((await other.get("me")).status, 401);
  // Not even its administrators copy another cluster into their own.
  assert.equal((await cluster.post("flush")).status, 200);
  await new Cluster({ url: runtime.url, key: runtime.adminKey }, "foreign").found();
  await new Cluster({ url: runtime.url, key: runtime.adminKey }, "foreign").post("flush");
  assert.equal((await as(token).post("restore?from=foreign&force=true")).status, 404);
  assert.equal((await as(token).post("restore?force=true")).status, 200);
});

test("a key that came with a copy of its cluster opens nothing there", async () => {
  const secret = secretOf(await create("moved", "moved", { administers: true }));
  const { token } = (await signIn("access.moved", secret)).body;
  assert.equal((await cluster.post("flush")).status, 200);
  const copy = new Cluster({ url: runtime.url, key: runtime.adminKey }, "copy");
  assert.equal((await copy.post("restore?from=access")).status, 200);
  const there = (await copy.get("keys")).body;
  assert.ok(there.some(({ key }) => key === "access.moved"), JSON.stringify(there));
  const session = await copy.request("POST", "sessions", JSON.stringify({ key: "access.moved", secret }), {});
  assert.equal(session.status, 401, "no session");
  assert.equal((await new Cluster({ url: runtime.url, key: token }, "copy").get("me")).status, 401, "no session of elsewhere");
  // Where it belongs it serves on.
  assert.equal((await as(token).get("me")).status, 200);
});

test("who goes too fast is told to wait", async () => {
  const { token } = (await signIn("access.fast", secretOf(await create("fast", "fast")))).body;
  const statuses = [];
  for (let round = 0; round < 30 && !statuses.includes(429); round += 1) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => as(token).get("me")));
    statuses.push(...answers.map(({ status }) => status));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  }
  assert.ok(statuses.includes(429) && statuses.filter((status) => status === 200).length >= 900, `${statuses.length}`);
  // On PAI's interface programs are told the same wait as people: the SDKs read milliseconds.
  const headers = { "x-acs-version": "2020-12-03", "x-acs-action": "ListJobs", "x-acs-signature-type": "BEARERTOKEN", "x-acs-bearer-token": token };
  let refused;
  for (let round = 0; round < 30 && !refused; round += 1) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${runtime.url}/api/v1/jobs`, { headers })));
    refused = answers.find(({ status }) => status === 429);
  }
  const { Code, Message } = await refused.json();
  assert.deepEqual([Code, Message], ["Throttling", `the key sends requests too fast; wait ${refused.headers.get("x-acs-retry-after")} ms`]);
});

test("who guesses at the administrator's key is told to wait, and nobody else is", async () => {
  const { token } = (await signIn("access.near", secretOf(await create("near", "near")))).body;
  const me = (key, address) => cluster.request("GET", "me", undefined, { authorization: `Bearer ${key}`, "cf-connecting-ip": address });
  const statuses = [];
  while (statuses.length < 2_000 && !statuses.includes(429)) {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => me(`${at}`.padStart(32, "0"), `2001:db8:0:3::${at + 1}`)));
    statuses.push(...answers.map(({ status }) => status));
  }
  assert.ok(statuses.includes(429), `${statuses.length} wrong keys from one network`);
  assert.deepEqual([...new Set(statuses)].sort(), [401, 429]);
  assert.equal((await me(token, "2001:db8:0:3::1")).status, 200, "a session from the same network");
  assert.equal((await me(runtime.adminKey, "2001:db8:0:4::1")).status, 200, "the key from elsewhere");
});

test("an administrator's key that is too short opens nothing, and says so", async (t) => {
  const other = await start({ adminKey: "short" });
  t.after(() => other.stop());
  const answer = await new Cluster({ url: other.url, key: "short" }, "short").get("me");
  assert.deepEqual([answer.status, answer.body.code], [503, "short_admin_key"]);
});

test("who only knows a key's name keeps its owner from nothing, and is told to wait themselves", async () => {
  const secret = secretOf(await create("own", "own"));
  const show = (shown, address) => cluster.request("POST", "sessions", JSON.stringify({ key: "access.own", secret: shown }), { "cf-connecting-ip": address });
  const statuses = [];
  while (statuses.length < 2_000 && !statuses.includes(429)) {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => show("0".repeat(64), `2001:db8:0:1::${at + 1}`)));
    statuses.push(...answers.map(({ status }) => status));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  }
  assert.ok(statuses.includes(429), `${statuses.length} wrong secrets from one network`);
  // The owner comes from elsewhere, or from where nobody can say.
  assert.equal((await show(secret, "2001:db8:0:2::1")).status, 200);
  const { body, status } = await signIn("access.own", secret);
  assert.equal(status, 200);
  assert.equal((await as(body.token).get("me")).status, 200);
});

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function jwt(claims, { header = { alg: "RS256", kid: "k1" }, key = team.privateKey } = {}) {
  const expires = Math.floor(Date.now() / 1000) + 600;
  const signed = `${part(header)}.${part({ iss: TEAM, aud: ["app"], exp: expires, email: "ann@example.com", ...claims })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

const vouched = (token, more = {}) => cluster.request("GET", "me", undefined, { "cf-access-jwt-assertion": token, ...more });

test("Cloudflare Access is a second way in", async () => {
  assert.deepEqual((await vouched(jwt({}))).body, { user: "ann@example.com", administers: false, key: null });
  assert.deepEqual((await vouched(jwt({ email: "root@example.com" }))).body.administers, true);
  const refused = {
    "another signer": jwt({}, { key: pair().privateKey }),
    "another key's name": jwt({}, { header: { alg: "RS256", kid: "k2" } }),
    "no algorithm": jwt({}, { header: { alg: "none", kid: "k1" } }),
    "another audience": jwt({ aud: ["other"] }),
    "another team": jwt({ iss: "https://other.cloudflareaccess.com" }),
    expired: jwt({ exp: Math.floor(Date.now() / 1000) - 1 }),
    "nobody": jwt({ email: undefined }),
    "changed claims": jwt({}).replace(/\.[^.]+\./, `.${part({ iss: TEAM, aud: ["app"], exp: 9e9, email: "root@example.com" })}.`),
    nothing: "",
  };
  for (const [name, token] of Object.entries(refused)) assert.equal((await vouched(token)).status, 401, name);
  // Another site cannot use what the browser adds by itself.
  assert.equal((await vouched(jwt({}), { origin: "https://elsewhere.example" })).status, 401);
  assert.equal((await vouched(jwt({}), { origin: runtime.url })).status, 200);
});

test("what claims to be proved is not believed", async () => {
  const { token } = (await signIn("access.eve", secretOf(await create("eve", "eve")))).body;
  for (const proof of ["root", "access 9999999999999 true root"]) {
    const anonymous = await cluster.request("GET", "me", undefined, { "x-tidegate-proof": proof });
    assert.equal(anonymous.status, 401);
    const mixed = await cluster.request("GET", "me", undefined, { authorization: `Bearer ${token}`, "x-tidegate-proof": proof });
    assert.equal(mixed.body.user, "eve");
  }
});

/** A session's token as the Worker makes it, of one that ends when the test wants. */
function sessionUntil(key, expires) {
  const text = `tgs-${key}.1.${expires}`;
  return `${text}.${createHmac("sha256", MASTER).update(`session\n${text}`).digest("hex")}`;
}

const watch = (token) => listen(`${runtime.url}/v1/clusters/access/events`, ["tidegate", `bearer.${token}`]);
/** How a socket is closed; if it is not, a test should not wait for ever. */
const ending = (socket) => Promise.race([socket.closed, new Promise((over) => setTimeout(over, 20_000, "it is open").unref())]);
const passed = (until) => new Promise((over) => setTimeout(over, until - Date.now() + 50));

test("an idle socket ends with its session, and one that is used with its key", async () => {
  await accepted({ put_workspace: { workspace: "idle" } });
  await accepted({ put_member: { workspace: "idle", user: "idle", roles: ["guest"] } });
  const secret = secretOf(await create("idle", "idle"));
  const slot = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  await runtime.tick(slot);
  const soon = Date.now() + 1_500;
  const brief = await watch(sessionUntil("access.idle", soon));
  const long = await watch((await signIn("access.idle", secret)).body.token);
  const root = await watch(runtime.adminKey);
  await passed(soon);
  // The clock says it twice: nothing is decided and nothing is pushed.
  await runtime.tick(slot);
  assert.deepEqual(await ending(brief), { code: 1008, reason: "signed out" });
  const isOpen = Symbol("open");
  const still = (socket) => Promise.race([socket.closed, Promise.resolve(isOpen)]);
  assert.equal(await still(long), isOpen);
  await accepted({ revoke_key: { key: "access.idle" } });
  assert.deepEqual(await ending(long), { code: 1008, reason: "signed out" });
  assert.match(await root.next(), /revoke_key/);
  assert.equal(await still(root), isOpen);
  root.close();
});

test("when a key was last used is known after a restart", async () => {
  const secret = secretOf(await create("lasting", "lasting"));
  assert.equal((await signIn("access.lasting", secret)).status, 200);
  const used = async () => (await cluster.get("keys")).body.find(({ key }) => key === "access.lasting").last_used;
  const before = await used();
  assert.ok(Math.abs(before - Date.now()) < MINUTE_MS, `${before}`);
  await runtime.restart();
  assert.equal(await used(), before);
});

test("the team's public keys are fetched where the team publishes them, and kept", async (t) => {
  const asked = [];
  let isDown = true;
  const publisher = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(isDown ? 500 : 200, { "content-type": "application/json" }).end(ACCESS_KEYS);
  });
  await new Promise((listening) => publisher.listen(0, "127.0.0.1", listening));
  const iss = `http://127.0.0.1:${publisher.address().port}`;
  const other = await start({ variables: { ...variables, ACCESS_TEAM: iss, ACCESS_KEYS: "" } });
  t.after(async () => {
    await other.stop();
    publisher.close();
  });
  const founded = await new Cluster({ url: other.url, key: other.adminKey }, "fetched").found();
  const me = (token) => founded.request("GET", "me", undefined, { "cf-access-jwt-assertion": token });
  assert.equal((await me(jwt({ iss }))).status, 503);
  isDown = false;
  assert.deepEqual((await me(jwt({ iss }))).body, { user: "ann@example.com", administers: false, key: null });
  assert.equal((await me(jwt({ iss }, { key: pair().privateKey }))).status, 401);
  assert.equal((await me(jwt({ iss }))).status, 200);
  assert.deepEqual(asked, ["/cdn-cgi/access/certs", "/cdn-cgi/access/certs"]);
  // Whoever is not the team is not believed, whatever they would publish.
  assert.equal((await me(jwt({ iss: `${iss}/elsewhere` }))).status, 401);
  assert.equal(asked.length, 2);
});
