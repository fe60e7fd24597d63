import { expect, test } from "vitest";
import { type DataType, isSigned, typeBytes } from "../../../src/visa/types.ts";
import { Random } from "../memory/machine.ts";
import { runVectors } from "./run-vectors.ts";
import type { Vector, VectorSource } from "./vectors.ts";

/**
 * Integer instructions against unbounded integers: sources are values, operations are exact, and only then is the
 * result converted to the destination's type ("extra precision is provided within the hardware", 2_datatypes.md).
 */
interface Operation {
  readonly mnemonic: string;
  readonly sources: number;
  readonly types: readonly DataType[];
  readonly to: readonly DataType[];
  readonly modifiers: boolean;
  readonly saturates: boolean;
  /** Null if the result is undefined, or no type could hold the compared values. */
  readonly exact: (to: DataType, values: readonly bigint[], types: readonly DataType[]) => bigint | null;
}

const narrow = ["ud", "d", "uw", "w", "ub", "b"] as const;
const all = [...narrow, "uq", "q"] as const;
const doublewords = ["ud", "d"] as const;
const unsigned = ["ud", "uw", "ub", "uq"] as const;
const signed = ["d", "w", "b", "q"] as const;

const bits = (type: DataType): number => (type === "bool" ? 1 : typeBytes(type) * 8);
const least = (type: DataType): bigint => (isSigned(type) ? -(1n << BigInt(bits(type) - 1)) : 0n);
const most = (type: DataType): bigint => least(type) + (1n << BigInt(bits(type))) - 1n;
const count = (to: DataType, n: bigint): bigint => BigInt.asUintN(bits(to) === 64 ? 6 : 5, n);
const bool = (holds: boolean): bigint => (holds ? 1n : 0n);

const basic = { types: all, to: all, modifiers: true, saturates: true } as const;
const plain = { modifiers: false, saturates: false } as const;

const relation = (name: string, holds: (a: bigint, b: bigint) => boolean): Operation => ({
  ...plain,
  mnemonic: `cmp.${name}`,
  sources: 2,
  types: all,
  to: ["bool"],
  exact: (_, [a, b]) => bool(holds(a!, b!)),
});

const operations: readonly Operation[] = [
  { ...basic, mnemonic: "add", sources: 2, exact: (_, [a, b]) => a! + b! },
  { ...basic, mnemonic: "mov", types: narrow, sources: 1, exact: (_, [a]) => a! },
  { ...basic, ...plain, saturates: true, mnemonic: "mov", sources: 1, exact: (_, [a]) => a! },
  { ...basic, saturates: false, mnemonic: "mul", sources: 2, exact: (_, [a, b]) => a! * b! },
  { ...basic, saturates: false, mnemonic: "mad", sources: 3, exact: (_, [a, b, c]) => a! * b! + c! },
  { ...basic, types: narrow, to: narrow, mnemonic: "mul", sources: 2, exact: (_, [a, b]) => a! * b! },
  { ...basic, types: narrow, to: narrow, mnemonic: "mad", sources: 3, exact: (_, [a, b, c]) => a! * b! + c! },
  { ...basic, types: narrow, to: narrow, mnemonic: "avg", sources: 2, exact: (_, [a, b]) => (a! + b! + 1n) >> 1n },
  { ...basic, types: narrow, to: narrow, mnemonic: "add3", sources: 3, exact: (_, [a, b, c]) => a! + b! + c! },
  {
    ...plain,
    types: doublewords,
    to: doublewords,
    mnemonic: "mulh",
    sources: 2,
    exact: (_, [a, b]) => (a! * b!) >> 32n,
  },
  {
    ...basic,
    types: narrow,
    to: narrow,
    saturates: false,
    mnemonic: "div",
    sources: 2,
    exact: (_, [a, b]) => (b === 0n ? null : a! / b!),
  },
  {
    ...basic,
    types: narrow,
    to: narrow,
    mnemonic: "mod",
    sources: 2,
    exact: (_, [a, b]) => (b === 0n ? null : a! % b!),
  },
  { ...basic, types: narrow, mnemonic: "min", sources: 2, exact: (_, [a, b]) => (a! < b! ? a! : b!) },
  { ...basic, types: narrow, mnemonic: "max", sources: 2, exact: (_, [a, b]) => (a! > b! ? a! : b!) },
  { ...plain, types: all, to: all, mnemonic: "shl", sources: 2, exact: (to, [a, n]) => a! << count(to, n!) },
  {
    ...plain,
    types: all,
    to: unsigned,
    mnemonic: "shr",
    sources: 2,
    exact: (to, [a, n], [type]) => (isSigned(type!) ? null : a! >> count(to, n!)),
  },
  {
    ...plain,
    types: all,
    to: signed,
    mnemonic: "asr",
    sources: 2,
    exact: (to, [a, n], [type]) => (isSigned(type!) ? a! >> count(to, n!) : null),
  },
  { ...plain, types: all, to: all, mnemonic: "and", sources: 2, exact: (_, [a, b]) => a! & b! },
  { ...plain, types: all, to: all, mnemonic: "xor", sources: 2, exact: (_, [a, b]) => a! ^ b! },
  relation("eq", (a, b) => a === b),
  relation("ne", (a, b) => a !== b),
  relation("lt", (a, b) => a < b),
  relation("le", (a, b) => a <= b),
  relation("gt", (a, b) => a > b),
  relation("ge", (a, b) => a >= b),
];

