// The requests of the SDKs as they were recorded, and each of them with one thing changed. Nothing here needs Node, so
// that the Worker runtime makes the same changes.

/** The key that they were recorded with. */
const KEY = { key: "testid", secret: "testsecret" };
const SECURITY_TOKEN = "teststs";

/** The headers that a request's signature covers, and the one that holds it. */
function signed(request) {
  const names = /SignedHeaders=([^,]+)/.exec(header(request, "authorization"))?.[1].split(";") ?? [];
  return new Set([...names, "authorization"]);
}

/** A request from the bytes of the wire: names and values of headers as they came, a byte of them a character. */
export function read(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const end = text.indexOf("\r\n\r\n");
  const [first, ...lines] = text.slice(0, end).split("\r\n");
  const [method, target] = first.split(" ");
  const headers = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]);
  return { method, target, headers, body: bytes.subarray(end + 4) };
}

/** A header's value; empty if it was not sent. */
export const header = ({ headers }, name) => headers.find(([other]) => other.toLowerCase() === name)?.[1] ?? "";

/** What the verifying module takes: the request, the key, and the moment that the recording says. */
export function packed({ body, ...request }, original) {
  const security_token = header(original, "x-acs-security-token") && SECURITY_TOKEN;
  const head = { ...request, ...KEY, ...(security_token && { security_token }), now: Date.parse(header(original, "x-acs-date") || header(original, "date")) };
  const line = new TextEncoder().encode(`${JSON.stringify(head)}\n`);
  const bytes = new Uint8Array(line.length + body.length);
  bytes.set(line);
  bytes.set(body, line.length);
  return bytes;
}

function* flips(text) {
  for (let at = 0; at < text.length; at += 1) {
    yield text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
  }
}

/** Every request that differs from a signed one in one place which the signature covers, each with what was changed. */
export function* changes(request) {
  const { method, target, headers, body } = request;
  const covered = signed(request);
  for (const [at, [name, value]] of headers.entries()) {
    if (!covered.has(name.toLowerCase())) continue;
    const put = (...entries) => ({ ...request, headers: headers.toSpliced(at, 1, ...entries) });
    for (const flipped of flips(value)) yield [`${name}: ${flipped}`, put([name, flipped])];
    yield [`${name} emptied`, put([name, ""])];
    yield [`${name} left out`, put()];
    yield [`${name} twice`, put([name, value], [name, value])];
  }
  for (const flipped of flips(target)) yield [flipped, { ...request, target: flipped }];
  for (const end of ["/", "?a=b", "&a=b"]) yield [`${target}${end}`, { ...request, target: target + end }];
  for (const other of ["GET", "POST", "PUT", "DELETE"]) if (other !== method) yield [other, { ...request, method: other }];
  for (let at = 0; at < body.length; at += 1) {
    yield [`byte ${at} of the body`, { ...request, body: body.with(at, body[at] ^ 1) }];
  }
  yield ["a longer body", { ...request, body: Uint8Array.from([...body, 32]) }];
  yield ["a header that is not signed", { ...request, headers: [...headers, ["x-acs-extra", "1"]] }];
}
