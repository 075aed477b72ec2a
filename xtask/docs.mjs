// Makes the pages that mdBook reads. `{{include PATH}}` becomes the file, `{{scenario NAME}}` what the scenario says of itself
// and `{{planner NAME}}`, which becomes the planner and the scenario's lines, `{{element}}` the reference of the element,
// `{{terms A; B}}` these lines of the glossary and `{{terms}}` all of them, `{{calls}}`, `{{commands}}`, `{{rights}}` and
// `{{fields TYPE}}` what the document of the native surface has. The Chinese book, in FROM/zh, has a page for each English
// one: its translation (translation.mjs), or where there is none, the English page. Usage: docs.mjs FROM TO EMBED
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { calls, commands, fields, rights, table } from "./api.mjs";
import { wrongCommands } from "./commands.mjs";
import { sections, wrongLinks } from "./links.mjs";
import { drift, filled, joined, named, outside } from "./translation.mjs";

const [from, to, embed] = process.argv.slice(2);
const { Session, initSync } = await import(new URL(`../${embed}/engine.js`, import.meta.url));
initSync({ module: readFileSync(`${embed}/engine_bg.wasm`) });
const session = new Session();
const api = JSON.parse(readFileSync("public/openapi.json", "utf8"));
const scenarios = readdirSync("scenarios").map((file) => file.replace(/\.md$/, ""));
const SAID = {
  en: {
    alt: "How it begins; the scenario below says it in words",
    summary: "The scenario, and what the engine says",
    other: (page) => `<p class="language"><a href="zh/${page}" hreflang="zh-CN" lang="zh-CN">中文</a></p>`,
  },
  zh: {
    alt: "场景的初始状态；下面的场景文本用文字说明",
    summary: "场景文本，以及引擎的输出",
    other: (page) => `<p class="language"><a href="../${page}" hreflang="en" lang="en">English</a></p>`,
  },
};
// Said on pages of the Chinese book that have no translation.
const UNTRANSLATED = "本页尚未译成中文，以下为英文原文。";
const faults = [];

rmSync(to, { recursive: true, force: true });
const english = begun("en", `${from}/src`, to);
const chinese = begun("zh", `${from}/zh`, `${to}/zh`);
const files = readdirSync(english.from);
for (const file of files) english.sources[file] = opened(english, file, read(english, `${english.from}/${file}`, file));
for (const file of files) english.pages[file] = made(english, file, english.sources[file]);
for (const file of files) chinese.pages[file] = translated(file);
for (const file of readdirSync(chinese.from)) {
  if (file !== "book.toml" && !files.includes(file)) faults.push(`${chinese.from}/${file}: there is no English page of this name`);
}
for (const book of [english, chinese]) check(book);
faults.push(...unsaid());
if (faults.length > 0) throw new Error(faults.join("\n"));
for (const book of [english, chinese]) write(book);
const left = scenarios.filter((name) => !english.shown.has(name));
if (left.length > 0) throw new Error(`no page shows ${left.join(", ")}: give each a place in ${from}/src`);
const count = readdirSync(chinese.from).filter((file) => file.endsWith(".md")).length - 1;
console.log(`${english.shown.size} scenarios in ${files.length - 1} pages, ${count} of them also in Chinese`);

// Of a book `texts` are what people have written, for the places of what is wrong, `sources` the pages before what is made
// for them is there, and `pages` what became of them.
function begun(language, from, to) {
  return { language, from, to, texts: [], sources: {}, pages: {}, shown: new Set() };
}

function read(book, name, page) {
  const text = readFileSync(name, "utf8");
  book.texts.push({ name, page, text });
  return text;
}

function made(book, file, text) {
  return text
    .replace(/^\{\{planner ([\w-]+)\}\}$/gm, (_, name) => planner(book, name, file))
    .replace(/^\{\{element\}\}$/gm, element)
    .replace(/^\{\{terms(?: (.+))?\}\}$/gm, (_, names) => terms(book, names?.split("; "), file))
    .replace(/^\{\{calls\}\}$/gm, () => calls(api))
    .replace(/^\{\{commands\}\}$/gm, () => commands(api))
    .replace(/^\{\{rights\}\}$/gm, () => rights(api))
    .replace(/^\{\{fields (\w+)\}\}$/gm, (_, name) => fields(api, name));
}

