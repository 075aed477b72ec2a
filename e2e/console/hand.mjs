// Somebody's hand: what it clicks, fills in and chooses is counted, step by step.
import { performance } from "node:perf_hooks";

export class Hand {
  #steps = [];

  /** Does a step, and takes a picture of what stands there then. */
  async step(title, page, work) {
    const step = { title, clicks: 0, begin: performance.now() };
    this.#steps.push(step);
    await work();
    step.seconds = (performance.now() - step.begin) / 1000;
    const shot = `target/shots/ten-minutes-${String(this.#steps.length).padStart(2, "0")}.png`;
    await page.screenshot({ path: shot, fullPage: true });
  }

  async #count(work) {
    this.#steps.at(-1).clicks += 1;
    await work;
  }

  click(what) {
    return this.#count(what.click());
  }

  check(what) {
    return this.#count(what.check());
  }

  /** Into a field, or from a list: one click, and what is typed. */
  fill(what, text) {
    return this.#count(what.fill(text));
  }

  choose(what, option) {
    return this.#count(what.selectOption(option));
  }

  /** Each step with its clicks and seconds. */
  table() {
    const line = ({ title, clicks, seconds }) => `${title.padEnd(58)} ${String(clicks).padStart(3)} clicks ${seconds.toFixed(1).padStart(6)} s`;
    return this.#steps.map(line).join("\n");
  }

  get clicks() {
    return this.#steps.reduce((sum, { clicks }) => sum + clicks, 0);
  }
}
