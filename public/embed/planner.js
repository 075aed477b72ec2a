// <tidegate-planner plan="move-gpus" lang="en" height="460" load="near|click">: a plan that its reader can change.
// The picture is there at once; the engine is loaded when the reader comes near or clicks, once for all planners.
const here = new URL(".", import.meta.url);
const planners = new Map();
let engine;

function ask(message) {
  if (!engine) {
    engine = new Worker(new URL("worker.js", here), { type: "module" });
    engine.onmessage = ({ data }) => {
      for (const told of data) {
        const [[kind, body]] = Object.entries(told);
        planners.get(body.planner)?.told(kind, body);
      }
    };
    engine.onerror = () => planners.forEach((planner) => planner.told("failed", { message: planner.words.blocked }));
  }
  engine.postMessage(message);
}

const WORDS = {
  en: {
    start: "Try it",
    blocked: "The planner could not be loaded; the page may not allow WebAssembly or workers. The picture stays.",
  },
  zh: { start: "试一试", blocked: "无法加载规划器：页面可能禁止 WebAssembly 或 Worker。图片保持不变。" },
};

const STYLE = `
:host{display:block;overflow:auto;scrollbar-gutter:stable;box-sizing:border-box;font:14px/1.5 system-ui,sans-serif;color-scheme:light dark;
color:var(--tidegate-text,light-dark(#16191d,#e8eaed));background:var(--tidegate-surface,light-dark(#fff,#16191d));
border:1px solid var(--tidegate-line,light-dark(#c3c8cf,#4a515b));border-radius:6px;padding:12px}
svg,img,::slotted(img){display:block;width:100%;height:auto}
svg text{fill:currentColor}svg g text{fill:#fff}
h2{font-size:1rem;min-height:1.5em;margin:8px 0}
label{display:block;margin:4px 0}
input[type=range]{display:block;width:100%;margin:2px 0}
output{font-weight:600;font-variant-numeric:tabular-nums}
button{font:inherit;padding:6px 14px;border-radius:4px;border:1px solid currentColor;color:inherit;background:none}
:focus-visible{outline:2px solid var(--tidegate-focus,#2f6fb3);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:start;font-weight:600}
th,td{text-align:start;padding:2px 8px 2px 0;border-bottom:1px solid var(--tidegate-line,light-dark(#dde0e4,#3a4048))}
ins{text-decoration:none;font-weight:600}
ul{margin:4px 0;padding-inline-start:18px}
progress{display:block;width:100%;height:6px}
progress[hidden]{visibility:hidden}
.refused,.failed{color:var(--tidegate-alert,light-dark(#a3231c,#ff9b94))}`;

let sheet;

class Planner extends HTMLElement {
  static count = 0;

  connectedCallback() {
    this.number ??= ++Planner.count;
    planners.set(this.number, this);
    if (this.shadowRoot) return;
    const lang = this.getAttribute("lang") ?? document.documentElement.lang;
    this.language = lang.startsWith("zh") ? "zh" : "en";
    this.words = WORDS[this.language];
    const root = this.attachShadow({ mode: "open" });
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    root.adoptedStyleSheets = [sheet];
    // The height is the author's, so that nothing moves when the result is there.
    const height = this.getAttribute("height") ?? 420;
    this.style.height = height === "auto" ? "auto" : `${Number(height) || 420}px`;
    root.innerHTML = `<div part="picture"><slot></slot></div><h2 part="title"></h2><button part="start" type="button"></button>
<form part="controls"></form><progress max="1000" hidden></progress><div part="events" role="status"></div><div part="result"></div>`;
    [this.picture, this.heading, this.button, this.form, this.bar, this.events, this.result] = root.children;
    this.bar.ariaLabel = "%";
    if (!this.querySelector("img") && this.getAttribute("plan")) {
      const image = this.picture.appendChild(new Image(640, 140));
      image.alt = "";
      image.src = new URL(`plans/${this.getAttribute("plan")}.svg`, here);
    }
    this.button.textContent = this.words.start;
    this.button.onclick = () => this.start();
    this.form.oninput = (event) => this.moved(event.target);
    this.form.onsubmit = (event) => event.preventDefault();
    if (this.getAttribute("load") === "click") return;
    this.near = new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && this.start(), {
      rootMargin: "300px",
    });
    this.near.observe(this);
  }

  disconnectedCallback() {
    this.near?.disconnect();
    planners.delete(this.number);
    if (this.started) ask({ close: { planner: this.number } });
    this.started = false;
  }

  /** Loads the engine, if it is not there, and opens the plan. */
  async start() {
    if (this.started) return;
    this.started = true;
    this.near?.disconnect();
    this.button.disabled = true;
    let source = { link: this.getAttribute("link") };
    if (!source.link) {
      try {
        const answer = await fetch(new URL(`plans/${this.getAttribute("plan")}.json`, here));
        if (!answer.ok) throw new Error(`${answer.status}`);
        source = { document: await answer.text() };
      } catch (error) {
        this.told("failed", { message: `plans/${this.getAttribute("plan")}.json: ${error.message}` });
        return;
      }
    }
    ask({ open: { planner: this.number, source, language: this.language } });
  }

  /** A value for each control. */
  get values() {
    return [...this.form.querySelectorAll("[data-control]")].map((input) =>
      input.type === "checkbox" ? Number(input.checked) : Number(input.value),
    );
  }

  /** Makes a link to what is shown; the event `tidegate-link` has it. */
  link() {
    ask({ link: { planner: this.number, values: this.values } });
  }

  moved(input) {
    const output = input.closest("label").querySelector("output");
    if (output) output.textContent = output.textContent.replace(/^[\d.]+/, Number(input.value) / 1000);
    this.run();
  }

  // While an answer is under way only the last move counts.
  run() {
    this.behind = this.waits;
    if (this.waits) return;
    this.waits = true;
    this.bar.hidden = false;
    ask({ run: { planner: this.number, values: this.values } });
  }

  told(kind, body) {
    if (kind === "opened") {
      this.heading.textContent = body.title;
      this.picture.innerHTML = body.picture;
      this.form.innerHTML = body.controls;
      this.button.hidden = true;
      this.run();
    } else if (kind === "began") {
      this.waits = false;
      this.picture.innerHTML = body.picture;
      this.events.innerHTML = body.events;
      if (this.behind) this.run();
    } else if (kind === "progress") {
      this.bar.value = body.done;
    } else if (kind === "ran") {
      this.bar.hidden = true;
      this.result.innerHTML = body.result;
    } else if (kind === "failed") {
      this.waits = false;
      this.bar.hidden = true;
      this.events.replaceChildren(Object.assign(document.createElement("p"), { className: "failed", textContent: body.message }));
    }
    this.dispatchEvent(new CustomEvent(`tidegate-${kind}`, { detail: body }));
  }
}

customElements.define("tidegate-planner", Planner);
