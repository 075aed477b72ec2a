// The engine of the planner page: answers at once what it can, and works in short portions on the rest.
import load, { Bench } from "./engine.js";

const PORTION_MS = 12;
const bench = load().then(() => new Bench());
let isWorking = false;
let newest = 0;

onmessage = async ({ data: { plan, ask, files = [] } }) => {
  newest = Math.max(newest, plan);
  try {
    const ready = await bench;
    const known = await Promise.all(files.map(read));
    // What was fetched for a plan may come after the next one has been opened.
    if (known.length > 0 && plan < newest) return;
    for (const [name, bytes] of known) ready.attach(name, bytes);
    tell(ready.ask(ask));
    if (!isWorking && ready.is_busy()) {
      isWorking = true;
      work(ready);
    }
  } catch (error) {
    const message = error instanceof WebAssembly.CompileError || error instanceof WebAssembly.RuntimeError
      ? `The planner's engine does not run here: ${error.message}`
      : error.message;
    tell(JSON.stringify([{ failed: { plan, message } }]));
  }
};

// A file of this computer, or something that the service has.
async function read(file) {
  if (file instanceof File) return [file.name, new Uint8Array(await file.arrayBuffer())];
  const answer = await fetch(file.url, { headers: file.key ? { authorization: `Bearer ${file.key}` } : {} });
  if (!answer.ok) {
    const { message } = await answer.json().catch(() => ({}));
    throw new Error(message ?? `${file.url} cannot be read (status ${answer.status}); try again`);
  }
  return [file.url, new Uint8Array(await answer.arrayBuffer())];
}

function tell(list) {
  if (list !== "[]") postMessage(list);
}

function work(ready) {
  const end = performance.now() + PORTION_MS;
  isWorking = false;
  try {
    do tell(ready.work(200));
    while (ready.is_busy() && performance.now() < end);
    tell(ready.progress());
    isWorking = ready.is_busy();
  } catch (error) {
    tell(JSON.stringify([{ failed: { plan: newest, message: `The planner's engine has failed: ${error.message}; reload the page` } }]));
  }
  // A page that has asked for something else in the meantime is heard first.
  if (isWorking) setTimeout(work, 0, ready);
}
