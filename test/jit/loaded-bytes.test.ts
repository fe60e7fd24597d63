import { describe, expect, test } from "vitest";
import { expectSame } from "./harness.ts";

const threads = 64;
const byteAt = (i: number): number => (37 * i + 11 + (i >> 5)) % 256;
const half = (i: number): number => byteAt(i) | (byteAt(i + 1) << 8);

/** A variable of so many bytes, about half of them with the highest bit set. */
const table = (bytes: number): string =>
  `.global .align 8 .b8 table[${bytes}] = {${Array.from({ length: bytes }, (_, i) => byteAt(i)).join(", ")}};`;

interface Spot {
  readonly name: string;
  /** The first byte of each thread. */
  readonly at: (thread: number) => number;
  /** PTX that adds it to `%d0`. */
  readonly code: string;
  readonly bytes: number;
}

const apart = (stride: number, bytes: number): Spot => ({
  name: `${stride} bytes apart`,
  at: (t) => t * stride,
  code: `mad.wide.u32 %d0, %t, ${stride}, %d0;`,
  bytes: (threads - 1) * stride + bytes,
});

const anywhere = (bytes: number): Spot => ({
  name: "anywhere",
  at: (t) => ((t * 29 + 7) % 61) * 4,
  code: "mul.lo.u32 %r1, %t, 29; add.u32 %r1, %r1, 7; rem.u32 %r1, %r1, 61; mad.wide.u32 %d0, %r1, 4, %d0;",
  bytes: 60 * 4 + bytes,
});

const words = 4;

/** Runs code that leaves its results in %r4 to %r7, and compares them with `expected`, by the first byte. */
function run(spot: Spot, code: string, expected: (at: number) => readonly number[], only = ""): void {
  const body = `mov.u64 %d0, table; ${spot.code} mov.u32 %r4, 1; mov.u32 %r5, 2; mov.u32 %r6, 3; mov.u32 %r7, 4; ${only}
    ${code} SKIP: st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7}; ret;`;
  const { out, reports } = expectSame({ name: "", before: table(spot.bytes), body, block: [threads, 1, 1], words });
  expect(reports).toEqual([]);
  const isLeftOut = (t: number): boolean => only !== "" && t % 3 === 0;
  const wanted = Array.from({ length: threads }, (_, t) => (isLeftOut(t) ? [1, 2, 3, 4] : expected(spot.at(t)))).flat();
  expect(out.map((word) => word >>> 0)).toEqual(wanted.map((word) => word >>> 0));
}

const skipThirds = "rem.u32 %r8, %t, 3; setp.eq.u32 %p1, %r8, 0; @%p1 bra SKIP;";
const word = (...bytes: readonly number[]): number => bytes.reduce((sum, byte, i) => sum | (byte << (8 * i)), 0);

const load4 = `ld.global.u8 %r10, [%d0]; ld.global.u8 %r11, [%d0+1]; ld.global.u8 %r12, [%d0+2]; ld.global.u8 %r13, [%d0+3];`;

