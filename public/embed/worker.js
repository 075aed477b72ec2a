// The engine of all planners of a page: answers at once what it can, and works in short portions on the rest.
import load, { Session } from "./engine.js";

const PORTION_MS = 12;
const session = load().then(() => new Session());
const planners = new Set();
let isWorking = false;

onmessage = async ({ data: [method, planner, ...rest] }) => {
  planners.add(planner);
  try {
    const ready = await session;
    const answer = ready[method](planner, ...rest);
    if (answer) postMessage([JSON.parse(answer)]);
    if (!isWorking && ready.is_busy()) {
      isWorking = true;
      work(ready);
    }
  } catch (error) {
    fail([planner], error);
  }
};

function fail(these, { message }) {
  postMessage([...these].map((planner) => ({ kind: "failed", planner, message: `The planner's engine does not run here: ${message}` })));
}

function work(ready) {
  const end = performance.now() + PORTION_MS;
  const told = [];
  const progress = new Map();
  isWorking = false;
  try {
    do {
      const answer = ready.work(200);
      const tell = answer && JSON.parse(answer);
      if (tell?.kind === "progress") progress.set(tell.planner, tell);
      else if (tell) told.push(tell);
    } while (ready.is_busy() && performance.now() < end);
    isWorking = ready.is_busy();
  } catch (error) {
    // Whatever they were about, all of them shared this engine.
    fail(planners, error);
  }
  postMessage([...progress.values(), ...told]);
  // A page that has asked for something else in the meantime is heard first.
  if (isWorking) setTimeout(work, 0, ready);
}
