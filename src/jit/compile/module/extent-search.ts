import { type FunctionWriter, type Wasm, wasm } from "../../../wasm/index.ts";
import { type ContextLayout, recordBytes } from "../../abi/context-layout.ts";
import { endOfSpace, extentHeader, extentHeaderBytes, findable, ownSpaces } from "../../abi/extent-table.ts";
import { local } from "./helper-code.ts";

/** `search(table, count, address)`: the last entry of a table that begins at or before an address, or 0. */
export const searchName = "search";

/**
 * `lookUp(context, spaces, address, window)`: the entry of the object in one of some spaces that begins at or before an
 * address, or 0. `window`: what is added to addresses within a space to make them generic.
 */
export const extentOfName = "extentOf";

/** Halves the table without branches that depend on the address: lanes often have addresses all over the place. */
export function writeSearch(w: FunctionWriter): void {
  const [table, count, address] = [local("i32", 0), local("i32", 1), local("i64", 2)];
  const half = w.local("i32");
  const entryAt = (index: Wasm): Wasm => wasm.op("i32.mul", index, wasm.i32(recordBytes));
  /** All bits of a word, if the entry at a byte of memory begins at or before the address; else none. */
  const reaches = (entry: Wasm): void => {
    w.i32(0);
    w.value(entry);
    w.memory("i64.load", 8);
    w.value(address);
    w.op("i64.le_u");
    w.op("i32.sub");
  };
  w.value(wasm.op("i32.eqz", count));
  w.if(() => {
    w.i32(0);
    w.return();
  });
  w.loop((next) => {
    w.value(wasm.op("i32.gt_u", count, wasm.i32(1)));
    w.if(() => {
      w.assign([{ local: half, value: wasm.op("i32.shr_u", count, wasm.i32(1)) }]);
      w.value(table);
      w.value(entryAt(local("i32", half)));
      reaches(wasm.op("i32.add", table, entryAt(local("i32", half))));
      w.op("i32.and");
      w.op("i32.add");
      w.set(0);
      w.assign([{ local: 1, value: wasm.op("i32.sub", count, local("i32", half)) }]);
      w.br(next);
    });
  });
  w.value(table);
  reaches(table);
  w.op("i32.and");
}

export function writeExtentOf(w: FunctionWriter, layout: ContextLayout, search: string): void {
  const [context, spaces, address, window] = [local("i32", 0), local("i32", 1), local("i64", 2), local("i64", 3)];
  const [own, found] = [w.local("i64"), w.local("i32")];
  const word = (at: number): void => {
    w.value(context);
    w.memory("i32.load", 4, layout.extents + at);
  };
  const has = (space: number): Wasm => wasm.op("i32.and", spaces, wasm.i32(space));
  const isWindow = wasm.op("i64.lt_u", wasm.op("i64.sub", address, window), wasm.i64(2n ** 32n));
  const moved = wasm.select(isWindow, wasm.op("i64.sub", address, window), wasm.i64(-1n));
  w.assign([{ local: own, value: wasm.select(has(findable.generic), moved, address) }]);
  w.value(wasm.op("i64.lt_u", local("i64", own), wasm.i64(BigInt(endOfSpace("kernel-param")))));
  w.if(() => {
    const kind = ownSpaces.reduceRight<Wasm>((rest, space) => {
      const isBefore = wasm.op("i64.lt_u", local("i64", own), wasm.i64(BigInt(endOfSpace(space))));
      return wasm.select(isBefore, wasm.i32(findable[space]), rest);
    }, wasm.i32(0));
    w.value(wasm.op("i32.and", spaces, kind));
    w.if(() => {
      w.value(wasm.op("i32.add", context, wasm.i32(layout.extents + extentHeaderBytes)));
      word(extentHeader.ownCount);
      w.value(local("i64", own));
      w.call(search);
      w.set(found);
    });
  });
  w.value(wasm.op("i32.and", wasm.op("i32.eqz", local("i32", found)), has(findable.global)));
  w.if(() => {
    word(extentHeader.allocations);
    word(extentHeader.allocationCount);
    w.value(address);
    w.call(search);
    w.set(found);
  });
  w.get(found);
}
