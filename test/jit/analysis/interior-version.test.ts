import { expect, test } from "vitest";
import { withInteriorVersion } from "../../../src/jit/compile/analysis/versions/interior-version.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";

const begin = `mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;
  ld.param.u32 %r4, [n]; ld.param.u64 %d0, [x];`;
const end = "mul.wide.s32 %d1, %r9, 4; add.s64 %d2, %d0, %d1; st.global.u32 [%d2], %r0; ret;";

/** The operations of a kernel, and those of its form for blocks of 64. */
function versionsOf(body: string) {
  const text = `.version 8.0\n.target sm_80\n.address_size 64
    .visible .entry k(.param .u64 x, .param .align 4 .b8 n[8]) { .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; ${body} }`;
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)], {});
  expect(diagnostics).toEqual([]);
  const [ir] = module!.functions;
  const { ir: found, origins } = withInteriorVersion({ ir: ir!, origins: null }, [64, 1, 1]);
  return { ir: ir!, found, origins };
}

test("a clamped address gives a kernel two versions, of which each instruction has an origin", () => {
  const { ir, found, origins } = versionsOf(`${begin} add.s32 %r5, %r3, -1; max.s32 %r9, %r5, 0; ${end}`);
  expect(found.instructions.length).toBeGreaterThan(2 * ir.instructions.length);
  expect(origins).toHaveLength(found.instructions.length);
  const stores = found.instructions.flatMap(({ op }, i) => (op.kind === "store" ? [origins![i]] : []));
  expect(stores).toEqual(Array.from({ length: 2 }, () => ir.instructions.findIndex(({ op }) => op.kind === "store")));
});

test("versions are for blocks of one size, and keep the origins that the code has", () => {
  const { ir, found, origins } = versionsOf(`${begin} add.s32 %r5, %r3, -1; max.s32 %r9, %r5, 0; ${end}`);
  const ofBlock = (x: number) => withInteriorVersion({ ir, origins: null }, [x, 1, 1]).ir.instructions;
  expect(ofBlock(128)).not.toEqual(found.instructions);
  expect(ofBlock(64)).toEqual(found.instructions);
  const moved = withInteriorVersion({ ir, origins: ir.instructions.map((_, i) => i + 7) }, [64, 1, 1]);
  expect(moved.origins).toEqual(origins!.map((i) => i + 7));
});

test.each([
  ["no address depends on it", `add.s32 %r5, %r3, -1; max.s32 %r6, %r5, 0; mov.b32 %r9, %r3;`],
  ["blocks are all alike", `add.s32 %r5, %r0, -1; max.s32 %r9, %r5, 0;`],
  ["data decides", `ld.global.u32 %r5, [%d0]; add.s32 %r6, %r3, %r5; max.s32 %r9, %r6, 0;`],
  ["a register is written twice", `mov.b32 %r5, %r3; add.s32 %r5, %r5, %r5; max.s32 %r9, %r5, 5;`],
  ["lanes are counted", `mov.u32 %r5, %laneid; add.s32 %r6, %r3, %r5; max.s32 %r9, %r6, 0;`],
])("a kernel has one version where %s", (_, body) => {
  const { ir, found } = versionsOf(`${begin} ${body} ${end}`);
  expect(found).toBe(ir);
});

test("conditions that follow decide branches", () => {
  const { found } = versionsOf(`${begin} add.s32 %r5, %r3, -1; max.s32 %r9, %r5, 0;
    setp.ge.s32 %p0, %r3, %r4; setp.lt.s32 %p1, %r3, 1; or.pred %p2, %p0, %p1; @%p2 bra END;
    st.global.u32 [%d0], %r4; END: ${end}`);
  const guards = found.instructions.filter(({ op, guard }) => op.kind === "branch" && guard !== null);
  // That which chooses the version, and that of the kernel as it was.
  expect(guards).toHaveLength(2);
});

test.each([
  ["a number", "mov.b32 %r5, 2;"],
  ["a parameter", "ld.param.u32 %r5, [n+4];"],
])("places in blocks that overlap by a halo are those of the picture in the interior: its width is %s", (_, halo) => {
  const { found } = versionsOf(`${begin} ${halo} shl.b32 %r6, %r5, 1; sub.s32 %r13, 64, %r6; mul.lo.s32 %r14, %r13, %r1;
    sub.s32 %r7, %r14, %r5; add.s32 %r8, %r7, %r0; setp.gt.s32 %p0, %r8, -1; setp.lt.s32 %p1, %r8, %r4;
    and.pred %p2, %p0, %p1; neg.s32 %r10, %r7; shr.s32 %r11, %r7, 31; and.b32 %r12, %r10, %r11;
    add.s32 %r9, %r8, %r12; @!%p2 bra END; st.global.u32 [%d0], %r4; END: ${end}`);
  const interior = found.instructions.slice(0, found.instructions.length / 2);
  // Nobody leaves, and what is added to the place of a block that begins before the picture is 0.
  expect(interior.filter(({ op }) => op.kind === "branch")).toHaveLength(1);
  const sums = interior.flatMap(({ op }) => (op.kind === "pure" ? op.values : []));
  expect(sums.filter((value) => value.kind === "prim" && value.prim === "i32.and")).toEqual([]);
});

/** A loop with as many rounds as `%r7` says, of which the compiler has made one for the rest and one by fours. */
const roundsOf = (count: string, before = ""): string => `${begin} ${before} not.b32 %r5, %r0; add.s32 %r6, %r5, %r4;
  ${count} add.s32 %r8, %r7, 1; and.b32 %r10, %r8, 3; mov.u32 %r9, %r3;
  REST: add.s32 %r9, %r9, 64; add.s32 %r10, %r10, -1; setp.ne.s32 %p0, %r10, 0; @%p0 bra REST;
  setp.lt.u32 %p1, %r6, 192; @%p1 bra END; add.s32 %r9, %r9, 64; END: ${end}`;

test("rounds of a loop over a row, as many elements at once as a block has threads, give a kernel two versions", () => {
  const { ir, found } = versionsOf(roundsOf("shr.u32 %r7, %r6, 6;"));
  expect(found.instructions.length).toBeGreaterThan(2 * ir.instructions.length);
});

test("a thread's number is known until its register is reused", () => {
  const reused = roundsOf("shr.u32 %r7, %r6, 6;").replace("setp.lt.u32 %p1", "add.s32 %r0, %r0, 1; setp.lt.u32 %p1");
  const { ir, found } = versionsOf(reused);
  expect(found.instructions.length).toBeGreaterThan(2 * ir.instructions.length);
  const before = versionsOf(roundsOf("shr.u32 %r7, %r6, 6;", "LOOP: add.s32 %r0, %r0, 1; @%p8 bra LOOP;"));
  expect(before.found).toBe(before.ir);
});

test.each([
  ["a block has more threads than that", "shr.u32 %r7, %r6, 5;", ""],
  ["data decides", "shr.u32 %r7, %r6, 6;", "ld.global.u32 %r4, [%d0];"],
  ["no loop depends on it", "shr.u32 %r11, %r6, 6; mov.u32 %r7, 3;", ""],
])("loops have one version where %s", (_, count, before) => {
  const { ir, found } = versionsOf(roundsOf(count, before));
  expect(found).toBe(ir);
});
