import { expect, test } from "vitest";
import { type DataType, isSigned, typeBytes } from "../../../src/visa/types.ts";
import { Random } from "../memory/machine.ts";
import { runVectors } from "./run-vectors.ts";
import type { Vector } from "./vectors.ts";

/**
 * Operations on bits and with carries, as the manual's pages define them (BFE, BFI, BFREV, BFN, CBIT, FBL, FBH, LZD,
 * ROL, ROR, ADDC, SUBB, ADD3O, DP4A), with strings of binary digits and big integers.
 */
interface Operation {
  readonly mnemonic: string;
  readonly sources: readonly (readonly DataType[])[];
  /** Types of the results. Each list is one variant. */
  readonly to: readonly (readonly DataType[])[];
  readonly exact: (
    sources: readonly bigint[],
    types: readonly DataType[],
    to: readonly DataType[],
  ) => readonly bigint[];
}

const bits = (type: DataType): number => (type === "bool" ? 1 : typeBytes(type) * 8);
/** Most significant digit first. */
const digits = (value: bigint, width: number): string => BigInt.asUintN(width, value).toString(2).padStart(width, "0");
const number = (text: string): bigint => BigInt(`0b${text === "" ? "0" : text}`);
const none = 0xffff_ffffn;

const unsigned = ["ud", "uw", "ub"] as const;
const doublewords = ["ud", "d"] as const;

/** Number of equal leading digits. */
const run = (text: string): number => /^(.)\1*/.exec(text)![0].length;

function rotated(text: string, left: number): bigint {
  const n = ((left % text.length) + text.length) % text.length;
  return number(text.slice(n) + text.slice(0, n));
}
const rotation = (mnemonic: string, sign: 1 | -1): readonly Operation[] =>
  (["ud", "d", "uw", "w", "uq", "q"] as const).map((type) => ({
    mnemonic,
    sources: [[type], [type]],
    to: [[type]],
    exact: ([value, count]) => [rotated(digits(value!, bits(type)), sign * Number(BigInt.asUintN(6, count!)))],
  }));

const fits = (type: DataType, value: bigint): boolean =>
  value === (isSigned(type) ? BigInt.asIntN(bits(type), value) : BigInt.asUintN(bits(type), value));

const byteOf = (value: bigint, type: DataType, i: bigint): bigint =>
  isSigned(type) ? BigInt.asIntN(8, value >> (8n * i)) : BigInt.asUintN(8, value >> (8n * i));

const tables = Array.from({ length: 256 }, (_, table) => table);

const operations: readonly Operation[] = [
  {
    mnemonic: "cbit",
    sources: [unsigned],
    to: [["ud"]],
    exact: ([a], [type]) => [BigInt(digits(a!, bits(type!)).replaceAll("0", "").length)],
  },
  {
    mnemonic: "fbl",
    sources: [unsigned],
    to: [["ud"]],
    exact: ([a]) => [a === 0n ? none : BigInt(/0*$/.exec(digits(a!, 32))![0].length)],
  },
  {
    mnemonic: "fbh",
    sources: [doublewords],
    to: [["ud"]],
    exact: ([a], [type]) => {
      const text = digits(a!, 32);
      const length = type === "ud" && text.startsWith("1") ? 0 : run(text);
      return [length === 32 ? none : BigInt(length)];
    },
  },
  {
    mnemonic: "lzd",
    sources: [["ud"]],
    to: [["ud"]],
    exact: ([a]) => [BigInt(/^0*/.exec(digits(a!, 32))![0].length)],
  },
  {
    mnemonic: "bfrev",
    sources: [doublewords],
    to: [["ud"], ["d"]],
    exact: ([a]) => [number([...digits(a!, 32)].reverse().join(""))],
  },
  // If the value is not of the result's type, the page does not say which of them extends it above bit 31.
  ...doublewords.map(
    (type): Operation => ({
      mnemonic: "bfe",
      sources: [["ud"], ["ud"], [type]],
      to: [[type]],
      exact: ([width, offset, value]) => {
        const w = Number(width! & 31n);
        const field = w === 0 ? "" : digits(value! >> (offset! & 31n), 32).slice(32 - w);
        return [number(type === "d" && field.startsWith("1") ? field.padStart(32, "1") : field)];
      },
    }),
  ),
  {
    mnemonic: "bfi",
    sources: [["ud"], ["ud"], doublewords, doublewords],
    to: [["ud"], ["d"]],
    exact: ([width, offset, value, into]) => {
      const [w, o] = [Number(width! & 31n), Number(offset! & 31n)];
      const [field, old] = [[...digits(value!, 32)].reverse(), [...digits(into!, 32)].reverse()];
      const result = old.map((digit, i) => (i >= o && i < o + w ? field[i - o]! : digit));
      return [number(result.reverse().join(""))];
    },
  },
  ...rotation("rol", 1),
  ...rotation("ror", -1),
  {
    mnemonic: "addc",
    sources: [["ud"], ["ud"]],
    to: [["ud", "ud"]],
    exact: ([a, b]) => [a! + b!, (a! + b!) >> 32n],
  },
  {
    mnemonic: "subb",
    sources: [["ud"], ["ud"]],
    to: [["ud", "ud"]],
    exact: ([a, b]) => [a! - b!, a! < b! ? 1n : 0n],
  },
  {
    mnemonic: "add3.o",
    sources: [["ud", "d", "uw", "w"], doublewords, doublewords],
    to: [
      ["ud", "bool"],
      ["d", "bool"],
    ],
    exact: ([a, b, c], _, [to]) => [a! + b! + c!, fits(to!, a! + b! + c!) ? 0n : 1n],
  },
  {
    mnemonic: "dp4a",
    sources: [doublewords, doublewords, doublewords],
    to: [["ud"], ["d"]],
    exact: ([sum, a, b], [, left, right]) => [
      [0n, 1n, 2n, 3n].reduce((s, i) => s + byteOf(a!, left!, i) * byteOf(b!, right!, i), sum!),
    ],
  },
];