/** Code that puts words together from bytes, and what it gives for the bytes from one on. */
const assemblies: readonly (readonly [string, number, string, (at: number) => readonly number[]])[] = [
  [
    "by shifts, lowest first",
    4,
    `${load4} shl.b32 %r11, %r11, 8; shl.b32 %r12, %r12, 16; shl.b32 %r13, %r13, 24; or.b32 %r4, %r10, %r11;
     or.b32 %r5, %r4, %r12; or.b32 %r6, %r5, %r13; mov.u32 %r7, %r10;`,
    (at) => [half(at), word(...[0, 1, 2].map((i) => byteAt(at + i))), half(at) | (half(at + 2) << 16), byteAt(at)],
  ],
  [
    "by products and sums, highest first",
    4,
    `${load4} mad.lo.u32 %r4, %r10, 256, %r11; mad.lo.u32 %r5, %r4, 256, %r12; mad.lo.u32 %r6, %r5, 256, %r13;
     add.u32 %r7, %r12, %r13;`,
    (at) => [
      word(byteAt(at + 1), byteAt(at)),
      word(byteAt(at + 2), byteAt(at + 1), byteAt(at)),
      word(byteAt(at + 3), byteAt(at + 2), byteAt(at + 1), byteAt(at)),
      byteAt(at + 2) + byteAt(at + 3),
    ],
  ],
  [
    "by permutations, as nvcc does",
    4,
    `${load4} prmt.b32 %r4, %r11, %r10, 0x7604; prmt.b32 %r5, %r12, %r4, 0x7054; prmt.b32 %r6, %r13, %r5, 0x0654;
     prmt.b32 %r7, %r10, %r11, 0x8484;`,
    (at) => [
      half(at),
      word(...[0, 1, 2].map((i) => byteAt(at + i))),
      half(at) | (half(at + 2) << 16),
      word(
        ...[byteAt(at + 1), byteAt(at), byteAt(at + 1), byteAt(at)].map((b, i) => (i % 2 ? (b & 128 ? 255 : 0) : b)),
      ),
    ],
  ],
  [
    "of halves and bytes, across words",
    8,
    `ld.global.u16 %r10, [%d0]; ld.global.u8 %r11, [%d0+3]; ld.global.u8 %r12, [%d0+4]; ld.global.u16 %r13, [%d0+6];
     shl.b32 %r4, %r13, 16; or.b32 %r4, %r4, %r10; shl.b32 %r5, %r12, 8; or.b32 %r5, %r5, %r11;
     and.b32 %r6, %r4, 0xff00ff00; shr.u32 %r7, %r4, 8;`,
    (at) => [
      half(at) | (half(at + 6) << 16),
      word(byteAt(at + 3), byteAt(at + 4)),
      (half(at) | (half(at + 6) << 16)) & 0xff00ff00,
      (half(at) | (half(at + 6) << 16)) >>> 8,
    ],
  ],
  [
    "that overlap, so that they are sums",
    4,
    `${load4} shl.b32 %r11, %r11, 7; add.u32 %r4, %r10, %r11; or.b32 %r5, %r10, %r11; shl.b32 %r12, %r12, 9;
     or.b32 %r6, %r12, %r13; xor.b32 %r7, %r10, %r13;`,
    (at) => [
      byteAt(at) + (byteAt(at + 1) << 7),
      byteAt(at) | (byteAt(at + 1) << 7),
      (byteAt(at + 2) << 9) | byteAt(at + 3),
      byteAt(at) ^ byteAt(at + 3),
    ],
  ],
  [
    "with signs",
    4,
    `ld.global.s8 %r10, [%d0]; ld.global.s8 %r11, [%d0+1]; ld.global.u8 %r12, [%d0+2]; ld.global.s8 %r13, [%d0+3];
     shl.b32 %r5, %r11, 8; or.b32 %r4, %r10, %r5; shl.b32 %r5, %r12, 8; or.b32 %r5, %r10, %r5; mov.u32 %r6, %r11;
     mov.u32 %r7, %r13;`,
    (at) => {
      const signed = (i: number): number => (byteAt(i) << 24) >> 24;
      return [signed(at) | (signed(at + 1) << 8), signed(at) | (byteAt(at + 2) << 8), signed(at + 1), signed(at + 3)];
    },
  ],
];

