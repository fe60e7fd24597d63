import {
  type Expr,
  type OpOf,
  productOperands,
  registersOfC,
  type WarpgroupProduct,
  warpRows,
  windows,
} from "../../../ir/index.ts";
import {
  type WarpgroupArea,
  warpgroupArea,
  warpgroupFunctions,
  type WarpgroupTile,
  warpgroupTileOf,
} from "../../../tiles/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { findable } from "../../abi/extent-table.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Place } from "../emit/register-locals.ts";
import { laneBits } from "../lanes/mask-bits.ts";
import { vectorOf } from "../lanes/value.ts";
import { extentOfName } from "../module/extent-search.ts";
import { type FunctionContext, pushWord } from "../module/function-context.ts";

const { op } = wasm;
const i32 = (local: number): Wasm => wasm.local("i32", local);

/** Quads of a warp, and bytes of a register of its lanes. */
const warpQuads = 8;
const registerBytes = 128;

/** The memory that compiled products of warpgroups need. */
export const areaOf = (products: readonly WarpgroupProduct[]): WarpgroupArea =>
  warpgroupArea(products.flatMap((product) => warpgroupTileOf(product) ?? []));

/** Operands from `first` on, of 32 bits each, that lie one after the other in memory already. */
export interface StoredOperands {
  readonly first: number;
  readonly place: Place;
}

/** A product that tiles compute, with the place where the registers of C lie one after the other. */
interface TiledProduct {
  readonly product: WarpgroupProduct;
  readonly tile: WarpgroupTile;
  readonly operands: readonly Expr[];
  readonly c: Place;
}

/** Stores operands one after the other, so many bytes from the beginning of the context. */
type StoreOperands = (operands: readonly Expr[], at: number) => void;

/**
 * Writes products of warpgroups as rows of tiles, out of shared memory into the area where a unit of the machine leaves
 * results. What that would report, and what tiles cannot compute, is the launcher's.
 */
export class WarpgroupProducts {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;
  readonly #store: StoreOperands;

  constructor(chunk: Chunk, at: FunctionContext, store: StoreOperands) {
    this.#chunk = chunk;
    this.#at = at;
    this.#store = store;
  }