const lookUps = tables.map(
  (table): Operation => ({
    mnemonic: `bfn.x${table.toString(16)}`,
    sources: [doublewords, doublewords, doublewords],
    to: [["ud"]],
    exact: (sources) => {
      const [a, b, c] = sources.map((value) => digits(value, 32));
      const result = [...a!].map(
        (digit, i) => (table >> (Number(digit) + 2 * Number(b![i]!) + 4 * Number(c![i]!))) & 1,
      );
      return [number(result.join(""))];
    },
  }),
);

class Generator extends Random {
  pick<T>(list: readonly T[]): T {
    return list[this.next(list.length)]!;
  }

  /** Any number, few bits, many bits, or a small number. */
  value(type: DataType): bigint {
    const width = bits(type);
    const any = [...this.bytes(8)].reduce((v, byte) => (v << 8n) | BigInt(byte), 0n);
    const shifted = 1n << BigInt(this.next(width));
    const value = this.pick([any, any, shifted, -shifted, ~shifted, BigInt(this.next(40)), 0n, -1n]);
    return isSigned(type) ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  }

  vector({ mnemonic, sources, to, exact }: Operation): Vector {
    const results = this.pick(to);
    const types = sources.map((allowed) => this.pick(allowed));
    const values = types.map((type) => this.value(type));
    return {
      at: `${results.join(" ")} = ${values.map((value, i) => `${value}:${types[i]}`).join(" ")}`,
      control: 0x4c0,
      mnemonic,
      guard: null,
      results: exact(values, types, results).map((value, i) => ({
        type: results[i]!,
        bits: BigInt.asUintN(bits(results[i]!), value),
      })),
      sources: types.map((type, i) => ({ type, bits: values[i]!, immediate: false, modifier: "" })),
      origin: "",
    };
  }
}

function expectRight(vectors: readonly Vector[]): void {
  const got = runVectors(vectors, true);
  const wrong = vectors.flatMap(({ mnemonic, at, results }, v) =>
    results.every(({ bits: wanted }, i) => got[v]![i] === wanted)
      ? []
      : [`${mnemonic} ${at} -> ${got[v]!.join(" ")}, not ${results.map((r) => r.bits).join(" ")}`],
  );
  expect(wrong).toEqual([]);
}

test.each(operations.map((o) => [`${o.mnemonic} to ${o.to[0]}`, o] as const))("%s", (title, operation) => {
  const generator = new Generator(title.length * 31 + title.charCodeAt(0));
  expectRight(Array.from({ length: 100 }, () => generator.vector(operation)));
});

test("bfn by every truth table", () => {
  const generator = new Generator(7);
  expectRight(lookUps.map((operation) => generator.vector(operation)));
});
