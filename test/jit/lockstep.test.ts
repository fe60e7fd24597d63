import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import type { Dim3 } from "../../src/machine/reports/report.ts";

// Programs of which the threads of a warp see each other's plain stores without a barrier between. GPUs run them as
// their writers expect, an instruction at a time for the whole warp, and so do both engines, however narrow the chunks
// that a kernel would otherwise get.

/** So many values that chunks would be narrow, from `%v` on; `total` adds them up. */
const values = Array.from({ length: 20 }, (_, i) => i);
const many = values.map((i) => `ld.volatile.global.u32 %w${i}, [%x+${4 * i}];`).join(" ");
const total = values.map((i) => `add.u32 %v, %v, %w${i};`).join(" ");

const programs: Readonly<Record<string, readonly [body: string, block: Dim3]>> = {
  "a neighbour's word": [`st.shared.u32 [%s], %t; ld.shared.u32 %v, [%s+4];`, [64, 1, 1]],
  "a neighbour's word, with many values": [
    `${many} st.shared.u32 [%s], %t; ld.shared.u32 %v, [%s+4]; ${total}`,
    [64, 1, 1],
  ],
  "shifted in place": [
    `st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %v, [%s]; st.shared.u32 [%s+4], %v; bar.sync 0;
ld.shared.u32 %v, [%s];`,
    [32, 1, 1],
  ],
  "a tree of one warp": [
    `st.shared.u32 [%s], %t; bar.sync 0;
${[16, 8, 4, 2, 1].map((n) => `ld.shared.u32 %v, [%s]; ld.shared.u32 %u, [%s+${4 * n}]; add.u32 %v, %v, %u; st.shared.u32 [%s], %v;`).join("\n")}
ld.shared.u32 %v, [%s];`,
    [32, 1, 1],
  ],
  "rows of 16": [
    `mov.u32 %u, %tid.y; and.b32 %u, %u, 1; mul.lo.u32 %u, %u, 64; xor.b32 %u, %u, 64; sub.u32 %u, %u, 32;
st.shared.u32 [%s], %t; ld.shared.u32 %v, [%s+64]; bar.sync 0; st.shared.u32 [%s+64], %v; ld.shared.u32 %u, [%s];
add.u32 %v, %v, %u;`,
    [16, 4, 1],
  ],
  "two stores, the second to where others have stored before": [
    `${many} st.shared.u32 [%s], %t; st.shared.u32 [%s+32], 7; bar.sync 0; ld.shared.u32 %v, [%s]; ${total}`,
    [32, 1, 1],
  ],
  "two stores, the second to the other row of a pair": [
    `xor.b32 %u, %a4, 64; add.u32 %u, %u, %a5; st.shared.u32 [%s], %t; st.shared.u32 [%u], 7; bar.sync 0;
ld.shared.u32 %v, [%s];`,
    [16, 4, 1],
  ],
  "two stores, the second to the other row of a pair, with many values": [
    `${many} xor.b32 %u, %a4, 64; add.u32 %u, %u, %a5; st.shared.u32 [%s], %t; st.shared.u32 [%u], 7; bar.sync 0;
ld.shared.u32 %v, [%s]; ${total}`,
    [8, 8, 1],
  ],
  "a store of some threads, and one to the other row of a pair": [
    `xor.b32 %u, %a4, 64; add.u32 %u, %u, %a5; setp.lt.u32 %p, %j, 5; @%p bra L; st.shared.u32 [%s], %t;
L: st.shared.u32 [%u], 7; bar.sync 0; ld.shared.u32 %v, [%s];`,
    [16, 4, 1],
  ],
  "two stores, the second where a register says that is written again": [
    `xor.b32 %i, %a4, 64; add.u32 %u, %i, %a5; st.shared.u32 [%s], %t; st.shared.u32 [%u], 7; bar.sync 0;
ld.shared.u32 %v, [%s]; setp.lt.u32 %p, %j, 5; @%p bra L; mov.u32 %i, 3; L: add.u32 %v, %v, %i;`,
    [16, 4, 1],
  ],
  "global memory": [
    `${many} ld.param.u64 %y, [y]; mad.wide.u32 %y, %t, 4, %y; st.global.u32 [%y], %t; ld.global.u32 %v, [%y+4];
${total}`,
    [32, 1, 1],
  ],
  "global memory, in place": [
    `${many} ld.param.u64 %y, [y]; mad.wide.u32 %y, %t, 4, %y; ld.global.u32 %v, [%y]; add.u32 %v, %v, 1;
st.global.u32 [%y+4], %v; ${total}`,
    [32, 1, 1],
  ],
  // %i is the same in all lanes, as far as each of its instructions shows it.
  "a word further in each round, in place": [
    `${many} ld.param.u64 %y, [y]; mad.wide.u32 %z, %j, 4, %y; mov.u32 %i, 0; mov.u32 %v, 0;
L: mad.wide.u32 %o, %i, 4, %z; ld.global.u32 %u, [%o]; add.u32 %v, %v, %u; st.global.u32 [%o], %v;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 5; @%p bra L; ${total}`,
    [32, 1, 1],
  ],
  "a word by the number of a round, and one by that of the next": [
    `${many} ld.param.u64 %y, [y]; mad.wide.u32 %z, %j, 4, %y; mov.u32 %i, 0; mov.u32 %v, 0;
mad.wide.u32 %o, %i, 4, %z; add.u32 %i, %i, 1; mad.wide.u32 %q, %i, 4, %z; ld.global.u32 %v, [%o];
add.u32 %v, %v, 100; st.global.u32 [%q], %v; ld.global.u32 %v, [%o]; ${total}`,
    [32, 1, 1],
  ],
  "a word further in some lanes": [
    `${many} ld.param.u64 %y, [y]; mad.wide.u32 %z, %j, 4, %y; mov.u32 %i, 0;
setp.gt.u32 %p, %w1, 20; @%p bra L; mov.u32 %i, 1; L: mad.wide.u32 %o, %i, 4, %z; st.global.u32 [%o], %j;
ld.global.u32 %v, [%o]; ${total}`,
    [32, 1, 1],
  ],
  "what thread 0 has found": [
    `setp.ne.u32 %p, %t, 0; @%p bra L; st.shared.u32 [%s], 99; L: mov.u32 %u, cells; ld.shared.u32 %v, [%u];`,
    [32, 1, 1],
  ],
};

