import { describe, expect, test } from "vitest";
import { expectSameResults } from "./both-engines.ts";

/** Threads: some chunks are full, the last one is not. */
const threads = 77;
/** Accesses that fit into a region. */
const places = 256;

/**
 * Instructions that put the address of an access of so many bytes into `%a`: from `%b`, by the thread's number `%t`.
 */
const shapes: Readonly<Record<string, (size: number) => readonly string[]>> = {
  "the same in all lanes": (size) => [`add.s64 %a, %b, ${5 * size};`],
  "one after the other": (size) => [`mul.wide.s32 %a, %t, ${size};`, "add.s64 %a, %b, %a;"],
  backwards: (size) => ["sub.s32 %i, 200, %t;", `mul.wide.s32 %a, %i, ${size};`, "add.s64 %a, %b, %a;"],
  "backwards, without a sign": (size) => ["sub.u32 %i, 90, %t;", `mad.wide.u32 %a, %i, ${size}, %b;`],
  "by a negative scale": (size) => [
    `mul.wide.s32 %a, %t, -${size};`,
    "add.s64 %a, %b, %a;",
    `add.s64 %a, %a, ${100 * size};`,
  ],
  "in steps of three": (size) => [`mul.lo.s32 %i, %t, ${3 * size};`, "cvt.u64.u32 %a, %i;", "add.s64 %a, %b, %a;"],
  "in 64 bits": (size) => ["cvt.u64.u32 %a, %t;", `mul.lo.u64 %a, %a, ${size};`, "add.s64 %a, %b, %a;"],
  "as bytes": (size) => [`mul.lo.u32 %i, %t, ${size};`, "cvt.s64.s32 %a, %i;", "add.s64 %a, %a, %b;"],
  "two lanes at a time": (size) => ["shr.u32 %i, %t, 1;", `mad.wide.u32 %a, %i, ${size}, %b;`],
  scattered: (size) => ["mul.lo.u32 %i, %t, 29;", "and.b32 %i, %i, 255;", `mad.wide.u32 %a, %i, ${size}, %b;`],
  // Four lanes next to each other, here and there: blocks of a butterfly.
  "fours that change places": (size) => ["xor.b32 %i, %t, 20;", `mad.wide.u32 %a, %i, ${size}, %b;`],
  "some fours turned around": (size) => [
    "shr.u32 %i, %t, 3;",
    "and.b32 %i, %i, 3;",
    "xor.b32 %i, %i, %t;",
    `mad.wide.u32 %a, %i, ${size}, %b;`,
  ],
  "fours upon each other": (size) => [
    "and.b32 %i, %t, 3;",
    "shr.u32 %h, %t, 2;",
    "add.u32 %i, %i, %h;",
    `mad.wide.u32 %a, %i, ${size}, %b;`,
  ],
  "by any address": (size) => [
    "cvt.u64.u32 %a, %t;",
    "xor.b64 %a, %a, 37;",
    `mul.lo.u64 %a, %a, ${size};`,
    "add.s64 %a, %b, %a;",
  ],
};

/** Which lanes access memory, and how that is written. */
const masks: Readonly<Record<string, (access: string, n: number) => readonly string[]>> = {
  "all lanes": (access) => [access],
  "the first lanes": (access, n) => ["setp.ge.u32 %p, %t, 50;", `@%p bra M${n};`, access, `M${n}:`],
  "every third lane": (access) => ["rem.u32 %i, %t, 3;", "setp.eq.u32 %p, %i, 1;", `@%p ${access}`],
};

/** `count` elements of a type, and the registers they are in. */
interface Form {
  readonly type: string;
  readonly count: 1 | 2 | 4;
  readonly register: 16 | 32 | 64;
}

const forms: readonly Form[] = [
  { type: "s8", count: 1, register: 32 },
  { type: "s8", count: 1, register: 64 },
  { type: "u8", count: 1, register: 16 },
  { type: "s16", count: 1, register: 64 },
  { type: "u16", count: 1, register: 32 },
  { type: "s32", count: 1, register: 64 },
  { type: "u32", count: 1, register: 64 },
  { type: "b32", count: 1, register: 32 },
  { type: "b64", count: 1, register: 64 },
  { type: "u8", count: 4, register: 32 },
  { type: "s16", count: 2, register: 64 },
  { type: "b16", count: 4, register: 16 },
  { type: "b32", count: 2, register: 32 },
  { type: "b32", count: 4, register: 32 },
  { type: "b64", count: 2, register: 64 },
];

const nameOf = ({ type, count, register }: Form): string =>
  `${count === 1 ? "" : `v${count}.`}${type} in ${register} bits`;
