import { describe, expect, test } from "vitest";
import { dwords, padded, qwords, Random, run } from "./machine.ts";
import { type Case, testCases } from "./model.ts";

const bufferBytes = 4096;

/** Addresses of the lanes: different ones, multiples of `step`, each with room for `room` bytes. */
function addresses(random: Random, base: bigint, step: number, room: number): Uint8Array {
  const places = random.distinct(32, bufferBytes - room, Math.max(step, room));
  return qwords(...places.map((at) => base + BigInt(at)));
}

interface Shape {
  readonly exec: string;
  readonly size: number;
  readonly first: number;
  readonly noMask: boolean;
  readonly width: 8 | 16 | 32;
  readonly items: number;
  /** Blocks: "When num_blocks > 1, exec_size must >= 8." */
  readonly counts: readonly number[];
}

const shapes: readonly Shape[] = [
  { exec: "(M1, 8)", size: 8, first: 0, noMask: false, width: 8, items: 8, counts: [1, 4] },
  { exec: "(M1, 16)", size: 16, first: 0, noMask: false, width: 16, items: 11, counts: [1, 2, 4, 8] },
  { exec: "(M3, 8)", size: 8, first: 8, noMask: false, width: 16, items: 13, counts: [1, 8] },
  { exec: "(M5, 16)", size: 16, first: 16, noMask: false, width: 32, items: 21, counts: [1, 2] },
  { exec: "(M1_NM, 16)", size: 16, first: 0, noMask: true, width: 16, items: 5, counts: [1, 2] },
  { exec: "(M1_NM, 1)", size: 1, first: 0, noMask: true, width: 16, items: 16, counts: [1] },
];

const title = ({ exec, width, items }: Shape): string => `${exec} with ${items} of ${width} lanes`;

const gathers: Case[] = [];
const scatters: Case[] = [];
for (const shape of shapes) {
  for (const bytes of [1, 4, 8]) {
    for (const count of shape.counts) {
      const random = new Random(bytes * 100 + count);
      const buffer = random.bytes(bufferBytes);
      const data = random.bytes(Math.max(4, bytes * count) * 32);
      const kernel = (mnemonic: string) => ({
        text: `    ${mnemonic}.${bytes}.${count} ${shape.exec} A.0 V.0`,
        width: shape.width,
        items: shape.items,
        buffer,
        registers: (base: bigint) => ({
          A: { type: "uq", bytes: addresses(new Random(count), base, bytes, bytes * count) } as const,
          V: { type: "ub", bytes: data } as const,
        }),
      });
      // SVM_GATHER.md, SVM_SCATTER.md: the pseudo-code.
      const each = (active: (lane: number) => boolean, visit: (i: number, j: number, at: number) => void): void => {
        for (let i = 0; i < shape.size; i++) {
          if (!shape.noMask && !active(shape.first + i)) continue;
          for (let j = 0; j < count; j++) {
            visit(i, j, bytes === 1 ? i * Math.max(4, count) + j : (j * shape.size + i) * bytes);
          }
        }
      };
      gathers.push({
        title: `svm_gather.${bytes}.${count} ${title(shape)}`,
        kernel: kernel("svm_gather"),
        expected: (m, active) =>
          each(active, (i, j, at) => {
            m.put("V", at, bytes, m.load(m.get("A", i * 8, 8) + BigInt(j * bytes), bytes));
          }),
      });
      scatters.push({
        title: `svm_scatter.${bytes}.${count} ${title(shape)}`,
        kernel: kernel("svm_scatter"),
        expected: (m, active) =>
          each(active, (i, j, at) => {
            m.store(m.get("A", i * 8, 8) + BigInt(j * bytes), bytes, m.get("V", at, bytes));
          }),
      });
    }
  }
}
describe("svm_gather", () => testCases(gathers));
describe("svm_scatter", () => testCases(scatters));

