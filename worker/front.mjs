// What stands before the local runtime: it lets in who asks from this computer, and keeps connections that clients hold
// open. The runtime closes them after five seconds without a request, so that the next one fails in a client that believed
// the connection to be there; the real platform does not.
import { createServer, request } from "node:http";
import { connect } from "node:net";

/** Longer than the pauses of clients that poll. */
const IDLE_MS = 75_000;

/** What belongs to one connection and is not passed on to the next. */
const OF_CONNECTION = new Set(["connection", "keep-alive", "proxy-connection"]);

/** Names and values in turn, as they came. */
function passedOn(rawHeaders) {
  const isPassed = rawHeaders.map((_, at) => !OF_CONNECTION.has(rawHeaders[at - (at % 2)].toLowerCase()));
  return rawHeaders.filter((_, at) => isPassed[at]);
}

/** What this computer calls itself: a page that was led here under another name is somebody else's. */
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
/** What changes nothing. */
const READS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Why a request is not passed on, if it is not: commands start processes here, and no page of others sends any. */
function refusal({ method, headers, isUpgrade = false }) {
  const { host = "", origin } = headers;
  if (!OWN_HOST.test(host)) {
    return { code: "other_host", message: "the development server is for this computer; ask it by 127.0.0.1 or localhost" };
  }
  if (origin === undefined || origin === `http://${host}` || (READS.has(method) && !isUpgrade)) return undefined;
  return { code: "other_origin", message: "a page of another origin may only read here" };
}

function pass(runtime, asked, answer) {
  const refused = refusal(asked);
  if (refused) {
    answer.writeHead(403, { "content-type": "application/json" });
    answer.end(JSON.stringify(refused));
    return;
  }
  const { hostname, port } = new URL(runtime.url);
  const { method, url: path, rawHeaders } = asked;
  const behind = request({ hostname, port, method, path, headers: passedOn(rawHeaders), agent: false, setHost: false });
  behind.on("response", (answered) => {
    answer.writeHead(answered.statusCode, answered.statusMessage, passedOn(answered.rawHeaders));
    answered.pipe(answer);
  });
  behind.on("error", (error) => {
    if (answer.headersSent) {
      answer.destroy();
      return;
    }
    answer.writeHead(502, { "content-type": "application/json" });
    answer.end(JSON.stringify({ code: "unavailable", message: `the local runtime does not answer: ${error.message}` }));
  });
  answer.on("close", () => behind.destroy());
  asked.pipe(behind);
}

/** A socket's bytes pass as they are, both ways. */
function tunnel(runtime, asked, socket, first) {
  if (refusal({ method: asked.method, headers: asked.headers, isUpgrade: true })) {
    socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
    return;
  }
  const { hostname, port } = new URL(runtime.url);
  const behind = connect(Number(port), hostname, () => {
    const lines = [];
    for (let at = 0; at < asked.rawHeaders.length; at += 2) lines.push(`${asked.rawHeaders[at]}: ${asked.rawHeaders[at + 1]}`);
    behind.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    behind.write(first);
    behind.pipe(socket).pipe(behind);
  });
  for (const [one, other] of [[behind, socket], [socket, behind]]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

/** Listens in front of a runtime; with port 0 on a free one. */
export async function stand(runtime, port) {
  const server = createServer({ keepAliveTimeout: IDLE_MS, requestTimeout: 0 }, (asked, answer) => pass(runtime, asked, answer));
  server.on("upgrade", (asked, socket, first) => tunnel(runtime, asked, socket, first));
  await new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
