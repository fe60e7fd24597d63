import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Scales of `mma` whose selectors are in registers (section 9.7.14.5.3, figures 43 to 45). A and B have only ones, so
 * that an element of D is 32 times the scale of its row times that of its column, which are powers of two here: byte b
 * of thread t stands for 2^((t >> 2 & 1) + ((t + b) & 3)). The scale of row g of A comes from thread 4g + 2 * thread-id,
 * that of row g + 8 from the thread after it; that of column c of B from thread 4c + thread-id.
 */
const power = (thread: number, byte: number): number => ((thread >> 2) & 1) + ((thread + byte) & 3);

const kernel = `.version 8.7
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 out, .param .u16 byteA, .param .u16 threadA, .param .u16 byteB, .param .u16 threadB) {
.reg .b16 %h<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d;
ld.param.u16 %h0, [byteA]; ld.param.u16 %h1, [threadA]; ld.param.u16 %h2, [byteB]; ld.param.u16 %h3, [threadB];
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 2; and.b32 %r1, %r1, 1; mov.b32 %r2, 0;
// Bytes of the scale, from the last to the first: the exponent with a bias of 127.
${[3, 2, 1, 0]
  .map(
    (b) => `add.u32 %r3, %r0, ${b}; and.b32 %r3, %r3, 3; add.u32 %r3, %r3, %r1; add.u32 %r3, %r3, 127;
shl.b32 %r2, %r2, 8; or.b32 %r2, %r2, %r3;`,
  )
  .join("\n")}
mov.b32 %r4, 0x38383838;
mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0
  {%f0, %f1, %f2, %f3}, {%r4, %r4, %r4, %r4}, {%r4, %r4}, {%f0, %f1, %f2, %f3},
  {%r2}, {%h0, %h1}, {%r2}, {%h2, %h3};
ld.param.u64 %d, [out]; mad.wide.u32 %d, %r0, 16, %d;
st.global.v4.f32 [%d], {%f0, %f1, %f2, %f3};
ret; }`;

test.each(["interpreter", "jit"] as const)("scales by selectors in registers: %s", (engine) => {
  const device = new Device({ engine });
  const k = device.load(kernel).kernel("k");
  const out = device.buffer("f32", 128);
  for (const [byteA, threadA, byteB, threadB] of [
    [0, 0, 0, 0],
    [1, 0, 3, 1],
    [2, 1, 0, 2],
    [3, 1, 2, 3],
    [0, 1, 1, 0],
  ] as const) {
    const result = k.launch({ grid: 1, block: 32, args: [out, byteA, threadA, byteB, threadB] });
    expect(result.reports).toEqual([]);
    expect(result.engine).toBe(engine);
    const expected = Array.from({ length: 128 }, (_, i) => {
      const [lane, register] = [i >> 2, i & 3];
      const row = (lane >> 2) + 8 * (register >> 1);
      const column = 2 * (lane & 3) + (register & 1);
      const ofRow = power(4 * (row & 7) + 2 * threadA + (row >> 3), byteA);
      return 32 * 2 ** (ofRow + power(4 * column + threadB, byteB));
    });
    expect([...(out.read() as Float32Array)]).toEqual(expected);
  }
});