describe("svm_block_ld and svm_block_st", () => {
  const cases = [1, 2, 4, 8].flatMap((owords) =>
    [
      { suffix: "", at: 52 },
      { suffix: ".unaligned", at: 12 },
      { suffix: ".aligned", at: 48 },
    ].flatMap(({ suffix, at }): Case[] => {
      const kernel = (mnemonic: string) => ({
        text: `    ${mnemonic}${suffix} (${owords}) A(0,1)<0;1,0> V.32`,
        // "The execution mask is set to NoMask": the whole block, whatever the thread's lanes.
        width: 8 as const,
        items: 3,
        buffer: new Random(at).bytes(512),
        registers: (base: bigint) => ({
          A: { type: "uq", bytes: qwords(0n, base + BigInt(at)) } as const,
          V: { type: "ub", bytes: new Random(owords).bytes(256) } as const,
        }),
      });
      const bytes = owords * 16;
      return [
        {
          title: `svm_block_ld${suffix} (${owords})`,
          kernel: kernel("svm_block_ld"),
          expected: (m) => m.put("V", 32, bytes, m.load(m.base + BigInt(at), bytes)),
        },
        {
          title: `svm_block_st${suffix} (${owords})`,
          kernel: kernel("svm_block_st"),
          expected: (m) => m.store(m.base + BigInt(at), bytes, m.get("V", 32, bytes)),
        },
      ];
    }),
  );
  testCases(cases);

  test("an aligned block must be aligned to 16 bytes, another one to 4", () => {
    const reports = (text: string, at: number): readonly string[] =>
      run({
        text,
        buffer: new Uint8Array(64),
        registers: (base) => ({
          A: { type: "uq", bytes: qwords(base + BigInt(at)) },
          V: { type: "ud", bytes: dwords(0, 0, 0, 0, 0, 0, 0, 0) },
        }),
      }).reports.map((report) => report.split(":")[0]!);
    expect(reports("    svm_block_ld.aligned (1) A(0,0)<0;1,0> V.0", 8)).toEqual(["misaligned-access"]);
    expect(reports("    svm_block_ld (1) A(0,0)<0;1,0> V.0", 8)).toEqual([]);
    expect(reports("    svm_block_ld (1) A(0,0)<0;1,0> V.0", 2)).toEqual(["misaligned-access"]);
    expect(reports("    svm_block_st (1) A(0,0)<0;1,0> V.0", 64)).toEqual(["global-out-of-bounds"]);
  });
});

describe("svm_gather4scaled and svm_scatter4scaled", () => {
  const cases = (["R", "G", "A", "RG", "RB", "GA", "RGB", "RGA", "RGBA"] as const).flatMap((enabled) =>
    ([32, 64] as const).flatMap((grfBytes) =>
      ([8, 16] as const).flatMap((size): Case[] => {
        const random = new Random(size + grfBytes);
        const offsets = random.distinct(16, 2048, 16);
        const kernel = (mnemonic: string) => ({
          text: `    ${mnemonic}.${enabled} (M1, ${size}) S(0,0)<0;1,0> A.0 V.0`,
          width: size,
          items: size - 3,
          grfBytes,
          buffer: new Random(3).bytes(bufferBytes),
          registers: (base: bigint) => ({
            S: { type: "uq", bytes: qwords(base + 256n) } as const,
            A: { type: "uq", bytes: qwords(...offsets.map(BigInt)) } as const,
            V: { type: "f", bytes: new Random(4).bytes(4 * 64) } as const,
          }),
        });
        // SVM_GATHER4_SCALED.md: the pseudo-code.
        const each = (active: (lane: number) => boolean, visit: (i: number, c: number, at: number) => void): void => {
          let position = 0;
          for (let c = 0; c < 4; c++) {
            if (!enabled.includes("RGBA"[c]!)) continue;
            for (let i = 0; i < size; i++) {
              if (active(i)) visit(i, c, 4 * (position * Math.max(size, grfBytes / 4) + i));
            }
            position++;
          }
        };
        return [
          {
            title: `svm_gather4scaled.${enabled} of ${size} lanes, registers of ${grfBytes}`,
            kernel: kernel("svm_gather4scaled"),
            expected: (m, active) =>
              each(active, (i, c, at) => {
                m.put("V", at, 4, m.load(m.get("S", 0, 8) + m.get("A", 8 * i, 8) + BigInt(c * 4), 4));
              }),
          },
          {
            title: `svm_scatter4scaled.${enabled} of ${size} lanes, registers of ${grfBytes}`,
            kernel: kernel("svm_scatter4scaled"),
            expected: (m, active) =>
              each(active, (i, c, at) => {
                m.store(m.get("S", 0, 8) + m.get("A", 8 * i, 8) + BigInt(c * 4), 4, m.get("V", at, 4));
              }),
          },
        ];
      }),
    ),
  );
  testCases(cases);

  test("an immediate address and padding", () => {
    const { registers } = run({
      text: "    svm_gather4scaled.R (M1, 8) 0x0:ud A.0 V.0",
      width: 8,
      buffer: dwords(11, 12, 13, 14, 15, 16, 17, 18),
      registers: (base) => ({
        A: { type: "uq", bytes: qwords(...[7, 6, 5, 4, 3, 2, 1, 0].map((i) => base + BigInt(4 * i))) },
        V: { type: "ud", bytes: padded(new Uint8Array(0), 64) },
      }),
    });
    expect(registers.V).toEqual(padded(dwords(18, 17, 16, 15, 14, 13, 12, 11), 64));
  });
});
