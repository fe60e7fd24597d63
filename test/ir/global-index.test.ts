import { expect, test } from "vitest";
import { globalIndexUseOf } from "../../src/ir/flow/index.ts";
import type { Expr } from "../../src/semantics/index.ts";
import { operandsOf } from "../../src/ir/index.ts";
import { compile } from "../../src/runtime/device/compile.ts";
import { SourceText } from "../../src/source/index.ts";

/* What a kernel knows of the division of its grid into blocks, argued for each from what it computes. */

const functionOf = (body: string) => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b32 %r<20>;
.reg .b64 %d<20>;
.reg .b16 %h<4>;
.reg .pred %p<4>;
ld.param.u64 %d0, [out];
${body}
st.global.u32 [%d0], %r9;
ret;
}`;
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  if (module === null) throw new Error(diagnostics.map((d) => d.message).join("\n"));
  return module.functions.find((f) => f.name === "k")!;
};

const parts = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;";

test.each([
  ["nothing of them is read", "mov.u32 %r9, 5;", "any"],
  ["an index", `${parts} mad.lo.s32 %r9, %r2, %r3, %r1;`, "any"],
  ["the same by a product and a sum", `${parts} mul.lo.u32 %r5, %r3, %r2; add.u32 %r9, %r1, %r5;`, "any"],
  [
    "the same with 64 bits",
    `${parts} mul.wide.u32 %d1, %r2, %r3; cvt.u64.u32 %d2, %r1; add.s64 %d3, %d1, %d2; cvt.u32.u64 %r9, %d3;`,
    "any",
  ],
  ["the number of threads", `${parts} mul.lo.u32 %r9, %r4, %r3;`, "any"],
  ["an index, used in any way", `${parts} mad.lo.s32 %r5, %r2, %r3, %r1; and.b32 %r9, %r5, 31;`, "any"],
  ["a size in the code", `${parts} shl.b32 %r5, %r2, 4; add.u32 %r9, %r5, %r1;`, 16],
  ["the same, by bits", `${parts} shl.b32 %r5, %r2, 4; or.b32 %r9, %r5, %r1;`, 16],
  ["a size that is no power of two", `${parts} mad.lo.s32 %r9, %r2, 100, %r1;`, 100],
  ["a size, twice", `${parts} mad.lo.s32 %r5, %r2, 8, %r1; mul.lo.u32 %r6, %r4, 8; add.u32 %r9, %r5, %r6;`, 8],
  ["two sizes", `${parts} mad.lo.s32 %r5, %r2, 8, %r1; mul.lo.u32 %r6, %r4, 9; add.u32 %r9, %r5, %r6;`, null],
  ["the thread of a block", `${parts} mov.u32 %r9, %r1;`, null],
  ["the block", `${parts} mov.u32 %r9, %r2;`, null],
  ["the size of a block", `${parts} mov.u32 %r9, %r3;`, null],
  ["the number of blocks", `${parts} mov.u32 %r9, %r4;`, null],
  ["the first thread of a block", `${parts} mul.lo.u32 %r9, %r2, %r3;`, null],
  ["an index, and the thread of a block", `${parts} mad.lo.s32 %r5, %r2, %r3, %r1; add.u32 %r9, %r5, %r1;`, null],
  ["directions that do not belong together", `${parts} mov.u32 %r5, %tid.y; mad.lo.s32 %r9, %r2, %r3, %r5;`, null],
  ["a difference", `${parts} mul.lo.u32 %r5, %r2, %r3; sub.u32 %r9, %r5, %r1;`, null],
  ["half of a thread's number", `${parts} cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r9, %h1;`, null],
  ["a branch by the thread of a block", `${parts} setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r9, 1;`, null],
  ["by what a part of an index is shifted", `${parts} shl.b32 %r9, 1, %r1;`, null],
  [
    "a part that a guard may leave out",
    `${parts} setp.eq.u64 %p1, %d0, 0; @%p1 mov.u32 %r5, %tid.x; mad.lo.s32 %r9, %r2, %r3, %r5;`,
    null,
  ],
  [
    "a register that is written twice",
    `${parts} mov.u32 %r5, %tid.x; mad.lo.s32 %r9, %r2, %r3, %r5; mov.u32 %r5, 7;`,
    null,
  ],
  [
    "a part that some ways leave out",
    `${parts} setp.eq.u64 %p1, %d0, 0; @%p1 bra L; mov.u32 %r5, %tid.x; L: mad.lo.s32 %r9, %r2, %r3, %r5;`,
    null,
  ],
  [
    "a part that is written after its use",
    `${parts} mov.u32 %r6, 0; L: mad.lo.s32 %r9, %r2, %r3, %r5; mov.u32 %r5, %tid.x; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 2; @%p1 bra L;`,
    null,
  ],
])("%s", (_, body, expected) => {
  const ir = functionOf(body);
  const use = globalIndexUseOf(ir);
  expect(use.sizes).toEqual(
    expected === null && body.includes("%tid.y") ? [null, null, "any"] : [expected, "any", "any"],
  );
  // In other blocks nothing of the old size may be left.
  const reads = new Set<string>();
  const visit = (expr: Expr): void => {
    if (expr.kind === "special") reads.add(expr.name);
    if (expr.kind === "prim") {
      reads.add(expr.prim);
      expr.args.forEach(visit);
    }
  };
  for (const { op } of use.ir.instructions) operandsOf(op).forEach(visit);
  if (typeof expected !== "number") expect(use.ir).toBe(ir);
  else {
    expect(reads).toContain("ntid.x");
    expect(reads).not.toContain("i32.shl");
    expect(reads).not.toContain("i32.or");
  }
});
