// Prints what each file weighs as it is, and as it travels.
import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

const columns = (cells) =>
  cells[0].padEnd(40) + cells.slice(1).map((cell) => String(cell).padStart(10)).join("");

console.log(columns(["", "raw", "gzip", "brotli"]));
for (const path of process.argv.slice(2)) {
  const bytes = readFileSync(path);
  console.log(columns([path, bytes.length, gzipSync(bytes).length, brotliCompressSync(bytes).length]));
}