// A page in Chinese, or the English one with a sentence that says so.
function translated(file) {
  const name = `${chinese.from}/${file}`;
  if (!existsSync(name)) {
    for (const [, shown] of english.pages[file].matchAll(/<tidegate-planner scenario="([\w-]+)"/g)) chinese.shown.add(shown);
    return `<p class="untranslated">${UNTRANSLATED}</p>\n\n<div lang="en">\n\n${english.pages[file]}\n\n</div>\n`;
  }
  const original = english.sources[file];
  const wrong = [];
  const written = filled(readFileSync(name, "utf8"), original, wrong);
  chinese.texts.push({ name, page: file, text: written });
  const text = opened(chinese, file, written);
  wrong.push(...drift(text, original));
  if (file === "SUMMARY.md" && chapters(text).join() !== chapters(original).join()) wrong.push("its chapters are others than in English");
  faults.push(...wrong.map((what) => `${name}: ${what}`));
  return file === "SUMMARY.md" ? text : joined(named(made(chinese, file, text), english.pages[file]));
}

function chapters(summary) {
  return [...summary.matchAll(/\]\((\S+)\)/g)].map(([, page]) => page);
}

function check({ from, texts, pages }) {
  const listed = chapters(pages["SUMMARY.md"]);
  faults.push(...wrongLinks(texts, pages, (path) => (path.startsWith("embed/") ? path.replace("embed", embed) : `public/${path}`)));
  faults.push(...wrongCommands(texts, pages["commands.md"]));
  for (const page of Object.keys(pages)) {
    if (page !== "SUMMARY.md" && !listed.includes(page)) faults.push(`${from}/SUMMARY.md: ${page} has no line`);
  }
}

function write(book) {
  mkdirSync(`${book.to}/src`, { recursive: true });
  copyFileSync(`${from}${book === chinese ? "/zh" : ""}/book.toml`, `${book.to}/book.toml`);
  cpSync(`${from}/theme`, `${book.to}/theme`, { recursive: true });
  copyFileSync(`${from}/book.css`, `${book.to}/book.css`);
  for (const [file, text] of Object.entries(book.pages)) writeFileSync(`${book.to}/src/${file}`, finished(book, file, text));
  copyFileSync(`${from}/search.js`, `${book.to}/src/search.js`);
  writeFileSync(`${book.to}/src/search.json`, JSON.stringify(searched(book.pages)));
}

