import { expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Registers of asynchronous products in a block of 128 threads, with all sanitizers. `// report: code` at the end of a
 * line expects that report there, in all threads; nothing else may be reported. The sentences are those of sections
 * 9.7.15.7.1 to 9.7.15.7.3.
 */
const module = (body: string): string => `.version 8.0
.target sm_90a
.address_size 64
.shared .align 1024 .b8 buf[4096];
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %b;
    .reg .b32 %t, %s, %s0, %x, %a<4>;
    .reg .f32 %d<8>, %e<4>, %f, %g;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %o, %t, 4, %o;
    mov.u32 %s0, buf;
    mov.u32 %s, buf;
    mad.lo.u32 %s, %t, 32, %s;
    st.shared.v4.u32 [%s], {%t, %t, %t, %t};
    st.shared.v4.u32 [%s+16], {%t, %t, %t, %t};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mov.u32 %s, buf;
    shr.u32 %s, %s, 4;
    cvt.u64.u32 %b, %s;
    or.b64 %b, %b, 0x0000001000080000;
    mov.b32 %a0, %t;
    mov.b32 %a1, %t;
    mov.b32 %a2, %t;
    mov.b32 %a3, %t;
    mov.f32 %d0, 0f00000000;
    mov.f32 %d1, %d0;
    mov.f32 %d2, %d0;
    mov.f32 %d3, %d0;
    mov.f32 %d4, %d0;
    mov.f32 %d5, %d0;
    mov.f32 %d6, %d0;
    mov.f32 %d7, %d0;
    mov.f32 %g, %d0;
${body}
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [%o], %g;
    ret;
}
`;

const fence = "    wgmma.fence.sync.aligned;";
const commit = "    wgmma.commit_group.sync.aligned;";
const wait = (n: number): string => `    wgmma.wait_group.sync.aligned ${n};`;
const multiply = (from = 0): string =>
  `    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d${from}, %d${from + 1}, %d${from + 2}, %d${from + 3}}, %b, %b, 1, 1, 1, 0, 0;`;
const fromRegisters =
  "    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, 1, 1, 1, 0;";
const wide =
  "    wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, %b, %b, 1, 1, 1, 0, 0;";
/** In accumulators that nothing has written before. */
const unwritten = (scale: string): string =>
  `    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0, %e1, %e2, %e3}, %b, %b, ${scale}, 1, 1, 0, 0;`;
const inFlight = " // report: async-in-flight";
const unfenced = " // report: wgmma-missing-fence";

const programs: Readonly<Record<string, readonly string[]>> = {
  "waited for": [fence, multiply(), commit, wait(0), "    add.f32 %g, %d0, %d1;"],
  "several of a shape in the same accumulators": [
    ...[fence, multiply(), multiply(), commit, multiply(), commit, wait(0)],
    "    add.f32 %g, %d0, %d1;",
  ],
  "read before the wait": [fence, multiply(), commit, `    add.f32 %g, %d0, %d1;${inFlight}`],
  "copied before the wait": [fence, multiply(), commit, `    mov.f32 %g, %d2;${inFlight}`],
  "stored before the wait": [fence, multiply(), commit, `    st.global.f32 [%o], %d3;${inFlight}`],
  "written before the wait": [fence, multiply(), commit, `    mov.f32 %d3, 0f00000000;${inFlight}`],
  "the group before is complete, the last one is not": [
    ...[fence, multiply(), commit, multiply(4), commit, wait(1)],
    "    add.f32 %g, %d0, %d1;",
    `    add.f32 %g, %d4, %d5;${inFlight}`,
  ],
  "never committed": [fence, multiply(), wait(0), `    add.f32 %g, %d0, %d1;${inFlight}`],
  "an empty group waits for nothing more": [
    ...[fence, multiply(), commit, commit, wait(1)],
    "    add.f32 %g, %d0, %d1;",
  ],
  "a register of A is overwritten": [fence, fromRegisters, commit, `    mov.b32 %a1, 0;${inFlight}`],
  "a register of A is read, which disturbs nothing": [fence, fromRegisters, commit, "    st.global.u32 [%o], %a1;"],
  "no fence at all": [multiply() + unfenced, commit, wait(0)],
  "accumulators are written after the fence": [fence, "    mov.f32 %d1, 0f3f800000;", multiply() + unfenced, commit],
  "accumulators are read after the fence": [
    ...[fence, multiply(), commit, wait(0), "    add.f32 %g, %d0, %d1;"],
    ...[multiply() + unfenced, commit],
  ],
  "a part of A is written after the fence": [fence, "    mov.b32 %a2, 5;", fromRegisters + unfenced, commit],
  "another fence comes after the write": [
    ...[fence, fromRegisters, commit, wait(0), "    mov.b32 %a2, 5;"],
    ...[fence, fromRegisters, commit],
  ],
  "products of two shapes in the same accumulators": [fence, multiply(), wide + unfenced, commit],
  "products of two shapes with a fence in between": [fence, multiply(), fence, wide, commit],
  "other registers need no fence": [fence, multiply(), "    mov.f32 %g, 0f3f800000;", multiply(), commit],
  "nothing has written the accumulators, which scale-d ignores": [
    "    setp.ne.u32 p, %t, %t;",
    ...[fence, unwritten("p"), unwritten("1"), commit, wait(0)],
    "    mov.f32 %g, %e3;",
  ],
  "nothing has written the accumulators": [
    ...[fence, `${unwritten("1")} // report: uninitialized-read`, commit, wait(0)],
    "    mov.f32 %g, %e3;",
  ],
  "nothing has written a part of A": [
    ...[fence, `${fromRegisters.replace("%a2", "%x")} // report: uninitialized-read`, commit, wait(0)],
    "    mov.f32 %g, %d1;",
  ],
  "shared memory is written before the wait": [
    "    mad.lo.u32 %s, %t, 16, %s0;",
    ...[fence, multiply(), commit, "    bar.sync 0;", `    st.shared.u32 [%s], %t;${inFlight}`],
  ],
  "shared memory is written by a copy before the wait": [
    "    mad.lo.u32 %s, %t, 16, %s0;",
    ...[
      fence,
      multiply(),
      commit,
      "    bar.sync 0;",
      `    cp.async.ca.shared.global [%s], [%o], 4;${inFlight}`,
      "    cp.async.wait_all;",
    ],
  ],
  "shared memory is written after the wait of all warps": [
    "    mad.lo.u32 %s, %t, 16, %s0;",
    ...[fence, multiply(), commit, wait(0), "    bar.sync 0;", "    st.shared.u32 [%s], %t;"],
  ],
  "other shared memory is written before the wait": [
    "    mad.lo.u32 %s, %t, 16, %s0;",
    ...[fence, multiply(), commit, "    st.shared.u32 [%s+2048], %t;"],
  ],
  "the accumulators of a loop are renamed at its end, as compilers do": [
    "    mov.u32 %t, 0;",
    "LOOP:",
    ...[fence, multiply(), commit],
    ...[0, 1, 2, 3].map((i) => `    mov.f32 %e${i}, %d${i};`),
    ...[0, 1, 2, 3].map((i) => `    mov.f32 %d${i}, %e${i};`),
    "    add.u32 %t, %t, 1;",
    "    setp.lt.u32 p, %t, 3;",
    "@p  bra LOOP;",
    wait(0),
    "    add.f32 %g, %d0, %d1;",
  ],
};

/** Programs with nothing to report that are left to the interpreter: registers may be read before they are written. */
const left = new Set(["nothing has written the accumulators, which scale-d ignores"]);

test.each(Object.entries(programs))("%s", (name, lines) => {
  const text = module(lines.join("\n"));
  const expected = text.split("\n").flatMap((line, i) => {
    const code = /\/\/ report: (\S+)$/.exec(line)?.[1];
    return code === undefined ? [] : [{ code, line: i + 1, threads: 128 }];
  });
  const device = new Device();
  const out = device.buffer(new Float32Array(256));
  const { reports, engine } = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: 128, args: [out], sanitize: "all" });
  const found = reports.map(({ code, source, span, count }) => ({
    code,
    line: source.position(span.start).line,
    threads: count,
  }));
  expect(found).toEqual(expected);
  // Compiled code sees that there is nothing to report.
  if (expected.length === 0 && !left.has(name)) expect(engine).toBe("jit");
});
