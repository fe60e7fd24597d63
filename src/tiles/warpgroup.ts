import { chunkBytes, type ElementFormat, type WarpgroupProduct } from "../ir/index.ts";
import { type FunctionWriter, type ModuleWriter, type Wasm, wasm } from "../wasm/index.ts";
import { registerBytes } from "./layout.ts";
import { boundsFunction, type LineOrder, linesFunction } from "./shared-lines.ts";
import { type Tile, tileFunctions, tileOf, wideBytes, writtenOnce } from "./tile.ts";

/*
 * A warp's part of the product of a warpgroup as a row of tiles. All warps multiply by the same B, and come one after
 * the other: so what has been widened of it is kept, together with the bytes that it was made of. Where these are what
 * shared memory holds, it needs not be widened again.
 */

/** A warp's part of a product of a warpgroup that tiles compute. */
export interface WarpgroupTile {
  /** The tile of 16 rows and 8 columns. */
  readonly tile: Tile;
  /** Tiles of the row: eight columns each. */
  readonly groups: number;
  /** How A lies in shared memory; null if it is in registers. */
  readonly left: LineOrder | null;
  readonly right: LineOrder;
  /** Bits that are flipped in each word of A: signs; 0 if none are. */
  readonly flipped: number;
}

/** The sign bits of a word of elements. */
const signs: Partial<Readonly<Record<ElementFormat, number>>> = {
  f16: 0x8000_8000,
  bf16: 0x8000_8000,
  tf32: 0x8000_0000,
  e4m3: 0x8080_8080,
  e5m2: 0x8080_8080,
};

/** The bits of a word of A to flip for a product in which A or B are negated. */
export const flippedSigns = ({ tile, negate }: WarpgroupProduct): number =>
  negate.a === negate.b ? 0 : (signs[tile.a] ?? 0);

/** The tiles of a product; null if it is computed element by element. */
export function warpgroupTileOf(product: WarpgroupProduct): WarpgroupTile | null {
  const { tile: whole, left, right, sparsity } = product;
  const tile = sparsity === null ? tileOf({ ...whole, n: 8 }) : null;
  if (tile === null) return null;
  const chunks = (whole.k * whole.bits) / (8 * chunkBytes);
  return {
    tile,
    groups: whole.n / 8,
    left: left.kind === "registers" ? null : { kMajor: left.kMajor, chunks },
    right: { kMajor: right.kMajor, chunks },
    flipped: flippedSigns(product),
  };
}

/** Matrices B that are kept at the same time: a kernel goes through a few of them, warp by warp. */
const slots = 8;
const slotBits = Math.log2(slots);

/** Bytes of the words that say what is kept, which are 0 at first. */
export const keptWordsBytes = 4 * slots;

/** Where a product's matrices lie, in bytes from the beginning of the memory that it needs. */
export interface WarpgroupArea {
  /** A, as registers, and widened. */
  readonly a: number;
  readonly left: number;
  /** Matrices B: for each the registers, then the widened groups. */
  readonly slots: number;
  readonly wide: number;
  readonly slotBytes: number;
  readonly bytes: number;
}

const aligned = (bytes: number): number => Math.ceil(bytes / 16) * 16;

/** The registers of a group of B take so many bytes. */
const groupBytes = ({ right }: WarpgroupTile): number => right.chunks * registerBytes;

/** The memory that serves all of some products. */
export function warpgroupArea(products: readonly WarpgroupTile[]): WarpgroupArea {
  const most = (bytes: (product: WarpgroupTile) => number): number => Math.max(0, ...products.map(bytes));
  const left = 2 * most(groupBytes);
  const first = left + aligned(most(({ tile }) => wideBytes(tile).left));
  const wide = most((product) => product.groups * groupBytes(product));
  const slotBytes = wide + most(({ groups, tile }) => groups * aligned(wideBytes(tile).right));
  return { a: 0, left, slots: first, wide, slotBytes, bytes: products.length === 0 ? 0 : first + slots * slotBytes };
}

/** The functions of a module for products of a warpgroup. */
export interface WarpgroupFunctions {
  /** (descriptor, group): the bounds of the two groups of A, if it is in shared memory (`boundsFunction`). */
  readonly leftBounds: string | null;
  /** The same of all groups of B. */
  readonly rightBounds: string;
  /**
   * (shared, area, kept, a, b, group, start, result): multiplies. The first three are bytes of memory: the beginning of
   * shared memory, of the memory for matrices, and of the words that say what is kept in it; then come the descriptors,
   * or the byte of memory where the registers of A begin, the warp's first group of rows, and the bytes of memory where
   * the accumulators lie and where the result goes, which has another place. Returns 0 if the result is right, else 1.
   */
  readonly multiply: string;
}

/** Formats of B as numbers, from 1 on. */
const formats: readonly ElementFormat[] = ["f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"];

const { op } = wasm;
const i32 = (local: number): Wasm => wasm.local("i32", local);
const plus = (a: Wasm, b: Wasm): Wasm => op("i32.add", a, b);
const plusBytes = (local: number, bytes: number): Wasm => plus(i32(local), wasm.i32(bytes));

/** Returns the functions of a product in a module, and adds them if it has them not. `area` serves all its products. */
export function warpgroupFunctions(
  module: ModuleWriter,
  product: WarpgroupTile,
  area: WarpgroupArea,
): WarpgroupFunctions {
  const once = writtenOnce(module);
  const { left, right, groups } = product;
  const tiles = tileFunctions(module, product.tile);
  const copyLeft = left === null ? null : linesFunction(once, left, 2);
  const copyRight = linesFunction(once, right, 1);
  const name = `warpgroup:${JSON.stringify(product)}`;
  const params = ["i32", "i32", "i32", "i64", "i64", "i32", "i32", "i32"] as const;
  return {
    leftBounds: left === null ? null : boundsFunction(once, left, 2),
    rightBounds: boundsFunction(once, right, groups),
    multiply: once(name, params, ["i32"], (w) =>
      new RowFunction(w, product, area).write({ copyLeft, copyRight, ...tiles }),
    ),
  };
}

