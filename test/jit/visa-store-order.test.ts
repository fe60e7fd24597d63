import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Stores of one hardware thread to the same bytes, which take effect in the order of its instructions: a later one
 * wins, whichever lanes they are of, and however narrow the chunks that a kernel would otherwise get. Groups have one
 * or two threads, which store to rows of their own; what must be there follows from the lanes' numbers alone.
 */

/** So many values that chunks would be narrow; `total` adds them up, 0 each. */
const live = Array.from({ length: 24 }, (_, i) => `LIVE${i}`);

interface Case {
  readonly title: string;
  readonly width: 8 | 16 | 32;
  /** Work items of a group. */
  readonly items: number;
  readonly body: string;
  /** The words of a thread's row of 256, in the order of its stores. */
  readonly stores: (lanes: number) => Iterable<readonly [word: number, value: number]>;
}

/** `A` is the address of the lane's word in the thread's row; `X` and `Y` are 100 and 200 more than its number. */
const textOf = ({ width, body }: Case): string => {
  const moves = (op: string, address: string, data: string): string =>
    width === 32
      ? `    ${op} (M1, 16) ${address}.0 ${data}.0\n    ${op} (M5, 16) ${address}.128 ${data}.64\n`
      : `    ${op} (E) ${address}.0 ${data}.0\n`;
  const text = `.version 4.0
.kernel "k"
${["X", "Y", "Z", "ID", "LANE", "ROW", "WORD", "I", ...live].map((v) => `.decl ${v} v_type=G type=d num_elts=${width} align=GRF`).join("\n")}
.decl WORDU v_type=G type=ud num_elts=${width} align=GRF alias=<WORD, 0>
.decl IU v_type=G type=ud num_elts=${width} align=GRF alias=<I, 0>
.decl S v_type=G type=d num_elts=1 align=GRF
${["A", "B", "C"].map((v) => `.decl ${v} v_type=G type=uq num_elts=${width} align=GRF`).join("\n")}
.decl OUT v_type=G type=uq num_elts=1 align=GRF
.decl IN v_type=G type=uq num_elts=1 align=GRF
.decl P1 v_type=P num_elts=32
.input OUT offset=32 size=8
.input IN offset=40 size=8
.input ID offset=64 size=${4 * width}
.kernel_attr SimdSize=${width}
.function "k_main"
k_main:
    and (E) LANE(0,0)<1> ID(0,0)<1;1,0> ${width - 1}:d
    shr (E) ROW(0,0)<1> ID(0,0)<1;1,0> ${Math.log2(width)}:d
    shl (E) ROW(0,0)<1> ROW(0,0)<1;1,0> 10:d
    shl (E) WORD(0,0)<1> LANE(0,0)<1;1,0> 2:d
    add (E) ROW(0,0)<1> ROW(0,0)<1;1,0> WORD(0,0)<1;1,0>
    add (E) A(0,0)<1> OUT(0,0)<0;1,0> ROW(0,0)<1;1,0>
    shl (E) I(0,0)<1> ID(0,0)<1;1,0> 2:d
    add (E) C(0,0)<1> IN(0,0)<0;1,0> I(0,0)<1;1,0>
    add (E) X(0,0)<1> LANE(0,0)<1;1,0> 100:d
    add (E) Y(0,0)<1> LANE(0,0)<1;1,0> 200:d
${live.map((v) => moves("svm_gather.4.1", "C", v)).join("")}
${body.replace(/STORE (\w+) (\w+)/g, (_, address: string, data: string) => moves("svm_scatter.4.1", address, data))}
    mov (E) Z(0,0)<1> 0:d
${live.map((v) => `    add (E) Z(0,0)<1> Z(0,0)<1;1,0> ${v}(0,0)<1;1,0>`).join("\n")}
    add (E) B(0,0)<1> A(0,0)<1;1,0> 512:d
${moves("svm_scatter.4.1", "B", "Z")}
    ret (M1, 1)
`;
  return text.replaceAll("(E)", `(M1, ${width})`);
};

const lanesOf = (lanes: number): readonly number[] => Array.from({ length: lanes }, (_, lane) => lane);

/** Each lane stores X at its own word, then Y some words further. */
const twoStores = (distance: number): Pick<Case, "body" | "stores"> => ({
  body: `STORE A X
    add (E) B(0,0)<1> A(0,0)<1;1,0> ${4 * distance}:d
    STORE B Y`,
  *stores(lanes) {
    for (const lane of lanesOf(lanes)) yield [lane, 100 + lane];
    for (const lane of lanesOf(lanes)) yield [lane + distance, 200 + lane];
  },
});

