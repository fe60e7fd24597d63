import { describe, expect, test } from "vitest";
import { Analysed, anyBlock } from "./analysed.ts";

// Shapes of registers that several instructions write, and where lanes are apart. Line 0 is `begin`, the body starts at
// line 1.

const begin = "mov.u32 %r0, %tid.x; ld.param.u32 %s0, [n];\n";

const shapeOf = (code: Analysed, register: string) => code.analysis.register(code.number(register));

describe("a register that both sides of a branch write", () => {
  const branch = (condition: string, a: string, b: string): Analysed =>
    new Analysed(`${begin}${condition}
@%p0 bra ELSE;
${a}
bra END;
ELSE: ${b}
END: add.u32 %r2, %r1, 1;
ret;`);
  const uniformCondition = "setp.lt.u32 %p0, %s0, 5;";
  const divergent = "setp.lt.u32 %p0, %r0, 5;";

  test("is uniform where all lanes go one way", () => {
    expect(shapeOf(branch(uniformCondition, "mov.u32 %r1, 1;", "mov.u32 %r1, 2;"), "%r1")).toEqual({ kind: "uniform" });
  });

  test("is a vector where they do not: some lanes have one value, some the other", () => {
    expect(shapeOf(branch(divergent, "mov.u32 %r1, 1;", "mov.u32 %r1, 2;"), "%r1")).toEqual({ kind: "vector" });
  });

  test("keeps a stride that both sides have, not the knowledge of its base", () => {
    const code = branch(uniformCondition, "mov.u32 %r1, %r0;", "add.u32 %r1, %r0, 1;");
    expect(shapeOf(code, "%r1")).toEqual({ kind: "affine", stride: 1 });
  });

  test("is a vector where the sides have different strides", () => {
    const code = branch(uniformCondition, "mov.u32 %r1, %r0;", "shl.b32 %r1, %r0, 1;");
    expect(shapeOf(code, "%r1")).toEqual({ kind: "vector" });
  });

  test("what one side alone uses stays uniform there", () => {
    const code = branch(divergent, "add.u32 %r3, %s0, 1; mov.u32 %r1, %r3;", "mov.u32 %r1, 2;");
    expect(shapeOf(code, "%r3")).toEqual({ kind: "uniform" });
  });
});

describe("an address that both sides of a branch compute", () => {
  const shapeWith = (ofLane: string, other: string) => {
    const code = new Analysed(`${begin}ld.param.u64 %x2, [x];
ld.global.u32 %r4, [%x2];
mul.lo.u32 %r4, %r4, %r0;
setp.lt.u32 %p0, %s0, 5;
@%p0 bra ELSE;
${ofLane}
bra END;
ELSE: ${other}
END: add.s64 %x2, %x2, %x1;
st.global.u32 [%x2], %r0;
ret;`);
    return shapeOf(code, "%x1");
  };

  test("has a base for all lanes where its index has a stride on one side alone", () => {
    const shape = { kind: "indexed", scale: 4, signed: false, stride: null };
    expect(shapeWith("mul.wide.u32 %x1, %r0, 4;", "mul.wide.u32 %x1, %r4, 4;")).toEqual(shape);
    expect(shapeWith("mul.wide.u32 %x1, %r4, 4;", "mul.wide.u32 %x1, %r0, 4;")).toEqual(shape);
  });

  test("is a vector where the sides count elements of other sizes, or extend their indices in another way", () => {
    expect(shapeWith("mul.wide.u32 %x1, %r4, 4;", "mul.wide.u32 %x1, %r4, 8;")).toEqual({ kind: "vector" });
    expect(shapeWith("mul.wide.u32 %x1, %r4, 4;", "mul.wide.s32 %x1, %r4, 4;")).toEqual({ kind: "vector" });
  });
});

describe("a loop", () => {
  const loop = (bound: string): Analysed =>
    new Analysed(`${begin}mov.u32 %r1, 0;
LOOP: add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, ${bound};
@%p0 bra LOOP;
add.u32 %r2, %r1, 0;
ret;`);

  test("with a uniform bound keeps its counter uniform", () => {
    const code = loop("%s0");
    expect(shapeOf(code, "%r2")).toEqual({ kind: "uniform" });
    expect(code.analysis.isDivergent(code.blockOf(4))).toBe(false);
  });

  test("from which lanes go at different times leaves each lane its own count", () => {
    const code = loop("%r0");
    expect(code.analysis.isDivergent(code.blockOf(4))).toBe(true);
    expect(shapeOf(code, "%r2")).toEqual({ kind: "vector" });
  });

  test("that lanes leave at different times has one count for all that still go around", () => {
    // The counter has a copy of its own inside of the loop (loop-exit-copies.ts).
    const code = loop("%r0");
    const [count] = code.instruction(2).dst;
    expect(code.analysis.register(count as number)).toEqual({ kind: "uniform" });
  });

  test("a value carried around with the lane's stride keeps it; one that grows by the lane does not", () => {
    const carried = (step: string): Analysed =>
      new Analysed(`${begin}mov.u32 %r1, %r0;
LOOP: add.u32 %r1, %r1, ${step};
setp.lt.u32 %p0, %s0, 5;
@%p0 bra LOOP;
add.u32 %r2, %r1, 0;
ret;`);
    expect(shapeOf(carried("%s0"), "%r1")).toEqual({ kind: "affine", stride: 1 });
    expect(shapeOf(carried("%r0"), "%r1")).toEqual({ kind: "vector" });
  });
});

describe("lanes", () => {
  const divergent = `${begin}setp.lt.u32 %p0, %r0, 5;
@%p0 bra END;
add.u32 %r1, %s0, 1;
END: add.u32 %r2, %s0, 2;
ret;`;

  test("may be apart between a divergent branch and the place where they meet", () => {
    const code = new Analysed(divergent);
    expect(code.analysis.isPartial(code.blockOf(3))).toBe(true);
    expect(code.analysis.isPartial(code.blockOf(4))).toBe(false);
  });

  test("are missing everywhere where a block's last chunk may not be full", () => {
    const code = new Analysed(divergent, anyBlock);
    expect(code.analysis.isPartial(code.blockOf(4))).toBe(true);
  });

  test("merge what others elsewhere still need, and nothing else", () => {
    const code = new Analysed(`${begin}mov.u32 %r1, 7; mov.u32 %r2, 7;
setp.lt.u32 %p0, %r0, 5;
@%p0 bra END;
mov.u32 %r1, %r0; mov.u32 %r3, %r0;
mul.lo.u32 %r4, %r3, %r3;
END: add.u32 %r2, %r1, %r2;
ret;`);
    const block = code.blockOf(4);
    // %r1 is read at END, where the lanes that have left the branch wait with theirs; nothing there reads %r3.
    const [first, second] = code.at(4).map((i) => code.code.instructions[i]!.dst[0] as number);
    expect(code.analysis.merges(block, first!)).toBe(true);
    expect(code.analysis.merges(block, second!)).toBe(false);
  });
});