const sizeOf = ({ type, count }: Form): number => (count * Number(type.slice(1))) / 8;
const registersOf = ({ count, register }: Form): readonly string[] =>
  Array.from({ length: count }, (_, e) => `%v${register}_${e}`);
const listOf = (registers: readonly string[]): string =>
  registers.length === 1 ? registers[0]! : `{${registers.join(", ")}}`;
const vectorOf = ({ count }: Form): string => (count === 1 ? "" : `.v${count}`);

const declarations = [
  ".reg .pred %p; .reg .b32 %t, %i, %h; .reg .b64 %a, %b, %in, %out, %o;",
  ...[16, 32, 64].flatMap((bits) => [0, 1, 2, 3].map((e) => `.reg .b${bits} %v${bits}_${e};`)),
];

/** A kernel with the pointers `%in` and `%out`, `begin` and then the lines of all shapes with all masks. */
function kernelOf(
  begin: readonly string[],
  lines: (shape: (typeof shapes)[string], mask: (typeof masks)[string], n: number) => readonly string[],
  variables: readonly string[] = [],
): string {
  let n = 0;
  const body = Object.values(shapes).flatMap((shape) =>
    Object.values(masks).flatMap((mask) => lines(shape, mask, n++)),
  );
  return [
    ".version 8.0\n.target sm_80\n.address_size 64",
    ...variables,
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .b8 blob[4096]) {",
    ...declarations,
    "ld.param.u64 %in, [in];",
    "ld.param.u64 %out, [out];",
    "mov.u32 %t, %tid.x;",
    "mov.b64 %b, %in;",
    ...begin,
    ...body,
    "ret; }",
  ].join("\n");
}

const cases = Object.keys(shapes).length * Object.keys(masks).length;
const slotBytes = 32;

/** Loads by `ld.SPACE` from `%b`, in all ways, and keeps the registers in `out`. */
function loads(form: Form, space: string, begin: readonly string[] = [], variables: readonly string[] = []): string {
  const registers = registersOf(form);
  return kernelOf(
    begin,
    (shape, mask, n) => [
      ...registers.map((r, e) => `mov.b${form.register} ${r}, ${0x1234 + e};`),
      ...shape(sizeOf(form)),
      ...mask(`ld${space}${vectorOf(form)}.${form.type} ${listOf(registers)}, [%a];`, n),
      `mad.wide.u32 %o, %t, ${slotBytes}, %out;`,
      ...registers.map((r, e) => `st.global.b${form.register} [%o+${n * threads * slotBytes + 8 * e}], ${r};`),
    ],
    variables,
  );
}

/** Stores by `st.SPACE`, each way to a region of its own, which begin at `%out`. */
function stores(form: Form): string {
  const registers = registersOf(form);
  return kernelOf(["mul.lo.u32 %i, %t, 0x01030507;"], (shape, mask, n) => [
    `mul.lo.u32 %i, %t, ${0x0103_0507 + 2 * n};`,
    ...registers.map((r, e) =>
      form.register === 32 ? `add.u32 ${r}, %i, ${e};` : `cvt.u${form.register}.u32 ${r}, %i;`,
    ),
    `add.s64 %b, %out, ${n * places * sizeOf(form)};`,
    ...shape(sizeOf(form)),
    ...mask(`st.global${vectorOf(form)}.${form.type} [%a], ${listOf(registers)};`, n),
  ]);
}

const noise = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, i) => (i * 2654435761) >>> 21);
const outBytes = cases * threads * slotBytes;
const blob = noise(4096);
const launch = { grid: 1, block: threads };

describe("global memory", () => {
  test.each(forms.map((f) => [nameOf(f), f] as const))("loads %s", (_, form) => {
    const text = loads(form, ".global");
    const [, out] = expectSameResults({
      text,
      buffers: [noise(places * sizeOf(form)), new Uint8Array(outBytes)],
      blob,
      launch,
    });
    expect(new Set(out).size).toBeGreaterThan(100);
  });

  test.each(forms.map((f) => [nameOf(f), f] as const))("stores %s", (_, form) => {
    const bytes = cases * places * sizeOf(form);
    expectSameResults({ text: stores(form), buffers: [noise(16), noise(bytes)], blob, launch });
  });
});

const few: readonly Form[] = [
  { type: "s8", count: 1, register: 64 },
  { type: "b32", count: 4, register: 32 },
];

/** Each thread fills its part of a shared array. */
const filled = (name: string): readonly string[] => [
  `mov.u64 %b, ${name};`,
  ...Array.from({ length: Math.ceil(1024 / threads) }, (_, i) => [
    `add.u32 %i, %t, ${i * threads};`,
    "setp.lt.u32 %p, %i, 1024;",
    "mad.wide.u32 %a, %i, 4, %b;",
    "mul.lo.u32 %v32_0, %i, 0x9e3779b1;",
    "@%p st.shared.u32 [%a], %v32_0;",
  ]).flat(),
  "bar.sync 0;",
];

