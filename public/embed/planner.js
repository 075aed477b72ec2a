// <tidegate-planner scenario="child-level">: a scenario that its reader can change; see custom-elements.json.
// The picture is there at once; the engine is loaded when the reader comes near or clicks, once for all planners.
const here = new URL(".", import.meta.url);
const planners = new Map();
let engine;
let isLost = false;

function ask(method, planner, ...rest) {
  if (!engine && !isLost) {
    try {
      engine = new Worker(script(), { type: "module" });
      engine.onmessage = ({ data }) => data.forEach((told) => planners.get(told.planner)?.told(told));
      engine.onerror = lose;
    } catch {
      lose();
    }
  }
  if (isLost) planners.get(planner)?.lose();
  else engine.postMessage([method, planner, ...rest]);
}

// There is no second one: what keeps a page from having an engine stays, and each planner says so when it is reached.
function lose() {
  isLost = true;
  planners.forEach((planner) => planner.started && planner.lose());
}

// One planner after the other is opened, and shown before the next: pictures that come together are laid out together,
// for longer than a page should stand still.
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
let turn = painted();

function inTurn(open) {
  turn = turn.then(open).then(painted);
}

// A worker's script has to be the page's own; from elsewhere it is imported.
function script() {
  const url = new URL("worker.js", here);
  if (url.origin === location.origin) return url;
  return URL.createObjectURL(new Blob([`import ${JSON.stringify(url)}`], { type: "text/javascript" }));
}

const WORDS = {
  en: {
    start: "Try it",
    label: "Scenario",
    blocked: "The planner could not be loaded; the page may not allow WebAssembly or workers. The picture stays.",
    missing: "This scenario could not be loaded",
  },
  zh: {
    start: "试一试",
    label: "场景",
    blocked: "无法加载规划器：页面可能禁止 WebAssembly 或 Worker。图片保持不变。",
    missing: "无法加载此场景",
  },
};

const STYLE = `
:host{display:block;overflow:auto;scrollbar-gutter:stable;box-sizing:border-box;font:14px/1.5 var(--tidegate-font,system-ui,sans-serif);color-scheme:light dark;
color:var(--tidegate-text,light-dark(#16191d,#e8eaed));background:var(--tidegate-surface,light-dark(#fff,#16191d));
border:1px solid var(--tidegate-line,light-dark(#c3c8cf,#4a515b));border-radius:6px;padding:12px}
:host([theme=light]){color-scheme:light}:host([theme=dark]){color-scheme:dark}:host([hidden]){display:none}
svg,img{display:block;width:100%;max-width:720px;height:auto}
svg text{fill:currentColor}svg g text{fill:#fff}
.in-quota rect{fill:var(--tidegate-in-quota,#2f6fb3)}.below rect{fill:var(--tidegate-below,#a9c4e4)}.idle rect{fill:var(--tidegate-idle,#9a6a12)}.spot rect{fill:var(--tidegate-spot,#6b5b95)}
label{display:block;margin:4px 0}
input[type=range]{display:block;width:100%;margin:2px 0}
label b{font-weight:bold;font-variant-numeric:tabular-nums}
button,input{font:inherit}button{padding:6px 14px;border-radius:4px;border:1px solid currentColor;color:inherit;background:none}
:focus-visible{outline:2px solid var(--tidegate-focus,#2f6fb3);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:start;font-weight:bold}
th,td{text-align:start;padding:2px 8px 2px 0;border-bottom:1px solid var(--tidegate-line,light-dark(#dde0e4,#3a4048))}
ins{text-decoration:none;font-weight:bold}
ul{margin:4px 0;padding-inline-start:18px}
progress{display:block;width:100%;height:6px}
progress[hidden]{display:block;visibility:hidden}
.refused,.failed{color:var(--tidegate-alert,light-dark(#a3231c,#ff9b94))}
@media(forced-colors:active){svg rect{fill:Canvas!important;stroke:CanvasText}svg g text{fill:CanvasText}}
@media print{:host{height:auto!important;overflow:visible;break-inside:avoid}button,input,progress{display:none!important}}`;

let sheet;

class Planner extends HTMLElement {
  static count = 0;

