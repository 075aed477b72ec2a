// A page of the book that is a session in a terminal: its commands are run, and what they print is what the page says.
//
// In blocks marked `console`, a line that begins with "$ " is a command, and the lines below it are what it prints. One that
// ends with " &" goes on in the background, and `kill -INT %N` ends the Nth of those. A block marked `toml` is the file that
// the line before it names. Times, secrets and amounts of work differ from run to run and are compared as such; what a command
// shows is looked at again until it is as the page says, for a while.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { PROGRAM } from "./processes.mjs";

/** How long what is looked at may take to be as the page says: some of it waits for the round of the minute. */
const PATIENCE_MS = 75_000;
/** How long something in the background says nothing more when it has begun. */
const QUIET_MS = 4_000;
/** How long a command may take. */
const COMMAND_MS = 90_000;
/** Commands that change nothing, and can be given again. */
const LOOKS = /^tidegate (jobs|job|why|quotas|nodes|logs|events|key list)\b/;

/** What differs from run to run, in words that do not. */
const DRAWN = [
  [/\b[0-9a-f]{64}\b/g, "SECRET"],
  [/\b[0-9a-f]{32}\b/g, "KEY"],
  [/\b\d{1,2}:\d{2}(:\d{2})?\b/g, "TIME"],
  [/\b(less than )?\d+(\.\d+)? GPU-hours?\b/g, "SOME GPU-hours"],
  [/\b(\d+ (ms|s|min|h|d)\b ?)+/g, "A WHILE "],
  [/\brevision \d+\b/g, "revision N"],
  [/\b\d+ entries\b/g, "N entries"],
  // The place in the queue is told from the next round on.
  [/ \(#\d+\)/g, ""],
];

/** What is compared: a line without what is drawn, and with one blank where there are several. */
export const plain = (text) => DRAWN.reduce((text, [drawn, word]) => text.replace(drawn, word), text).replace(/ +/g, " ").trim();

/** The parts of a page: text, files and commands, in order. */
export function parse(page) {
  const parts = [];
  let block, title = "", before = "";
  for (const line of page.split("\n")) {
    if (block === undefined) {
      const opened = /^```(console|toml)$/.exec(line)?.[1];
      if (/^## /.test(line)) title = line.slice(3);
      if (opened) block = opened === "toml" ? { file: /`([\w.-]+)`/.exec(before)?.[1], lines: [] } : {};
      if (opened === "toml") parts.push(block);
      else parts.push({ text: line });
      if (opened === "toml") parts.splice(-1, 0, { text: line });
      if (line.trim() !== "") before = line;
    } else if (line === "```") {
      block = undefined;
      parts.push({ text: line });
    } else if (block.lines) {
      block.lines.push(line);
    } else if (line.startsWith("$ ")) {
      parts.push({ command: line.slice(2), title, prints: [] });
    } else {
      parts.at(-1).prints.push(line);
    }
  }
  return parts;
}

/** The page again. */
export const written = (parts) =>
  parts.map((part) => (part.text !== undefined ? part.text : part.lines ? part.lines.join("\n") : [`$ ${part.command}`, ...part.prints].join("\n"))).join("\n");

/** Runs a page's commands; what each has printed and how long it took stands beside it. */
export class Transcript {
  /** `port` stands in for the one that the page has; `words` are added to calls that begin so. */
  constructor({ port, release, patienceMs = PATIENCE_MS }) {
    this.patienceMs = patienceMs;
    this.port = String(port);
    this.folder = mkdtempSync(join(tmpdir(), "tidegate-transcript-"));
    this.jobs = [];
    const asRoot = process.getuid() === 0 ? " --allow-root" : "";
    this.added = [[/^tidegate up\b/, `tidegate up --port ${port} --release ${release}`], [/^tidegate agent run\b/, `tidegate agent run${asRoot}`]];
    this.env = { ...process.env, HOME: this.folder, PATH: `${dirname(PROGRAM)}:${process.env.PATH}`, NO_COLOR: "1" };
    for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "TIDEGATE_CONTEXT", "TIDEGATE_TOKEN"]) delete this.env[name];
  }

  async run(parts, report = () => {}) {
    for (const part of parts) {
      if (part.lines) writeFileSync(join(this.folder, part.file), `${part.lines.join("\n")}\n`);
      if (part.command === undefined) continue;
      const begun = Date.now();
      part.printed = (await this.carryOut(part)).map((line) => line.replaceAll(this.port, "8787").replace(/\b[0-9a-f]{64}\b/g, "SECRET").replace(/\b[0-9a-f]{32}\b/g, "KEY"));
      part.ms = Date.now() - begun;
      report(part);
    }
  }

  async carryOut(part) {
    const words = this.added.reduce((text, [begins, call]) => text.replace(begins, call), part.command).replaceAll("8787", this.port);
    const ended = /^kill -INT %(\d+)$/.exec(part.command);
    if (ended) return this.end(this.jobs[Number(ended[1]) - 1]);
    if (words.endsWith(" &")) return this.begin(part, words.slice(0, -2));
    const isAsWritten = (lines) => plain(lines.join("\n")) === plain(part.prints.join("\n"));
    for (const end = Date.now() + this.patienceMs; ; await pause(300)) {
      const lines = await this.output(words);
      if (isAsWritten(lines) || !LOOKS.test(part.command) || Date.now() > end) return lines;
    }
  }

  spawned(words) {
    const child = spawn("bash", ["-c", words.startsWith("tidegate") ? `exec ${words}` : words], { cwd: this.folder, env: this.env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    child.said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (child.said += text));
    child.over = new Promise((done) => child.once("close", done));
    return child;
  }

  async output(words) {
    const child = this.spawned(words.includes("|") || words.includes("&&") || words.includes("<") || words.includes(">") ? ` ${words}` : words);
    const timer = setTimeout(() => {
      child.said += `it was ended after ${COMMAND_MS / 1000} s\n`;
      process.kill(-child.pid, "SIGKILL");
    }, COMMAND_MS);
    await child.over;
    clearTimeout(timer);
    return lines(child.said);
  }

  /** Goes on in the background, once it has said as many lines as the page has of it. */
  async begin(part, words) {
    const child = this.spawned(words);
    child.shown = 0;
    this.jobs.push(child);
    if (words.includes(">")) return [];
    // Of what is not written yet, it has said all when it is quiet.
    const most = part.prints.length || Infinity;
    let quiet = Date.now(), n_said = 0;
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end && child.exitCode === null && n_said < most; await pause(100)) {
      if (lines(child.said).length !== n_said) [n_said, quiet] = [lines(child.said).length, Date.now()];
      if (most === Infinity && n_said > 0 && Date.now() - quiet > QUIET_MS) break;
    }
    const said = lines(child.said);
    child.shown = said.length;
    return said;
  }

  /** Ends one; what it has said since. */
  async end(child) {
    child.kill("SIGINT");
    await child.over;
    return lines(child.said).slice(child.shown);
  }

  /** Ends everything that is left. */
  async stop() {
    for (const child of this.jobs.filter((child) => child.exitCode === null && child.signalCode === null)) {
      process.kill(-child.pid, "SIGKILL");
      await child.over;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What has been printed, but for what the runtime says to itself. */
const lines = (text) => {
  const all = text.split("\n").map((line) => line.trimEnd()).filter((line) => !line.startsWith("workerd/"));
  return all.at(-1) === "" ? all.slice(0, -1) : all;
};
