// What a page with three planners asks of their engine.
import { readFileSync } from "node:fs";
import { Session, initSync } from "../dist/embed/engine.js";

const file = (name) => readFileSync(new URL(`../dist/embed/${name}`, import.meta.url));
initSync({ module: file("engine_bg.wasm") });
const session = new Session();
for (const [at, name] of ["scale-siblings", "child-level", "reclaim"].entries()) {
  session.open(at, file(`scenarios/${name}.txt`).toString(), false);
  session.run(at, []);
  while (session.is_busy()) session.work(200);
}
