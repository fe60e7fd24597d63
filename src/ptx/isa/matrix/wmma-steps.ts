import type { MatrixName, MatrixProduct } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import type { OperandAccess, Step } from "../define.ts";
import { elementBits, type MatrixShape, shapeOf } from "./fragment.ts";
import { type Family, type Formats, integers, productOf } from "./multiplication.ts";
import { align, multiply } from "./steps.ts";
import { loadTiles, type StoredMatrix, storeTiles } from "./wmma-memory.ts";
import { tileRegisters, type Tiling, tilingOf } from "./wmma-tiles.ts";

interface MemoryModifiers {
  readonly layout: string;
  readonly shape: string;
  readonly type: string;
  readonly ss?: string | undefined;
}

type Sources = Readonly<Record<"a", Expr>> & Readonly<Partial<Record<"stride", Expr>>>;

/** Rows and columns of a matrix of a product. */
const sizeOf = (name: MatrixName, { m, n, k }: MatrixShape): readonly [rows: number, columns: number] =>
  name === "a" ? [m, k] : name === "b" ? [k, n] : [m, n];

/** A matrix in memory. Without a stride its rows, or columns, follow each other (section 9.7.14.4.2). */
function storedMatrix(name: MatrixName, src: Sources, m: MemoryModifiers): StoredMatrix {
  const isRowMajor = m.layout === "row";
  const [rows, columns] = sizeOf(name, shapeOf(m.shape));
  return {
    address: src.a,
    stride: src.stride ?? kit.i32(isRowMajor ? columns : rows),
    isRowMajor,
    ss: m.ss,
    bits: elementBits(m.type),
  };
}

/** A product of which a matrix has this type. How it is computed does not matter: fragments do not depend on that. */
function productWith(name: MatrixName, type: string, tile: MatrixShape, sm: number): MatrixProduct {
  const isResult = name === "c" || name === "d";
  const formats = isResult ? { atype: type === "f64" ? "f64" : "f16", ctype: type, dtype: type } : { atype: type };
  return productOf(formats, tile, sm, integers(false));
}

/** The steps of wmma.load. */
export function loadMatrix(name: MatrixName, src: Sources, m: MemoryModifiers, ops: OperandAccess): Step[] {
  const tiling = tilingOf(shapeOf(m.shape));
  return loadTiles(storedMatrix(name, src, m), [tiling, productWith(name, m.type, tiling.tile, ops.sm), name], ops);
}

/** The steps of wmma.store. */
export function storeMatrix(src: Sources, m: MemoryModifiers, ops: OperandAccess): Step[] {
  const tiling = tilingOf(shapeOf(m.shape));
  return storeTiles(storedMatrix("d", src, m), [tiling, productWith("d", m.type, tiling.tile, ops.sm), "d"], ops);
}

/** The steps of wmma.mma: a product for each tile. */
export function multiplyTiles(m: Formats & { readonly shape: string }, ops: OperandAccess, family: Family): Step[] {
  const tiling = tilingOf(shapeOf(m.shape));
  const product = productOf(m, tiling.tile, ops.sm, family);
  const d = ops.destinations("d");
  return [align, ...Array.from({ length: tiling.count }, (_, i) => tileStep(tiling, product, i, ops, d))];
}

function tileStep(
  tiling: Tiling,
  product: MatrixProduct,
  index: number,
  ops: OperandAccess,
  d: ReturnType<OperandAccess["destinations"]>,
): Step {
  const taken = <T>(all: readonly T[], name: MatrixName): readonly T[] => {
    const { at, count } = tileRegisters(tiling, product, name, index);
    return all.slice(at, at + count);
  };
  const [a, b, c] = (["a", "b", "c"] as const).map((name) => taken(ops.vector(name), name)) as [Expr[], Expr[], Expr[]];
  const operands = tiling.isTransposed ? [...b, ...a, ...c] : [...a, ...b, ...c];
  return multiply(operands, product, taken(d, "d"));
}
