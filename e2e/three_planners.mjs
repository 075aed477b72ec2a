// What a page with three planners asks of their engine.
import { readFileSync } from "node:fs";
import { Desk, initSync } from "../dist/embed/engine.js";

const file = (name) => readFileSync(new URL(`../dist/embed/${name}`, import.meta.url));
initSync({ module: file("engine_bg.wasm") });
const desk = new Desk();
for (const [at, name] of ["scale-siblings", "child-level", "reclaim"].entries()) {
  desk.open(at, file(`scenarios/${name}.txt`).toString(), false);
  desk.run(at, []);
  while (desk.is_busy()) desk.work(200);
}
