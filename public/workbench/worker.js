// The engine of the planner page: answers at once what it can, and works in short portions on the rest.
import load, { Session } from "./engine.js";

const PORTION_MS = 12;
// How far it has come is told as often as somebody can read it.
const TELL_MS = 100;
const session = load().then(() => new Session());
let isWorking = false;
let isGathering = false;
let told = 0;
let newest = 0;

onmessage = async ({ data: { plan, ask, files = [], key } }) => {
  newest = Math.max(newest, plan);
  try {
    const ready = await session;
    const known = await Promise.all(files.map((file) => read(file, key)));
    // What was fetched for a plan may come after the next one has been opened.
    if (known.length > 0 && plan < newest) return;
    for (const [name, bytes] of known) ready.attach(name, bytes);
    tell(ready.ask(ask));
    const file = ready.file();
    // The page is handed a file without holding its text.
    if (file !== undefined) postMessage(new Blob([file], { type: "application/json" }));
    start(ready);
    if (!isGathering) gather(ready, key);
  } catch (error) {
    const message = error instanceof WebAssembly.CompileError || error instanceof WebAssembly.RuntimeError
      ? `The planner's engine does not run here: ${error.message}`
      : error.message;
    tell(JSON.stringify([{ failed: { plan, message } }]));
  }
};

// A file of this computer, or something that the service has.
async function read(file, key) {
  if (file instanceof File) return [file.name, new Uint8Array(await file.arrayBuffer())];
  return [file, new Uint8Array(await (await fetched(file, key)).arrayBuffer())];
}

async function fetched(address, key) {
  const answer = await fetch(address, { headers: key ? { authorization: `Bearer ${key}` } : {} });
  if (answer.ok) return answer;
  const { message } = await answer.json().catch(() => ({}));
  throw new Error(message ?? `${address} cannot be read (status ${answer.status}); try again`);
}

// What a plan needs of the service goes in portion by portion; in between it may be given up.
async function gather(ready, key) {
  isGathering = true;
  try {
    for (let address; (address = ready.wanted()); ) {
      const text = await fetched(address, key).then((answer) => answer.text()).catch((error) => error);
      tell(text instanceof Error ? ready.miss(address, text.message) : ready.take(address, text));
    }
    start(ready);
  } catch (error) {
    fail(error);
  } finally {
    isGathering = false;
  }
}

function fail(error) {
  tell(JSON.stringify([{ failed: { plan: newest, message: `The planner's engine has failed: ${error.message}; reload the page` } }]));
}

function tell(list) {
  if (list !== "[]") postMessage(list);
}

function start(ready) {
  if (isWorking || !ready.is_busy()) return;
  isWorking = true;
  told = 0;
  work(ready);
}

function work(ready) {
  const end = performance.now() + PORTION_MS;
  isWorking = false;
  try {
    do {
      const list = ready.work(200);
      // Whoever reads how fast it was reads all that was done.
      if (told > 0 && list.startsWith('[{"ran"')) tell(ready.progress());
      tell(list);
    } while (ready.is_busy() && performance.now() < end);
    isWorking = ready.is_busy();
    if (isWorking && end - told >= TELL_MS) {
      told = end;
      tell(ready.progress());
    }
  } catch (error) {
    fail(error);
  }
  // A page that has asked for something else in the meantime is heard first.
  if (isWorking) setTimeout(work, 0, ready);
}
