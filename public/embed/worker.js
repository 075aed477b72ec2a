// The engine of all planners of a page: answers at once what it can, and works in short portions on the rest.
import load, { Desk } from "./engine.js";

const PORTION_MS = 12;
const desk = load().then(() => new Desk());
let isWorking = false;

onmessage = async ({ data }) => {
  const [{ planner }] = Object.values(data);
  try {
    const ready = await desk;
    postMessage(JSON.parse(ready.ask(JSON.stringify(data))));
    if (!isWorking && ready.is_busy()) {
      isWorking = true;
      work(ready);
    }
  } catch (error) {
    postMessage([{ failed: { planner, message: `The planner's engine does not run here: ${error.message}` } }]);
  }
};

function work(ready) {
  const end = performance.now() + PORTION_MS;
  const told = [];
  const progress = new Map();
  do {
    for (const tell of JSON.parse(ready.work(200))) {
      if (tell.progress) progress.set(tell.progress.planner, tell);
      else told.push(tell);
    }
  } while (ready.is_busy() && performance.now() < end);
  postMessage([...progress.values(), ...told]);
  // A page that has asked for something else in the meantime is heard first.
  if (ready.is_busy()) setTimeout(work, 0, ready);
  else isWorking = false;
}
