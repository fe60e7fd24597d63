import { expect, test } from "vitest";
import { Device } from "../../../src/index.ts";

const names = ["STK", "N", "P", "M"];

/** Stores its inputs, adjacent dwords. */
const kernel = `.version 3.6
.kernel "k"
.decl ALL v_type=G type=ud num_elts=8 align=GRF
.decl OUT v_type=G type=uq num_elts=1 align=GRF
${names.map((name) => `.decl ${name} v_type=G type=ud num_elts=1 align=GRF`).join("\n")}
${names.map((name, i) => `.input ${name} offset=${32 + 4 * i} size=4`).join("\n")}
.input OUT offset=64 size=8
.kernel_attr SimdSize=8
.kernel_attr Target="3d"
.function "k_main"
k_main:
${names.map((name, i) => `    mov (M1_NM, 1) ALL(0,${i})<1> ${name}(0,0)<0;1,0>`).join("\n")}
    svm_block_st (1) OUT(0,0)<0;1,0> ALL.0
    ret (M1, 1)
`;

test("a value larger than its input is truncated, and does not overwrite the next input", () => {
  const device = new Device();
  const out = device.buffer("u32", 4);
  const inputs = [
    { name: "N", kind: "arg", type: "u32" },
    { name: "M", kind: "arg", type: "u32" },
    { name: "P", kind: "arg", type: "u64" },
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "STK", kind: "stack", bytesPerThread: 64 },
  ] as const;
  const module = device.load([{ path: "k.visaasm", text: kernel }], { isa: "visa", inputs });
  const { reports } = module.kernel("k").launch({ global: 8, local: 8, args: [7, 9, out, out] });
  expect(reports).toEqual([]);
  const [, n, , m] = out.read();
  expect([n, m]).toEqual([7, 9]);
});
