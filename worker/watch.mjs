// Builds again when a source file is saved.
import { execFileSync, spawn } from "node:child_process";
import { watch } from "node:fs";
import { dirname, join } from "node:path";

/** What the build compiles to Wasm. */
const BUILT = ["frontend", "charts", "planner-embed", "planner-page", "edge"];
/** What it takes besides. */
const OTHERS = ["worker/shim.js", "public", "scenarios"];
// An editor's save, or a change of branch, is several events.
const SETTLE_MS = 200;

/** The sources of what is built, and of every crate of the workspace that it uses. */
export function sources(root) {
  const text = execFileSync("cargo", ["metadata", "--no-deps", "--offline", "--format-version", "1"], { cwd: root, encoding: "utf8" });
  const crates = new Map(JSON.parse(text).packages.map((known) => [known.name, known]));
  const needed = new Set(BUILT);
  // What is added while this goes on is gone through as well.
  for (const name of needed) {
    for (const { name: used, kind } of crates.get(name).dependencies) if (kind === null && crates.has(used)) needed.add(used);
  }
  const folders = [...needed].map((name) => join(dirname(crates.get(name).manifest_path), "src"));
  return [...folders, ...OTHERS.map((path) => join(root, path))];
}

/** Calls `reload` after each build that succeeded. A save during a build starts one more build, not several. */
export function rebuildOnSave(root, reload) {
  let timer;
  let isBuilding = false;
  let isStale = false;

  async function rebuild() {
    if (isBuilding) {
      isStale = true;
      return;
    }
    isBuilding = true;
    do {
      isStale = false;
      if (await build(root)) await reload();
    } while (isStale);
    isBuilding = false;
  }

  for (const source of sources(root)) {
    watch(source, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(rebuild, SETTLE_MS);
    });
  }
}

function build(root) {
  const cargo = spawn("cargo", ["xtask", "build", "--dev"], { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => {
    cargo.once("error", () => resolve(false));
    cargo.once("exit", (code) => resolve(code === 0));
  });
}