describe("other spaces", () => {
  const spaces: readonly (readonly [string, (form: Form) => string, number])[] = [
    [
      "a constant table",
      (f) =>
        loads(
          f,
          ".const",
          ["mov.u64 %b, c;"],
          [`.const .align 16 .b8 x[20];`, `.const .align 16 .b8 c[4096] = {${noise(4096).join()}};`],
        ),
      0,
    ],
    [
      "a global variable",
      (f) => loads(f, ".global", ["mov.u64 %b, g;"], [`.global .align 16 .b8 g[4096] = {${noise(4096).join()}};`]),
      0,
    ],
    ["a parameter", (f) => loads(f, ".param", ["mov.u64 %b, blob;"]), 0],
    [
      "a shared array",
      (f) => loads(f, ".shared", filled("s"), [".shared .align 16 .b8 r[24];", ".shared .align 16 .b8 s[4096];"]),
      0,
    ],
    [
      "dynamic shared memory",
      (f) => loads(f, ".shared", filled("d"), [".shared .align 16 .b8 r[24];", ".extern .shared .align 16 .b8 d[];"]),
      4096,
    ],
    ["global memory by generic addresses", (f) => loads(f, "", ["cvta.global.u64 %b, %in;"]), 0],
    [
      "shared memory by generic addresses",
      (f) => loads(f, "", [...filled("s"), "cvta.shared.u64 %b, %b;"], [".shared .align 16 .b8 s[4096];"]),
      0,
    ],
  ];
  test.each(
    spaces.flatMap(([name, text, sharedBytes]) =>
      few.map((f) => [`${nameOf(f)} from ${name}`, text(f), sharedBytes] as const),
    ),
  )("%s", (_, text, sharedBytes) => {
    const buffers = [noise(4096), new Uint8Array(outBytes)];
    expectSameResults({ text, buffers, blob, launch: { ...launch, shared: sharedBytes } });
  });
});

test("32-bit addresses wrap around", () => {
  const text = [
    ".version 8.0\n.target sm_80\n.address_size 32",
    ".visible .entry k(.param .u32 in, .param .u32 out) {",
    ".reg .pred %p; .reg .b32 %t, %a, %b, %in, %out, %v, %s;",
    ".shared .align 4 .b8 s[512];",
    "ld.param.u32 %in, [in]; ld.param.u32 %out, [out]; mov.u32 %t, %tid.x;",
    "mul.lo.u32 %a, %t, 4; add.u32 %b, %a, %out;",
    "add.u32 %a, %a, %in; ld.global.u32 %v, [%a+8]; st.global.u32 [%b], %v;",
    "sub.u32 %s, 0, %t; mul.lo.u32 %s, %s, 4; add.u32 %s, %s, %in; ld.global.u32 %v, [%s+400]; st.global.u32 [%b+400], %v;",
    "mov.u32 %s, s; mad.lo.u32 %s, %t, 4, %s; st.shared.u32 [%s], %v; bar.sync 0;",
    "xor.b32 %v, %t, 5; mov.u32 %s, s; mad.lo.u32 %s, %v, 4, %s; setp.lt.u32 %p, %t, 70;",
    "@%p ld.shared.u32 %v, [%s]; st.global.u32 [%b+800], %v;",
    // What the constant takes back is added before: the sum passes 2^32.
    "add.u32 %a, %a, 0x90000000; ld.global.u32 %v, [%a+0x70000000]; st.global.u32 [%b+1200], %v;",
    "ret; }",
  ].join("\n");
  expectSameResults({ text, buffers: [noise(512), new Uint8Array(1600)], launch });
});

test("shared memory whose size the launch gives begins as zeros in every block", () => {
  const text = [
    ".version 8.0\n.target sm_80\n.address_size 64",
    ".extern .shared .align 4 .b8 s[];",
    ".visible .entry k(.param .u64 in, .param .u64 out) {",
    ".reg .b32 %b, %v; .reg .b64 %a, %out;",
    "ld.param.u64 %out, [out]; mov.u32 %b, %ctaid.x; mul.wide.u32 %a, %b, 4; add.u64 %out, %out, %a;",
    "ld.shared.u32 %v, [s+8]; st.global.u32 [%out], %v; st.shared.u32 [s+8], 7;",
    "ret; }",
  ].join("\n");
  const buffers = [noise(512), new Uint8Array(1600)];
  expectSameResults({ text, buffers, launch: { ...launch, shared: 64 } });
});
