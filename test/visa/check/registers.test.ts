import { expect, test } from "vitest";
import { checkVisaFile } from "../../../src/runtime/visa/check.ts";

/** The diagnostics of a kernel for a platform; `V` is 8 dwords. */
function found(target: string, statement: string): string[] {
  const text = `.version 4.1
.kernel "k"
.decl R0 v_type=G type=d num_elts=${target === "pvc" ? 16 : 8} align=wordx32 alias=<%r0, 0>
.decl V v_type=G type=d num_elts=8 align=dword
.decl HALF v_type=G type=d num_elts=8 align=dword alias=<V, 0>
.decl D v_type=G type=d num_elts=4 align=dword
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
.function "k_main"
k_main:
    ${statement}
    ret (M1, 1)
`;
  return checkVisaFile({ path: "k.visaasm", text }, { target }).diagnostics.map((d) => `${d.severity} ${d.code}`);
}

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
