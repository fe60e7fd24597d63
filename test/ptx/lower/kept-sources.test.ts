import { expect, test } from "vitest";
import { Device } from "../../../src/index.ts";

/*
 * An instruction reads all its operands before it writes (PTX ISA 9.7): also one of several steps, whose destinations
 * are among its own sources.
 */

const frame = (body: string): string => `.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to)\n{
    .reg .b64 %f, %t; .reg .b32 %r<16>; .reg .f64 %d<4>; .reg .b64 %w<4>;
    ld.param.u64 %f, [from]; ld.param.u64 %t, [to];
    ${body}
    ret;\n}\n`;

const tiles = "%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7";

/** Words 0 to 511 as they are, or as the kernel has left them. */
const cases: readonly [name: string, body: string, expected: (i: number) => number][] = [
  [
    "wmma.load over its stride",
    `mov.u32 %r5, 24;
    wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {${tiles}}, [%f], %r5;
    wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%t], {${tiles}}, 24;`,
    (i) => (i % 24 < 16 && i < 24 * 16 ? i : 0),
  ],
  [
    "wmma.load over its address",
    `mov.b64 %w0, %f;
    wmma.load.c.sync.aligned.col.m8n8k4.global.f64 {%w0, %w1}, [%w0];
    wmma.store.d.sync.aligned.col.m8n8k4.global.f64 [%t], {%w0, %w1};`,
    (i) => (i < 128 ? i : 0),
  ],
  [
    "wmma.mma over A, B and a part of C",
    `mov.b32 %r0, 0x01010101; mov.b32 %r1, %r0; mov.b32 %r2, 0x02020202; mov.b32 %r3, %r2;
    mov.b32 %r4, 5; mov.b32 %r5, 5; mov.b32 %r6, 5; mov.b32 %r7, 5;
    wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32
        {${tiles}}, {%r0, %r1}, {%r2, %r3}, {%r4, %r5, %r6, %r7, %r4, %r5, %r6, %r7};
    wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%t], {${tiles}};`,
    (i) => (i < 256 ? 37 : 0),
  ],
];

test.each(cases.flatMap((one) => (["interpreter", "jit"] as const).map((engine) => [...one, engine] as const)))(
  "%s",
  (_, body, expected, engine) => {
    const device = new Device();
    const from = device.buffer(Uint32Array.from({ length: 512 }, (__, i) => i));
    const to = device.buffer("u32", 512);
    const { reports } = device
      .load({ path: "k.ptx", text: frame(body) })
      .kernel("k")
      .launch({ grid: 1, block: 32, args: [from, to], engine });
    expect(reports).toEqual([]);
    expect([...to.read()]).toEqual(Array.from({ length: 512 }, (__, i) => expected(i)));
  },
);
