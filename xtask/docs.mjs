// Makes the pages that mdBook reads: `{{scenario NAME}}` becomes the scenario with its planner, `{{element}}` the reference
// of the element, `{{terms A; B}}` these lines of the glossary, `{{calls}}`, `{{commands}}`, `{{rights}}` and
// `{{fields TYPE}}` what the document of the native surface has. Usage: docs.mjs FROM TO EMBED
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { calls, commands, fields, rights, table } from "./api.mjs";
import { wrongCommands } from "./commands.mjs";
import { sections, wrongLinks } from "./links.mjs";

const [from, to, embed] = process.argv.slice(2);
const { Session, initSync } = await import(new URL(`../${embed}/engine.js`, import.meta.url));
initSync({ module: readFileSync(`${embed}/engine_bg.wasm`) });
const session = new Session();
const api = JSON.parse(readFileSync("public/openapi.json", "utf8"));
const scenarios = readdirSync("scenarios").map((file) => file.replace(/\.md$/, ""));
const shown = new Set();
// What people have written, for the places of what is wrong, and the pages that became of it.
const texts = [];
const pages = {};

rmSync(to, { recursive: true, force: true });
mkdirSync(`${to}/src`, { recursive: true });
cpSync(`${from}/theme`, `${to}/theme`, { recursive: true });
for (const file of ["book.toml", "book.css"]) copyFileSync(`${from}/${file}`, `${to}/${file}`);
for (const file of readdirSync(`${from}/src`)) {
  pages[file] = read(`${from}/src/${file}`, file)
    .replace(/^\{\{scenario ([\w-]+)\}\}$/gm, (_, name) => scenario(name, file))
    .replace(/^\{\{element\}\}$/gm, element)
    .replace(/^\{\{terms (.+)\}\}$/gm, (_, names) => terms(names.split("; "), file))
    .replace(/^\{\{calls\}\}$/gm, () => calls(api))
    .replace(/^\{\{commands\}\}$/gm, () => commands(api))
    .replace(/^\{\{rights\}\}$/gm, () => rights(api))
    .replace(/^\{\{fields (\w+)\}\}$/gm, (_, name) => fields(api, name))
    .replace(/^\{\{include (\S+)\}\}$/gm, (_, path) => read(path, file));
  writeFileSync(`${to}/src/${file}`, pages[file]);
}
const listed = new Set([...pages["SUMMARY.md"].matchAll(/\]\((\S+)\)/g)].map(([, page]) => page));
const faults = wrongLinks(texts, pages, (path) => (path.startsWith("embed/") ? path.replace("embed", embed) : `public/${path}`));
faults.push(...unsaid(), ...wrongCommands(texts, pages["commands.md"]));
for (const page of Object.keys(pages)) {
  if (page !== "SUMMARY.md" && !listed.has(page)) faults.push(`${from}/src/SUMMARY.md: ${page} has no line`);
}
if (faults.length > 0) throw new Error(faults.join("\n"));
copyFileSync(`${from}/search.js`, `${to}/src/search.js`);
writeFileSync(`${to}/src/search.json`, JSON.stringify(searched()));
const left = scenarios.filter((name) => !shown.has(name));
if (left.length > 0) throw new Error(`no page shows ${left.join(", ")}: give each a place in ${from}/src`);
console.log(`${shown.size} scenarios in ${Object.keys(pages).length - 1} pages`);

function read(name, page) {
  const text = readFileSync(name, "utf8");
  texts.push({ name, page, text });
  return text;
}

function scenario(name, file) {
  if (!existsSync(`scenarios/${name}.md`)) throw new Error(`${file}: there is no scenario ${name}`);
  if (shown.has(name)) throw new Error(`${file}: ${name} is shown twice; link to its first place instead`);
  shown.add(name);
  const [, title, prose, block] = read(`scenarios/${name}.md`, file).match(/^# (.*)\n([^]*?)```scenario\n([^]*?)```/);
  const lines = block.trimEnd().split("\n");
  const picture = Number(readFileSync(`${embed}/scenarios/${name}.svg`, "utf8").match(/viewBox="0 0 640 (\d+)"/)[1]);
  return `## ${title}
${prose.trimEnd()}

<tidegate-planner scenario="${name}" height="${height(block, picture)}"><img src="../embed/scenarios/${name}.svg" alt="How it begins; the scenario below says it in words" width="640" height="${picture}"></tidegate-planner>

<details><summary>The scenario, and what the engine says</summary>

\`\`\`text
${lines.join("\n")}
\`\`\`

</details>
`;
}

// What the page of the search looks through: of each part of a page its address, its headings and its words. Scenarios are
// there as what they show, without their lines.
function searched() {
  const words = (text) =>
    text.replace(/<details>[^]*?<\/details>|<[^>]+>|```\w*|[`*|#]/g, " ").replace(/\]\([^)]*\)|[[\]]|-{3,}/g, " ").replace(/\s+/g, " ").trim();
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
  const [service] = pages["settings.md"].match(/^## Of the service$[^]*?^## /m);
  const said = [...service.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  const missing = (all, others) => [...new Set(all)].filter((name) => !others.includes(name));
  return [
    ...missing(read, said).map((name) => `${from}/src/settings.md: ${name} is not said`),
    ...missing(said, read).map((name) => `${from}/src/settings.md: nothing in worker/src reads ${name}`),
  ];
}

function terms(names, file) {
  const [head, rule, ...lines] = readFileSync("GLOSSARY.md", "utf8").split("\n").filter((line) => line.startsWith("|"));
  const chosen = names.map((name) => {
    const line = lines.find((line) => line.startsWith(`| ${name} |`));
    if (!line) throw new Error(`${file}: GLOSSARY.md has no ${name}`);
    return line;
  });
  return [head, rule, ...chosen].join("\n");
}

// Room for all that the planner shows of it, so that nobody has to scroll inside.
function height(text, picture) {
  const [opened] = told(session.open(1, text, false));
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
