import { type FragmentMap, fragmentOf, type MatrixName, type MatrixProduct } from "../../../ir/index.ts";
import type { MatrixShape } from "./fragment.ts";

/*
 * The fragments of wmma, which the manual leaves open (section 9.7.14.4.1). Here a matrix lies in the registers as it
 * does for the `mma` products of which ptxas makes a `wmma.mma` for sm_80 and later, which the library wmma_extension
 * (github.com/wmmae/wmma_extension, sm_80.hpp) has found on hardware for m16n16k16: one product for each 16 rows and 8
 * columns of D, with their registers one after the other. Where f16 multiplicands have more registers than elements,
 * the registers repeat. m8n32k16 is the transposed of m32n8k16: D' = B' * A'.
 */

/** How a product of wmma is made of products of mma, the tiles. */
export interface Tiling {
  readonly tile: MatrixShape;
  /** Tiles next to each other in D, in the direction of rows (`m`) or columns (`n`) of the tiles. */
  readonly count: number;
  readonly along: "m" | "n";
  /** Whether the tiles multiply the transposed matrices: B' * A'. */
  readonly isTransposed: boolean;
}

/** The tiling of a shape of wmma. */
export function tilingOf({ m, n, k }: MatrixShape): Tiling {
  if (m === 8 && n === 8) return { tile: { m, n, k }, count: 1, along: "n", isTransposed: false };
  const tile = { m: 16, n: 8, k };
  if (m === 16) return { tile, count: 2, along: "n", isTransposed: false };
  return { tile, count: 2, along: "m", isTransposed: m === 8 };
}

/** The matrix of a tile in which a matrix of wmma lies. */
export const tileMatrix = ({ isTransposed }: Tiling, name: MatrixName): MatrixName =>
  !isTransposed || name === "c" || name === "d" ? name : name === "a" ? "b" : "a";

/** Whether each tile has a part of a matrix of its own; else all share it. */
const isSplit = ({ along, count }: Tiling, inTile: MatrixName): boolean =>
  count > 1 && !(inTile === "a" && along === "n") && !(inTile === "b" && along === "m");

/** The registers of a matrix that a tile uses: where they begin, and how many there are. */
export function tileRegisters(
  tiling: Tiling,
  product: MatrixProduct,
  name: MatrixName,
  index: number,
): { readonly at: number; readonly count: number } {
  const inTile = tileMatrix(tiling, name);
  const { registers } = fragmentOf(product, inTile);
  return { at: isSplit(tiling, inTile) ? index * registers : 0, count: registers };
}

/**
 * Row and column of an element in all lanes: `row`, plus lane / 4 if `rowsByGroup`, else plus `step` times lane % 4;
 * `column` with the other of the two.
 */
export interface ElementPlace {
  readonly row: number;
  readonly column: number;
  readonly rowsByGroup: boolean;
  readonly step: number;
}

/** The elements of a matrix, by register and part. Registers that repeat are left out. */
export function elementPlaces(tiling: Tiling, product: MatrixProduct, name: MatrixName): readonly ElementPlace[][] {
  const inTile = tileMatrix(tiling, name);
  const map = fragmentOf(product, inTile);
  const tiles = isSplit(tiling, inTile) ? tiling.count : 1;
  return Array.from({ length: tiles * map.registers }, (_, register) => {
    const tile = Math.floor(register / map.registers);
    return Array.from({ length: map.registerBits / map.bits }, (__, part): ElementPlace => {
      const place = placeOf(map, register % map.registers, part);
      const row = place.row + (tiling.along === "m" ? tile * tiling.tile.m : 0);
      const column = place.column + (tiling.along === "n" ? tile * tiling.tile.n : 0);
      return tiling.isTransposed
        ? { row: column, column: row, rowsByGroup: !place.rowsByGroup, step: place.step }
        : { ...place, row, column };
    });
  });
}

/** The place of an element, from those of lanes 0, 1 and 4: in fragments of mma all others follow from them. */
function placeOf({ elements, columns, bits, registerBits }: FragmentMap, register: number, part: number): ElementPlace {
  const parts = registerBits / bits;
  const at = (lane: number) => {
    const element = elements[(register * 32 + lane) * parts + part]!;
    return { row: Math.floor(element / columns), column: element % columns };
  };
  const [first, next, group] = [at(0), at(1), at(4)];
  const rowsByGroup = group.row > first.row;
  return { ...first, rowsByGroup, step: rowsByGroup ? next.column - first.column : next.row - first.row };
}
