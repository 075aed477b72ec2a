// What stands before the local runtime: it lets in who asks from this computer, or through a proxy under an address of its
// own, and keeps connections that clients hold open. The runtime closes them after five seconds without a request, so that the next one fails in a client that believed
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
function refusal({ method, headers, isUpgrade = false }, address) {
  const { host = "", origin } = headers;
  const isPublic = address !== undefined && host === new URL(address).host;
  if (!isPublic && !OWN_HOST.test(host)) {
    const names = address === undefined ? "127.0.0.1 or localhost" : `${address}, 127.0.0.1 or localhost`;
    return { code: "other_host", message: `nothing is served under the name ${host} here; ask by ${names}` };
  }
  const own = isPublic ? new URL(address).origin : `http://${host}`;
  if (origin === undefined || origin === own || (READS.has(method) && !isUpgrade)) return undefined;
  return { code: "other_origin", message: "a page of another origin may only read here" };
}

/** Where the Worker reads which address a request comes from, as on the real platform. */
const PEER = "cf-connecting-ip";

/** The headers with where the request comes from: what a client says of that itself counts nothing. */
function withPeer(headers, asked, address) {
  const kept = headers.filter((_, at) => headers[at - (at % 2)].toLowerCase() !== PEER);
  // The proxy adds whom it has heard at the end of the list.
  const proxied = address === undefined ? undefined : asked.headers["x-forwarded-for"]?.split(",").at(-1).trim();
  return [...kept, PEER, proxied || asked.socket.remoteAddress];
}

function pass(runtime, asked, answer, { address, isLast }) {
  const refused = refusal(asked, address);
  if (refused) {
    answer.writeHead(403, { "content-type": "application/json" });
    answer.end(JSON.stringify(refused));
    return;
  }
  const { hostname, port } = new URL(runtime.url);
  const { method, url: path, rawHeaders } = asked;
  const headers = isLast ? withPeer(passedOn(rawHeaders), asked, address) : passedOn(rawHeaders);
  const behind = request({ hostname, port, method, path, headers, agent: false, setHost: false });
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
function tunnel(runtime, asked, socket, first, { address, isLast }) {
  if (refusal({ method: asked.method, headers: asked.headers, isUpgrade: true }, address)) {
    socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
    return;
  }
  const { hostname, port } = new URL(runtime.url);
  const behind = connect(Number(port), hostname, () => {
    const headers = isLast ? withPeer(asked.rawHeaders, asked, address) : asked.rawHeaders;
    const lines = [];
    for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
    behind.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    behind.write(first);
    behind.pipe(socket).pipe(behind);
  });
  for (const [one, other] of [[behind, socket], [socket, behind]]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

/**
 * Listens in front of a runtime; with port 0 on a free one. `address` is where a proxy serves it to others. With `isLast` it
 * says where requests come from; otherwise they may say so themselves, as tests do.
 */
export async function stand(runtime, port, { address, isLast = false } = {}) {
  const way = { address, isLast };
  const server = createServer({ keepAliveTimeout: IDLE_MS, requestTimeout: 0 }, (asked, answer) => pass(runtime, asked, answer, way));
  server.on("upgrade", (asked, socket, first) => tunnel(runtime, asked, socket, first, way));
  await new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
