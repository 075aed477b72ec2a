// The Worker's entry: hands the runtime's calls to the Wasm module.
//
// A panic aborts the Wasm instance. Every call in progress fails, since none of them would ever be answered;
// the next one gets a new instance, and Durable Objects made by the old instance are made again, from what
// they have stored.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as wasm from "./edge.js";

const instance = wasm.__worker_init_state();
const inProgress = new Set();
let lastLoss;

function renew() {
  if (!instance.criticalError) return;
  wasm.__wbg_reset_state();
  instance.criticalError = false;
  instance.instanceId += 1;
}

function note(error) {
  // One loss is seen by several calls, and by some only when the next instance is already at work.
  if (!(error instanceof WebAssembly.RuntimeError) || error === lastLoss) return;
  lastLoss = error;
  console.error("the Wasm instance is lost", error);
  instance.criticalError = true;
  for (const fail of inProgress) fail(error);
  inProgress.clear();
}

// A panic after the first `await` of a call surfaces only here, and leaves the call's promise pending for ever.
addEventListener("error", (event) => note(event.error));

async function guarded(call) {
  renew();
  let fail;
  const lost = new Promise((_, reject) => (fail = reject));
  inProgress.add(fail);
  try {
    return await Promise.race([call(), lost]);
  } catch (error) {
    note(error);
    throw error;
  } finally {
    inProgress.delete(fail);
  }
}

export default class extends WorkerEntrypoint {
  fetch(request) {
    return guarded(() => wasm.fetch(request, this.env, this.ctx));
  }
  scheduled(event) {
    return guarded(() => wasm.scheduled(event, this.env, this.ctx));
  }
}

// The exported class itself cannot be handed over: its objects would die with their Wasm instance.
function durable(name) {
  return class {
    constructor(state, env) {
      this.arguments = [state, env];
    }
    call(method, ...rest) {
      return guarded(() => {
        if (this.made !== instance.instanceId) {
          this.object = new wasm[name](...this.arguments);
          this.made = instance.instanceId;
        }
        return this.object[method](...rest);
      });
    }
    fetch(request) {
      return this.call("fetch", request);
    }
    alarm() {
      return this.call("alarm");
    }
    webSocketMessage(socket, message) {
      return this.call("webSocketMessage", socket, message);
    }
    webSocketClose(socket, code, reason, wasClean) {
      return this.call("webSocketClose", socket, code, reason, wasClean);
    }
    webSocketError(socket, error) {
      return this.call("webSocketError", socket, error);
    }
  };
}

export const ClusterObject = durable("ClusterObject");
