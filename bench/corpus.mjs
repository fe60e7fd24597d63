// Large programs: the functions of the PTX that nvcc makes, and the routines of the vISA that IGC makes, over and over,
// each copy under a name of its own.
import { existsSync, readdirSync, readFileSync } from "node:fs";

const folders = ["../../shared/conformance/cuda/ptx/", "../examples/"];

/** The modules of the first folder that exists. */
export function modules() {
  const folder = folders.map((f) => new URL(f, import.meta.url)).find((f) => existsSync(f));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ptx") && !name.includes("lineinfo") && !name.endsWith("-G.ptx"))
    .sort()
    .map((name) => readFileSync(new URL(name, folder), "utf8"));
}

const header = ".version 9.0\n.target sm_90\n.address_size 64\n";

/** Text of about `bytes` bytes that has no errors. */
export function largeModule(bytes) {
  const sources = modules().map((text) => {
    const body = text.replace(/^\s*\.(version|target|address_size)\b.*$/gm, "");
    const names = [
      ...body.matchAll(
        /(?:\.entry|\.func\s*(?:\([^)]*\))?|\.(?:global|const|shared)\b[^;{=(]*?)\s+([A-Za-z_$][\w$]*)\s*[([=;]/g,
      ),
    ];
    const own = [...new Set(names.map((m) => m[1]))];
    return {
      body,
      own: new RegExp(`(?<![\\w$%.])(?:${own.map((n) => n.replace(/\$/g, "\\$")).join("|")})(?![\\w$.])`, "g"),
    };
  });
  const parts = [header];
  for (let length = header.length, copy = 0; length < bytes; copy++) {
    const { body, own } = sources[copy % sources.length];
    const text = body.replace(own, (name) => (name === "vprintf" ? name : `${name}_${copy}`));
    parts.push(text);
    length += text.length;
  }
  return parts.join("");
}

/** vISA of about `bytes` bytes that has no errors: kernels and functions for Skylake. */
export function largeFile(bytes) {
  const folder = ["../../shared/visa/kernels/", "../examples/"]
    .map((f) => new URL(f, import.meta.url))
    .find(existsSync);
  const routines = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /^(dumps\/[^/]*\.skl\.simd16\/.*|saxpy)\.visaasm$/.test(name))
    .sort()
    .map((name) => readFileSync(new URL(name, folder), "utf8").replace(/^\.version.*\n|^\.funcdecl.*\n/gm, ""));
  const parts = [".version 3.6\n"];
  for (let length = 0, copy = 0; length < bytes; copy++) {
    const text = routines[copy % routines.length].replace(/^(\.(?:kernel|global_function) "[^"]*)"/m, `$1_${copy}"`);
    parts.push(text, "\n");
    length += text.length + 1;
  }
  return parts.join("");
}
