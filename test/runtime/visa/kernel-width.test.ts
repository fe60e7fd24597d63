import { expect, test } from "vitest";
import { Device, UsageError } from "../../../src/index.ts";

/** A kernel of 8 lanes, which loops in these alone. */
const kernel = `.version 3.6
.kernel "k"
.decl C v_type=G type=d num_elts=1 align=dword
.decl P2 v_type=P num_elts=8
.kernel_attr SimdSize=8
.function "k_main"
k_main:
    mov (M1_NM, 1) C(0,0)<1> 0x0:d
again:
    add (M1_NM, 1) C(0,0)<1> C(0,0)<0;1,0> 0x1:d
    cmp.lt (M1_NM, 8) P2 C(0,0)<0;1,0> 0x5:d
    (P2) goto (M1, 8) again
    ret (M1, 1)
`;

const load = (simd: number, text = kernel) =>
  new Device().load([{ path: "k.visaasm", text }], {
    isa: "visa",
    zeinfo: { kernels: [{ name: "k", execution_env: { simd_size: simd } }] },
  });

test("a kernel and its .ze_info name the same number of lanes", () => {
  expect(load(8).kernel("k").launch({ global: 8, local: 8, args: [] }).ok).toBe(true);
  const message = `kernel "k" is for 8 lanes (SimdSize, k.visaasm:5:1), but its .ze_info says 32 (execution_env.simd_size)`;
  expect(() => load(32)).toThrow(new UsageError(message));
});

test("a kernel without SimdSize has the lanes of its .ze_info", () => {
  const text = kernel.replace(".kernel_attr SimdSize=8\n", "");
  expect(load(32, text).kernel("k").launch({ global: 32, local: 32, args: [] }).ok).toBe(true);
});
