import { readFileSync } from "node:fs";
import { checkPtx } from "../../../src/ptx/check/check.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";

/** An instruction of instances.txt, and whether ptxas accepts it for a target. */
export interface Instance {
  readonly target: string;
  readonly text: string;
  readonly accepted: boolean;
}

/** The text of a module for a target up to the instructions of its kernel; it declares all the names that they use. */
export const moduleHead = (target: string): string => `.version 9.0
.target ${target}
.address_size 64
.shared .align 128 .b8 sm[8192];
.global .align 128 .b8 gl[4096];
.const .align 128 .b8 cm[4096];
.global .texref tx;
.global .surfref su;
.func fn() { ret; }
.entry k(.param .u64 kp) {
  .local .align 16 .b8 lm[64];
  .reg .pred p<9>;
  .reg .b8 b<9>;
  .reg .b16 h<17>;
  .reg .b32 r<140>;
  .reg .b64 d<33>;
  .reg .f32 f<140>;
  .reg .f64 g<17>;
  .reg .b128 q<9>;
`;

const written = (text: string): string =>
  text.replace(/\b([rfg])\{(\d+)\.\.(\d+)\}/g, (_, name: string, first: string, last: string) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${name}${Number(first) + i}`).join(","),
  );

/** The instructions of instances.txt. */
export function readInstances(): Instance[] {
  const found: Instance[] = [];
  let target = "";
  for (const line of readFileSync(new URL("instances.txt", import.meta.url), "utf8").split("\n")) {
    const [, mark, text = ""] = /^([@+-]) ?(.*)$/.exec(line) ?? [];
    if (mark === "@") target = text;
    else if (mark !== undefined) found.push({ target, text: written(text), accepted: mark === "+" });
  }
  return found;
}

/** The first error of the checker, or null. */
export function complaint(target: string, instruction: string): string | null {
  const text = `${moduleHead(target)}  ${instruction}\n  ret;\n}\n`;
  const { tree, diagnostics } = parsePtx(new SourceText("instance.ptx", text));
  const all = [...diagnostics, ...checkPtx(tree).diagnostics];
  return all.find((d) => d.severity === "error")?.message ?? null;
}
