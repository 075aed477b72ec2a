// Lays the scenarios beside the planner, as text, and draws how each begins, in the planner's own engine: what stands in a
// page before any engine is there. Not as Markdown: makers of sites take that for pages of their own.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const [dist] = process.argv.slice(2);
const { Session, initSync } = await import(new URL(`../${dist}/engine.js`, import.meta.url));
initSync({ module: readFileSync(`${dist}/engine_bg.wasm`) });
const session = new Session();
mkdirSync(`${dist}/scenarios`, { recursive: true });
for (const file of readdirSync("scenarios").filter((name) => name.endsWith(".md"))) {
  const text = readFileSync(`scenarios/${file}`, "utf8");
  const place = (end) => `${dist}/scenarios/${file.replace(/\.md$/, end)}`;
  writeFileSync(place(".txt"), text);
  for (const [isChinese, end] of [[false, ".svg"], [true, ".zh.svg"]]) {
    const [told] = JSON.parse(session.open(1, text, isChinese));
    if (told.kind !== "opened") throw new Error(`${file}: ${told.message}`);
    writeFileSync(place(end), `${told.picture}\n`);
  }
}
