// What is wrong with the links of a book: those that lead to no page, to no heading or to no file are told with their
// place. A text is `{ name, page, text }`: where a person finds it, and the page that it becomes a part of.
import { existsSync } from "node:fs";

export const LINK = /\]\(([^()\s]+)\)/g;

export function wrongLinks(texts, made, fileOf) {
  const headings = new Map(Object.entries(made).map(([page, text]) => [page, ids(text)]));
  return texts.flatMap(({ name, page, text }) =>
    unfenced(text).map((line) => line.replace(/`[^`]*`/g, "")).flatMap((line, index) =>
      [...line.matchAll(LINK)]
        .map(([, target]) => ({ target, what: wrong(target, page, headings, fileOf) }))
        .filter(({ what }) => what)
        .map(({ target, what }) => `${name}:${index + 1}: ${target}: ${what}`),
    ),
  );
}

function wrong(target, page, headings, fileOf) {
  if (/^(https?|mailto):/.test(target)) return undefined;
  if (target.startsWith("../")) {
    return existsSync(fileOf(target.slice(3).split(/[?#]/)[0])) ? undefined : "there is no such file beside the book";
  }
  const [name, id] = target.split("#");
  const known = headings.get(name || page);
  if (!known) return "there is no such page";
  return id === undefined || known.has(id) ? undefined : `there is no heading #${id}`;
}

// The lines without those of blocks, in which nothing is a link.
export function unfenced(text) {
  let isCode = false;
  return text.split("\n").map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? "" : line;
  });
}

function ids(text) {
  return new Set(sections(text).map(({ id }) => id));
}

// The parts of a page, each with its heading and with what mdBook calls it, unless the heading says so: `# 配额 {#quotas}`.
export function sections(text) {
  const found = [];
  const known = new Set();
  let isCode = false;
  for (const line of text.split("\n")) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const [, signs, heading, name] = (isCode ? undefined : line.match(/^(#{1,6}) (.*?)(?: \{#(\S+)\})?$/)) ?? [];
    if (heading === undefined) {
      found.at(-1)?.lines.push(line);
      continue;
    }
    const id = name ?? heading.toLowerCase().replace(/[^\p{L}\p{N}_\s-]/gu, "").replace(/\s/g, "-");
    let unique = id;
    for (let number = 1; known.has(unique); number += 1) unique = `${id}-${number}`;
    known.add(unique);
    found.push({ id: unique, level: signs.length, heading, lines: [] });
  }
  return found;
}
