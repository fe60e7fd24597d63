import { checkMatrix, tensorFault, tensorMemoryOf } from "./access.ts";
import type { OperandSource } from "./read-lines.ts";
import { metadataColumns, sparsePlaces } from "./sparse-rows.ts";
import { type TensorAddress, tensorColumns, tensorLanes } from "./tensor-memory.ts";

/**
 * Reads which elements along k the rows of a sparse A have: by row, once for each part of D.
 *
 * @throws Fault if the metadata is not in allocated columns, or means nothing
 */
export function readSparsePlaces(source: OperandSource, from: TensorAddress): readonly (readonly number[])[] {
  const { call, lane: asking, op, product, paths } = source;
  const { sparsitySelector: selector } = product;
  const columns = metadataColumns(op.kind, selector);
  checkMatrix(call, { what: "the metadata of A", effect: "load", asking }, paths, from, columns);
  const { words } = tensorMemoryOf(call);
  const places: number[][] = [];
  for (let part = 0; part < paths.parts; part++) {
    const first = from.lane + part * (tensorLanes / paths.parts);
    for (let row = 0; row < product.m; row++) {
      const found = sparsePlaces(
        op.kind,
        product.k,
        row,
        selector,
        (r, column) => words[(first + paths.lane(r)) * tensorColumns + from.column + column]!,
      );
      if (found === null) {
        const message = `the metadata of row ${row} of A chooses elements that cannot be chosen`;
        throw tensorFault(call, "sparse-bad-metadata", message, { lane: asking });
      }
      places.push(found);
    }
  }
  return places;
}
