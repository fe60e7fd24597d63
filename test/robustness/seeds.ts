import { existsSync, readdirSync, readFileSync } from "node:fs";

const folders = ["../../../shared/conformance/", "../../examples/"].map((path) => new URL(path, import.meta.url));

/** The PTX that is taken apart: the conformance cases, or the examples where there are none. */
export function seeds(): readonly string[] {
  const folder = folders.find((f) => existsSync(f))!;
  if (folder !== folders[0]) console.warn("there are no conformance cases: the examples take their place");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ptx"))
    .sort()
    .map((path) => readFileSync(new URL(path, folder), "utf8"));
}

/** Numbers below a bound, the same on every machine. */
export type Random = (bound: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
