import { describe, expect, test } from "vitest";
import { withRerolledLoops } from "../../../src/jit/compile/analysis/code/rerolled-loops.ts";
import { Device } from "../../../src/index.ts";
import { compile } from "../../../src/runtime/device/compile.ts";
import { SourceText } from "../../../src/source/index.ts";
import { expectSameReports, expectSameResults } from "../both-engines.ts";

// `for (i = a[t]; i < a[t + 1]; i += s) sum += x[i] * y[i]`, as nvcc writes it: rounds that are more than a multiple of
// four one by one, then four at once.

interface Parts {
  /** Of the step, its logarithm. */
  readonly shift?: number;
  readonly guard?: string;
  readonly distance?: string;
  readonly rounds?: string;
  readonly mask?: number;
  readonly beforeOnes?: string;
  readonly one?: string;
  readonly fewer?: string;
  readonly beforeFours?: string;
  readonly four?: readonly string[];
  readonly again?: string;
  readonly after?: string;
}

const round = (at: string, result: string, sum: string): string =>
  `ld.global.u32 %w, [%xs${at}]; ld.global.f32 %f1, [%ys${at}]; cvt.rn.f32.u32 %f2, %w; fma.rn.f32 ${result}, %f1, %f2, ${sum};`;

function kernel(parts: Parts = {}): string {
  const { shift = 0, mask = 3 } = parts;
  const step = 2 ** shift;
  const four = [0, 1, 2, 3].map((n) => parts.four?.[n] ?? round(`+${4 * step * n}`, "%sum", "%sum"));
  return `.version 9.0 .target sm_90 .address_size 64
.visible .entry k(.param .u64 rows, .param .u64 x, .param .u64 y, .param .u64 out) {
  .reg .b64 %rows, %x, %y, %out, %xs, %ys, %o, %o2; .reg .b32 %t, %i, %n, %m, %d, %c, %left, %w, %r<9>;
  .reg .f32 %f<9>, %sum, %first; .reg .pred %p, %q;
  ld.param.u64 %rows, [rows]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %t, %r1, %r2, %t;
  mul.wide.u32 %o, %t, 4; add.s64 %out, %out, %o; add.s64 %o, %rows, %o; mul.wide.u32 %o2, %t, 4; add.s64 %o, %o, %o2;
  ld.global.u32 %i, [%o]; ld.global.u32 %n, [%o+4]; mov.f32 %sum, 0f3F000000; mov.f32 %first, %sum;
  mov.u64 %xs, %x; mov.u64 %ys, %y; mov.u32 %w, 3; mov.u32 %left, 0;
  ${parts.guard ?? "setp.ge.s32 %p, %i, %n; @%p bra AFTER;"}
  add.s32 %r3, %i, ${step}; max.s32 %m, %n, %r3;
  ${parts.distance ?? "not.b32 %r4, %i; add.s32 %d, %m, %r4;"}
  ${parts.rounds ?? `shr.u32 %c, %d, ${shift}; add.s32 %c, %c, 1;`}
  and.b32 %left, %c, ${mask}; setp.eq.s32 %p, %left, 0; @%p bra BETWEEN;
  mul.wide.s32 %o, %i, 4; add.s64 %xs, %x, %o; add.s64 %ys, %y, %o; ${parts.beforeOnes ?? ""}
  ONES: ${parts.one ?? round("", "%sum", "%sum")}
  add.s32 %i, %i, ${step}; add.s64 %xs, %xs, ${4 * step}; add.s64 %ys, %ys, ${4 * step};
  add.s32 %left, %left, -1; setp.ne.s32 %p, %left, 0; @%p bra ONES;
  BETWEEN: ${parts.fewer ?? `setp.lt.u32 %p, %d, ${3 * step};`} @%p bra AFTER;
  mul.wide.s32 %o, %i, 4; add.s64 %xs, %x, %o; add.s64 %ys, %y, %o; ${parts.beforeFours ?? ""}
  FOURS: ${four.join("\n")}
  add.s64 %xs, %xs, ${16 * step}; add.s64 %ys, %ys, ${16 * step}; add.s32 %i, %i, ${4 * step};
  ${parts.again ?? "setp.lt.s32 %q, %i, %n;"} @%q bra FOURS;
  AFTER: ${parts.after ?? ""} st.global.f32 [%out], %sum; ret;
}`;
}

const isRerolled = (text: string): boolean => {
  const { module, diagnostics } = compile([new SourceText("k.ptx", text)]);
  expect(diagnostics).toEqual([]);
  const [ir] = module!.functions;
  return withRerolledLoops({ ir: ir!, origins: null }).ir !== ir;
};

