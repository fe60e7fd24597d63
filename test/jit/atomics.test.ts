import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

/** Atomic operations, with operands `%v`, `%w` (or `%x`, `%y` of 64 bits) and results in `%r` (`%s`). */
const operations = [
  ...["add.u32", "add.s32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32"],
  ...["inc.u32", "dec.u32", "cas.b32", "add.f32", "add.noftz.f16x2", "add.noftz.bf16x2"],
  ...["add.u64", "min.s64", "min.u64", "max.s64", "max.u64", "and.b64", "or.b64", "xor.b64", "exch.b64", "cas.b64"],
  ...["add.f64", "cas.b16", "add.noftz.f16", "add.noftz.bf16"],
] as const;

const bitsOf = (operation: string): 16 | 32 | 64 =>
  /x2$/.test(operation) ? 32 : (Number(/\d+$/.exec(operation)![0]) as 16 | 32 | 64);

const registers: Readonly<Record<16 | 32 | 64, readonly [result: string, a: string, b: string]>> = {
  16: ["%h0", "%h1", "%h2"],
  32: ["%r", "%v", "%w"],
  64: ["%s", "%x", "%y"],
};

/** Places that the threads of a warp update, from `%b` on: shapes of addresses in `%a`, by the number of the lane. */
const shapes: Readonly<Record<string, readonly string[]>> = {
  "the same for all": ["add.s64 %a, %b, 24;"],
  "its own for each": ["mad.wide.u32 %a, %l, 8, %b;"],
  backwards: ["sub.s32 %i, 99, %l;", "mad.wide.s32 %a, %i, 8, %b;"],
  "some of a few": ["mul.lo.u32 %i, %l, 5;", "and.b32 %i, %i, 7;", "mad.wide.u32 %a, %i, 8, %b;"],
};

const threads = 45;
/** Of each of the two warps: who comes first is nowhere said. */
const warpBytes = 8 * 128;
const regionBytes = 2 * warpBytes;

/** What all words are at first. */
const word = 0x3f02_0100;
const initial = new Uint8Array(new Uint32Array(regionBytes / 4).fill(word).buffer);

