import { describe, test } from "vitest";
import { Random } from "../fuzz/random.ts";
import { expectSameResults, type PtxCase } from "./both-engines.ts";

// Matrices of which each step has less to do, as elimination has, in blocks of any shape: rows of blocks run others'
// threads, lanes walk down columns, rows end in the middle, or begin there, all at one place or each elsewhere. What
// tests say of parts of rows, and of several rows at once, the results are those of the interpreter.

const words = (count: number, at: (i: number) => number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: count }, (_, i) => at(i)).buffer);

const shapes = [
  { block: [208, 1], grid: [1, 30] },
  { block: [256, 1], grid: [1, 17] },
  { block: [96, 1], grid: [3, 11] },
  { block: [64, 1], grid: [2, 40] },
  { block: [32, 1], grid: [5, 9] },
  { block: [16, 16], grid: [7, 6] },
  { block: [16, 16], grid: [13, 2] },
  { block: [8, 8], grid: [9, 9] },
  { block: [32, 4], grid: [4, 7] },
  { block: [100, 1], grid: [2, 20] },
] as const;

/** A random kernel and its launch. `%i` and `%u` are a thread's place, `%n` and `%m` numbers of the launch. */
function randomCase(seed: number): PtxCase {
  const random = new Random(seed);
  const { block, grid } = random.pick(shapes);
  const [width, height] = [block[0] * grid[0], block[1] * grid[1]];
  const pitch = Math.max(width, height) + random.below(9);
  const near = (size: number): number => Math.max(0, random.chance(0.3) ? size : random.below(size + 4));
  const [n, m] = [near(width), near(height)];
  const type = random.pick(["s32", "u32"]);
  const bound = (): string =>
    random.pick([
      "mov.u32 %k, %n;",
      "mov.u32 %k, %n;",
      "mov.u32 %k, %m;",
      "add.s32 %k, %u, %n;",
      "sub.s32 %k, %n, %u;",
      "sub.s32 %k, %n, %m;",
      "mad.lo.s32 %k, %u, 3, %m;",
      `mov.u32 %k, ${random.below(width)};`,
    ]);
  const leave = (): string =>
    `${bound()} setp.${random.pick(["ge", "ge", "gt", "lt"])}.${type} %p1, ${random.pick(["%i", "%i", "%u"])}, %k; @%p1 bra END;`;
  const at = random.chance(0.3) ? "mad.lo.s32 %w, %i, %t, %u;" : "mad.lo.s32 %w, %u, %t, %i;";
  const other = random.pick([
    "mad.lo.s32 %v, %u, %t, %m;",
    "mad.lo.s32 %v, %m, %t, %i;",
    "mad.lo.s32 %v, %i, %t, %m;",
    "add.s32 %v, %i, %u;",
  ]);
  const lane = random.chance(0.5)
    ? ""
    : `setp.${random.pick(["ne", "ne", "gt"])}.s32 %p2, ${random.pick(["%i", "%u"])}, ${random.pick([0, 0, 1, 40])}; @%p2 bra END;
       ld.global.u32 %q, [%b]; mad.lo.u32 %q, %q, 5, %n; st.global.u32 [%b], %q;`;
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 blob[8]) {
.reg .pred %p<9>; .reg .b32 %i, %j, %k, %n, %m, %q, %t, %u, %v, %w; .reg .b64 %x, %y, %a, %b, %d;
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u32 %n, [blob]; ld.param.u32 %m, [blob+4];
mov.u32 %j, %ntid.x; mov.u32 %k, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.s32 %i, %k, %j, %t;
mov.u32 %j, %ntid.y; mov.u32 %k, %ctaid.y; mov.u32 %t, %tid.y; mad.lo.s32 %u, %k, %j, %t;
${Array.from({ length: random.between(1, 2) }, leave).join(" ")}
mov.u32 %t, ${pitch};
${other} mul.wide.s32 %d, %v, 4; add.s64 %a, %x, %d; ld.global.u32 %v, [%a];
${at} mul.wide.s32 %d, %w, 4; add.s64 %a, %x, %d; add.s64 %b, %y, %d;
ld.global.u32 %q, [%a]; mad.lo.u32 %v, %v, %q, %i; ld.global.u32 %q, [%b]; sub.u32 %q, %q, %v; st.global.u32 [%b], %q;
${lane}
END: ret;
}`;
  const size = pitch * (pitch + 5) + 64;
  return {
    text,
    buffers: [words(size, (i) => Math.imul(i + 1, 0x9e37_79b1) >>> 0), words(size, (i) => i)],
    blob: words(2, (i) => (i === 0 ? n : m)),
    launch: { grid: [...grid], block: [...block], hostThreads: random.chance(0.2) ? 2 : 1 },
  };
}

describe("matrices of which less is left in each step", () => {
  test.each(Array.from({ length: 30 }, (_, i) => i + 1))("%d", (seed) => {
    expectSameResults(randomCase(seed));
  });
});