const modifiers: Readonly<Record<string, (a: bigint) => bigint>> = {
  "": (a) => a,
  "(-)": (a) => -a,
  "(abs)": (a) => (a < 0n ? -a : a),
  "(-abs)": (a) => (a < 0n ? a : -a),
};

class Generator {
  readonly #random: Random;
  constructor(seed: number) {
    this.#random = new Random(seed);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.#random.next(list.length)]!;
  }
  /** A value of a type: at the ends of its range, near zero, or any. */
  value(type: DataType): bigint {
    const near = BigInt(this.#random.next(4));
    const any = [...this.#random.bytes(8)].reduce((v, byte) => (v << 8n) | BigInt(byte), 0n);
    const value = this.pick([least(type) + near, most(type) - near, near, -near, any, any >> 40n]);
    return isSigned(type) ? BigInt.asIntN(bits(type), value) : BigInt.asUintN(bits(type), value);
  }
}

test.each(operations.map((operation) => [operation.mnemonic, operation] as const))(
  "%s of mixed types is exact, then of the destination's type",
  (mnemonic, operation) => {
    const generator = new Generator(1 + mnemonic.length * 77 + mnemonic.charCodeAt(0));
    const vectors: Vector[] = [];
    while (vectors.length < 400) {
      const to = generator.pick(operation.to);
      const types = Array.from({ length: operation.sources }, () => generator.pick(operation.types));
      const sat = operation.saturates && generator.pick([true, false]);
      const modified = types.map(() => (operation.modifiers ? generator.pick(Object.keys(modifiers)) : ""));
      const values = types.map((type) => generator.value(type));
      const exact = operation.exact(
        to,
        values.map((v, i) => modifiers[modified[i]!]!(v)),
        types,
      );
      if (exact === null) continue;
      const clamped = !sat ? exact : exact < least(to) ? least(to) : exact > most(to) ? most(to) : exact;
      vectors.push({
        at: `${to} = ${types.map((type, i) => `${modified[i]}${values[i]}:${type}`).join(" ")}`,
        control: 0x4c0,
        mnemonic: `${mnemonic}${sat ? ".sat" : ""}`,
        guard: null,
        results: [{ type: to, bits: BigInt.asUintN(bits(to), clamped) }],
        sources: types.map(
          (type, i): VectorSource => ({ type, bits: values[i]!, immediate: false, modifier: modified[i]! }),
        ),
        origin: "",
      });
    }
    const got = runVectors(vectors, true);
    const wrong = vectors.flatMap((vector, v) =>
      got[v]![0] === vector.results[0]!.bits
        ? []
        : [
            `${vector.mnemonic} ${vector.at} -> 0x${vector.results[0]!.bits.toString(16)}, not 0x${got[v]![0]!.toString(16)}`,
          ],
    );
    expect(wrong).toEqual([]);
  },
);
