// Builds again when a source file is saved.
import { spawn } from "node:child_process";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";

const SOURCES = ["engine/src", "protocol/src", "worker/src", "worker/shim.js", "frontend/src", "public"];
// An editor's save, or a change of branch, is several events.
const SETTLE_MS = 200;

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

  for (const source of SOURCES.map((path) => join(root, path)).filter((path) => existsSync(path))) {
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
