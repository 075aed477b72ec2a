// How the workers of the embed and of the planner page go on with what a session has to do.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { portions } from "../public/embed/portions.js";

// Time goes on by what is done.
let now = 1_000;
mock.method(performance, "now", () => now);

const later = () => new Promise((done) => setTimeout(done));

// A session with so much to do; each piece of it takes some milliseconds.
function session(pieces, broken) {
  return {
    left: pieces,
    is_busy() {
      return this.left > 0;
    },
    work() {
      if (this.left === broken) throw new Error("broken");
      now += 5;
      this.left -= 1;
      return this.left === 0 ? '[{"ran":{}}]' : "[]";
    },
    progress() {
      return `[{"progress":${this.left}}]`;
    },
  };
}

test("a page is heard between portions, and told what is over after how far that was", async () => {
  const told = [];
  const worked = session(8);
  const start = portions(worked, (list) => list !== "[]" && told.push(list), assert.fail);
  start();
  assert.ok(worked.left > 0 && worked.left < 8, `${worked.left} of 8 left after one portion`);
  const left = worked.left;
  // Who asks again does not make it go on twice.
  start();
  assert.equal(worked.left, left);
  while (worked.is_busy()) await later();
  assert.deepEqual(told, [`[{"progress":${left}}]`, '[{"progress":0}]', '[{"ran":{}}]']);
});

test("what breaks is told once, and what is asked for afterwards is begun", async () => {
  const errors = [];
  const worked = session(3, 2);
  const start = portions(worked, () => {}, (error) => errors.push(error.message));
  start();
  await later();
  assert.deepEqual(errors, ["broken"]);
  assert.equal(worked.left, 2);
  worked.work = () => (worked.left = 0, "[]");
  start();
  assert.equal(worked.left, 0);
});