describe("words put together from bytes", () => {
  const spots = [...[4, 6, 8, 12, 14, 16, 18, 24, 36].map((stride) => apart(stride, 8)), anywhere(8)];
  test.each(assemblies)("%s", (_, bytes, code, expected) => {
    for (const spot of spots) {
      run({ ...spot, bytes: spot.bytes - 8 + bytes }, code, expected);
      run({ ...spot, bytes: spot.bytes - 8 + bytes }, code, expected, skipThirds);
    }
  });

  test.each([1, 2, 3, 5, 7, 9])("at any byte, %i apart", (stride) => {
    for (const [, bytes, code, expected] of assemblies) {
      if (bytes <= 4) run(apart(stride, bytes), code, expected);
    }
  });

  test("twenty-four bytes, loaded in any order", () => {
    const order = Array.from({ length: 24 }, (_, i) => (i * 7) % 24);
    const loads = order.map((i) => `ld.global.u8 %r${10 + i}, [%d0+${i}];`).join(" ");
    const put = (to: number, from: number): string =>
      `${[1, 2, 3].map((i) => `shl.b32 %r${10 + from + i}, %r${10 + from + i}, ${8 * i};`).join(" ")}
       ${[1, 2, 3].map((i) => `or.b32 %r${10 + from}, %r${10 + from}, %r${10 + from + i};`).join(" ")} mov.u32 %r${to}, %r${10 + from};`;
    const code = `${loads} ${put(4, 0)} ${put(5, 4)} ${put(6, 12)} ${put(7, 20)}`;
    const expected = (at: number): readonly number[] =>
      [0, 4, 12, 20].map((from) => half(at + from) | (half(at + from + 2) << 16));
    for (const spot of [apart(24, 24), apart(28, 24), apart(4, 24), anywhere(24)]) run(spot, code, expected);
  });

  test("the last byte of one thread beyond the end", () => {
    const body = `mov.u64 %d0, table; mad.wide.u32 %d0, %t, 24, %d0; ${load4} shl.b32 %r11, %r11, 8; or.b32 %r10, %r10, %r11;
      st.global.u32 [%out], %r10; ret;`;
    const { reports } = expectSame({ name: "", before: table(63 * 24 + 3), body, block: [threads, 1, 1], words: 1 });
    expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
  });
});

/** Eight bytes from one on, lowest first, as the two words of a number. */
const long = (...bytes: readonly number[]): readonly number[] => [word(...bytes.slice(0, 4)), word(...bytes.slice(4))];
const from = (at: number): readonly number[] => long(...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => byteAt(at + i)));

const load8 = (first: number): string =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `ld.global.u8 %r${10 + first + i}, [%d0+${first + i}];`).join(" ");
const wide8 = (first: number): string =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `cvt.u64.u32 %d${1 + i}, %r${10 + first + i};`).join(" ");
/** Joins %d1 to %d8, each shifted by some bytes, in %d1. */
const joined = (by: (i: number) => number, op = "or.b64"): string =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `shl.b64 %d${1 + i}, %d${1 + i}, ${8 * by(i)};`).join(" ") +
  [1, 2, 3, 4, 5, 6, 7].map((i) => ` ${op} %d1, %d1, %d${1 + i};`).join("");

