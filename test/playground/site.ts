import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};
const isolation = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** Whether the playground's own packages are installed, without which it cannot be built. */
export const canBuild = existsSync(join(root, "node_modules/@codemirror/view"));

/** The playground as it is published: a folder of files, built anew. */
export interface Site {
  readonly folder: string;
  readonly remove: () => void;
}

export function buildSite(): Site {
  const folder = mkdtempSync(join(tmpdir(), "lanewise-playground-"));
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["run", "build", "--workspace", "playground", "--", "--outDir", folder, "--emptyOutDir", "--logLevel", "error"],
    // As a user builds it: tests run in a mode of their own.
    { cwd: root, encoding: "utf8", env: { ...process.env, NODE_ENV: "production" } },
  );
  if (status !== 0) throw new Error(`the playground could not be built:\n${stdout}${stderr}`);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Serves a folder under a path that its pages do not know. */
export function serveSite(
  { folder }: Site,
  { isolated = false, path = "/some/path" } = {},
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const file = pathname.startsWith(`${path}/`) ? join(folder, normalize(pathname.slice(path.length))) : folder;
    const wanted = file.endsWith("/") ? join(file, "index.html") : file;
    if (!wanted.startsWith(folder) || !existsSync(wanted) || !statSync(wanted).isFile()) {
      response.writeHead(404).end();
      return;
    }
    const type = types[extname(wanted)] ?? "text/plain; charset=utf-8";
    response.writeHead(200, { "Content-Type": type, ...(isolated ? isolation : {}) }).end(readFileSync(wanted));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://localhost:${port}${path}/`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}
