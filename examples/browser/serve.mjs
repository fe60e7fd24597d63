// Serves the project's files, so that pages can load what is built in dist/. `npm run demo:browser` does, and says
// where.
//
//     node examples/browser/serve.mjs [--port N] [--plain]
//
// Pages are isolated from others (COOP and COEP), which lets them have threads; `--plain`: they are not, as on a host
// that sends no such headers.
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};
const isolation = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** A server on this machine alone; `port` 0: any that is free. Resolves to its address, and what closes it. */
export function serve({ port = 0, isolated = true } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = fileOf(pathname);
    if (path === null) {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("there is no such file\n");
      return;
    }
    const type = types[extname(path)] ?? "text/plain; charset=utf-8";
    response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store", ...(isolated ? isolation : {}) });
    createReadStream(path).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const close = () => server.closeAllConnections?.() ?? server.close();
      resolve({ url: `http://localhost:${server.address().port}`, close: () => (server.close(), close()) });
    });
  });
}

/** The file of the project that a path names, or null. */
function fileOf(pathname) {
  const path = normalize(join(root, decodeURIComponent(pathname)));
  if (!path.startsWith(root + (root.endsWith(sep) ? "" : sep))) return null;
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory()) return fileOf(`${pathname.replace(/\/?$/, "/")}index.html`);
  return status?.isFile() ? path : null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const port = Number(words[words.indexOf("--port") + 1] ?? 0);
  const { url } = await serve({
    port: words.includes("--port") ? port : 8080,
    isolated: !words.includes("--plain"),
  }).catch(() => serve({ isolated: !words.includes("--plain") }));
  console.log(`Open ${url}/examples/browser/ in a browser. Ctrl+C ends it.`);
}
