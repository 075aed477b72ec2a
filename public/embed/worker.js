// The engine of all planners of a page.
import load, { Session } from "./engine.js";
import { portions } from "./portions.js";

const planners = new Set();
const ready = load().then(() => {
  const session = new Session();
  // All of them share this engine.
  return { session, start: portions(session, tell, (error) => fail(planners, error)) };
});

onmessage = async ({ data: [method, planner, ...rest] }) => {
  planners.add(planner);
  try {
    const { session, start } = await ready;
    tell(session[method](planner, ...rest));
    start();
  } catch (error) {
    fail([planner], error);
  }
};

function tell(list) {
  if (list !== "[]") postMessage(JSON.parse(list));
}

function fail(these, { message }) {
  postMessage([...these].map((planner) => ({ kind: "failed", planner, message: `The planner's engine does not run here: ${message}` })));
}