// With the way to the same page in the other language; what lies beside the book is one folder further from the Chinese one.
function finished({ language }, file, text) {
  if (file === "SUMMARY.md") return text;
  const hasOther = existsSync(`${chinese.from}/${file}`) || language === "zh";
  const page = file.replace(/\.md$/, ".html");
  const whole = hasOther ? `${SAID[language].other(page)}\n\n${text}` : text;
  if (language === "en") return whole;
  return outside(whole, (prose) => prose.replace(/(\]\(|src=")\.\.\//g, "$1../../"));
}

// With the files that a page includes, and scenarios with what they say of themselves. That is English: a translation says
// it itself, above its `{{planner NAME}}`.
function opened(book, file, text) {
  const whole = text.replace(/^\{\{include (\S+)\}\}$/gm, (_, path) => read(book, path, file));
  return whole.replace(/^\{\{scenario ([\w-]+)\}\}$/gm, (_, name) => {
    if (!existsSync(`scenarios/${name}.md`)) throw new Error(`${file}: there is no scenario ${name}`);
    const [, told] = read(book, `scenarios/${name}.md`, file).match(/^# ([^]*?)```scenario\n/);
    const said = `## ${told.trimEnd()}`;
    return `${book.language === "en" ? said : `<div lang="en">\n\n${said}\n\n</div>`}\n\n{{planner ${name}}}`;
  });
}

function planner(book, name, file) {
  if (book.shown.has(name)) throw new Error(`${file}: ${name} is shown twice; link to its first place instead`);
  book.shown.add(name);
  const [, block] = readFileSync(`scenarios/${name}.md`, "utf8").match(/```scenario\n([^]*?)```/);
  const image = `${name}${book.language === "zh" ? ".zh" : ""}.svg`;
  const picture = Number(readFileSync(`${embed}/scenarios/${image}`, "utf8").match(/viewBox="0 0 640 (\d+)"/)[1]);
  const room = height(block, picture, book.language === "zh");
  return `<tidegate-planner scenario="${name}" height="${room}"><img src="../embed/scenarios/${image}" alt="${SAID[book.language].alt}" width="640" height="${picture}"></tidegate-planner>

<details><summary>${SAID[book.language].summary}</summary>

\`\`\`text
${block.trimEnd()}
\`\`\`

</details>
`;
}

// What the page of the search looks through: of each part of a page its address, its headings and its words. Scenarios are
// there as what they show, without their lines.
function searched(pages) {
  const words = (text) =>
    text
      .replace(/<details>[^]*?<\/details>|<[^>]+>|```\w*|[|#]|-{3,}/g, " ")
      // In Chinese no space stands between a word that is marked and the next one.
      .replace(/\]\([^)]*\)|[[\]`*]/g, "")
      .replace(/\s+/g, " ")
      .trim();
  const chapters = Object.entries(pages).filter(([page]) => page !== "SUMMARY.md" && page !== "search.md");
  return chapters.flatMap(([page, text]) => {
    const [first, ...others] = sections(text);
    const address = page.replace(/\.md$/, ".html");
    const part = ({ id, heading, lines }, at) => [at, words(first.heading), words(heading), words(lines.join("\n"))];
    return [part(first, address), ...others.map((one) => part(one, `${address}#${one.id}`))];
  });
}

// Variables and secrets that the Worker reads and no page says, or the other way round.
function unsaid() {
  const files = readdirSync("worker/src", { recursive: true }).filter((file) => file.endsWith(".rs"));
  const reads = /(?:variable|seconds)\(env, "(\w+)"|(?:number|secret|named)\("([A-Z_]+)"/g;
  const read = files.flatMap((file) => [...readFileSync(`worker/src/${file}`, "utf8").matchAll(reads)].map(([, a, b]) => a ?? b));
  const [service] = english.pages["settings.md"].match(/^## Of the service$[^]*?^## /m);
  const said = [...service.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  const missing = (all, others) => [...new Set(all)].filter((name) => !others.includes(name));
  return [
    ...missing(read, said).map((name) => `${from}/src/settings.md: ${name} is not said`),
    ...missing(said, read).map((name) => `${from}/src/settings.md: nothing in worker/src reads ${name}`),
  ];
}

// Lines of the glossary, or all of them. Its last column has the Chinese words, which the Chinese book puts first.
function terms({ language }, names, file) {
  const [, , ...lines] = readFileSync("GLOSSARY.md", "utf8").split("\n").filter((line) => line.startsWith("|"));
  const all = lines.map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim()));
  for (const [term, , , word] of all) if (!word) throw new Error(`GLOSSARY.md has no Chinese word for ${term}`);
  const chosen = names?.map((name) => {
    const line = all.find(([term]) => term === name);
    if (!line) throw new Error(`${file}: GLOSSARY.md has no ${name}`);
    return line;
  });
  const [head, cells] = {
    en: [["term", "meaning", "known elsewhere as"], ([term, meaning, elsewhere]) => [term, meaning, elsewhere]],
    zh: [["术语", "含义", "别处的叫法"], ([term, meaning, elsewhere, word]) => [`${word}<br>${term}`, meaning, elsewhere]],
  }[language];
  return table(head, (chosen ?? all).map(cells));
}

// Room for all that the planner shows of it, so that nobody has to scroll inside.
function height(text, picture, isChinese) {
  const [opened] = told(session.open(1, text, isChinese));
  const lines = Object.values(played()).reduce((html, news) => html + (news.events ?? news.result ?? ""), opened.controls);
  const count = (tag) => lines.split(tag).length - 1;
  return Math.round(picture * 1.1 + count('class="range"') * 52 + count('class="switch"') * 26 + count("<li") * 22 + count("<tr") * 30 + 145);
}

// What it comes to as it is written.
function played() {
  told(session.run(1, new Float64Array()));
  const news = {};
  while (session.is_busy()) {
    for (const one of told(session.work(10_000))) news[one.kind] = one;
  }
  return news;
}

function told(text) {
  const list = JSON.parse(text);
  for (const news of list) if (news.kind === "failed") throw new Error(news.message);
  return list;
}

function element() {
  const [{ attributes, members, events, slots, cssParts, cssProperties, description }] = JSON.parse(
    readFileSync(`${embed}/custom-elements.json`, "utf8"),
  ).modules[0].declarations;
  const code = (text) => `\`${text}\``;
  return `${description}

## Attributes

${table(["attribute", "values", "default", "what"], attributes.map((a) => [code(a.name), code(a.type.text), a.default ?? "", a.description]))}

## Properties and methods

${table(["name", "what"], members.map((m) => [code(m.kind === "method" ? `${m.name}()` : m.name), m.description]))}

## Events

${table(["event", "what"], events.map((e) => [code(e.name), e.description]))}

## Slot

${slots.map((s) => s.description).join("\n")}

## Parts

${table(["part", "what"], cssParts.map((p) => [code(`::part(${p.name})`), p.description]))}

## CSS properties

${table(["property", "default", "what"], cssProperties.map((p) => [code(p.name), code(p.default), p.description]))}`;
}
