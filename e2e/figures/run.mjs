// Measures the figures in Wasm: `node run.mjs MODULE.wasm [FOLDER]` prints them as JSON; the trace is in the folder.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [module, folder] = process.argv.slice(2);
const host = { now_us: () => Number(process.hrtime.bigint()) / 1e3 };
const { instance } = await WebAssembly.instantiate(readFileSync(module), { host });
const { memory, reserve, measure, output } = instance.exports;

const files = ["philly_week.csv", "philly_quotas.csv"].map((name) => join(folder ?? "", name));
if (folder && files.every((file) => existsSync(file))) {
  files.forEach((file, text) => {
    const bytes = readFileSync(file);
    const at = reserve(text, bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  });
}
const length = measure();
const figures = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length)));
if (!Array.isArray(figures)) throw new Error(figures);
console.log(JSON.stringify(figures));
