// A cluster from a shell, as people use it: `tidegate up` on this computer, and the command's own words for everything.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PROGRAM, buildProgram, end, processesWith, until as untilWithin } from "./processes.mjs";
import { Server } from "./server.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const PATIENCE_MS = 40_000;

/** What the command ends with, each with one meaning. */
const DONE = 0;
const REFUSED = 1;
const USAGE = 2;
const UNREACHABLE = 3;
const NOT_LOGGED_IN = 4;
const DECLINED = 5;
const JOB_FAILED = 10;
const JOB_CANCELLED = 12;
const TIME_OVER = 13;

class Up extends Server {
  call() {
    const words = ["up", "--port", String(this.port ?? 0), "--state", this.state, "--gpus", "2", "--release", ROOT];
    if (process.getuid() === 0) words.push("--allow-root");
    return [PROGRAM, words];
  }

  /** Ctrl-C in a terminal reaches every process of the group. */
  async interrupt() {
    const ended = this.ended();
    process.kill(-this.child.pid, "SIGINT");
    return ended;
  }
}

const server = new Up();
const config = mkdtempSync(join(tmpdir(), "tidegate-shell-"));
const CONTEXTS = join(config, "tidegate/contexts.json");

before(async () => {
  buildProgram();
  await server.start();
});
after(async () => {
  await server.interrupt();
  const store = join(server.state, "agent/store");
  const jobs = existsSync(store) ? processesWith(`TIDEGATE_STORE=${readFileSync(store, "utf8").trim()}`) : [];
  jobs.forEach(end);
  rmSync(server.state, { recursive: true, force: true });
  rmSync(config, { recursive: true, force: true });
});

/** No command takes as long. */
const COMMAND_MS = 60_000;
const environment = { ...process.env, XDG_CONFIG_HOME: config, TIDEGATE_CONTEXT: "" };

/** Calls the command; what it prints, says beside that, and ends with. */
function shell(words, input = "") {
  const { status, stdout, stderr } = spawnSync(PROGRAM, words, { encoding: "utf8", input, env: environment, timeout: COMMAND_MS });
  return { status, out: stdout, said: stderr };
}

/** The same where it is to succeed; what it prints. */
function done(...words) {
  const { status, out, said } = shell(words);
  assert.equal(status, DONE, `${words.join(" ")}: ${said}`);
  return out;
}

/** The same in the background. */
const later = (...words) =>
  new Promise((ended) => {
    execFile(PROGRAM, words, { encoding: "utf8", env: environment, timeout: COMMAND_MS }, (error, out, said) =>
      ended({ status: error?.code ?? 0, out, said }),
    );
  });

/** The same at a terminal, where what is typed answers what is waited for. */
function terminal(words, ...steps) {
  const call = [join(ROOT, "e2e/terminal.py"), JSON.stringify(steps), PROGRAM, ...words];
  const { status, stdout } = spawnSync("python3", call, { encoding: "utf8", env: environment, timeout: COMMAND_MS });
  return { status, out: stdout };
}

const until = (what, look) => untilWithin(what, PATIENCE_MS, async () => look());
const state = (job) => JSON.parse(done("jobs", "--all", "-o", "json", job)).find((row) => row.job === job)?.state;
const reaches = (job, wanted) => until(`${job} is ${wanted}`, () => state(job) === wanted);

test("nothing is done before somebody has logged in, and that is said", () => {
  const { status, said } = shell(["jobs"]);
  assert.equal(status, NOT_LOGGED_IN);
  assert.match(said, /nobody has logged in yet: write `tidegate login ADDRESS`/);
});

test("a key is tried before it is kept, and kept where nobody else reads it", () => {
  const wrong = shell(["login", server.url], "wrong\n");
  assert.equal(wrong.status, NOT_LOGGED_IN);
  assert.match(wrong.said, /wrong key or secret, or the key has expired/);
  const visible = shell(["login", `${server.url}/clusters/local#key=${server.key}`], "\n");
  assert.equal(visible.status, USAGE);
  assert.match(visible.said, /is a key, which others on this computer see on a command line; leave it out/);
  assert.ok(!visible.said.includes(server.key), "what must not be seen is not repeated");

  const { status, out } = shell(["login", server.url], `${server.key}\n`);
  assert.equal(status, DONE);
  assert.match(out, /^local: cluster local at http:\/\/127\.0\.0\.1:\d+, as administrator$/m);
  assert.equal(statSync(CONTEXTS).mode & 0o777, 0o600);
  assert.match(done("context"), /^\* local: cluster local/m);

  chmodSync(CONTEXTS, 0o644);
  const open = shell(["jobs"]);
  assert.equal(open.status, REFUSED);
  assert.match(open.said, /others may read it, and it has secrets in it: chmod 600/);
  chmodSync(CONTEXTS, 0o600);
});

