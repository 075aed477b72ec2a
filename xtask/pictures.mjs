// Draws how each scenario begins, in the planner's own engine: what stands in a page before any engine is there.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const [dist] = process.argv.slice(2);
const { Desk, initSync } = await import(new URL(`../${dist}/engine.js`, import.meta.url));
initSync({ module: readFileSync(`${dist}/engine_bg.wasm`) });
const desk = new Desk();
for (const file of readdirSync(`${dist}/scenarios`).filter((name) => name.endsWith(".md"))) {
  const text = readFileSync(`${dist}/scenarios/${file}`, "utf8");
  for (const [isChinese, end] of [[false, ".svg"], [true, ".zh.svg"]]) {
    const told = JSON.parse(desk.open(1, text, isChinese));
    if (told.kind !== "opened") throw new Error(`${file}: ${told.message}`);
    writeFileSync(`${dist}/scenarios/${file.replace(/\.md$/, end)}`, `${told.picture}\n`);
  }
}