/** Code that puts numbers of 64 bits together. */
const longAssemblies: readonly (readonly [string, number, string, (at: number) => readonly number[]])[] = [
  [
    "by shifts, lowest first",
    8,
    `${load8(0)} ${wide8(0)} ${joined((i) => i)} mov.b64 {%r4, %r5}, %d1; mov.u32 %r6, %r12; mov.u32 %r7, %r17;`,
    (at) => [...from(at), byteAt(at + 2), byteAt(at + 7)],
  ],
  [
    "two of them, the second as a sum",
    16,
    `${load8(0)} ${load8(8)} ${wide8(0)} ${joined((i) => i)} mov.b64 {%r4, %r5}, %d1;
     ${wide8(8)} ${joined((i) => i, "add.s64")} mov.b64 {%r6, %r7}, %d1;`,
    (at) => [...from(at), ...from(at + 8)],
  ],
  [
    "highest first",
    8,
    `${load8(0)} ${wide8(0)} ${joined((i) => 7 - i)} mov.b64 {%r4, %r5}, %d1; mov.u32 %r6, %r10; mov.u32 %r7, %r11;`,
    (at) => [...long(...[7, 6, 5, 4, 3, 2, 1, 0].map((i) => byteAt(at + i))), byteAt(at), byteAt(at + 1)],
  ],
  [
    "as nvcc does, by products, fields and masks",
    8,
    `.reg .b16 %h<8>; ${[0, 1, 2, 3, 4, 5, 6, 7].map((i) => `ld.global.u8 %h${i}, [%d0+${i}];`).join(" ")}
     cvt.u64.u16 %d1, %h0; and.b64 %d1, %d1, 255; cvt.u64.u16 %d2, %h1; bfi.b64 %d1, %d2, %d1, 8, 8;
     cvt.u32.u16 %r10, %h2; and.b32 %r10, %r10, 255; mul.wide.u32 %d2, %r10, 65536; or.b64 %d1, %d2, %d1;
     cvt.u32.u16 %r10, %h3; and.b32 %r10, %r10, 255; mul.wide.u32 %d2, %r10, 16777216; or.b64 %d1, %d2, %d1;
     ${[4, 5, 6].map((i) => `cvt.u64.u16 %d2, %h${i}; shl.b64 %d2, %d2, ${8 * i}; and.b64 %d2, %d2, ${255n << BigInt(8 * i)}; or.b64 %d1, %d2, %d1;`).join(" ")}
     cvt.u64.u16 %d2, %h7; shl.b64 %d2, %d2, 56; or.b64 %d1, %d2, %d1; mov.b64 {%r4, %r5}, %d1; shr.u64 %d2, %d1, 8;
     mov.b64 {%r6, %r7}, %d2;`,
    (at) => [...from(at), ...long(...[1, 2, 3, 4, 5, 6, 7].map((i) => byteAt(at + i)), 0)],
  ],
  [
    "with a factor that is nearly a power of two",
    8,
    `${load8(0)} ${wide8(0)} mul.lo.u64 %d8, %d8, 72057594037927937; shl.b64 %d7, %d7, 48; shl.b64 %d6, %d6, 40;
     shl.b64 %d5, %d5, 32; shl.b64 %d4, %d4, 24; shl.b64 %d3, %d3, 16; shl.b64 %d2, %d2, 8;
     ${[2, 3, 4, 5, 6, 7, 8].map((i) => `or.b64 %d1, %d1, %d${i};`).join(" ")} mov.b64 {%r4, %r5}, %d1; mov.u32 %r6, 0; mov.u32 %r7, 0;`,
    (at) => {
      const [low, high] = from(at) as [number, number];
      return [low | byteAt(at + 7), high, 0, 0];
    },
  ],
  [
    "of words and a half with a sign",
    12,
    `ld.global.u16 %r10, [%d0]; ld.global.u16 %r11, [%d0+2]; ld.global.s16 %r12, [%d0+4]; ld.global.u16 %r13, [%d0+6];
     ld.global.u8 %r14, [%d0+8]; ld.global.u8 %r15, [%d0+11]; ${wide8(0).split(" ").slice(0, 12).join(" ")}
     shl.b64 %d2, %d2, 16; shl.b64 %d3, %d3, 32; shl.b64 %d4, %d4, 48; or.b64 %d1, %d1, %d2; or.b64 %d1, %d1, %d3;
     or.b64 %d1, %d1, %d4; mov.b64 {%r4, %r5}, %d1; mov.u32 %r6, %r14; mov.u32 %r7, %r15;`,
    (at) => {
      // The half has 32 bits with its sign, which `cvt.u64.u32` takes for no sign.
      const third = (half(at + 4) << 16) >> 16;
      return [half(at) | (half(at + 2) << 16), third | (half(at + 6) << 16), byteAt(at + 8), byteAt(at + 11)];
    },
  ],
];

const anyOne = (bytes: number): Spot => ({
  ...{ name: "the same for all threads", at: () => 6, bytes: 6 + bytes },
  code: "add.s64 %d0, %d0, 6;",
});

