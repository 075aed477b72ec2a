// The page of the search: looks through the words of the book as they are typed, in the reader's browser.
const SHOWN = 30;
const [input, told, found] = ["words", "told", "found"].map((id) => document.getElementById(id));
const parts = fetch("search.json").then((answer) => answer.json());

input.value = new URLSearchParams(location.search).get("q") ?? "";
input.addEventListener("input", show);
input.focus();
show();

async function show() {
  const all = await parts;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  history.replaceState(null, "", words.length > 0 ? `?q=${encodeURIComponent(input.value)}` : location.pathname);
  const hits = words.length > 0 ? all.map((part) => ({ part, worth: worth(part, words) })).filter(({ worth }) => worth > 0) : [];
  hits.sort((one, other) => other.worth - one.worth);
  told.textContent = said(words, hits.length);
  found.replaceChildren(...hits.slice(0, SHOWN).map(({ part }) => line(part, words)));
}

function said(words, hits) {
  if (words.length === 0) return "Type a word.";
  if (hits === 0) return "No matches.";
  if (hits > SHOWN) return `The ${SHOWN} best of ${hits} matches.`;
  return hits === 1 ? "1 match." : `${hits} matches.`;
}

// All of the words have to be there; in a heading they count for more.
function worth([, page, heading, text], words) {
  const [inPage, inHeading, inText] = [page, heading, text].map((one) => one.toLowerCase());
  const each = words.map((word) => (inHeading.includes(word) ? 8 : 0) + (inPage.includes(word) ? 4 : 0) + (inText.includes(word) ? 1 : 0));
  return each.includes(0) ? 0 : each.reduce((sum, one) => sum + one);
}

function line([address, page, heading, text], words) {
  const [item, link, around] = ["li", "a", "p"].map((name) => document.createElement(name));
  link.href = address;
  link.textContent = page === heading ? page : `${page}: ${heading}`;
  around.textContent = cut(text, words);
  item.append(link, around);
  return item;
}

// Whole words around the first one that was looked for.
function cut(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const from = places.length > 0 ? text.lastIndexOf(" ", Math.max(0, Math.min(...places) - 60)) + 1 : 0;
  const to = text.indexOf(" ", from + 180);
  return `${from > 0 ? "… " : ""}${to < 0 ? text.slice(from) : `${text.slice(from, to)} …`}`;
}
