import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const library = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

// Paths are relative, so that the folder works wherever it is served from.
export default defineConfig({
  base: "./",
  resolve: {
    alias: [
      { find: /^lanewise$/, replacement: library("index.ts") },
      { find: /^lanewise\/(.*)$/, replacement: library("$1/index.ts") },
    ],
  },
  worker: { format: "es" },
  build: { target: "es2023", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000 },
});