interface Space {
  /** Between the opcode's `atom` and the operation. */
  readonly suffix: string;
  /** Puts the region's address into `%b`, and the results back into `%out`. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
}

const copyShared = (from: string, to: string, load: string, store: string): readonly string[] =>
  [0, 1, 2, 3, 4, 5].flatMap((i) => [
    `add.u32 %i, %t, ${i * threads};`,
    "setp.lt.u32 %p, %i, 256;",
    `mad.wide.u32 %a, %i, 8, ${from};`,
    `@%p ld.${load}.b64 %s, [%a];`,
    `mad.wide.u32 %a, %i, 8, ${to};`,
    `@%p st.${store}.b64 [%a], %s;`,
  ]);

const shared = (suffix: string, cvta: readonly string[]): Space => ({
  suffix,
  begin: [
    "mov.u64 %sh, sh;",
    ...copyShared("%in", "%sh", "global", "shared"),
    "bar.sync 0;",
    "mov.b64 %b, %sh;",
    ...cvta,
  ],
  end: ["bar.sync 0;", ...copyShared("%sh", "%in", "shared", "global")],
});

const spaces = {
  global: { suffix: ".global", begin: ["mov.b64 %b, %in;"], end: [] },
  generic: { suffix: "", begin: ["cvta.global.u64 %b, %in;"], end: [] },
  shared: shared(".shared", []),
  sharedGeneric: shared("", ["cvta.shared.u64 %b, %b;"]),
} as const satisfies Readonly<Record<string, Space>>;

/** Each of the shapes, by all lanes, by some, and without a result. */
function kernelOf(operation: string, { suffix, begin, end }: Space): string {
  const bits = bitsOf(operation);
  const [result, a, b] = registers[bits];
  const operands = operation.startsWith("cas") ? `${a}, ${b}` : a;
  const type = bits === 16 ? "b16" : `b${bits}`;
  let n = 0;
  const body = Object.values(shapes).flatMap((shape) => {
    const update = `atom${suffix}.${operation} ${result}, [%a], ${operands};`;
    const keep = [
      "mad.wide.u32 %o, %t, 8, %out;",
      `st.global.${type} [%o+${8 * threads * n}], ${result};`,
      `st.global.${type} [%o+${8 * threads * (n + 1)}], ${result};`,
    ];
    n += 2;
    const reduce = /^(exch|cas)/.test(operation) ? [] : [`red${suffix}.${operation} [%a], ${operands};`];
    return [
      ...shape,
      update,
      keep[0]!,
      keep[1]!,
      "rem.u32 %i, %t, 3;",
      "setp.eq.u32 %p, %i, 1;",
      `@%p ${update}`,
      keep[2]!,
      ...reduce,
    ];
  });
  return [
    ".version 8.6\n.target sm_90\n.address_size 64",
    `.shared .align 16 .b8 sh[${regionBytes}];`,
    ".visible .entry k(.param .u64 in, .param .u64 out) {",
    ".reg .pred %p; .reg .b16 %h<3>; .reg .b32 %t, %l, %i, %r, %v, %w; .reg .b64 %a, %b, %o, %s, %x, %y, %in, %out, %sh;",
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;",
    // Operands: small numbers as integers, ordinary ones and a NaN as floating-point numbers.
    ...begin,
    "and.b32 %l, %t, 31;",
    "shr.u32 %i, %t, 5;",
    `mad.wide.u32 %b, %i, ${warpBytes}, %b;`,
    "mul.lo.u32 %v, %t, 0x01010401;",
    "add.u32 %v, %v, 0x3c003f80;",
    "setp.eq.u32 %p, %t, 17;",
    "@%p mov.b32 %v, 0x7fc12345;",
    "setp.lt.u32 %p, %l, 12;",
    "and.b32 %w, %t, 3;",
    "mov.b64 %x, {%w, %v};",
    "mov.b64 %y, {%v, %w};",
    ...(operation.startsWith("cas")
      ? [`@%p mov.b32 %v, ${word};`, `@%p mov.b64 %x, ${(BigInt(word) << 32n) + BigInt(word)};`]
      : []),
    "cvt.u16.u32 %h1, %v;",
    "cvt.u16.u32 %h2, %w;",
    ...body,
    ...end,
    "ret; }",
  ].join("\n");
}

const outBytes = 2 * Object.keys(shapes).length * threads * 8;

function expectSameUpdates(operation: string, space: Space, hostThreads = 1): void {
  const [after] = expectSameResults({
    text: kernelOf(operation, space),
    buffers: [initial, new Uint8Array(outBytes)],
    launch: { grid: 1, block: threads, hostThreads },
  });
  expect(after).not.toEqual(initial);
}

test.each(operations)("%s in global memory", (operation) => expectSameUpdates(operation, spaces.global));

const few = ["add.u32", "min.s64", "cas.b16", "add.f32", "exch.b64", "add.noftz.f16x2"] as const;

describe.each(["generic", "shared", "sharedGeneric"] as const)("%s", (space) => {
  test.each(few)("%s", (operation) => expectSameUpdates(operation, spaces[space]));
});

// Several threads of the host may run blocks: the code is another one, even for a single block.
test.each([...few, "and.b32", "or.b64", "xor.b32", "inc.u32", "cas.b64", "exch.b32"])(
  "%s in global memory that threads share",
  (operation) => expectSameUpdates(operation, spaces.global, 2),
);

test("blocks count in a histogram of their own, and add it to a common one", () => {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 bins) {
  .reg .pred %p; .reg .b32 %t, %g, %n, %v; .reg .b64 %a, %b, %c, %in, %bins;
  .shared .align 4 .b8 own[256];
  ld.param.u64 %in, [in]; ld.param.u64 %bins, [bins];
  mov.u32 %t, %tid.x; mov.u32 %g, %ctaid.x; mov.u32 %n, %ntid.x;
  mad.lo.u32 %g, %g, %n, %t;
  cvt.u64.u32 %a, %g; add.s64 %a, %a, %in;
  ld.global.u8 %v, [%a];
  and.b32 %v, %v, 63;
  mov.u64 %b, own; mad.wide.u32 %c, %v, 4, %b;
  atom.shared.add.u32 %v, [%c], 1;
  bar.sync 0;
  setp.ge.u32 %p, %t, 64; @%p bra L;
  mad.wide.u32 %c, %t, 4, %b; ld.shared.u32 %v, [%c];
  mad.wide.u32 %c, %t, 4, %bins; red.global.add.u32 [%c], %v;
L: ret; }`;
  const bytes = Uint8Array.from({ length: 8 * 200 }, (_, i) => (i * i * 31) >> 3);
  const counts = new Uint32Array(64);
  for (const byte of bytes) counts[byte & 63]!++;
  const [, bins] = expectSameResults({ text, buffers: [bytes, new Uint8Array(256)], launch: { grid: 8, block: 200 } });
  expect(new Uint32Array(bins!.slice().buffer)).toEqual(counts);
});
