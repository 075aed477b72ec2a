// Drives a development server as it comes, on its cluster for the SDKs, with the vendor's own SDKs: each script named on
// the command line, with its options behind it in the same word, and the interpreter of Python before them.
//
//   node e2e/sdk/run.mjs target/sdks/pinned/bin/python "SCRIPT [OPTION...]"...
import { spawn } from "node:child_process";
import { Server } from "../server.mjs";

/** How often the clock ticks: waits in the scripts are for rounds. */
const TICK_MS = 2_000;
const MINUTE_MS = 60_000;

async function run(python, script, { url, key }) {
  const [file, ...more] = script.split(" ");
  const parameters = [file, url, "--key-id", key.id, "--key-secret", key.secret, ...more];
  const child = spawn(file.endsWith(".mjs") ? process.execPath : python, parameters, { stdio: "inherit" });
  return new Promise((ended) => child.once("exit", ended));
}

const [python, ...scripts] = process.argv.slice(2);
const server = await new Server({ lab: true }).start();
const tick = () => server.tick(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS).catch((error) => console.error(error.message));
const clock = setInterval(tick, TICK_MS);
let failed = 0;
try {
  const { url, sdkKey: key } = server;
  for (const script of scripts) failed += (await run(python, script, { url, key })) === 0 ? 0 : 1;
} finally {
  clearInterval(clock);
  await server.stop();
}
process.exit(failed);
