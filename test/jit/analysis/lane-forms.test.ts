import { describe, expect, test } from "vitest";
import type { OpOf } from "../../../src/ir/index.ts";
import type { LaunchShape } from "../../../src/jit/abi/launch-shape.ts";
import { LaneForms } from "../../../src/jit/compile/analysis/access/lane-forms.ts";
import { Random } from "../../fuzz/random.ts";
import { Analysed, oneRow } from "./analysed.ts";

const begin = `ld.param.u64 %x0, [x]; ld.param.u32 %s0, [n]; mov.u32 %s1, %tid.x; mov.u32 %s2, %ctaid.x; mov.u32 %s3, %ntid.x;
mad.lo.s32 %s4, %s2, %s3, %s1;`;

/** Whether the words at indices that a body leaves in %r9 are known to follow each other in each quad. */
function areRuns(body: string, shape: LaunchShape = oneRow): boolean {
  const kernel = `${begin}\n${body}\nmad.wide.u32 %x1, %r9, 4, %x0;\nld.global.u32 %s9, [%x1];\nst.global.u32 [%x0], %s9; ret;`;
  const analysed = new Analysed(kernel, shape);
  const { op } = analysed.instruction(kernel.split("\n").length - 2);
  const { place } = op as OpOf<"load">;
  if (place.kind !== "address") throw new Error("no address");
  return new LaneForms(analysed.analysis, analysed.invariants, shape).runsOf(place.address, 4) !== null;
}

describe("words of quads of which each lies in a row of its own", () => {
  test.each([
    ["i / 8 * n + i % 8", "shr.u32 %r1, %s4, 3; and.b32 %r2, %s4, 7; mad.lo.u32 %r9, %r1, %s0, %r2;", true],
    ["t / 4 * n + t % 4", "shr.u32 %r1, %s1, 2; and.b32 %r2, %s1, 3; mad.lo.u32 %r9, %r1, %s0, %r2;", true],
    ["i / 2 * n + i % 2", "shr.u32 %r1, %s4, 1; and.b32 %r2, %s4, 1; mad.lo.u32 %r9, %r1, %s0, %r2;", false],
    ["i / 8 * n + i % 16", "shr.u32 %r1, %s4, 3; and.b32 %r2, %s4, 15; mad.lo.u32 %r9, %r1, %s0, %r2;", true],
    [
      "i - i / 8 * 8, with signs",
      "shr.s32 %r1, %s4, 3; and.b32 %r2, %s4, -8; sub.s32 %r3, %s4, %r2; mad.lo.s32 %r9, %r1, %s0, %r3;",
      true,
    ],
    ["a field of bits in each row", "shr.u32 %r1, %s4, 3; and.b32 %r2, %s4, 7; bfi.b32 %r9, %r1, %r2, 6, 26;", true],
    ["bits that both have", "shr.u32 %r1, %s4, 3; and.b32 %r2, %s4, 7; or.b32 %r9, %r1, %r2;", false],
    [
      "threads three further on",
      "add.u32 %r3, %s4, 3; shr.u32 %r1, %r3, 3; and.b32 %r2, %s4, 7; mad.lo.u32 %r9, %r1, %s0, %r2;",
      false,
    ],
    [
      "chunks further on",
      "shl.b32 %r4, %s0, 5; add.u32 %r3, %s4, %r4; shr.u32 %r1, %r3, 3; and.b32 %r2, %r3, 7; mad.lo.u32 %r9, %r1, %s0, %r2;",
      true,
    ],
    [
      "n threads further on",
      "add.u32 %r3, %s4, %s0; shr.u32 %r1, %r3, 3; and.b32 %r2, %s4, 7; mad.lo.u32 %r9, %r1, %s0, %r2;",
      false,
    ],
    [
      "a thread before",
      "add.u32 %r3, %s4, -1; shr.u32 %r1, %r3, 3; and.b32 %r2, %s4, 7; mad.lo.u32 %r9, %r1, %s0, %r2;",
      false,
    ],
  ])("%s", (_, body, expected) => {
    expect(areRuns(body)).toBe(expected);
    // Rows that end within chunks.
    expect(areRuns(body, { ...oneRow, full: false })).toBe(false);
    expect(areRuns(body, { ...oneRow, rows: false })).toBe(false);
  });
});

/** An index in PTX, and what it is for a thread. */
interface Index {
  readonly code: string;
  readonly register: string;
  readonly of: (thread: Thread) => number;
}

interface Thread {
  readonly t: number;
  readonly b: number;
  readonly length: number;
  readonly n: number;
}

