// The Worker's entry: hands the runtime's calls to the Wasm module.
//
// A panic aborts the Wasm instance. Every call in progress fails, since none of them would ever be answered;
// the next one gets a new instance, and Durable Objects made by the old instance are made again, from what
// they have stored.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as wasm from "./edge.js";

/** How often a call looks whether its instance is still there. */
const LOOK_EVERY_MS = 200;

const instance = wasm.__worker_init_state();
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
}

// A panic after the first `await` of a call surfaces only here, and leaves the call's promise pending for ever.
addEventListener("error", (event) => note(event.error));

async function guarded(call) {
  renew();
  const { instanceId } = instance;
  let timer;
  // Each call looks for itself: the runtime does not wake a call whose promise another one has settled.
  const lost = new Promise((_, reject) => {
    timer = setInterval(() => {
      const isLost = instance.criticalError || instance.instanceId !== instanceId;
      if (isLost) reject(lastLoss ?? new Error("the Wasm instance is lost"));
    }, LOOK_EVERY_MS);
  });
  try {
    return await Promise.race([call(), lost]);
  } catch (error) {
    note(error);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

// What a client is told whose call has been lost: as in answer.rs, and on PAI's interface as in pai.rs.
function lost(request, error) {
  if (error !== lastLoss) console.error(error);
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/api/")) {
    const Message = "something failed here; send the request anew";
    const RequestId = crypto.randomUUID().toUpperCase();
    return Response.json({ RequestId, Code: "ServiceUnavailable", Message }, { status: 503 });
  }
  const message = "something failed here; sending the same again is safe";
  return Response.json({ code: "internal", message, rejection: null }, { status: 500 });
}

export default class extends WorkerEntrypoint {
  fetch(request) {
    return guarded(() => wasm.fetch(request, this.env, this.ctx)).catch((error) => lost(request, error));
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
