// The Worker with a runtime that fails where it is told to: the entry of `e2e/panic.test.mjs`. An object that is refused
// what it cannot do without panics.
import Front, { ClusterObject as Built } from "./shim.js";

const FAIL = "/v1/fail/";
/** What of an object's state fails at its next use. */
const failing = new Set();

function faulty(state) {
  return new Proxy(state, {
    get(target, name) {
      if (failing.delete(name)) throw new Error(`the runtime fails at ${name}`);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export class ClusterObject extends Built {
  constructor(state, env) {
    super(faulty(state), env);
  }
}

export default class extends Front {
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(FAIL)) return super.fetch(request);
    failing.add(pathname.slice(FAIL.length));
    return new Response();
  }
}
