import type { TensorKind } from "../../../ir/index.ts";

/**
 * Where the metadata of a sparse A is in tensor memory, and what it says (section 9.7.16.10.8). The manual has the
 * layouts as pictures; CUTLASS has them for M = 128 and the products with stationary weights
 * (cute/atom/mma_traits_sm100_frag.hpp). The metadata of a row has 4 bits for each group of elements: 4 elements, 8 in
 * pairs, or 2 of tf32.
 */
type MetadataLayout = (row: number, group: number) => MetadataPlace;

/** The row whose lane it is, the column counted from the address, and the bit at which the 4 bits for a group begin. */
interface MetadataPlace {
  readonly row: number;
  readonly column: number;
  readonly bit: number;
}

/**
 * With elements of 16 or 32 bits, 16 rows share 32 bits in each of their lanes: 8 lanes have the lower half of k, the
 * next 8 the upper half, of two rows each, the second 8 rows on. The selector chooses the column.
 */
const shared =
  (groups: number, selector: number): MetadataLayout =>
  (row, group) => {
    const half = groups / 2;
    const upper = group >= half ? 1 : 0;
    return {
      row: (row & ~15) + (row & 7) + 8 * upper,
      column: selector,
      bit: 16 * ((row >> 3) & 1) + 4 * (group - upper * half),
    };
  };

/** With smaller elements a row has two columns of its own. */
const own: MetadataLayout = (row, group) => ({ row, column: group >> 3, bit: 4 * (group & 7) });

/** Elements of a group, of which half are in memory. */
const groupOf = (kind: TensorKind): 2 | 4 | 8 => (kind === "tf32" ? 2 : kind === "mxf4" || kind === "mxf4nvf4" ? 8 : 4);

/** Columns of tensor memory that the metadata needs, with the selected one. */
export const metadataColumns = (kind: TensorKind, selector: number): number =>
  kind === "f16" || kind === "tf32" ? selector + 1 : 2;

/** Reads a word of the metadata: the lane of a row, and a column counted from the address. */
export type MetadataReader = (row: number, column: number) => number;

/**
 * The places along k, in B, of the elements of a row that are in memory, in order. Null: the metadata is none of the
 * combinations that the manual calls meaningful.
 */
export function sparsePlaces(
  kind: TensorKind,
  k: number,
  row: number,
  selector: number,
  read: MetadataReader,
): number[] | null {
  const size = groupOf(kind);
  const groups = k / size;
  const layout = kind === "f16" || kind === "tf32" ? shared(groups, selector) : own;
  const places: number[] = [];
  for (let group = 0; group < groups; group++) {
    const at = layout(row, group);
    const bits = (read(at.row, at.column) >>> at.bit) & 15;
    const chosen = chosenIn(size, bits);
    if (chosen === null) return null;
    for (const place of chosen) places.push(group * size + place);
  }
  return places;
}

/** The chosen elements of a group by its 4 bits: two indices of elements, or of pairs; of tf32, one of two. */
function chosenIn(size: 2 | 4 | 8, bits: number): readonly number[] | null {
  if (size === 2) return bits === 0b1110 ? [1] : bits === 0b0100 ? [0] : null;
  const [first, second] = [bits & 3, bits >> 2];
  // The manual lists one pair that is not in ascending order.
  if (first >= second && bits !== 0b0110) return null;
  return size === 4 ? [first, second] : [2 * first, 2 * first + 1, 2 * second, 2 * second + 1];
}
