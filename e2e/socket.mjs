// A WebSocket client: Node 20 has none.
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const CLOSE = 8;

/**
 * Opens a socket; `send` sends a short text, `next()` gives the next text message, `closed` how the other side ends it. Fails with the status if the
 * upgrade is refused. `more` are further headers.
 */
export async function listen(url, protocols, more = {}) {
  const key = randomBytes(16).toString("base64");
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
    ...(protocols && { "sec-websocket-protocol": protocols.join(", ") }),
    ...more,
  };
  const [response, socket, head] = await new Promise((opened, failed) => {
    const asked = request(url, { headers });
    asked.on("upgrade", (...arrived) => opened(arrived));
    asked.on("response", (refusal) => failed(new Error(`status ${refusal.statusCode}`)));
    asked.on("error", failed);
    asked.end();
  });
  const expected = createHash("sha1").update(key + MAGIC).digest("base64");
  if (response.headers["sec-websocket-accept"] !== expected) throw new Error("the handshake is wrong");

  let bytes = head;
  const messages = [];
  const waiting = [];
  let end;
  const closed = new Promise((ended) => (end = ended));
  const read = () => {
    for (let frame = take(); frame; frame = take()) {
      const { opcode, payload } = frame;
      if (opcode === CLOSE) {
        end({ code: payload.readUInt16BE(0), reason: payload.subarray(2).toString() });
        continue;
      }
      const next = waiting.shift();
      if (next) next(payload.toString());
      else messages.push(payload.toString());
    }
  };
  // Servers do not mask their frames, and ours are not fragmented.
  const take = () => {
    if (bytes.length < 2) return undefined;
    let length = bytes[1] & 127;
    let start = 2;
    if (length === 126) [length, start] = [bytes.length < 4 ? Infinity : bytes.readUInt16BE(2), 4];
    else if (length === 127) [length, start] = [bytes.length < 10 ? Infinity : Number(bytes.readBigUInt64BE(2)), 10];
    if (bytes.length < start + length) return undefined;
    const frame = { opcode: bytes[0] & 15, payload: bytes.subarray(start, start + length) };
    bytes = bytes.subarray(start + length);
    return frame;
  };
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    read();
  });
  read();

  return {
    protocol: response.headers["sec-websocket-protocol"],
    next: () => new Promise((arrived) => (messages.length > 0 ? arrived(messages.shift()) : waiting.push(arrived))),
    // Short enough for a length of seven bits. A mask of zeros leaves the payload as it is.
    send: (text) => socket.write(Buffer.concat([Buffer.from([128 | TEXT, 128 | text.length, 0, 0, 0, 0]), Buffer.from(text)])),
    closed,
    close: () => socket.destroy(),
  };
}
