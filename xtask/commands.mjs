// What is wrong with the commands that a book names, by the page of what `--help` says: commands and flags that are not
// there are told with their place. Texts are those of links.mjs.

const HELP = /^#+ (tidegate.*)\n\n```text\n([^]*?)\n```$/gm;

export function wrongCommands(texts, page) {
  const helps = new Map([...page.matchAll(HELP)].map(([, name, help]) => [name, help]));
  return texts.flatMap(({ name, text }) =>
    named(text).flatMap(({ line, command }) => wrong(command, helps).map((what) => `${name}:${line}: ${command}: ${what}`)),
  );
}

// The commands in blocks, where a line is one or a prompt stands before it, and in spans of code. One that goes on in the
// next line has the number of its last one.
function named(text) {
  let [isCode, begun] = [false, ""];
  return text.split("\n").flatMap((shown, index) => {
    if (/^\s*```/.test(shown)) isCode = !isCode;
    const whole = begun + shown;
    begun = isCode && whole.endsWith(" \\") ? whole.slice(0, -1) : "";
    if (begun) return [];
    const found = isCode ? whole.matchAll(/(?:^|\$ |&& |\| |\$\()(tidegate(?: [^&|<>()]*)?)/g) : whole.matchAll(/`(tidegate [^`]*)`/g);
    return [...found].map(([, command]) => ({ line: index + 1, command: command.trim() }));
  });
}

function wrong(command, helps) {
  const [typed] = command.replace(/ # .*$|\s{2,}#.*$/, "").split(" -- ");
  const words = typed.split(/\s+/);
  let length = 1;
  while (words[length] && helps.has(words.slice(0, length + 1).join(" "))) length += 1;
  if (length === 1 && words[1] && !words[1].startsWith("-")) return ["there is no such command"];
  const help = helps.get(words.slice(0, length).join(" "));
  const flags = words.slice(length).filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]);
  return flags.filter((flag) => flag !== "--help" && !new RegExp(`(^|\\s)${flag}(?![\\w-])`, "m").test(help)).map((flag) => `it has no ${flag}`);
}