const [shared, memory, kept, a, b, group, start, result] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

class RowFunction {
  readonly #w: FunctionWriter;
  readonly #product: WarpgroupTile;
  readonly #area: WarpgroupArea;

  constructor(w: FunctionWriter, product: WarpgroupTile, area: WarpgroupArea) {
    this.#w = w;
    this.#product = product;
    this.#area = area;
  }

  write(names: {
    readonly copyLeft: string | null;
    readonly copyRight: string;
    readonly left: string;
    readonly right: string;
    readonly multiply: string;
  }): void {
    const w = this.#w;
    this.#widenLeft(names.copyLeft, names.left);
    const { groups, tile } = this.#product;
    const [raw, wide, count, word] = [w.local("i32"), w.local("i32"), w.local("i32"), w.local("i32")];
    this.#findSlot(raw, word);
    w.assign([
      { local: wide, value: plusBytes(raw, this.#area.wide) },
      { local: count, value: wasm.i32(0) },
    ]);
    const valid = this.#validGroups(word);
    w.loop((again) => {
      w.values([i32(shared), wasm.local("i64", b), i32(count), i32(raw)]);
      w.call(names.copyRight);
      w.value(op("i32.ge_u", i32(count), i32(valid)));
      w.op("i32.or");
      w.if(() => {
        w.values([i32(raw), i32(wide)]);
        w.call(names.right);
      });
      w.assign([{ local: count, value: plusBytes(count, 1) }]);
      w.values([plusBytes(memory, this.#area.left), i32(wide), i32(start), i32(result)]);
      w.call(names.multiply);
      w.expect(false);
      w.if(() => {
        this.#note(word, valid, count);
        w.i32(1);
        w.return();
      });
      const accumulators = 4 * registerBytes;
      w.assign([
        { local: raw, value: plusBytes(raw, groupBytes(this.#product)) },
        { local: wide, value: plusBytes(wide, aligned(wideBytes(tile).right)) },
        { local: start, value: plusBytes(start, accumulators) },
        { local: result, value: plusBytes(result, accumulators) },
      ]);
      w.value(op("i32.lt_u", i32(count), wasm.i32(groups)));
      w.brIf(again);
    });
    this.#note(word, valid, count);
    w.i32(0);
    for (const local of [raw, wide, count, word, valid]) w.release(local);
  }

  /** Copies A, flips its signs, and widens it. */
  #widenLeft(copyLeft: string | null, widen: string): void {
    const w = this.#w;
    const { flipped, right } = this.#product;
    const [from, own] = [w.local("i32"), plusBytes(memory, this.#area.a)];
    if (copyLeft === null) w.assign([{ local: from, value: op("i32.wrap_i64", wasm.local("i64", a)) }]);
    else {
      [0, 1].forEach((half) => {
        w.values([
          i32(shared),
          wasm.local("i64", a),
          plusBytes(group, half),
          plus(own, wasm.i32(registerBytes * half)),
        ]);
        w.call(copyLeft);
        w.drop();
      });
      w.assign([{ local: from, value: own }]);
    }
    if (flipped !== 0) {
      for (let at = 0; at < 2 * right.chunks * registerBytes; at += 16) {
        w.value(own);
        w.get(from);
        w.memory("v128.load", 16, at);
        w.value(wasm.i32x4(flipped));
        w.op("v128.xor");
        w.memory("v128.store", 16, at);
      }
      w.assign([{ local: from, value: own }]);
    }
    w.values([i32(from), plusBytes(memory, this.#area.left)]);
    w.call(widen);
    w.release(from);
  }

  /** Finds where B is kept, by where it begins in shared memory, and the byte of the word that says what is there. */
  #findSlot(raw: number, word: number): void {
    const w = this.#w;
    const begins = op("i32.and", op("i32.wrap_i64", wasm.local("i64", b)), wasm.i32(0x3fff));
    const slot = op("i32.shr_u", op("i32.mul", begins, wasm.i32(0x9e37_79b1)), wasm.i32(32 - slotBits));
    w.assign([{ local: word, value: slot }]);
    const at = plusBytes(memory, this.#area.slots);
    w.assign([
      { local: raw, value: plus(at, op("i32.mul", i32(word), wasm.i32(this.#area.slotBytes))) },
      { local: word, value: plus(i32(kept), op("i32.shl", i32(word), wasm.i32(2))) },
    ]);
  }

  /** What a word says of slots with matrices of this format. */
  get #format(): number {
    return (1 + formats.indexOf(this.#product.tile.b)) << 8;
  }

  /** A local with the number of groups that lie in the slot as this product needs them. */
  #validGroups(word: number): number {
    const w = this.#w;
    const valid = w.local("i32");
    w.get(word);
    w.memory("i32.load", 4);
    w.set(valid);
    // Other formats leave a number that is not less than 256.
    const groups = op("i32.xor", i32(valid), wasm.i32(this.#format));
    const isOwn = op("i32.lt_u", groups, wasm.i32(256));
    w.assign([{ local: valid, value: wasm.select(isOwn, groups, wasm.i32(0)) }]);
    return valid;
  }

  /** Notes how many groups lie in the slot now. */
  #note(word: number, valid: number, count: number): void {
    const most = wasm.select(op("i32.gt_u", i32(count), i32(valid)), i32(count), i32(valid));
    this.#w.values([i32(word), op("i32.or", most, wasm.i32(this.#format))]);
    this.#w.memory("i32.store", 4);
  }
}
