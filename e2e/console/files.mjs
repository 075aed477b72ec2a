// A plain server of files, as anybody's documentation has one: dist/ and some pages of its own.
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";

export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self'; style-src 'self'";

const TYPES = {
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".css": "text/css",
};

/** Serves `pages` by their paths and everything under `root`, each answer with `headers`. */
export function serveFiles(pages, headers = {}, root = "dist") {
  const requests = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://docs").pathname;
    const type = TYPES[extname(path)] ?? "text/html; charset=utf-8";
    const all = { "content-security-policy": POLICY, "content-type": type, ...headers };
    if (path === "/favicon.ico") return response.writeHead(204, all).end();
    requests.push(path);
    const file = new URL(`../../${root}${path}${path.endsWith("/") ? "index.html" : ""}`, import.meta.url);
    if (!pages[path] && !existsSync(file)) return response.writeHead(404, all).end();
    response.writeHead(200, all).end(pages[path] ?? readFileSync(file));
  });
  return new Promise((ready) =>
    server.listen(0, "127.0.0.1", () => ready({ server, requests, url: `http://127.0.0.1:${server.address().port}/` })),
  );
}