  connectedCallback() {
    this.number ??= ++Planner.count;
    planners.set(this.number, this);
    if (!this.shadowRoot) this.build();
    this.button.hidden = this.button.disabled = false;
    if (this.getAttribute("load") === "click") return;
    this.near = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.start(), {
      rootMargin: "300px",
    });
    this.near.observe(this);
  }

  disconnectedCallback() {
    this.near?.disconnect();
    planners.delete(this.number);
    if (this.started) ask("close", this.number);
    this.started = this.waits = false;
    this.attempt = undefined;
    this.shown?.();
  }

  build() {
    this.isChinese = (this.getAttribute("lang") ?? document.documentElement.lang).startsWith("zh");
    this.words = WORDS[this.isChinese ? "zh" : "en"];
    const name = this.getAttribute("scenario");
    this.role = "group";
    this.ariaLabel ??= `${this.words.label}${name ? `: ${name}` : ""}`;
    const root = this.attachShadow({ mode: "open" });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    root.adoptedStyleSheets = [sheet];
    // The height is the author's, so that nothing moves when the result is there.
    const height = this.getAttribute("height") ?? 420;
    this.style.height = height === "auto" ? "auto" : `${Number(height) || 420}px`;
    root.innerHTML = `<div part="picture"><slot></slot></div><button part="start" type="button"></button>
<form part="controls"></form><progress max="1000" hidden></progress><div part="events" role="status"></div><div part="result"></div>`;
    [this.picture, this.button, this.form, this.bar, this.events, this.result] = root.children;
    this.bar.ariaLabel = "%";
    if (!this.querySelector("img") && name) {
      const image = this.picture.appendChild(new Image(640, 140));
      image.alt = "";
      image.src = new URL(`scenarios/${name}${this.isChinese ? ".zh" : ""}.svg`, here);
      this.picture.firstChild.hidden = true;
    }
    this.button.textContent = this.words.start;
    this.button.onclick = () => this.start();
    this.form.oninput = ({ target }) => this.moved(target);
    this.form.onsubmit = (event) => event.preventDefault();
  }

  /** Loads the engine, if it is not there, and opens the scenario. */
  async start() {
    if (this.started) return;
    this.started = true;
    this.near?.disconnect();
    this.button.disabled = true;
    const link = this.getAttribute("link");
    const name = this.getAttribute("scenario");
    // Who leaves the page meanwhile, or comes back to it, asks for nothing by this attempt.
    const attempt = (this.attempt = {});
    try {
      const text = link || (name ? await this.fetch(name) : this.textContent);
      inTurn(() => attempt === this.attempt && this.open(link ? "open_link" : "open", text));
    } catch (error) {
      if (attempt !== this.attempt) return;
      this.started = this.button.disabled = false;
      this.told({ kind: "failed", message: `${this.words.missing}: ${name} (${error.message})` });
    }
  }

  /** Ends when there is something to see. */
  open(method, source) {
    return new Promise((shown) => {
      this.shown = shown;
      ask(method, this.number, source, this.isChinese);
    });
  }

  lose() {
    this.told({ kind: "failed", message: this.words.blocked });
  }

  async fetch(name) {
    const answer = await fetch(new URL(`scenarios/${name}.txt`, here));
    if (!answer.ok) throw new Error(answer.status);
    return answer.text();
  }

  /** A value for each control. */
  get values() {
    const inputs = [...this.form.querySelectorAll("[data-control]")];
    return inputs.map((input) => (input.type === "checkbox" ? Number(input.checked) : Number(input.value)));
  }

  /** Makes a link to what is shown; the event `tidegate-linked` has it. */
  link() {
    ask("link", this.number, this.values);
  }

  moved(input) {
    const value = input.closest("label").querySelector("b");
    if (value) value.textContent = input.ariaValueText = value.textContent.replace(/^[\d.]+/, Number(input.value) / input.dataset.per);
    this.run();
  }

  // While an answer is under way only the last move counts.
  run() {
    this.behind = this.waits;
    if (this.waits) return;
    this.waits = true;
    this.bar.hidden = false;
    ask("run", this.number, this.values);
  }

  told(news) {
    const { kind } = news;
    if (kind === "opened") {
      this.picture.innerHTML = news.picture;
      this.form.innerHTML = news.controls;
      this.button.hidden = true;
      this.run();
    } else if (kind === "played") {
      this.waits = false;
      this.picture.innerHTML = news.picture;
      this.events.innerHTML = news.events;
      this.shown();
      if (this.behind) this.run();
    } else if (kind === "progress") {
      this.bar.value = news.done;
    } else if (kind === "ran") {
      this.bar.hidden = true;
      this.result.innerHTML = news.result;
    } else if (kind === "failed") {
      this.waits = false;
      this.bar.hidden = true;
      this.events.replaceChildren(Object.assign(document.createElement("p"), { className: "failed", textContent: news.message }));
      this.shown?.();
    }
    this.dispatchEvent(new CustomEvent(`tidegate-${kind}`, { detail: news }));
  }
}

customElements.define("tidegate-planner", Planner);
