// Requests as the vendor's SDKs send them, signed with ACS3-HMAC-SHA256, byte by byte as they are stated here.
import { createHash, createHmac, randomBytes } from "node:crypto";
import { request } from "node:http";
import { gunzipSync } from "node:zlib";

const ALGORITHM = "ACS3-HMAC-SHA256";
/** How long the SDKs wait for an answer. */
const TIMEOUT_MS = 10_000;

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const decoded = (text) => decodeURIComponent(text.replaceAll("+", " "));
const encoded = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

function canonicalQuery(query) {
  const pairs = query.split("&").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return at < 0 ? [decoded(part), ""] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))];
  });
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return pairs.map(([name, value]) => `${name}=${encoded(value)}`).join("&");
}

/** The time as the contract writes it. */
export const written = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** The headers of a request with its signature. `more` are signed as well. */
export function signed({ method, target, body = "", version, action, host, key, more = {}, date = Date.now(), nonce }) {
  const headers = {
    accept: "application/json",
    host,
    "user-agent": "AlibabaCloud (Linux; x86_64) Python/3.11.7 Core/0.4.3 TeaDSL/2",
    "x-acs-action": action,
    "x-acs-content-sha256": sha256(body),
    "x-acs-date": written(date),
    "x-acs-signature-nonce": nonce ?? randomBytes(16).toString("hex"),
    "x-acs-version": version,
    ...(body.length > 0 && { "content-type": "application/json; charset=utf-8" }),
    ...more,
  };
  const names = Object.keys(headers).sort();
  const [path, query = ""] = target.split("?");
  const lines = names.map((name) => `${name}:${headers[name].trim()}\n`).join("");
  const canonical = [method, path, canonicalQuery(query), lines, names.join(";"), sha256(body)].join("\n");
  const signature = createHmac("sha256", key.secret).update(`${ALGORITHM}\n${sha256(canonical)}`).digest("hex");
  const authorization = `${ALGORITHM} Credential=${key.id},SignedHeaders=${names.join(";")},Signature=${signature}`;
  return { ...headers, authorization };
}

/**
 * Sends a request as it is, and reads the answer, which is always an object.
 *
 * Without an agent over a connection of its own: one that was kept may be closing when the request is sent.
 */
export function send(url, { method, target, headers, body = "" }, agent = false) {
  const { hostname, port } = new URL(url);
  return new Promise((answered, failed) => {
    const options = { hostname, port, method, path: target, headers, timeout: TIMEOUT_MS, setHost: !headers.host, agent };
    const outgoing = request(options, (incoming) => {
      const parts = [];
      incoming.on("data", (part) => parts.push(part));
      incoming.on("error", failed);
      incoming.on("end", () => {
        const bytes = Buffer.concat(parts);
        const text = incoming.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
        const { statusCode: status, headers } = incoming;
        try {
          answered({ status, headers, body: JSON.parse(text.toString("utf8")) });
        } catch {
          failed(new Error(`${method} ${target}: ${status} with a body that is no JSON: ${JSON.stringify(text.toString("utf8"))}`));
        }
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in ten seconds")));
    outgoing.on("error", failed);
    outgoing.end(body);
  });
}

/** Somebody with a key who calls operations, over the connections of an agent if there is one. */
export class Client {
  constructor(url, key, agent) {
    Object.assign(this, { url, key, agent, host: new URL(url).host });
  }

  /** A signed request that has not been sent. */
  request(version, action, method, target, content, more = {}) {
    const body = content === undefined ? "" : JSON.stringify(content);
    const { url, key, host } = this;
    return { url, method, target, body, headers: signed({ method, target, body, version, action, host, key, ...more }) };
  }

  async call(version, action, method, target, content, more) {
    return send(this.url, this.request(version, action, method, target, content, more), this.agent);
  }

  /** The body of an answer that must be one. */
  async get(version, action, method, target, content) {
    const { status, body } = await this.call(version, action, method, target, content);
    if (status !== 200) throw new Error(`${action} ${target}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}
