// The page of the search: looks through the words of the book as they are typed, in the reader's browser.
const SHOWN = 30;
const isChinese = document.documentElement.lang.startsWith("zh");
const [input, told, found] = ["words", "told", "found"].map((id) => document.getElementById(id));
const parts = fetch("search.json").then((answer) => answer.json());

input.value = new URLSearchParams(location.search).get("q") ?? "";
input.addEventListener("input", show);
input.focus();
show();

async function show() {
  const all = await parts;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean).flatMap(apart);
  history.replaceState(null, "", words.length > 0 ? `?q=${encodeURIComponent(input.value)}` : location.pathname);
  const hits = words.length > 0 ? all.map((part) => ({ part, worth: worth(part, words) })).filter(({ worth }) => worth > 0) : [];
  hits.sort((one, other) => other.worth - one.worth);
  told.textContent = said(words, hits.length);
  found.replaceChildren(...hits.slice(0, SHOWN).map(({ part }) => line(part, words)));
}

function said(words, hits) {
  if (isChinese) return inChinese(words, hits);
  if (words.length === 0) return "Type a word.";
  if (hits === 0) return "No matches.";
  if (hits > SHOWN) return `The ${SHOWN} best of ${hits} matches.`;
  return hits === 1 ? "1 match." : `${hits} matches.`;
}

function inChinese(words, hits) {
  if (words.length === 0) return "请输入要查找的词。";
  if (hits === 0) return "没有找到。";
  return hits > SHOWN ? `共 ${hits} 处，列出最相关的 ${SHOWN} 处。` : `共 ${hits} 处。`;
}

// Chinese has no spaces between its words.
function apart(word) {
  if (!/\p{Script=Han}/u.test(word) || !Intl.Segmenter) return [word];
  const parts = new Intl.Segmenter("zh", { granularity: "word" }).segment(word);
  return [...parts].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
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
  link.textContent = page === heading ? page : `${page}${isChinese ? "：" : ": "}${heading}`;
  around.textContent = cut(text, words);
  item.append(link, around);
  return item;
}

// What stands around the first word that was looked for; a Chinese letter says as much as a few others.
function cut(text, words) {
  const [before, length] = isChinese ? [20, 90] : [60, 180];
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const from = places.length > 0 ? edge(text, Math.max(0, Math.min(...places) - before)) : 0;
  const to = edge(text, from + length);
  return `${from > 0 ? "… " : ""}${text.slice(from, to).trim()}${to < text.length ? " …" : ""}`;
}

// Not within a word of Latin letters.
function edge(text, at) {
  let place = at;
  while (place > 0 && place < text.length && /\w\w/.test(text.slice(place - 1, place + 1))) place += 1;
  return place;
}