const numbers = (list: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(list).buffer);
const threads = 64;
const size = 512;
const x = numbers(Array.from({ length: size }, (_, i) => (i * 2_654_435) >>> 8));
const y = new Uint8Array(Float32Array.from({ length: size }, (_, i) => 1 / (i + 3)).buffer);

/** Where rows begin and how long they are, by thread. */
const shapes: Readonly<Record<string, (t: number) => readonly [number, number]>> = {
  "each another length": (t) => [t * 3, t * 3 + ((t * 7) % 23)],
  none: (t) => [t, t],
  "lengths below zero": (t) => [t, t - 5 + (t % 9)],
  "all alike": (t) => [t, t + 9],
  "one long row": (t) => [t, t === 37 ? 400 : t + 1],
  "up to four": (t) => [t, t + (t % 5)],
};

const launchOf = (text: string, rows: readonly number[], inputs: readonly Uint8Array[] = [x, y]) => ({
  text,
  buffers: [numbers(rows), ...inputs, new Uint8Array(4 * threads)],
  launch: { grid: 2, block: 32 },
});

/** The same in a device with so much memory that no launch is undone: a fault that there should not be shows. */
const largeLaunchOf = (text: string, rows: readonly number[]) => ({
  ...launchOf(text, rows),
  before: (device: Device): void => void device.buffer(new Uint8Array(2 ** 21)),
});

const rowsOf = (of: (t: number) => readonly [number, number]): number[] =>
  Array.from({ length: threads }, (_, t) => of(t)).flat();

const alike: Readonly<Record<string, Parts>> = {
  "one by one": {},
  "with a step of 8": { shift: 3 },
  "a distance without max": { distance: "not.b32 %r4, %i; add.s32 %d, %n, %r4;" },
  "the distance as the number of rounds": { rounds: "sub.s32 %c, %m, %i;" },
  "fewer rounds by the opposite of the distance": {
    distance: "not.b32 %r4, %i; add.s32 %d, %m, %r4; sub.s32 %r5, %i, %n;",
    fewer: "setp.gt.u32 %p, %r5, -4;",
  },
  "pointers ahead": {
    beforeFours: "add.s64 %xs, %xs, 8; add.s64 %ys, %ys, 8;",
    four: [-8, -4, 0, 4].map((at) => round(at < 0 ? `+${at}` : `+${at}`, "%sum", "%sum")),
  },
  "sums in registers of their own": {
    four: [round("", "%f3", "%sum"), round("+4", "%f4", "%f3"), round("+8", "%f5", "%f4"), round("+12", "%sum", "%f5")],
  },
  "the last word is read after": { after: "cvt.rn.f32.u32 %f1, %w; add.f32 %sum, %sum, %f1;" },
  "the index is read after": { after: "cvt.rn.f32.s32 %f1, %i; add.f32 %sum, %sum, %f1;" },
};

const other: Readonly<Record<string, Parts>> = {
  "another load": { four: ["", round("+8", "%sum", "%sum")].map((r) => r || round("", "%sum", "%sum")) },
  "another order of loads": { four: [round("+4", "%sum", "%sum"), round("", "%sum", "%sum")] },
  "sums in another order": { four: [round("", "%f3", "%f3")] },
  "another operation": { four: [round("", "%sum", "%sum").replace("fma.rn", "fma.rz")] },
  "an access of another kind": { four: [round("", "%sum", "%sum").replace("ld.global.u32", "ld.volatile.global.u32")] },
  "the sum before, which stays": { beforeFours: "mov.f32 %first, %sum;", four: [round("", "%sum", "%first")] },
  "a sum that begins anew": { beforeFours: "mov.f32 %sum, 0f00000000;" },
  "single rounds that begin with another sum": { beforeOnes: "add.f32 %sum, %sum, %sum;" },
  "one round more": { rounds: "sub.s32 %c, %m, %i; add.s32 %c, %c, 1;" },
  "another multiple": { mask: 7 },
  "another number that counts as few": { fewer: "setp.lt.u32 %p, %d, 4;" },
  "another limit": { again: "add.s32 %r7, %n, 1; setp.lt.s32 %q, %i, %r7;" },
  "numbers without a sign": { again: "setp.lt.u32 %q, %i, %n;" },
  "no guard": { guard: "" },
  "a guard without a sign": { guard: "setp.ge.u32 %p, %i, %n; @%p bra AFTER;" },
  "what counts the rounds is read after": { after: "cvt.rn.f32.s32 %f1, %left; add.f32 %sum, %sum, %f1;" },
  "a store": { one: `${round("", "%sum", "%sum")} st.global.f32 [%out], %sum;` },
  "a round under a condition": {
    one: round("", "%sum", "%sum").replace("fma", "@%q fma"),
    guard: "setp.ge.s32 %p, %i, %n; setp.ne.s32 %q, %t, 3; @%p bra AFTER;",
  },
  "the pointer of single rounds is read after": {
    four: [0, 1, 2, 3].map((n) =>
      round(`+${4 * n}`, "%sum", "%sum")
        .replaceAll("%xs", "%o")
        .replaceAll("%ys", "%o2"),
    ),
    beforeFours: "mov.u64 %o, %xs; mov.u64 %o2, %ys;",
    after: "cvt.u32.u64 %r6, %xs; and.b32 %r6, %r6, 255; cvt.rn.f32.u32 %f1, %r6; add.f32 %sum, %sum, %f1;",
  },
};

