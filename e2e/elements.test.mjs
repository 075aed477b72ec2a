// custom-elements.json says what the planner's element is: nothing that is not there, and all that is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = (name) => readFileSync(new URL(`../public/embed/${name}`, import.meta.url), "utf8");
const code = file("planner.js");
const [element] = JSON.parse(file("custom-elements.json")).modules[0].declarations;
const found = (pattern) => [...new Set([...code.matchAll(pattern)].map(([, name]) => name))].sort();
const said = (list) => list.map(({ name }) => name).sort();

test("attributes, parts and properties of the style are those of the module", () => {
  const attributes = [...found(/getAttribute\("([\w-]+)"\)/g), "aria-label", "theme"].sort();
  assert.deepEqual(said(element.attributes), attributes);
  assert.ok(code.includes(":host([theme=") && code.includes("this.ariaLabel ??="));
  assert.deepEqual(said(element.cssParts), found(/part="([\w-]+)"/g));
  assert.deepEqual(said(element.cssProperties), found(/var\((--[\w-]+)/g));
});

test("events and members are those of the module", () => {
  const kinds = found(/kind === "(\w+)"/g);
  const told = readFileSync(new URL("../planner/src/embed/message.rs", import.meta.url), "utf8");
  const all = [...told.matchAll(/=> \("(\w+)", &\[|\("(progress)", &\[/g)].map(([, one, other]) => one ?? other);
  assert.ok(kinds.every((kind) => all.includes(kind)), `${kinds} are not all of ${all}`);
  // What the element never asks for is never told.
  const heard = all.filter((kind) => kind !== "cancelled").map((kind) => `tidegate-${kind}`);
  assert.deepEqual(said(element.events), heard.sort());
  for (const { name } of element.members) assert.match(code, new RegExp(`(get |async |  )${name}\\(`));
});
