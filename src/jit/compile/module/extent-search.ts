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

export function writeSearch(w: FunctionWriter): void {
  const [table, count, address] = [local("i32", 0), local("i32", 1), local("i64", 2)];
  const [low, middle] = [w.local("i32"), w.local("i32")];
  const entry = (index: Wasm): Wasm => wasm.op("i32.add", table, wasm.op("i32.mul", index, wasm.i32(recordBytes)));
  const one = wasm.i32(1);
  w.assign([{ local: low, value: wasm.i32(0) }]);
  w.loop((next) => {
    w.value(wasm.op("i32.lt_u", local("i32", low), count));
    w.if(() => {
      const sum = wasm.op("i32.add", local("i32", low), count);
      w.assign([{ local: middle, value: wasm.op("i32.shr_u", sum, one) }]);
      w.value(entry(local("i32", middle)));
      w.memory("i64.load", 8);
      w.value(address);
      w.op("i64.le_u");
      const found = { local: low, value: wasm.op("i32.add", local("i32", middle), one) };
      w.if(
        () => w.assign([found]),
        () => w.assign([{ local: 1, value: local("i32", middle) }]),
      );
      w.br(next);
    });
  });
  const last = entry(wasm.op("i32.sub", local("i32", low), one));
  w.value(wasm.select(wasm.op("i32.eqz", local("i32", low)), wasm.i32(0), last));
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
