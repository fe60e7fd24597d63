import { describe, expect, test } from "vitest";
import { expectSame } from "./harness.ts";

const orders = ["lt", "le", "gt", "ge"] as const;
const relations = [...orders, "eq", "ne"] as const;
const strides = [1, -1, 3, -7] as const;
/** Numbers of both ends, and of the middle: lanes pass by them, or around them. */
const ends = {
  s32: [-0x8000_0000, -9, 0, 5, 0x7fff_ffe0],
  u32: [0, 9, 0x7fff_fff0, 0x8000_0000, 0xffff_fff0],
} as const;

/** With registers of its own for each: what is written once alone is known to go up with the lane. */
const inScope = (lines: readonly string[]): string =>
  `{ .reg .b32 %a<${lines.length}>, %lane; .reg .pred %q<${lines.length}>; mov.u32 %lane, %tid.x; ${lines.join("\n")} } ret;`;

describe.each(["s32", "u32"] as const)("%s", (ty) => {
  const bases = ends[ty];
  const limits = [...bases, ty === "s32" ? 0x7fff_ffff : 0xffff_ffff];

  test.each(relations)("lanes that go forward together, or apart: %s", (relation) => {
    const cases = strides.flatMap((stride) =>
      bases.flatMap((base) => limits.map((limit) => ({ stride, base, limit }))),
    );
    // Each comparison sets one bit of a word.
    const words = Math.ceil(cases.length / 32);
    const body = cases.map(({ stride, base, limit }, i) => {
      const operands = i % 2 === 0 ? `%a${i}, ${limit}` : `${limit}, %a${i}`;
      const first = i % 32 === 0 ? "mov.u32 %r5, 0;" : "";
      const store = i % 32 === 31 || i === cases.length - 1 ? `st.global.b32 [%out+${4 * (i >> 5)}], %r5;` : "";
      return `${first} mad.lo.s32 %a${i}, %lane, ${stride}, ${base};
        setp.${relation}.${ty} %q${i}, ${operands}; @${i % 3 === 0 ? "!" : ""}%q${i} bra L${i}; or.b32 %r5, %r5, ${2 ** (i % 32)}; L${i}: ${store}`;
    });
    expect(expectSame({ name: "", body: inScope(body), block: [45, 1, 1], words }).reports).toEqual([]);
  });

  test.each(orders)("lanes that go around together, or leave one by one: %s", (relation) => {
    // Lanes stop after so many steps, those of one end a round before those of the other.
    const step = relation === "lt" || relation === "le" ? 0x0100_0003 : -0x0100_0003;
    const limits = [0, 11, -40].map((more) => (ty === "s32" ? 17 * step + more : (17 * step + more) >>> 0));
    const cases = strides.flatMap((stride) => limits.map((limit) => ({ stride, limit })));
    const body = cases.map(
      ({ stride, limit }, i) => `mov.u32 %r5, 0; mul.lo.s32 %a${i}, %lane, ${stride};
        L${i}: add.u32 %r5, %r5, 1; add.s32 %a${i}, %a${i}, ${step};
        setp.${relation}.${ty} %q${i}, %a${i}, ${limit}; @%q${i} bra L${i}; st.global.b32 [%out+${4 * i}], %r5;`,
    );
    const test = { name: "", body: inScope(body), block: [45, 1, 1], words: cases.length } as const;
    expect(expectSame(test).reports).toEqual([]);
  });
});
