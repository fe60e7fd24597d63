import { expect, test } from "vitest";
import { type Expr, fold, type Value } from "../../../src/semantics/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { layOut } from "../../../src/visa/lower/layout.ts";
import { lowerVisa } from "../../../src/visa/lower/lower.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";

/** The undefined case of a kernel's only indirect access, for an address that is `distance` bytes from V. */
function outside(instruction: string, takesAddress: boolean): (distance: number) => Value {
  const text = [
    ".version 3.6",
    ".kernel k",
    ".decl V v_type=G type=d num_elts=8 align=GRF",
    ".decl W v_type=G type=d num_elts=8 align=GRF",
    ".decl A0 v_type=A num_elts=8",
    "k_main:",
    ...(takesAddress ? ["addr_add (M1_NM, 1) A0(0)<1> &V 0:uw"] : []),
    instruction,
    "ret (M1, 1)",
    "",
  ].join("\n");
  const { tree } = parseVisa(new SourceText("k.visaasm", text));
  const routine = bindVisa(tree, { platform: "skl" })[0]!;
  const { offsetOf } = layOut(routine);
  const v = offsetOf(routine.variables.find(({ name }) => name === "V")!);
  const cases = lowerVisa([routine]).functions[0]!.instructions.flatMap((i) => i.undefinedCases);
  expect(cases.map(({ code }) => code)).toEqual(["register-out-of-bounds"]);
  return (distance) =>
    fold(cases[0]!.when, (leaf: Exclude<Expr, { kind: "prim" | "const" }>) =>
      leaf.kind === "special" ? 0 : v + distance,
    );
}

test("an element must lie within one variable (5_operands.md): one whose address the routine takes", () => {
  const case_ = outside("mov (M1_NM, 1) W(0,0)<1> r[A0(0),0]<0;1,0>:d", true);
  expect([0, 28, -1, 29, 64, -1000].map(case_)).toEqual([false, false, true, true, true, true]);
});

test("the offset and the size of the element count, also of a destination", () => {
  const case_ = outside("mov (M1_NM, 1) r[A0(0),16]<1>:q 1:d", true);
  expect([-16, 8, -17, 9].map(case_)).toEqual([false, false, true, true]);
});

test("if no address is taken, any variable will do", () => {
  const case_ = outside("mov (M1_NM, 1) W(0,0)<1> r[A0(0),0]<0;1,0>:d", false);
  // V, the gap, and W.
  expect([0, 28, 32, 64].map(case_)).toEqual([false, false, true, true]);
  const first = Array.from({ length: 256 }, (_, i) => 32 + i).find((distance) => case_(distance) === false)!;
  expect([first, first + 28, first + 29].map(case_)).toEqual([false, false, true]);
});
