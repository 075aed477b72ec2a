// The engine of all planners of a page: answers at once what it can, and works in short portions on the rest.
import load, { Desk } from "./engine.js";

const PORTION_MS = 12;
const desk = load().then(() => new Desk());
let isWorking = false;

onmessage = async ({ data: [method, planner, ...rest] }) => {
  try {
    const ready = await desk;
    const answer = ready[method](planner, ...rest);
    if (answer) postMessage([JSON.parse(answer)]);
    if (!isWorking && ready.is_busy()) {
      isWorking = true;
      work(ready);
    }
  } catch (error) {
    postMessage([{ kind: "failed", planner, message: `The planner's engine does not run here: ${error.message}` }]);
  }
};

function work(ready) {
  const end = performance.now() + PORTION_MS;
  const told = [];
  const progress = new Map();
  do {
    const answer = ready.work(200);
    const tell = answer && JSON.parse(answer);
    if (tell?.kind === "progress") progress.set(tell.planner, tell);
    else if (tell) told.push(tell);
  } while (ready.is_busy() && performance.now() < end);
  postMessage([...progress.values(), ...told]);
  // A page that has asked for something else in the meantime is heard first.
  if (ready.is_busy()) setTimeout(work, 0, ready);
  else isWorking = false;
}
