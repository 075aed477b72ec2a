// The recordings on this computer.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(import.meta.url), "../../..");

/** Each recording once: those beside the native tests, and all of them where `../shared` is there. */
export function recordings() {
  const shared = join(ROOT, "../shared/pai/golden");
  const folders = [join(ROOT, "pai/tests/fixtures"), shared, join(shared, "newest_dlc_1_11_6")].filter(existsSync);
  const files = folders.flatMap((folder) => readdirSync(folder).filter((file) => file.endsWith(".http")).map((file) => join(folder, file)));
  const byDigest = new Map();
  for (const file of files) {
    const bytes = readFileSync(file);
    byDigest.set(createHash("sha256").update(bytes).digest("hex"), { name: basename(file, ".http"), bytes });
  }
  return [...byDigest.values()];
}
