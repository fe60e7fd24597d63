import { checkMatrix } from "./access.ts";
import { tensorFault } from "./fault.ts";
import type { OperandSource } from "./read-lines.ts";
import { metadataColumns, sparsePlaces } from "./sparse-rows.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/** The elements along k that the rows of a sparse A have. */
export type SparsePlaces = readonly (readonly number[])[];

/**
 * Finds which elements along k the rows of a sparse A have that a block has: by row, once for each part of D.
 *
 * @throws Fault if the metadata is not in allocated columns; when it is read, if it means nothing
 */
export function findPlaces(source: OperandSource, from: TensorAddress): () => SparsePlaces {
  const { call, lane: asking, op, product, paths, block } = source;
  const { sparsitySelector: selector } = product;
  const columns = metadataColumns(op.kind, selector);
  checkMatrix(call, { block, what: "the metadata of A", effect: "load", asking }, paths, from, columns);
  const meaningless = faultOfRow(source);
  return () => {
    const { words } = block.memory;
    const places: number[][] = [];
    for (let part = 0; part < paths.parts; part++) {
      const first = from.lane + part * (tensorLanes / paths.parts);
      for (let row = 0; row < paths.rows; row++) {
        const found = sparsePlaces(
          op.kind,
          product.k,
          row,
          selector,
          (r, column) => words[(first + paths.lane(r)) * tensorColumns + from.column + column]!,
        );
        if (found === null) throw meaningless(row);
        places.push(found);
      }
    }
    return places;
  };
}

/** The fault of a row. The call is used again before an operation takes effect. */
function faultOfRow({ call, lane, block, paths }: OperandSource) {
  const at = { x: call.x, site: call.site, lanes: call.lanes };
  return (row: number) => {
    const message = `the metadata of row ${block.half * paths.rows + row} of A chooses elements that cannot be chosen`;
    return tensorFault(at, "sparse-bad-metadata", message, {}, lane);
  };
}
