import { existsSync } from "node:fs";
import { corpusIn } from "../corpus.ts";
import { generator } from "../random-text.ts";

const folders = ["../../../shared/conformance/", "../../examples/"].map((path) => new URL(path, import.meta.url));

/** The PTX that is taken apart: the conformance cases, or the examples where there are none. */
export function seeds(): readonly string[] {
  const folder = folders.find((f) => existsSync(f))!;
  if (folder !== folders[0]) console.warn("there are no conformance cases: the examples take their place");
  return corpusIn(folder, ".ptx").map(({ text }) => text);
}

/** Numbers below a bound, the same on every machine. */
export type Random = (bound: number) => number;

export const randomFrom = (seed: number): Random => generator(seed);
