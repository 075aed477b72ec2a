// The engine of the planner page: answers at once what it can, and works in short portions on the rest.
import load, { Session } from "./engine.js";
import { portions } from "../embed/portions.js";

const engine = load().then(() => {
  const session = new Session();
  return { session, start: portions(session, tell, fail) };
});
let isGathering = false;
let newest = 0;

onmessage = async ({ data: { plan, ask, files = [], key } }) => {
  newest = Math.max(newest, plan);
  try {
    const { session, start } = await engine;
    const known = await Promise.all(files.map((file) => read(file, key)));
    // What was fetched for a plan may come after the next one has been opened.
    if (known.length > 0 && plan < newest) return;
    for (const [name, bytes] of known) session.attach(name, bytes);
    tell(session.ask(ask));
    const file = session.file();
    // The page is handed a file without holding its text.
    if (file !== undefined) postMessage(new Blob([file], { type: "application/json" }));
    start();
    if (!isGathering) gather(session, start, key);
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
async function gather(session, start, key) {
  isGathering = true;
  try {
    for (let address; (address = session.wanted()); ) {
      const text = await fetched(address, key).then((answer) => answer.text()).catch((error) => error);
      tell(text instanceof Error ? session.miss(address, text.message) : session.take(address, text));
    }
    start();
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