test("a job is submitted, runs, prints, and is waited for", async () => {
  assert.match(done("submit", "--gpus", "2", "--name", "hello", "--", "sh", "-c", "echo GPUs $CUDA_VISIBLE_DEVICES"), /^hello is told to start on 2 GPUs, in quota\.$/m);
  assert.equal(done("wait", "hello"), "hello: Succeeded. Finished.\n");
  assert.equal(done("logs", "hello"), "GPUs 0,1\n");
  assert.match(done("job", "hello"), /^hello: Succeeded\n {2}Quota: all$/m);
  assert.match(done("events", "hello"), /^\S+ {2}\S.*, by \S+\n(?: {2}hello runs\.\n)? {2}hello finished\./m);
});

test("words are the program's own, and no shell takes them apart", async () => {
  done("submit", "--name", "words", "--", "printf", "%s|", "a  b", "$HOME", "c;d");
  done("wait", "words");
  assert.equal(done("logs", "words"), "a  b|$HOME|c;d|");
  done("submit", "--name", "told", "--env", "SEED=a b", "--", "sh", "-c", "echo $SEED; exit 3");
  const { status, out } = shell(["wait", "told"]);
  assert.equal(status, JOB_FAILED);
  assert.match(out, /^told: Failed\. .*3/);
  assert.equal(done("logs", "told"), "a b\n");
});

test("a job is a file, and a flag that is typed wins", () => {
  const file = join(config, "job.toml");
  writeFileSync(file, 'name = "filed"\ngpus = 2\npriority = 3\nenv = { SEED = 7 }\ncommand = "echo $SEED $CUDA_VISIBLE_DEVICES"\n');
  done("submit", "-f", file);
  done("wait", "filed");
  assert.equal(done("logs", "filed"), "7 0,1\n");
  done("submit", "-f", file, "--name", "typed", "--gpus", "1", "--", "sh", "-c", "echo typed $SEED");
  done("wait", "typed");
  assert.equal(done("logs", "typed"), "typed 7\n");
  const rows = JSON.parse(done("jobs", "--all", "-o", "json"));
  assert.deepEqual(["filed", "typed"].map((name) => rows.find(({ job }) => job === name).priority), [3, 3]);
});

