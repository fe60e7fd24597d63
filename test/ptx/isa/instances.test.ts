import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkPtx } from "../../../src/ptx/check/check.ts";
import { parsePtx } from "../../../src/ptx/parser/index.ts";
import { SourceText } from "../../../src/source/index.ts";

/** Checks the instructions of instances.txt one by one, in a kernel that declares all the names they use. */
const moduleOf = (target: string, instruction: string): string => `.version 9.0
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
  ${instruction}
  ret;
}
`;

const written = (text: string): string =>
  text.replace(/\b([rfg])\{(\d+)\.\.(\d+)\}/g, (_, name: string, first: string, last: string) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${name}${Number(first) + i}`).join(","),
  );

function complaint(target: string, instruction: string): string | null {
  const { tree, diagnostics } = parsePtx(new SourceText("instance.ptx", moduleOf(target, written(instruction))));
  const all = [...diagnostics, ...checkPtx(tree).diagnostics];
  return all.find((d) => d.severity === "error")?.message ?? null;
}

test("the checker agrees with ptxas on every instance", () => {
  const lines = readFileSync(new URL("instances.txt", import.meta.url), "utf8").split("\n");
  const wrong: string[] = [];
  let target = "";
  let count = 0;
  for (const line of lines) {
    const [, mark, text = ""] = /^([@+-]) ?(.*)$/.exec(line) ?? [];
    if (mark === "@") target = text;
    else if (mark !== undefined) {
      count++;
      const message = complaint(target, text);
      if ((message === null) !== (mark === "+")) wrong.push(`${line} [${target}]: ${message ?? "no complaint"}`);
    }
  }
  expect(count).toBeGreaterThan(600);
  expect(wrong).toEqual([]);
});