describe.each(Object.entries(alike))("%s: one loop", (_, parts) => {
  const text = kernel(parts);

  test("is written", () => expect(isRerolled(text)).toBe(true));

  test.each(Object.entries(shapes))("%s: the same results", (_, of) => {
    expectSameResults(largeLaunchOf(text, rowsOf(of)));
  });

  test("near the greatest number", () => {
    // The arrays begin where that number of words has come before.
    const first = 2 ** 31 - 600;
    const moved = text.replace("mov.u64 %xs, %x;", `sub.s64 %x, %x, ${4 * first}; sub.s64 %y, %y, ${4 * first}; $&`);
    const rows = rowsOf((t) => [first + t, first + t + ((t * 5) % 31)]);
    expect(isRerolled(moved)).toBe(true);
    expectSameResults(largeLaunchOf(moved, rows));
  });
});

test.each(Object.entries(other))("%s: both loops stay", (name, parts) => {
  const text = kernel(parts);
  expect(isRerolled(text)).toBe(false);
  // These may go on beyond the arrays.
  if (!/^(no guard|a guard without|numbers without)/.test(name)) {
    expectSameResults(
      largeLaunchOf(
        text,
        rowsOf((t) => [t, t + ((t * 7) % 23)]),
      ),
    );
  }
});

test("the same number of rounds for all threads: both loops stay", () => {
  const text = kernel().replaceAll("[%o]", "[%rows]").replaceAll("[%o+4]", "[%rows+4]");
  expect(isRerolled(text)).toBe(false);
});

describe("where the last addition overflows", () => {
  const first = 2 ** 31 - 201;
  const text = kernel({ shift: 3, after: "cvt.rn.f32.s32 %f1, %i; add.f32 %sum, %sum, %f1;" }).replace(
    "mov.u64 %xs, %x;",
    `sub.s64 %x, %x, ${4 * first}; sub.s64 %y, %y, ${4 * first}; $&`,
  );
  const last = 2 ** 31 - 1;

  test("threads with a few rounds have no more", () => {
    expect(isRerolled(text)).toBe(true);
    expectSameResults(
      largeLaunchOf(
        text,
        rowsOf((t) => [last - (t % 24), last]),
      ),
    );
    expectSameResults(
      largeLaunchOf(
        text,
        rowsOf((t) => (t % 3 === 0 ? [last - (t % 24), last] : [first + t, first + 3 * t])),
      ),
    );
  });

  test("threads with more go on until they leave memory, in both engines", () => {
    const [report] = expectSameReports(
      launchOf(
        text,
        rowsOf((t) => (t === 5 ? [last - 97, last] : [last - 9, last - 12])),
      ),
    );
    expect(report!.code).toBe("global-out-of-bounds");
  });
});

test.each(["in a single round", "in one of four"])("a fault %s is told as the interpreter tells it", (where) => {
  // Thread 3 leaves the array in its first round, or in the sixth of seven.
  const at = where === "in a single round" ? size : size - 5;
  const rows = rowsOf((t) => (t === 3 ? [at, at + 7] : [t, t + (t % 4)]));
  const [report] = expectSameReports(launchOf(kernel(), rows));
  expect(report!.threads).toMatchObject([{ thread: [3, 0, 0] }]);
});

test("a fault in a device with much memory is one of the program's", () => {
  const rows = rowsOf((t) => (t === 3 ? [size - 5, size + 2] : [t, t + (t % 4)]));
  const device = new Device();
  device.buffer(new Uint8Array(2 ** 21));
  const buffers = [numbers(rows), x, y, new Uint8Array(4 * threads)].map((bytes) => device.buffer(bytes));
  const { reports } = device.load(kernel()).kernel("k").launch({ grid: 2, block: 32, args: buffers });
  expect(reports.map(({ code }) => code)).toEqual(["global-out-of-bounds"]);
});
