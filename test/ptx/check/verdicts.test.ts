import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorsOf, lines } from "./diagnose.ts";

/*
 * Small modules with the verdict of ptxas 13.0 (`-c`, with `-arch` their target or sm_75), which the checker must
 * share:
 *
 *     ==== name (kernel): rejected
 *     the text
 *
 * `module`: items of a module; `kernel`: statements of a kernel; `operands`: the same with registers of every type and
 * variables of every space; `text`: the whole module. If the verdicts are meant to differ, the title says so and why.
 */
const folder = new URL("verdicts/", import.meta.url);
const header = ".version 9.0\n.target sm_90\n.address_size 64\n";
const operandsHeader = `
.global .align 8 .b32 gv[4]; .shared .align 8 .b32 sv[4]; .const .align 4 .b32 cv[4];
.func ff() { ret; }
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .pred p, q; .reg .b8 b8r; .reg .b16 h, h2; .reg .u16 u16r; .reg .s16 s16r; .reg .b32 r, r1, r2; .reg .u32 u, u1;
.reg .s32 s, s1; .reg .f32 f, f1; .reg .f64 d, d1; .reg .b64 l, l1; .reg .u64 ul, ul1; .reg .s64 sl; .reg .f16 hf;
.reg .f16x2 hx; .reg .b128 w; .reg .v4 .b32 v4r; .local .align 8 .b32 lv[4];
L0:
`;
const wrap: Readonly<Record<string, (text: string) => string>> = {
  text: (text) => text,
  module: (text) => `${header}${text}\n`,
  kernel: (text) =>
    `${header}.visible .entry k(.param .u64 out, .param .u32 n) {\n.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n${text}\nret; }\n`,
  operands: (text) => `${header}${operandsHeader}${text}\nret; }\n`,
};

for (const file of readdirSync(folder)) {
  describe(file.replace(/\.txt$/, "").replaceAll("-", " "), () => {
    const [, ...cases] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
    for (const part of cases) {
      const at = part.indexOf("\n");
      const title = part.slice(0, at);
      const [, name = "", kind = "", verdict = "", ours = verdict] =
        /^(\w+) \((\w+)\): (\w+)(?:; here (\w+): .+)?$/.exec(title) ?? [];
      test(name, () => {
        const errors = errorsOf(wrap[kind]!(part.slice(at + 1)));
        expect(errors.length > 0 ? "rejected" : "accepted", lines(errors).join("\n")).toBe(ours);
      });
    }
  });
}
