// The book's ten minutes in a shell: the page's commands are run, in their order, and print what the page says.
//
// UPDATE_EXPECT=1 writes what they print into the page; read the difference before you keep it.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildProgram, freePort, processesWith } from "./processes.mjs";
import { Transcript, parse, plain, written } from "./transcript.mjs";

const ROOT = resolve(fileURLToPath(import.meta.url), "../..");
const PAGE = resolve(ROOT, "docs/book/src/ten-minutes.md");

const page = readFileSync(PAGE, "utf8");
const parts = parse(page);
let transcript;

before(buildProgram);
after(async () => {
  await transcript?.stop();
});

test("the page is read as it is written", () => {
  assert.equal(written(parts), page);
});

test("ten minutes in a shell go as the book says", { timeout: 600_000 }, async () => {
  // What is not as the page says is waited for in vain where the page is written anew.
  transcript = new Transcript({ port: await freePort(), release: ROOT, patienceMs: process.env.UPDATE_EXPECT ? 8_000 : undefined });
  const times = new Map();
  await transcript.run(parts, ({ title, ms }) => {
    const [n, sum] = times.get(title) ?? [0, 0];
    times.set(title, [n + 1, sum + ms]);
  });
  for (const [title, [n, ms]] of times) console.log(`${title}: ${n} commands, ${(ms / 1000).toFixed(1)} s`);
  const commands = parts.filter((part) => part.command !== undefined);
  if (process.env.UPDATE_EXPECT) {
    for (const part of commands) part.prints = part.printed;
    writeFileSync(PAGE, written(parts));
  }
  for (const { command, prints, printed } of commands) {
    assert.equal(plain(printed.join("\n")), plain(prints.join("\n")), `$ ${command}\nprints\n${printed.join("\n")}`);
  }
  assert.deepEqual(processesWith(`HOME=${transcript.folder}`), [], "nothing is left of it");
});
