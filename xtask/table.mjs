// Prints figures beside their targets, native and Wasm: `node table.mjs NATIVE.json WASM.json`.
import { readFileSync } from "node:fs";

const [native, wasm] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const rows = new Map();
for (const [column, figures] of [["native", native], ["wasm", wasm]]) {
  for (const figure of figures) rows.set(figure.what, { ...rows.get(figure.what), [column]: figure });
}

const number = (value) => (value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString("en"));
const cell = (figure) => {
  if (!figure) return "-".padStart(40);
  const { value, target, unit, better, ratio, is_reached } = figure;
  const measured = `${number(value)} ${unit}`.padStart(18);
  const limit = `${better === "lower" ? "<=" : ">="} ${number(target)}`.padStart(13);
  return `${measured}${limit} ${ratio.toFixed(2).padStart(7)}x${is_reached ? " " : "!"}`;
};
const width = Math.max(...[...rows.keys()].map((what) => what.length));
console.log(`${"".padEnd(width)}${"native".padStart(18)}${"".padStart(23)}${"Wasm".padStart(18)}`);
for (const [what, { native, wasm }] of rows) console.log(`${what.padEnd(width)}${cell(native)} ${cell(wasm)}`);
console.log("x: measured / target; !: missed");
