import { defineConfig } from "vitepress";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The grammars of the editor's extension. */
const grammar = (name, ...aliases) => {
  const file = new URL(`../../../editors/vscode/syntaxes/${name}.tmLanguage.json`, import.meta.url);
  return { ...JSON.parse(readFileSync(file, "utf8")), name, aliases };
};

const page = (text, link) => ({ text, link });
const chapters = readdirSync(fileURLToPath(new URL("../pages/reference/", import.meta.url)))
  .filter((name) => /^ptx-9/.test(name))
  .map((name) => name.replace(".md", ""))
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

export default defineConfig({
  title: "Lanewise",
  description: "GPU assembly, NVIDIA PTX and Intel vISA, read, checked, run, debugged and measured on any machine",
  srcDir: "pages",
  outDir: "dist",
  cleanUrls: false,
  lastUpdated: false,
  // The playground is a page of its own, beside the site.
  ignoreDeadLinks: [/^\/playground\//],
  markdown: {
    html: false,
    languages: [grammar("ptx"), grammar("visa", "visaasm", "isaasm")],
    languageAlias: { cu: "cpp", cl: "c" },
  },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Begin", "/cuda"),
      page("Use", "/cli"),
      page("Look up", "/support"),
      { text: "Playground", link: "/playground/", target: "_self" },
    ],
    sidebar: [
      {
        text: "Begin",
        items: [
          page("CUDA in five minutes", "/cuda"),
          page("Hunt a bug", "/hunt"),
          page("A lecture on divergence", "/divergence"),
          page("A compiler's test suite", "/testing"),
          page("CUDA programs as they are", "/exec"),
        ],
      },
      {
        text: "Use",
        items: [
          page("The command line", "/cli"),
          page("Jobs", "/jobs"),
          page("The library", "/library"),
          page("Editors", "/editor"),
          page("Sanitizers", "/sanitizers"),
          page("The debugger", "/debugger"),
          page("The profiler", "/profiler"),
          page("Other schedules", "/explore"),
          page("Findings in CI", "/reports"),
          page("Kernels as WebAssembly", "/build"),
        ],
      },
      {
        text: "Look up",
        items: [
          page("What is supported", "/support"),
          page("Kernels that have run", "/real-kernels"),
          page("PTX: branches and calls", "/calls"),
          page("PTX: matrices", "/matrices"),
          page("PTX: today's kernels", "/modern"),
          page("Textures and surfaces", "/images"),
          page("vISA", "/visa"),
          page("vISA: the indirect call", "/ifcall"),
          page("How a run is ordered", "/interpreter"),
        ],
      },
      {
        text: "Every diagnostic",
        collapsed: true,
        items: [
          page("PTX and runs", "/reference/diagnostics"),
          page("The text of PTX", "/reference/ptx-syntax"),
          page("vISA", "/reference/visa-diagnostics"),
        ],
      },
      {
        text: "Every instruction",
        collapsed: true,
        items: [
          page("PTX", "/reference/ptx"),
          ...chapters.map((name) => page(name.replace("ptx-", "").replaceAll("-", "."), `/reference/${name}`)),
          page("vISA", "/reference/visa"),
        ],
      },
      {
        text: "Inside",
        collapsed: true,
        items: [
          page("Architecture", "/architecture"),
          page("Rationale", "/rationale"),
          page("Contributing", "/contributing"),
          page("The compiler", "/jit"),
          page("How fast it is", "/performance"),
        ],
      },
    ],
  },
});
