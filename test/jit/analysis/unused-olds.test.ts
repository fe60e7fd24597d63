import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// `atom` whose old element nothing reads is `red`.

const begin = "ld.param.u64 %x0, [x];\n";

/** The destinations of the atomic operation of line 1. */
const destinations = (lines: string): readonly unknown[] => {
  const code = new Analysed(`${begin}${lines}\nret;`);
  return code.code.instructions.find(({ op }) => op.kind === "atomic")!.dst;
};

test.each([
  ["nothing reads it", "atom.global.add.u32 %r1, [%x0], 1;", true],
  ["it is stored", "atom.global.add.u32 %r1, [%x0], 1; st.global.u32 [%x0+4], %r1;", false],
  [
    "it is read before, in the next round",
    "L: st.global.u32 [%x0+4], %r1; atom.global.add.u32 %r1, [%x0], 1; bra L;",
    false,
  ],
  ["an address comes from it", "atom.global.exch.b64 %x1, [%x0], %x0; ld.global.u32 %r1, [%x1];", false],
])("%s", (_, lines, unused) => {
  expect(destinations(lines).every((to) => to === null)).toBe(unused);
});