test("who waits is told why, and what is followed is printed as it comes", async () => {
  done("submit", "--gpus", "2", "--name", "long", "--", "sh", "-c", "echo first; sleep 3; echo second; sleep 100000");
  await reaches("long", "in-quota");
  assert.match(done("submit", "--name", "waits", "--", "true"), /^waits waits: all has 2 GPUs of its own, 0 GPUs of it free; the job asks for 1 GPU\.$/m);
  assert.match(done("why", "waits"), /^waits: Queued \(#1\)\nall has 2 GPUs of its own, 0 GPUs of it free; the job asks for 1 GPU\.\nPlace 1 in the queue of all\.$/m);
  assert.equal(JSON.parse(done("why", "waits", "-o", "json")).position, 1);
  assert.match(done("prio", "waits", "5"), /^waits has priority 5 now\.$/m);
  assert.equal(done("jobs", "-o", "name", "--state", "queued"), "waits\n");
  const early = shell(["logs", "waits"]);
  assert.equal(early.status, REFUSED);
  assert.match(early.said, /nothing is known of what waits prints \(Queued\); `tidegate why waits` says what it waits for/);

  const followed = later("logs", "-f", "long");
  await until("it has printed its second line", () => done("logs", "long").includes("second"));
  const waited = later("wait", "long");
  // What is running is not ended unasked, and nobody can be asked here.
  const { status, said } = shell(["cancel", "long"]);
  assert.equal(status, DECLINED);
  assert.match(said, /Unsaved work lost: .*GPU-hours\.\n[^]*long is told to stop because the job was cancelled[^]*End 1 job\? Nobody can be asked here: add --yes/);
  assert.equal(state("long"), "in-quota");

  assert.match(done("cancel", "long", "--yes"), /^long is told to stop because the job was cancelled/m);
  assert.deepEqual(await waited, { status: JOB_CANCELLED, out: "long: Cancelled. Was cancelled.\n", said: "" });
  assert.equal((await followed).out, "first\nsecond\n");
  assert.equal(done("wait", "waits"), "waits: Succeeded. Finished.\n");
});

test("at a terminal a key does not show, and who says no has changed nothing", async () => {
  const typed = terminal(["login", server.url], ["Key: ", `${server.key}\n`]);
  assert.equal(typed.status, DONE, typed.out);
  assert.ok(typed.out.includes("local: cluster local at") && !typed.out.includes(server.key), typed.out);
  assert.equal(terminal(["login", server.url], ["Key: ", "half a key\x03"]).status, DECLINED);

  done("submit", "--name", "asked", "--", "sleep", "100000");
  await reaches("asked", "in-quota");
  const no = terminal(["cancel", "asked"], ["End 1 job? [y/N]", "n\n"]);
  assert.equal(no.status, DECLINED, no.out);
  assert.match(no.out, /Unsaved work lost: [^]*nothing was changed/);
  assert.equal(state("asked"), "in-quota");
  assert.match(terminal(["jobs"]).out, /\x1b\[32mIn quota\x1b\[0m/);
  assert.ok(!done("jobs").includes("\x1b"), "colours are for terminals");
  const yes = terminal(["cancel", "asked"], ["[y/N]", "y\n"]);
  assert.equal(yes.status, DONE, yes.out);
  await reaches("asked", "cancelled");
});

test("who agreed to less than it comes to by then is asked again", async () => {
  done("scale", "all", "1");
  done("submit", "--name", "first", "--", "sleep", "100000");
  await reaches("first", "in-quota");
  done("submit", "--name", "second", "--", "sleep", "100000");
  // The second one waits, so that nothing of it is lost; until it runs.
  const moved = terminal(["cancel", "first", "second"], ["End 1 job? [y/N]", "y\n", [PROGRAM, "scale", "all", "2"]], ["End 2 jobs? [y/N]", "y\n"]);
  assert.equal(moved.status, DONE, moved.out);
  assert.match(moved.out, /End 1 job\?[^]*End 2 jobs\?/);
  await reaches("second", "cancelled");
});

test("what waits loses nothing when it is cancelled, so nobody is asked", async () => {
  done("submit", "--gpus", "2", "--name", "holds", "--", "sleep", "100000");
  await reaches("holds", "in-quota");
  done("submit", "--name", "queued", "--", "true");
  assert.equal(shell(["wait", "queued", "--timeout", "1s"]).status, TIME_OVER);
  assert.match(done("cancel", "queued"), /^queued was cancelled\.$/m);
  done("cancel", "holds", "--yes");
  await reaches("holds", "cancelled");
});

test("a quota is scaled by a difference, after it was said what that comes to", () => {
  assert.match(done("scale", "all", "-1", "--dry-run"), /Moves no job/);
  const borrowing = ["submit", "--name", "borrows", "--idle", "only", "--dry-run"];
  assert.match(done(...borrowing, "--", "true"), /it ends for good: without automatic fault tolerance it is not queued again\. With --again it is\.$/m);
  assert.doesNotMatch(done(...borrowing, "--again", "--", "true"), /ends for good/);
  assert.match(done("scale", "all", "-1"), /^Scaled all to 1 GPU\.$/m);
  assert.match(done("quotas"), /^all +1 +0 /m);
  const { status, said } = shell(["scale", "all", "-9"]);
  assert.equal(status, USAGE);
  assert.match(said, /-9: all has 1, and cannot give more than that/);
  done("scale", "all", "+1");
});

test("bad words are refused before anything is sent, with the place and what to do", () => {
  const revision = () => JSON.parse(done("events", "-n", "1", "-o", "json")).revision;
  const before = revision();
  const refused = (status, words, said) => {
    const told = shell(words);
    assert.equal(told.status, status, `${words.join(" ")}: ${told.said}`);
    assert.match(told.said, said);
  };
  refused(USAGE, ["submit", "--gpus", "x", "--duration", "soon", "--", "true"], /--gpus: “x” is not an amount.*--duration: “soon” is no period/);
  const job = join(config, "bad.toml");
  writeFileSync(job, 'name = "bad"\nduration = "soon"\n');
  refused(USAGE, ["submit", "-f", job, "--", "true"], /bad\.toml: line 2, column 12: “soon” is no period; write for example 90m, 2h 30m or 1d/);
  writeFileSync(job, 'name = "bad"\nprioritty = 3\n');
  refused(USAGE, ["submit", "-f", job, "--", "true"], /bad\.toml: line 2, column 1: there is no field “prioritty”; did you mean “priority”\?; nothing was sent/);
  refused(USAGE, ["submit", "-f", join(config, "absent.toml")], /absent\.toml: No such file or directory/);
  refused(USAGE, ["sumbit"], /unrecognized subcommand 'sumbit'[^]*similar subcommands exist: .*'submit'/);
  refused(USAGE, ["submit"], /write the command of the job after --/);
  refused(REFUSED, ["submit", "--quota", "nowhere", "--", "true"], /cluster local at http:\S+: there is no quota nowhere; `tidegate quotas` lists what you may see/);
  refused(REFUSED, ["job", "nobody"], /there is no job nobody; `tidegate jobs --all` lists what you may see/);
  refused(REFUSED, ["wait", "nobody"], /there is no job nobody/);
  refused(USAGE, ["jobs", "--state", "lost"], /write one of queued, /);
  refused(NOT_LOGGED_IN, ["jobs", "--context", "other"], /there is no context other: there are local/);
  assert.equal(revision(), before);
});

test("a member sees what is theirs, submits there, and is refused elsewhere", async () => {
  const cluster = server.cluster("local");
  assert.equal((await cluster.send("ann", { put_member: { workspace: "default", user: "ann", roles: ["developer"] } })).status, 200);
  const made = await cluster.send("key", { create_key: { key: "local.ann", user: "ann" } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const secret = made.headers.get("x-tidegate-secret");
  const login = shell(["login", server.url, "--name", "ann"], `local.ann:${secret}\n`);
  assert.equal(login.status, DONE, login.said);
  assert.match(login.out, /as ann; commands are for it from now on$/m);

  // There is another quota, and none of her workspaces has it.
  assert.equal((await cluster.send("other", { create_quota: { quota: "other", parent: "all", min: { gpu: 0 } } })).status, 200);
  done("submit", "--name", "hers", "--", "true");
  done("wait", "hers");
  assert.equal(JSON.parse(done("jobs", "-a", "-o", "json", "hers"))[0].user, "ann");
  const { status, said } = shell(["scale", "all", "1"]);
  assert.equal(status, REFUSED);
  assert.match(said, /cluster local at http:\S+: ann /);

  assert.equal((await cluster.send("gone", { delete_quota: { quota: "other" } })).status, 200);

  // A revoked key is taken no more, and the way back in is said.
  assert.equal((await cluster.send("revoke", { revoke_key: { key: "local.ann" } })).status, 200);
  const revoked = shell(["jobs"]);
  assert.equal(revoked.status, NOT_LOGGED_IN);
  assert.match(revoked.said, /does not take the key of ann any more.*tidegate login http/);
  assert.match(done("logout"), /^ann: logged out of cluster local/m);
  assert.ok(!readFileSync(CONTEXTS, "utf8").includes(secret));
  done("context", "local");
});

test("a service that is gone is said to be, and who waits goes on when it is back", async () => {
  done("submit", "--name", "outlives", "--", "sh", "-c", "echo begun; sleep 8; echo over");
  await reaches("outlives", "in-quota");
  const waited = later("wait", "outlives");
  const followed = later("logs", "-f", "outlives");
  // Neither says that it listens.
  await pause(2_000);
  server.port = new URL(server.url).port;
  await server.interrupt();
  const { status, said } = shell(["jobs"]);
  assert.equal(status, UNREACHABLE);
  assert.match(said, /http:\S+ does not answer: .*; is it running, and can it be reached from here\?/);
  await server.start();
  const { status: ended, out } = await waited;
  assert.deepEqual([ended, out], [DONE, "outlives: Succeeded. Finished.\n"]);
  const log = await followed;
  assert.deepEqual([log.status, log.out], [DONE, "begun\nover\n"]);
});

test("a cluster is a file, which is applied as a whole or not at all", () => {
  const file = join(config, "cluster.json");
  const apply = (document, ...words) => {
    writeFileSync(file, typeof document === "string" ? document : JSON.stringify(document));
    return shell(["apply", file, ...words]);
  };
  const exported = () => JSON.parse(done("export", "-o", "json"));
  const now = exported();
  const same = apply(now);
  assert.deepEqual([same.status, same.out], [DONE, ""]);
  assert.match(same.said, /is as \S+cluster\.json says/);

  const quotas = [...now.quotas, { quota: "team", parent: "all", min: { gpu: 1000 } }];
  const wanted = { ...now, quotas, workspaces: [...now.workspaces, { workspace: "team", quotas: ["team"], members: { bob: ["developer"] } }] };
  assert.match(apply(wanted, "--dry-run").out, /team was created with 1 GPU/);
  assert.deepEqual(exported(), now, "a dry run changes nothing");
  const applied = apply(wanted);
  assert.equal(applied.status, DONE, applied.said);
  assert.deepEqual(exported().workspaces.find(({ workspace }) => workspace === "team").members, { bob: ["developer"] });
  assert.match(done("quotas", "team"), /^ {2}team +1 /m);

  const made = exported();
  const moved = { ...made, quotas: made.quotas.map((quota) => (quota.quota === "team" ? { ...quota, parent: null } : quota)) };
  assert.match(apply(moved).said, /quota team has another parent/);
  const typo = apply(JSON.stringify(made, null, 1).replace('"quotas"', '"qoutas"'));
  assert.equal(typo.status, USAGE);
  assert.match(typo.said, /cluster\.json: unknown field `qoutas`.* at line \d+ column \d+; nothing was changed/);
  const tooMuch = apply({ ...made, quotas: made.quotas.map((quota) => (quota.quota === "team" ? { ...quota, min: { gpu: 99_000 } } : quota)) });
  assert.equal(tooMuch.status, REFUSED, tooMuch.out);
  assert.deepEqual(exported(), made);
  // As people write it: the same cluster, and amounts and periods as they are said.
  const text = done("export");
  assert.ok(!text.includes("{}"), text);
  assert.match(text, /^quota = "team"\nparent = "all"\nmin = \{ gpu = 1 \}$/m);
  assert.match(apply(text).said, /is as \S+ says/);
  const graced = (period) => text.replace('parent = "all"\n', `parent = "all"\nsettings.grace_period = "${period}"\n`);
  const longer = apply(graced("2m"));
  assert.equal(longer.status, DONE, longer.said + text);
  assert.match(done("export"), /^quota = "team"\nparent = "all"\nmin = \{ gpu = 1 \}\nsettings\.grace_period = "2m"$/m);
  const wrong = apply(text.replace("[[quotas]]", "[[qoutas]]"));
  assert.equal(wrong.status, USAGE);
  assert.match(wrong.said, /line \d+, column 3: there is no field “qoutas”; did you mean “quotas”\?; nothing was changed/);
  const back = shell(["apply", "-f", "-", "--yes"], graced("30s"));
  assert.equal(back.status, DONE, back.said);
  assert.deepEqual(exported(), made);
  // What the file does not name stays.
  assert.equal(apply({ format: 1, quotas: [] }).status, DONE);
  assert.deepEqual(exported(), made);
});

test("a cluster that is not there is created by its file, once somebody has agreed", () => {
  const login = shell(["login", `${server.url}/clusters/lab`], server.key);
  assert.equal(login.status, DONE, login.said);
  const apply = (text, ...words) => shell(["apply", "-f", "-", ...words], text);
  const cluster = '[cluster]\ndimensions = [{ name = "gpu", kind = "gpu" }]\nexecution = "simulated"\n\n';
  const rest = `[[groups]]
group = "machines"
resource_type = "lingjun"
pool = { gpu = 64 }

[[quotas]]
quota = "all"
groups = ["machines"]
min = { gpu = 64 }
`;
  const undeclared = apply(rest, "--yes");
  assert.equal(undeclared.status, USAGE);
  assert.match(undeclared.said, /line 4, column 10: nothing says what the cluster counts; to create a cluster, write \[cluster\] with/);
  const typo = apply(cluster.replace("execution", "executon") + rest, "--yes");
  assert.match(typo.said, /line 3, column 1: there is no field “executon”; did you mean “execution”\?; nothing was changed/);
  const tooLate = apply(cluster + rest.replace('groups = ["machines"]', 'parent = "none"'), "--yes");
  assert.equal(tooLate.status, REFUSED, tooLate.out);
  assert.match(tooLate.said, /nothing was created/);
  const asked = apply(cluster + rest);
  assert.equal(asked.status, DECLINED, asked.said);
  assert.match(asked.said, /^ {2}Creates cluster lab: it counts gpu, and its jobs are simulated\.$/m);
  assert.match(asked.said, /^ {2}all was created with 64 GPUs\.$/m);
  assert.match(asked.said, /Create cluster lab at http:\S+\? Nobody can be asked here/);
  assert.match(apply(cluster + rest, "--dry-run").out, /^ {2}Creates cluster lab: .*\n {2}Resource group machines was added or changed\.\n/);
  assert.equal(shell(["quotas"]).status, REFUSED, "nothing was created");

  const made = apply(cluster + rest, "--yes");
  assert.equal(made.status, DONE, made.said);
  assert.match(made.out, /^all was created with 64 GPUs\.$/m);
  const text = done("export");
  assert.match(text, /^\[cluster\]\ndimensions = \[\{ name = "gpu", kind = "gpu" \}\]\nexecution = "simulated"\nstart_within = "10m"$/m);
  assert.match(apply(text).said, /is as - says/);
});
