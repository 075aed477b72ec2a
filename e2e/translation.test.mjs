// A translation of a page and the page cannot drift apart unseen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sections } from "../xtask/links.mjs";
import { drift, filled, joined, named } from "../xtask/translation.mjs";

const ENGLISH = `# Lending

Lent with \`tidegate quotas\`, see [Taking back](reclaim.md) and [Borrowing](borrowing.md).

{{scenario reclaim}}

\`\`\`sh
tidegate quotas   # where they are
\`\`\`

## What it costs

\`\`\`text
a # is no remark here
\`\`\`
`;
const CHINESE = `# 借出

见[借用](borrowing.md)和[收回](reclaim.md)，用 \`tidegate quotas\` 借出。

{{scenario reclaim}}

\`\`\`sh
tidegate quotas   # 在哪里
\`\`\`

## 代价

{{code}}
`;

function faults(change, by) {
  assert.ok(CHINESE.includes(change));
  const told = [];
  const text = filled(CHINESE.replace(change, by), ENGLISH, told);
  return [...told, ...drift(text, ENGLISH)];
}

test("a faithful page has no faults, and takes blocks from the English one", () => {
  assert.deepEqual(faults("", ""), []);
  assert.match(filled(CHINESE, ENGLISH, []), /## 代价\n\n```text\na # is no remark here\n```\n/);
});

test("what a translation has lost or gained is told", () => {
  assert.deepEqual(faults("## 代价", "代价"), ["headings of the levels 1, in English 1 2"]);
  assert.deepEqual(faults("## 代价", "### 代价"), ["headings of the levels 1 3, in English 1 2"]);
  assert.deepEqual(faults("[收回](reclaim.md)", "收回"), ["under “借出”: links: only in English: reclaim.md"]);
  assert.deepEqual(faults("`tidegate quotas`", "`tidegate jobs`"), [
    "under “借出”: code: not in English: `tidegate jobs`; only in English: `tidegate quotas`",
  ]);
  assert.deepEqual(faults("{{scenario reclaim}}", ""), ["under “借出”: made parts: only in English: {{scenario reclaim}}"]);
  assert.deepEqual(faults("{{code}}", ""), ["under “代价”: blocks: only in English: ```text\na # is no remark here\n```"]);
  assert.deepEqual(faults("{{code}}", "{{code}}\n\n{{code}}"), [
    "line 15: the English page has no block 3",
    "under “代价”: made parts: not in English: {{code}}",
  ]);
  assert.deepEqual(faults("quotas   # 在哪里", "jobs   # 在哪里"), [
    "under “借出”: blocks: not in English: ```sh\ntidegate jobs\n```; only in English: ```sh\ntidegate quotas\n```",
  ]);
  assert.deepEqual(faults("{{code}}", "```text\na\n```"), [
    "under “代价”: blocks: not in English: ```text\na\n```; only in English: ```text\na # is no remark here\n```",
  ]);
});

test("the rest of a page stands in English, and headings have the English names", () => {
  const text = filled(CHINESE.replace(/## 代价[^]*/, "{{rest}}\n"), ENGLISH, []);
  assert.deepEqual(drift(text, ENGLISH), []);
  assert.match(text, /## What it costs\n/);
  assert.deepEqual(sections(named(CHINESE, ENGLISH)).map(({ id, heading }) => [id, heading]), [["lending", "借出"], ["what-it-costs", "代价"]]);
});

test("no space stands between Chinese sentences", () => {
  assert.equal(joined("一。\n二，\nGPU\n三\n*四*\n\n- 五。\n- 六。\n\n```text\n七。\n八。\n```\n"), "一。二，GPU\n三*四*\n\n- 五。\n- 六。\n\n```text\n七。\n八。\n```\n");
});