const leaves: readonly Index[] = [
  { code: "", register: "%s1", of: ({ t }) => t },
  { code: "", register: "%s1", of: ({ t }) => t },
  { code: "", register: "%s4", of: ({ t, b, length }) => Math.imul(b, length) + t },
  { code: "", register: "%s2", of: ({ b }) => b },
  { code: "", register: "%s3", of: ({ length }) => length },
  { code: "", register: "%s0", of: ({ n }) => n },
];

function randomIndex(random: Random, next: { register: number }, depth: number): Index {
  if (depth === 0) return random.pick(leaves);
  const a = randomIndex(random, next, depth - 1);
  const register = `%r${next.register++}`;
  const made = (code: string, of: Index["of"]): Index => ({ code: `${a.code} ${code}`, register, of });
  const k = random.between(0, 7);
  switch (random.between(0, 7)) {
    case 0:
      return made(`shr.u32 ${register}, ${a.register}, ${k};`, (t) => a.of(t) >>> k);
    case 1:
      return made(`shr.s32 ${register}, ${a.register}, ${k};`, (t) => a.of(t) >> k);
    case 2:
      return made(`shl.b32 ${register}, ${a.register}, ${k};`, (t) => a.of(t) << k);
    case 3: {
      const mask = random.pick([2 ** k - 1, -(2 ** k), 0x7ffffff0, 12]);
      return made(`and.b32 ${register}, ${a.register}, ${mask};`, (t) => a.of(t) & mask);
    }
    case 4: {
      const by = random.pick([1, 3, -1, 32, -64, 1000]);
      return made(`add.s32 ${register}, ${a.register}, ${by};`, (t) => a.of(t) + by);
    }
    case 5: {
      const by = random.pick([3, 32, 0x40000000, -8]);
      return made(`mul.lo.s32 ${register}, ${a.register}, ${by};`, (t) => Math.imul(a.of(t), by));
    }
    default: {
      if (next.register > 8) return a;
      const b = randomIndex(random, next, depth - 1);
      const op = random.pick(["add.s32", "sub.s32", "or.b32", "mul.lo.s32"] as const);
      const results = {
        "add.s32": (x: number, y: number) => x + y,
        "sub.s32": (x: number, y: number) => x - y,
        "or.b32": (x: number, y: number) => x | y,
        "mul.lo.s32": Math.imul,
      };
      return {
        ...made(`${b.code} ${op} ${register}, ${a.register}, ${b.register};`, (t) => results[op](a.of(t), b.of(t))),
      };
    }
  }
}

// Addresses are known modulo 2^32: the bounds check looks at all of their bits.
test("what is known of random indices is so in all threads", () => {
  const lanes = 16;
  let [found, tried] = [0, 0];
  for (let seed = 1; found < 40 && seed < 3000; seed++) {
    const random = new Random(seed);
    const next = { register: 1 };
    const row = randomIndex(random, next, 2);
    if (next.register > 6) continue;
    const column = randomIndex(random, next, random.between(0, 2));
    if (next.register > 9) continue;
    tried++;
    const join = random.pick([
      "mad.lo.s32 %r9, ROW, %s0, COLUMN;",
      "mad.lo.s32 %r9, ROW, 64, COLUMN;",
      "or.b32 %r9, ROW, COLUMN;",
    ]);
    const isOr = join.startsWith("or");
    const by = join.includes("64") ? 64 : null;
    const body = `${row.code} ${column.code} ${join.replace("ROW", row.register).replace("COLUMN", column.register)}`;
    if (!areRuns(body)) continue;
    found++;
    const indexOf = (t: Thread): number =>
      isOr ? row.of(t) | column.of(t) : (Math.imul(row.of(t), by ?? t.n) + column.of(t)) | 0;
    for (let i = 0; i < 200; i++) {
      const length = lanes * random.between(1, 16);
      const first = lanes * random.between(0, length / lanes - 1);
      const b = random.pick([0, 1, 7, 0x7fffff, random.between(0, 1 << 20)]);
      const n = random.pick([0, 1, 100, 0x7fffffff, -1, random.between(0, 1 << 20)]);
      const indices = Array.from({ length: lanes }, (_, lane) => indexOf({ t: first + lane, b, length, n }));
      indices.forEach((index, lane) => {
        if ((lane & 3) !== 0)
          expect({ body, step: Math.imul(4, index - indices[lane - 1]!) }).toEqual({ body, step: 4 });
      });
    }
  }
  expect(found).toBe(40);
  expect(tried).toBeGreaterThan(found);
});
