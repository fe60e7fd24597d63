import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Device } from "../../../src/runtime/index.ts";
import { usualEngines } from "../../../src/runtime/launch/launch-options.ts";

/*
 * dpasw against its page: src2 is the registers of the even thread, then those of the odd one, as the formulas for
 * NGrf, NGrf_EU0 and NGrf_EU1 have it. The kernel is compiled from fused/multiply.cl for DG2; other shapes are put into
 * its text.
 */
const read = (name: string): string => readFileSync(new URL(`fused/${name}`, import.meta.url), "utf8");
const text = read("multiply.visaasm");
const zeinfo: unknown = parse(read("ze_info.yaml"));

const a = Uint32Array.from({ length: 64 }, (_, i) => Math.imul(i + 1, 0x9e37_79b1));
const b = Uint32Array.from({ length: 128 }, (_, i) => Math.imul(i + 7, 0x85eb_ca6b));

const extended = (value: number, bits: number, signed: boolean): number =>
  signed ? Number(BigInt.asIntN(bits, BigInt(value))) : value & (2 ** bits - 1);

/** An element of packed ones. */
function element(words: Uint32Array, index: number, bits: number, signed: boolean): number {
  const at = index * bits;
  return extended((words[at >> 5]! >>> (at & 31)) & (2 ** bits - 1), bits, signed);
}

interface Shape {
  readonly weights: string;
  readonly activations: string;
  readonly rows: number;
}

function expected({ weights, activations, rows }: Shape, half: number): number[] {
  const [wBits, aBits] = [Number(weights.slice(1)), Number(activations.slice(1))];
  const perStep = wBits === 8 || aBits === 8 ? 4 : 8;
  const registers = Math.ceil((aBits * perStep * rows) / 32);
  const first = Math.ceil(registers / 2);
  const sums = Array.from({ length: rows * 8 }, () => 1);
  for (const added of [0, 0, 1]) {
    const own = a.map((word) => (word + added) >>> 0);
    const both = new Uint32Array([...own.slice(0, 8 * first), ...own.slice(32, 32 + 8 * (registers - first))]);
    for (let row = 0; row < rows; row++) {
      for (let n = 0; n < 8; n++) {
        for (let k = 0; k < 8 * perStep; k++) {
          // A channel of src1 has its elements one after the other in the dwords of its column.
          const column = Uint32Array.from({ length: 8 }, (_, i) => b[half * 64 + i * 8 + n]!);
          const x = element(both, row * 8 * perStep + k, aBits, activations.startsWith("s"));
          sums[row * 8 + n] = (sums[row * 8 + n]! + x * element(column, k, wBits, weights.startsWith("s"))) | 0;
        }
      }
    }
  }
  return sums;
}

const shapes: readonly Shape[] = [
  { weights: "s8", activations: "s8", rows: 8 },
  { weights: "u8", activations: "s8", rows: 7 },
  { weights: "s8", activations: "u8", rows: 4 },
  { weights: "s8", activations: "s8", rows: 3 },
  { weights: "s8", activations: "s8", rows: 1 },
  { weights: "s8", activations: "s4", rows: 8 },
  { weights: "s4", activations: "u4", rows: 8 },
  { weights: "s8", activations: "u2", rows: 8 },
  { weights: "s8", activations: "u4", rows: 5 },
];

describe.each(usualEngines)("%s", (engine) => {
  const launch = (source: string, groups: number, local: number) => {
    const device = new Device({ engine });
    const out = device.buffer("s32", 128);
    const kernel = device
      .load([{ path: "multiply.visaasm", text: source }], { isa: "visa", zeinfo, target: "dg2" })
      .kernel("multiply");
    const args = [device.buffer(a), device.buffer(b), out];
    return { ...kernel.launch({ global: groups * local, local, args }), sums: [...out.read()] };
  };

  test.each(shapes)("$weights $activations, $rows rows", (shape) => {
    const { weights, activations, rows } = shape;
    const source = text.replaceAll("dpasw.s8.s8.8.8", `dpasw.${weights}.${activations}.8.${rows}`);
    const { reports, sums } = launch(source, 3, 16);
    expect(reports).toEqual([]);
    for (const half of [0, 1]) expect(sums.slice(64 * half, 64 * half + 8 * rows)).toEqual(expected(shape, half));
  });

  test("a thread whose other one does not come", () => {
    const [line] = text.split("\n").filter((l) => l.includes("dpasw"));
    // The odd thread, whose number is in r0.2, leaves before.
    const leaves = [
      "    and (M1_NM, 1) ODD(0,0)<1> %r0(0,2)<0;1,0> 0x1:ud",
      "    cmp.ne (M1_NM, 1) P9 ODD(0,0)<0;1,0> 0x0:ud",
      "    (P9) ret (M1, 1)",
    ];
    const declarations = [".decl P9 v_type=P num_elts=1", ".decl ODD v_type=G type=ud num_elts=1 align=dword"];
    const source = text
      .replace(".input ", [...declarations, ".input "].join("\n"))
      .replace(line!, [...leaves, line].join("\n"));
    const { reports } = launch(source, 1, 16);
    expect(reports.map(({ code, message }) => [code, message])).toEqual([
      [
        "deadlock",
        "no thread of the block can go on: a fused thread has not come to the same dpasw, and all threads wait",
      ],
    ]);
  });
});
