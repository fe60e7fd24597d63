import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const library = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** Writes the service worker, which needs to know the files of the site. */
function serviceWorker(): Plugin {
  return {
    name: "lanewise-service-worker",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const files = Object.keys(bundle).sort();
        const hash = createHash("sha256");
        for (const file of files) {
          const item = bundle[file]!;
          hash.update(file).update(item.type === "chunk" ? item.code : item.source);
        }
        const source = readFileSync(fileURLToPath(new URL("src/service-worker.js", import.meta.url)), "utf8")
          .replace('"@version"', JSON.stringify(hash.digest("hex").slice(0, 16)))
          .replace('["@files"]', JSON.stringify(["./", "icon.svg", ...files.filter((file) => file !== "index.html")]));
        this.emitFile({ type: "asset", fileName: "service-worker.js", source });
      },
    },
  };
}

/** Puts the styles into the page: they are small, and nothing is seen without them. */
function inlineStyles(): Plugin {
  return {
    name: "lanewise-inline-styles",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") return;
      page.source = String(page.source).replace(
        /<link rel="stylesheet"[^>]*href="\.\/([^"]+)">/g,
        (link, file: string) => {
          const style = bundle[file];
          if (style?.type !== "asset") return link;
          delete bundle[file];
          return `<style>${String(style.source).trim()}</style>`;
        },
      );
    },
  };
}

// Paths are relative, so that the folder works wherever it is served from.
export default defineConfig({
  base: "./",
  resolve: {
    alias: [
      { find: /^lanewise$/, replacement: library("index.ts") },
      { find: /^lanewise\/(.*)$/, replacement: library("$1/index.ts") },
    ],
  },
  plugins: [inlineStyles(), serviceWorker()],
  worker: { format: "es" },
  build: { target: "es2023", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000 },
});
