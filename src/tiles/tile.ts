import type { MatrixProduct } from "../ir/index.ts";
import { minifloats } from "../numeric/minifloat.ts";
import type { TensorFormat, TensorSum } from "../numeric/tensor.ts";
import type { FunctionWriter, ModuleWriter } from "../wasm/index.ts";
import { containerBits } from "./format.ts";
import { type IntegerFormat, writeIntegerProduct, writeIntegersLeft, writeIntegersRight } from "./integers.ts";
import { integerLayout, leftLayout, registerBytes, rightLayout } from "./layout.ts";
import { hasSums, SumFunction } from "./sums.ts";
import { truncation } from "./truncation.ts";
import { writeLeft, writeRight } from "./widening.ts";

/** A product of 16 rows and 8 columns in the registers of a warp, for which there is WebAssembly. */
export type Tile =
  | {
      readonly kind: "sum";
      readonly a: TensorFormat;
      readonly b: TensorFormat;
      readonly k: number;
      readonly sum: TensorSum;
    }
  | {
      readonly kind: "integer";
      readonly a: IntegerFormat;
      readonly b: IntegerFormat;
      readonly k: number;
      readonly saturates: boolean;
    };

const isTensorFormat = (format: string): format is TensorFormat =>
  format === "f16" || format === "bf16" || format === "tf32" || format in minifloats;

const isIntegerFormat = (format: string): format is IntegerFormat => format === "s8" || format === "u8";

/** The tile that a product is; null if it is computed element by element. */
export function tileOf(product: MatrixProduct): Tile | null {
  const { m, n, k, a, b, c, d, bits, rule, fragments } = product;
  if (m !== 16 || n !== 8 || fragments.kind !== "whole") return null;
  if (product.sparsity !== undefined || product.scales !== undefined) return null;
  if (rule.kind === "integer") {
    const isTile = isIntegerFormat(a) && isIntegerFormat(b) && k % 16 === 0 && k <= 64;
    return isTile ? { kind: "integer", a, b, k, saturates: rule.saturates } : null;
  }
  if (rule.kind !== "sum" || c !== "f32" || d !== "f32" || !isTensorFormat(a) || !isTensorFormat(b)) return null;
  const isTile = containerBits(a) === bits && containerBits(b) === bits && (k * bits) % 128 === 0 && k <= 32;
  return isTile && hasSums(rule.sum) ? { kind: "sum", a, b, k, sum: rule.sum } : null;
}

/** Bytes of the matrices of a tile after they have been widened. */
export function wideBytes({ kind, k }: Tile): { readonly left: number; readonly right: number } {
  if (kind === "sum") return { left: leftLayout(k).bytes, right: rightLayout(k).bytes };
  const { left, right } = integerLayout(k);
  return { left: left.bytes, right: right.bytes };
}

/** The names of a tile's functions in a module. */
export interface TileFunctions {
  /** (from, to): widens the fragment of A, and that of B, which lie in memory register by register, 32 words each. */
  readonly left: string;
  readonly right: string;
  /**
   * (left, right, start, result): multiplies, adds the accumulators at `start`, and stores the result, which has
   * another place. Returns 0 if the result is that of `sumOfProducts`, else 1; then it has no meaning.
   */
  readonly multiply: string;
  /** (from, to): copies a fragment of accumulators. */
  readonly move: string;
}

const known = new WeakMap<ModuleWriter, Set<string>>();

/** The names of all functions of tiles that a module has. */
export const tileFunctionsIn = (module: ModuleWriter): readonly string[] => [...(known.get(module) ?? [])];

/** Writes a function (from, to) that copies the four registers of a fragment of accumulators. */
function writeMove(w: FunctionWriter): void {
  for (let at = 0; at < 4 * registerBytes; at += 16) {
    w.get(1);
    w.get(0);
    w.memory("v128.load", 16, at);
    w.memory("v128.store", 16, at);
  }
}

/** A function of a module, which the first who needs it writes. Returns its name. */
export type WriteOnce = (
  name: string,
  params: readonly ("i32" | "i64")[],
  results: readonly "i32"[],
  write: (w: FunctionWriter) => void,
) => string;

/** Adds functions to a module, each once. They call no functions but each other. */
export function writtenOnce(module: ModuleWriter): WriteOnce {
  let names = known.get(module);
  if (names === undefined) known.set(module, (names = new Set()));
  const written = names;
  return (name, params, results, write) => {
    if (written.has(name)) return name;
    written.add(name);
    write(module.function(name, params, results));
    return name;
  };
}

/** Returns the functions of a tile, and adds them to a module that has them not. All addresses are multiples of 16. */
export function tileFunctions(module: ModuleWriter, tile: Tile): TileFunctions {
  const { a, b, k } = tile;
  const write = writtenOnce(module);
  const once = (name: string, params: number, body: (w: FunctionWriter) => void): string =>
    write(name, new Array<"i32">(params).fill("i32"), params === 2 ? [] : ["i32"], body);
  const move = once("move", 2, writeMove);
  if (tile.kind === "integer") {
    return {
      move,
      left: once(`left:${a}:${k}`, 2, (w) => writeIntegersLeft(w, tile.a, k)),
      right: once(`right:${b}:${k}`, 2, (w) => writeIntegersRight(w, tile.b, k)),
      multiply: once(`multiply:${k}:${tile.saturates}`, 4, (w) => writeIntegerProduct(w, k, tile.saturates)),
    };
  }
  const { fraction, products, resultFraction } = tile.sum;
  const { fusedMadd } = module.features;
  return {
    move,
    left: once(`left:${a}:${k}`, 2, (w) => writeLeft(w, tile.a, k, truncation(fusedMadd))),
    right: once(`right:${b}:${k}`, 2, (w) => writeRight(w, tile.b, k, truncation(fusedMadd))),
    multiply: once(`multiply:${k}:${fraction}:${products}:${resultFraction}`, 4, (w) =>
      new SumFunction(w, k, tile.sum, fusedMadd).write(),
    ),
  };
}