describe("numbers of 64 bits put together from bytes", () => {
  test.each(longAssemblies)("%s", (_, bytes, code, expected) => {
    for (const spot of [apart(8, bytes), apart(24, bytes), anywhere(bytes), anyOne(bytes)]) run(spot, code, expected);
    run(apart(16, bytes), code, expected, skipThirds);
  });

  test("of which one byte has been stored meanwhile", () => {
    const store = "st.global.u8 [%d0+3], %r10;";
    const halves = [load8(0).split("; ").slice(0, 3), load8(0).split("; ").slice(3)].map((part) => part.join("; "));
    const code = `${halves[0]}; ${store} ${halves[1]} ${wide8(0)} ${joined((i) => i)} mov.b64 {%r4, %r5}, %d1; mov.u32 %r6, 1;
      mov.u32 %r7, 2;`;
    run(apart(8, 8), code, (at) => [...long(...[0, 1, 2, 0, 4, 5, 6, 7].map((i) => byteAt(at + i))), ...[1, 2]]);
  });

  test("of which the last byte of one thread lies beyond the end", () => {
    const body = `mov.u64 %d0, table; mad.wide.u32 %d0, %t, 24, %d0; ${load8(0)} ${wide8(0)} ${joined((i) => i)}
      st.global.u64 [%out], %d1; ret;`;
    const { reports } = expectSame({ name: "", before: table(63 * 24 + 7), body, block: [threads, 1, 1], words: 2 });
    expect(reports).toMatchObject([{ code: "global-out-of-bounds" }]);
  });
});

describe("records of elements that are less than a word", () => {
  const types = ["u8", "s8", "u16", "s16"] as const;
  const value = (type: (typeof types)[number], at: number): number => {
    const bits = Number(type.slice(1));
    const loaded = bits === 8 ? byteAt(at) : half(at);
    return type.startsWith("s") ? (loaded << (32 - bits)) >> (32 - bits) : loaded;
  };

  test.each(types)("two or four of type %s are loaded", (type) => {
    const bytes = Number(type.slice(1)) / 8;
    const four = `ld.global.v4.${type} {%r4, %r5, %r6, %r7}, [%d0];`;
    const two = `ld.global.v2.${type} {%r4, %r5}, [%d0]; ld.global.v2.${type} {%r7, %r6}, [%d0+${2 * bytes}];`;
    const at4 = (at: number): readonly number[] => [0, 1, 2, 3].map((i) => value(type, at + bytes * i));
    const at2 = (at: number): readonly number[] => [0, 1, 3, 2].map((i) => value(type, at + bytes * i));
    for (const stride of [1, 2, 3, 5].map((n) => n * 4 * bytes)) {
      for (const only of ["", skipThirds]) {
        run(apart(stride, 4 * bytes), four, at4, only);
        run(apart(stride, 4 * bytes), two, at2, only);
      }
    }
    if (bytes === 1) run(anywhere(4), four, at4);
    run(anywhere(4 * bytes), two, at2, skipThirds);
  });

  test.each(types)("two or four of type %s are stored", (type) => {
    const bits = Number(type.slice(1));
    const values = (t: number): readonly number[] => [0, 1, 2, 3].map((i) => (t * 0x1234567 + i * 0x7654321) | 0);
    const compute = `mul.lo.u32 %r4, %t, 0x1234567; ${[1, 2, 3].map((i) => `add.u32 %r${4 + i}, %r${3 + i}, 0x7654321;`).join(" ")}`;
    const bytes = bits / 8;
    for (const only of ["", skipThirds]) {
      for (const code of [
        `st.global.v4.${type} [%out], {%r4, %r5, %r6, %r7};`,
        `st.global.v2.${type} [%out], {%r4, %r5}; st.global.v2.${type} [%out+${2 * bytes}], {%r6, %r7};`,
      ]) {
        const body = `${compute} ${only} ${code} SKIP: ret;`;
        const size = bytes;
        const { out, reports } = expectSame({ name: "", body, block: [threads, 1, 1], words: size });
        expect(reports).toEqual([]);
        const expected = Array.from({ length: threads }, (_, t) => {
          if (only !== "" && t % 3 === 0) return new Array<number>(size).fill(0);
          const v = values(t).map((x) => x & (2 ** bits - 1));
          return bits === 8 ? [word(...v)] : [v[0]! | (v[1]! << 16), v[2]! | (v[3]! << 16)];
        }).flat();
        expect(out.map((x) => x >>> 0)).toEqual(expected.map((x) => x >>> 0));
      }
    }
  });
});
