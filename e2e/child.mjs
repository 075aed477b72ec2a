// A runtime in a process group of its own, for tests that kill it in the middle of its work.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";

const SERVE = fileURLToPath(new URL("../worker/serve.mjs", import.meta.url));

/** Starts `serve.mjs` on what `state` holds; its clock ticks only when `tick` is called. */
export async function spawnRuntime({ state, port = 0 }) {
  const child = spawn(process.execPath, [SERVE, "--stdin", "--every", "0", "--port", String(port), "--state", state], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const at = waiting.findIndex(({ pattern }) => pattern.test(line));
    if (at >= 0) waiting.splice(at, 1)[0].resolve(line);
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const said = (pattern) =>
    Promise.race([
      new Promise((resolve) => waiting.push({ pattern, resolve })),
      gone.then(() => Promise.reject(new Error(`the runtime ended before it said ${pattern}`))),
    ]);

  const [, url, adminKey] = /(http:\S+)\/#key=(\S+)/.exec(await said(/#key=/));
  return {
    url,
    adminKey,
    async tick(slotMs) {
      const answer = said(/^(ticked|failed) /);
      child.stdin.write(`tick ${slotMs}\n`);
      const line = await answer;
      if (line !== `ticked ${slotMs}`) throw new Error(line);
    },
    /** Kills the runtime and everything that it started, with no chance to write anything more. */
    async kill() {
      process.kill(-child.pid, "SIGKILL");
      await gone;
    },
  };
}