  /** A function that writes a product for lanes, given what writes it for the launcher; null: it is the launcher's. */
  of(
    product: WarpgroupProduct,
    { operands }: OpOf<"unit">,
  ): ((lanes: readonly Wasm[], byHost: (lanes: readonly Wasm[], stored: StoredOperands) => void) => void) | null {
    const { unit, layout } = this.#at;
    const tile = unit.shape.exactSums || this.#chunk.quads !== warpQuads ? null : warpgroupTileOf(product);
    if (tile === null || !unit.accessHelpers.knowsAllocations) return null;
    return (lanes, byHost) => {
      const { writer: w } = this.#chunk;
      const [isOwn, group] = [w.local("i32"), w.local("i32")];
      const [left, right] = [w.local("i64"), w.local("i64")];
      // Of a product that only some lanes execute the descriptors are those of the first of them.
      w.value(op("i32.eq", laneBits(lanes), wasm.i32(-1)));
      this.#pushIsInGroup();
      w.op("i32.and");
      w.set(isOwn);
      // Once for both ways: the values of C are most of the code.
      const first = registersOfC(product);
      const c = this.#placeOf(operands.slice(first), layout.fragments + registerBytes * 4 * tile.groups);
      w.get(isOwn);
      w.if(() => {
        this.#findGroup(group);
        w.assign([
          { local: left, value: this.#first(operands[productOperands.a]!) },
          { local: right, value: this.#first(operands[productOperands.b]!) },
        ]);
        this.#multiply({ product, tile, operands, c }, { isOwn, group, left, right });
      });
      w.value(op("i32.eqz", i32(isOwn)));
      w.if(() => byHost(lanes, { first, place: c }));
      for (const local of [isOwn, group, left, right]) w.release(local);
    };
  }

  /** Leaves whether all warps of the block are in warpgroups, which have four, on the stack. */
  #pushIsInGroup(): void {
    const { writer: w } = this.#chunk;
    pushWord(w, this.#at, "threads");
    w.i32(31);
    w.op("i32.add");
    // Bits 5 and 6 of the threads of whole warps are the number of warps, modulo 4.
    w.i32(3 << 5);
    w.op("i32.and");
    w.op("i32.eqz");
  }

  /** The number of the first eight rows of A that the warp multiplies. */
  #findGroup(group: number): void {
    const { writer: w } = this.#chunk;
    pushWord(w, this.#at, "first");
    w.set(group);
    const warp = op("i32.and", op("i32.shr_u", i32(group), wasm.i32(5)), wasm.i32(3));
    w.assign([{ local: group, value: op("i32.mul", warp, wasm.i32(warpRows / 8)) }]);
  }

  /** An operand of 64 bits in the first lane. */
  #first(operand: Expr): Wasm {
    const value = this.#chunk.value(operand);
    if (value.kind === "uniform") return value.scalar;
    return wasm.lane("i64x2.extract_lane", 0, vectorOf(value, this.#chunk.quads).quads[0]![0]!);
  }

  /** Writes the product; 0 in `isOwn` if it is the launcher's. */
  #multiply(
    { product, tile, operands, c }: TiledProduct,
    locals: { readonly isOwn: number; readonly group: number; readonly left: number; readonly right: number },
  ): void {
    const { writer: w } = this.#chunk;
    const { layout, unit, context } = this.#at;
    const { isOwn, group, left, right } = locals;
    const names = warpgroupFunctions(unit.module, tile, unit.warpgroupArea);
    if (names.leftBounds !== null) this.#check(names.leftBounds, left, i32(group), isOwn);
    this.#check(names.rightBounds, right, wasm.i32(0), isOwn);
    w.get(isOwn);
    w.if(() => {
      const contextAt = (at: number): Wasm => op("i32.add", i32(context), wasm.i32(at));
      const placeAt = ({ base, offset }: Place): Wasm => op("i32.add", i32(base), wasm.i32(offset));
      if (product.left.kind === "registers") {
        const a = this.#placeOf(operands.slice(productOperands.registersOfA, registersOfC(product)), layout.warpgroup);
        w.assign([{ local: left, value: op("i64.extend_i32_u", placeAt(a)) }]);
      }
      w.values([contextAt(layout.shared), contextAt(layout.warpgroup), contextAt(layout.warpgroupKept)]);
      w.values([wasm.local("i64", left), wasm.local("i64", right), i32(group)]);
      w.values([placeAt(c), contextAt(layout.fragments)]);
      w.call(names.multiply);
      w.op("i32.eqz");
      w.set(isOwn);
    });
  }

  /** Where registers lie one after the other: in memory, or, if they do not, at a place in the context. */
  #placeOf(operands: readonly Expr[], otherwise: number): Place {
    const registers = operands.flatMap((operand) => (operand.kind === "reg" ? [operand.reg] : []));
    const place = registers.length === operands.length ? this.#chunk.fragment(registers) : null;
    if (place !== null) return place;
    this.#store(operands, otherwise);
    return { base: this.#at.context, offset: otherwise };
  }

  /** Clears `isOwn` unless all that a descriptor names lies in one shared variable. */
  #check(bounds: string, descriptor: number, group: Wasm, isOwn: number): void {
    const { writer: w } = this.#chunk;
    const { context, unit } = this.#at;
    const [first, last, entry] = [w.local("i32"), w.local("i32"), w.local("i32")];
    w.values([wasm.local("i64", descriptor), group]);
    w.call(bounds);
    w.set(last);
    w.set(first);
    const address = op("i64.extend_i32_u", op("i32.add", i32(first), wasm.i32(windows.shared.start)));
    w.values([i32(context), wasm.i32(findable.shared), address, wasm.i64(0n)]);
    w.call(unit.accessHelpers.named(extentOfName));
    w.set(entry);
    // Without an entry the first words of memory are read, which does no harm.
    const begins = w.local("i32");
    w.get(entry);
    w.memory("i32.load", 4);
    w.set(begins);
    w.value(op("i32.sub", op("i32.add", i32(last), wasm.i32(windows.shared.start)), i32(begins)));
    w.get(entry);
    w.memory("i32.load", 4, 8);
    w.op("i32.lt_u");
    w.value(op("i32.ne", i32(entry), wasm.i32(0)));
    w.op("i32.and");
    w.get(isOwn);
    w.op("i32.and");
    w.set(isOwn);
    for (const local of [first, last, entry, begins]) w.release(local);
  }
}