const cases: readonly Case[] = [
  { title: "eight words further, SIMD16", width: 16, items: 16, ...twoStores(8) },
  { title: "eight words further, SIMD32", width: 32, items: 32, ...twoStores(8) },
  { title: "four words further, SIMD8", width: 8, items: 8, ...twoStores(4) },
  { title: "one word further", width: 16, items: 16, ...twoStores(1) },
  { title: "eight words further, in two threads", width: 16, items: 32, ...twoStores(8) },
  { title: "eight words further, in a group of 24", width: 16, items: 24, ...twoStores(8) },
  { title: "eight words further, in a group of 13", width: 16, items: 13, ...twoStores(8) },
  {
    title: "eight words further in each round of a loop",
    width: 16,
    items: 32,
    body: `    mov (M1_NM, 1) S(0,0)<1> 0:d
    mov (E) B(0,0)<1> A(0,0)<1;1,0>
AGAIN:
    add (E) X(0,0)<1> X(0,0)<1;1,0> 1000:d
    STORE B X
    add (E) B(0,0)<1> B(0,0)<1;1,0> 32:d
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (E) P1 S(0,0)<0;1,0> 4:d
    (P1) goto (E) AGAIN`,
    *stores(lanes) {
      for (const round of [0, 1, 2, 3])
        for (const lane of lanesOf(lanes)) yield [lane + 8 * round, 100 + lane + 1000 * (round + 1)];
    },
  },
  {
    title: "as far in each round of a loop as a scalar says",
    width: 16,
    items: 32,
    body: `    mov (M1_NM, 1) S(0,0)<1> 0:d
AGAIN:
    add (E) X(0,0)<1> X(0,0)<1;1,0> 1000:d
    shl (E) I(0,0)<1> S(0,0)<0;1,0> 5:d
    add (E) B(0,0)<1> A(0,0)<1;1,0> I(0,0)<1;1,0>
    STORE B X
    add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> 1:d
    cmp.lt (E) P1 S(0,0)<0;1,0> 4:d
    (P1) goto (E) AGAIN`,
    *stores(lanes) {
      for (const round of [0, 1, 2, 3])
        for (const lane of lanesOf(lanes)) yield [lane + 8 * round, 100 + lane + 1000 * (round + 1)];
    },
  },
  {
    title: "where loaded numbers say, which are all 0",
    width: 16,
    items: 32,
    body: `    STORE A X
    xor (E) B(0,0)<1> LANE(0,0)<1;1,0> 8:d
    add (E) B(0,0)<1> B(0,0)<1;1,0> LIVE3(0,0)<1;1,0>
    shl (E) B(0,0)<1> B(0,0)<1;1,0> 2:d
    and (E) I(0,0)<1> ROW(0,0)<1;1,0> 0xfffffc00:ud
    add (E) B(0,0)<1> B(0,0)<1;1,0> I(0,0)<1;1,0>
    add (E) B(0,0)<1> B(0,0)<1;1,0> OUT(0,0)<0;1,0>
    STORE B Y`,
    *stores(lanes) {
      for (const lane of lanesOf(lanes)) yield [lane, 100 + lane];
      for (const lane of lanesOf(lanes)) yield [lane ^ 8, 200 + lane];
    },
  },
  {
    title: "in the group's memory",
    width: 16,
    items: 16,
    body: `    scatter_scaled.4 (E) %slm 0x0:ud WORDU.0 X.0
    add (E) I(0,0)<1> WORD(0,0)<1;1,0> 32:d
    scatter_scaled.4 (E) %slm 0x0:ud IU.0 Y.0
    gather_scaled.4 (E) %slm 0x0:ud WORDU.0 X.0
    STORE A X`,
    *stores(lanes) {
      for (const lane of lanesOf(lanes)) yield [lane, lane < 8 ? 100 + lane : 192 + lane];
    },
  },
];

function run(one: Case, engine: "jit" | "interpreter") {
  const device = new Device();
  const inputs = [
    { name: "OUT", kind: "arg", type: "u64" },
    { name: "IN", kind: "arg", type: "u64" },
    { name: "ID", kind: "lane-id", type: "u32" },
  ] as const;
  const module = device.load([{ path: "k.visaasm", text: textOf(one) }], { isa: "visa", inputs });
  const out = device.buffer("u32", 256 * Math.ceil(one.items / one.width));
  const args = [out, device.buffer("u32", one.items)];
  const result = module.kernel("k").launch({ global: one.items, local: one.items, args, engine });
  expect([result.engine, result.reports]).toEqual([engine, []]);
  return [...out.read()];
}

describe.each(cases)("$title", (one) => {
  test.each(["interpreter", "jit"] as const)("%s", (engine) => {
    const expected: number[] = [];
    for (let first = 0; first < one.items; first += one.width) {
      const row = new Array<number>(256).fill(0);
      for (const [word, value] of one.stores(Math.min(one.width, one.items - first))) row[word] = value;
      expected.push(...row);
    }
    expect(run(one, engine)).toEqual(expected);
  });
});