test.each(Object.entries(programs))("%s", (_, [body, block]) => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 y) {
  .reg .pred %p; .reg .b32 %t, %u, %v, %s, %i, %j, %a<6>, %w<20>; .reg .b64 %a, %b, %d, %x, %y, %z, %o, %q;
  .shared .align 16 .b8 cells[1024];
  mov.u32 %a0, %tid.y; mov.u32 %a1, %ntid.x; mov.u32 %j, %tid.x; mad.lo.u32 %t, %a0, %a1, %j;
  mul.lo.u32 %a2, %a0, 64; shl.b32 %a3, %j, 2; add.u32 %a4, %a2, %a3; mov.u32 %a5, cells; add.u32 %s, %a4, %a5;
  ld.param.u64 %a, [x]; mad.wide.u32 %x, %t, 4, %a;
  ${body}
  ld.param.u64 %b, [out]; mad.wide.u32 %d, %t, 4, %b; st.global.u32 [%d], %v; ret;
}`;
  const [jit, interpreter] = (["jit", "interpreter"] as const).map((engine) => {
    const device = new Device({ engine });
    const buffers = [0, 1, 2].map((n) => device.buffer(Uint32Array.from({ length: 256 }, (_, i) => n * i)));
    const result = device.load(text).kernel("k").launch({ grid: 1, block, args: buffers });
    expect({ engine: result.engine, reports: result.reports }).toEqual({ engine, reports: [] });
    return buffers.map((buffer) => [...buffer.read()]);
  });
  expect(jit).toEqual(interpreter);
});
