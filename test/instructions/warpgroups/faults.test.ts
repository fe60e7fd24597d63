import { describe, expect, test } from "vitest";
import { Device } from "../../../src/runtime/index.ts";

/*
 * Products that cannot be computed. Section 9.7.15.1: a warpgroup is "a set of four contiguous warps such that the
 * warp-rank of the first warp is a multiple of 4"; 9.7.15.5.2: "all threads in the warpgroup must execute the same
 * wgmma.mma_async instruction".
 */
const module = (body: string): string => `.version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 buf[2048];
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %b;
    .reg .b32 %t, %s;
    .reg .f32 %d<4>;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %s, buf;
    and.b32 %s, %s, 0x3ffff;
    shr.u32 %s, %s, 4;
    cvt.u64.u32 %b, %s;
${body}
    ret;
}
`;

const strides = (leading: number, stride: number): string =>
  `    or.b64 %b, %b, ${(BigInt(leading >> 4) << 16n) | (BigInt(stride >> 4) << 32n)};`;
const multiply = "    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %b, %b, 0, 1, 1, 0, 0;";

interface Case {
  readonly name: string;
  readonly body: readonly string[];
  readonly threads: number;
  readonly code: string;
  readonly message: RegExp;
}

const cases: readonly Case[] = [
  {
    name: "three warps",
    body: [strides(128, 256), multiply],
    threads: 96,
    code: "aligned-divergence",
    message: /only 3 warps of a warpgroup's 4 exist/,
  },
  {
    name: "half a warp",
    body: [strides(128, 256), "    setp.lt.u32 p, %t, 16;", "@p  bra END;", multiply, "END:"],
    threads: 128,
    code: "aligned-divergence",
    message: /only 16 of the warp's 32 lanes/,
  },
  {
    name: "rows of A beyond the variable",
    body: [strides(128, 512), multiply],
    threads: 128,
    code: "shared-out-of-bounds",
    message: /loads 16 x 1 bytes \(shared\) .* after the end of `k.buf` \(2048 bytes\)|the end of `buf`/,
  },
];

describe.each(["interpreter", "jit"] as const)("%s", (engine) => {
  test.each(cases)("$name", ({ body, threads, code, message }) => {
    const text = module(body.join("\n"));
    const line = text.split("\n").findIndex((l) => l.includes("wgmma.mma_async")) + 1;
    const device = new Device();
    const kernel = device.load(text).kernel("k");
    const { reports } = kernel.launch({ grid: 1, block: threads, args: [device.buffer("u32", 4)], engine });
    const [first] = reports;
    expect({ code: first?.code, line: first?.source.position(first.span.start).line }).toEqual({ code, line });
    expect(first!.message).toMatch(message);
  });
});
