// The Worker's entry: hands the runtime's calls to the Wasm module.
//
// A panic aborts the Wasm instance. The call that panicked fails; the next one gets a new instance,
// and Durable Objects made by the old instance are made again, from what they have stored.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as wasm from "./edge.js";

const instance = wasm.__worker_init_state();

function renew() {
  if (!instance.criticalError) return;
  wasm.__wbg_reset_state();
  instance.criticalError = false;
  instance.instanceId += 1;
}

function note(error) {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  console.error("the Wasm instance is lost", error);
  instance.criticalError = true;
}

// Some panics surface only as an uncaught error of a promise.
addEventListener("error", (event) => note(event.error));

async function guarded(call) {
  renew();
  try {
    return await call();
  } catch (error) {
    note(error);
    throw error;
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
