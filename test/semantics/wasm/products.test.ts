import { expect, test } from "vitest";
import { type Prim, primOf, type Value } from "../../../src/semantics/index.ts";
import { noFeatures, type Wasm, wasm } from "../../../src/wasm/index.ts";
import { differences, evaluated } from "./differences.ts";
import { EmittedModule } from "./emitted-module.ts";
import { columnsOf } from "./operands.ts";

/** A factor of a 64-bit product that is an extended word, and how a vector of two of them is written. */
interface Factor {
  readonly name: string;
  readonly value: (word: number) => bigint;
  readonly written: (words: Wasm) => Wasm;
}

const signs = ["s", "u"] as const;
const extended = (sign: "s" | "u", word: number): bigint => (sign === "s" ? BigInt(word) : BigInt(word >>> 0));
const inBothHalves = (words: Wasm): Wasm => wasm.shuffle32(words, words, [0, 1, 0, 1]);

const extensions: readonly Factor[] = signs.flatMap((sign) => [
  {
    name: `low words extended, ${sign}`,
    value: (word) => extended(sign, word),
    written: (words) => wasm.op(`i64x2.extend_low_i32x4_${sign}`, words),
  },
  {
    name: `high words extended, ${sign}`,
    value: (word) => extended(sign, word),
    written: (words) => wasm.op(`i64x2.extend_high_i32x4_${sign}`, inBothHalves(words)),
  },
]);
const scalars: readonly Factor[] = signs.map((sign) => ({
  name: `one word extended, ${sign}`,
  value: () => extended(sign, -7),
  written: () =>
    wasm.op("i64x2.splat", wasm.op(`i64.extend_i32_${sign}`, wasm.op("i32.sub", wasm.i32(-8), wasm.i32(-1)))),
}));
/** Numbers around the limits of 32 bits, signed and unsigned. */
const numbers = [
  0n,
  1n,
  -1n,
  12n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  -(2n ** 32n),
  -(2n ** 31n),
  -(2n ** 31n) - 1n,
  2n ** 63n,
];
const constants: readonly Factor[] = numbers.map((number) => ({
  name: `${number}`,
  value: () => BigInt.asIntN(64, number),
  written: () => wasm.i64x2(number),
}));
const product = primOf("i64.mul");
const productOf = (a: Factor, b: Factor): Prim => ({
  params: ["i32", "i32"],
  result: "i64",
  eval: (x: Value, y: Value) => BigInt.asIntN(64, a.value(x as number) * b.value(y as number)),
  wasm: { ...product.wasm, half: (x, y) => product.wasm.half!(a.written(x!), b.written(y!)) },
});

const factors = [...extensions, ...scalars, ...constants];
const applications = extensions.flatMap((a) =>
  factors.flatMap((b) =>
    [
      { name: `${a.name} * ${b.name}`, prim: productOf(a, b) },
      { name: `${b.name} * ${a.name}`, prim: productOf(b, a) },
    ].map((product) => ({ ...product, form: "half", fixed: null }) as const),
  ),
);

test("a product of words that are extended in the same way is one operation", () => {
  const [words, more] = [wasm.operand("v128", 0), wasm.operand("v128", 1)];
  const operations = extensions.map(({ written }) => {
    const node = product.wasm.half!(written(words), written(more));
    return node.kind === "op" ? node.op : node.kind;
  });
  expect(operations).toEqual(signs.flatMap((s) => [`i64x2.extmul_low_i32x4_${s}`, `i64x2.extmul_high_i32x4_${s}`]));
});

test.each([
  [3n, 4n],
  [3n, 2n ** 32n + 3n],
  [-1n, 2n ** 32n - 1n],
])("an extended word is multiplied by %d in one lane, and by %d in the other", (even, odd) => {
  const prim: Prim = {
    params: ["i32", "i64"],
    result: "i64",
    eval: (x: Value, y: Value) => BigInt.asIntN(64, BigInt(x as number) * (y as bigint)),
    wasm: { ...product.wasm, half: (x, y) => product.wasm.half!(wasm.op("i64x2.extend_low_i32x4_s", x!), y!) },
  };
  const application = { name: "product", prim, form: "half", fixed: { position: 1, constants: [even, odd] } } as const;
  const [words] = columnsOf(["i32"], 2048, 256);
  const columns = [words!, words!.map((_, row) => (row % 2 === 0 ? even : odd))];
  const module = new EmittedModule([application], noFeatures);
  expect(differences(module, application, columns, evaluated(prim, columns))).toEqual([]);
});

test("products of extended words equal full 64-bit products", () => {
  const distinct = [...new Map(applications.map((application) => [application.name, application])).values()];
  const module = new EmittedModule(distinct, noFeatures);
  const columns = columnsOf(["i32", "i32"], 2048, 256);
  for (const application of distinct) {
    expect(differences(module, application, columns, evaluated(application.prim, columns))).toEqual([]);
  }
});
