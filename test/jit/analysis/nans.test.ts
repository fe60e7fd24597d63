import { describe, expect, test } from "vitest";
import { resultsOf } from "../../../src/ir/flow/liveness.ts";
import { deferredNans } from "../../../src/jit/compile/analysis/values/deferred-nans.ts";
import { observedBits } from "../../../src/jit/compile/analysis/values/observed-bits.ts";
import { Analysed } from "./analysed.ts";

// PTX has one NaN, WebAssembly many: a result needs PTX's where its bits are seen.

const begin =
  "ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n]; mov.u32 %r1, 0; mov.u32 %r3, 0; mov.f32 %f1, 0f00000000; ld.global.f32 %f0, [%x0];\n";

const isObserved = (body: string, register: string): boolean => {
  const { code, ...analysed } = analysedOf(body);
  return observedBits(code.instructions, resultsOf(code.ir)).has(analysed.number(register));
};

const analysedOf = (body: string) => {
  const analysed = new Analysed(`${begin}${body}\nret;`);
  return { code: analysed.code, number: (register: string) => analysed.number(register) };
};

describe("bits of a register are observed", () => {
  test.each([
    ["by a store", "add.f32 %f2, %f0, %f1; st.global.f32 [%x0], %f2;", "%f2", true],
    [
      "as an integer",
      "add.f32 %f2, %f0, %f1; mov.b32 %r2, %f2; add.u32 %r2, %r2, 1; st.global.u32 [%x0], %r2;",
      "%f2",
      true,
    ],
    ["not by arithmetic", "add.f32 %f2, %f0, %f1; mul.f32 %f3, %f2, %f2; st.global.f32 [%x0], %f3;", "%f2", false],
    [
      "not by a comparison",
      "add.f32 %f2, %f0, %f1; setp.lt.f32 %p0, %f2, %f1; @%p0 st.global.f32 [%x0], %f0;",
      "%f2",
      false,
    ],
    ["through a move", "add.f32 %f2, %f0, %f1; mov.f32 %f3, %f2; st.global.f32 [%x0], %f3;", "%f2", true],
    [
      "not through a move to what is only computed with",
      "add.f32 %f2, %f0, %f1; mov.f32 %f3, %f2; mul.f32 %f4, %f3, %f1; st.global.f32 [%x0], %f4;",
      "%f2",
      false,
    ],
  ])("%s", (_, body, register, observed) => {
    expect(isObserved(body, register)).toBe(observed);
  });
});

describe("NaNs of a sum are replaced", () => {
  const typeOf = (inLoop: string, after: string): string | null => {
    const { code, number } = analysedOf(`LOOP: ${inLoop}
add.u32 %r1, %r1, 1;
setp.lt.u32 %p0, %r1, %s0;
@%p0 bra LOOP;
${after}`);
    return deferredNans(code.instructions, code.graph, resultsOf(code.ir)).get(number("%f1")) ?? null;
  };

  test("where it is stored after the loop that makes it", () => {
    expect(typeOf("add.f32 %f1, %f1, %f0;", "st.global.f32 [%x0], %f1;")).toBe("f32");
  });

  test("in the loop, if it is stored there as often as it is computed", () => {
    expect(typeOf("add.f32 %f1, %f1, %f0; st.global.f32 [%x0], %f1;", "")).toBeNull();
  });

  test("in the loop, if an integer instruction reads it there", () => {
    const xored = "add.f32 %f1, %f1, %f0; mov.b32 %r2, %f1; xor.b32 %r3, %r3, %r2;";
    expect(typeOf(xored, "st.global.f32 [%x0], %f1; st.global.u32 [%x0], %r3;")).toBeNull();
  });
});
