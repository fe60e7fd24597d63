import { expect, test } from "vitest";
import { foundIn } from "./diagnose.ts";

/** The diagnostics of a kernel for a platform; `V` is 8 dwords. */
const found = (target: string, statement: string): string[] =>
  foundIn(
    target,
    `.decl R0 v_type=G type=d num_elts=${target === "pvc" ? 16 : 8} align=wordx32 alias=<%r0, 0>
.decl V v_type=G type=d num_elts=8 align=dword
.decl HALF v_type=G type=d num_elts=8 align=dword alias=<V, 0>
.decl D v_type=G type=d num_elts=4 align=dword`,
    statement,
  );

// IGC 1.0.12504 copies r0 like this in functions for PVC; GenX_IR warns about regions out of bounds and continues.
test("an access to the other half of a 64-byte register is a warning", () => {
  expect(found("pvc", "mov (M1_NM, 16) V(0,0)<1> R0(0,0)<1;1,0>")).toEqual(["warning visa-out-of-bounds"]);
  expect(found("pvc", "mov (M1_NM, 16) R0(0,0)<1> V(0,0)<1;1,0>")).toContain("warning visa-out-of-bounds");
});

test("an access beyond the register, or beyond a variable that does not own its register, is an error", () => {
  const error = ["error visa-out-of-bounds"];
  expect(found("pvc", "mov (M1_NM, 16) V(0,1)<1> 0:d")).toEqual(error);
  expect(found("pvc", "mov (M1_NM, 1) V(1,0)<1> 0:d")).toEqual(error);
  expect(found("pvc", "mov (M1_NM, 16) HALF(0,0)<1> 0:d")).toEqual(error);
  expect(found("pvc", "mov (M1_NM, 16) D(0,0)<1> 0:d")).toEqual(error);
  expect(found("skl", "mov (M1_NM, 16) V(0,0)<1> 0:d")).toEqual(error);
});
