// A page and its translation. What is no prose has one source, the English page: a translation says `{{code}}` for the next
// block of it, and `{{rest}}` for all that follows there. What a translation says itself is compared, part by part.
import { LINK, sections, unfenced } from "./links.mjs";

/** The translation with what it takes from the English page; `faults` gets what is not there. */
export function filled(text, english, faults) {
  const blocks = fences(english);
  const parts = sections(english);
  let [number, headings, isCode] = [0, 0, false];
  const lines = text.split("\n").map((line, index) => {
    if (/^```/.test(line)) {
      isCode = !isCode;
      if (isCode) number += 1;
    }
    if (isCode) return line;
    if (/^#{1,6} /.test(line)) headings += 1;
    if (line === "{{rest}}") return `<div lang="en">\n\n${parts.slice(headings).map(whole).join("\n")}\n\n</div>`;
    if (line !== "{{code}}") return line;
    number += 1;
    if (!blocks[number - 1]) faults.push(`line ${index + 1}: the English page has no block ${number}`);
    return blocks[number - 1] ?? line;
  });
  return lines.join("\n");
}

const whole = ({ level, heading, lines }) => [`${"#".repeat(level)} ${heading}`, ...lines].join("\n");

/** What one of them has and the other has not, in sentences. */
export function drift(translation, english) {
  const [ours, theirs] = [sections(translation), sections(english)];
  const levels = (parts) => parts.map(({ level }) => level).join(" ");
  if (levels(ours) !== levels(theirs)) return [`headings of the levels ${levels(ours)}, in English ${levels(theirs)}`];
  return ours.flatMap((part, index) => {
    const [our, their] = [held(part.lines), held(theirs[index].lines)];
    const differing = Object.keys(our).filter((kind) => our[kind].join("\n") !== their[kind].join("\n"));
    return differing.map((kind) => `under “${part.heading}”: ${kind}: ${differences(our[kind], their[kind])}`);
  });
}

/** The headings get the names that they have in English, so that an address leads to the same place in both. */
export function named(translation, english) {
  const names = sections(english).map(({ id }) => id);
  const own = sections(translation).map(({ id }) => id);
  return outside(translation, (prose) =>
    prose.replace(/^#{1,6} .*$/gm, (heading) => {
      const [name, ownName] = [names.shift(), own.shift()];
      return name === ownName ? heading : `${heading} {#${name}}`;
    }),
  );
}

/** Lines that follow each other without what HTML makes of the end of a line, a space: Chinese has none between sentences. */
export function joined(translation) {
  const join = (prose) => prose.replace(/([\p{Script=Han}。，；：）！？、”])\n(?=[\p{Script=Han}“（A-Za-z[]|\*\S|`(?!`))/gu, "$1");
  return outside(translation, join);
}

/** The text with its prose changed, and blocks as they are. */
export function outside(text, change) {
  return text.split(/(^```[^]*?^```$)/m).map((part) => (part.startsWith("```") ? part : change(part))).join("");
}

// Sentences stand in another order in another language, and with them links and code; blocks do not.
function held(lines) {
  const text = lines.join("\n");
  const prose = unfenced(text).join("\n");
  return {
    "made parts": lines.filter((line) => /^\{\{.*\}\}$/.test(line)),
    blocks: fences(text).map(uncommented),
    links: [...prose.replace(/`[^`]*`/g, "").matchAll(LINK)].map(([, target]) => target).sort(),
    addresses: [...prose.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target).sort(),
    // What is meant by "it" in one language may be named in the other.
    code: [...new Set(prose.match(/`[^`]+`/g))].sort(),
  };
}

function fences(text) {
  return [...text.matchAll(/^```[^]*?^```$/gm)].map(([block]) => block);
}

const uncommented = (block) => (/^```(sh|toml|json)\n/.test(block) ? block.replace(/(^|\s+)# .*$/gm, "") : block);

function differences(ours, theirs) {
  const less = (all, others) => all.filter((one) => !others.includes(one));
  const [gained, lost] = [less(ours, theirs), less(theirs, ours)];
  if (gained.length + lost.length === 0) return `${ours.length} in another number or order than ${theirs.length} in English`;
  const said = (what, list) => (list.length > 0 ? [`${what} ${list.join(", ")}`] : []);
  return [...said("not in English:", gained), ...said("only in English:", lost)].join("; ");
}
