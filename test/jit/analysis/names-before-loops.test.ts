import { expect, test } from "vitest";
import { Analysed } from "./analysed.ts";

// A loop that counts in the register of the thread's number, as compilers do once nothing else reads it.
const start = "ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n]; mov.u32 %s1, 0; mov.u32 %r0, %tid.x;";
const store = "st.global.u32 [%x0], %r0;";
const loop = `LOOP: add.u32 %r0, %r0, 32;
setp.lt.u32 %p0, %r0, %s0;
@%p0 bra LOOP;`;

/** How the value that a line stores differs from lane to lane. */
function storedAt(analysed: Analysed, line: number): string {
  const { op } = analysed.code.instructions[analysed.at(line).at(-1)!]!;
  if (op.kind !== "store") throw new Error(op.kind);
  return analysed.analysis.shape(op.values[0]!).kind;
}

test("a thread's number is one before a loop that counts in its register", () => {
  const analysed = new Analysed(`${start}\n${store}\n${loop}\nst.global.u32 [%x0], %r0;\nret;`);
  expect(storedAt(analysed, 1)).toBe("affine");
});

test("after the loop each lane has a number of its own", () => {
  const analysed = new Analysed(`${start}\n${loop}\n${store}\nret;`);
  expect(storedAt(analysed, 4)).not.toBe("affine");
});

test("where some lanes may have been in the loop, it is not the thread's number", () => {
  const body = `${start} setp.eq.u32 %p1, %s0, 7;\n@%p1 bra SKIP;\n${loop}\nSKIP:\n${store}\nret;`;
  expect(storedAt(new Analysed(body), 6)).not.toBe("affine");
});

test("in a loop around it, the number is that of the thread in each round", () => {
  const outer = `OUTER: mov.u32 %r0, %tid.x;
${store}
${loop}
add.u32 %s1, %s1, %r0;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p2, %r5, %s0;
@%p2 bra OUTER;`;
  const analysed = new Analysed(`${start} mov.u32 %r5, 0;\n${outer}\nst.global.u32 [%x0], %s1;\nret;`);
  expect(storedAt(analysed, 2)).toBe("affine");
});
