import { fragmentOf, type MatrixProduct } from "../ir/index.ts";
import { hostModule, machineFeatures, ModuleWriter, NotAllowed } from "../wasm/index.ts";
import { type Tile, tileFunctions, tileOf, wideBytes } from "./tile.ts";

/** The functions of a tile: see `TileFunctions`. */
export interface TileExports {
  readonly left: (from: number, to: number) => void;
  readonly right: (from: number, to: number) => void;
  readonly multiply: (left: number, right: number, start: number, result: number) => number;
}

/**
 * The functions of a tile in a module of their own, with memory of their own. Throws NotAllowed where there is none.
 */
export function instantiateTile(
  tile: Tile,
  bytes: number,
): { readonly exports: TileExports; readonly words: Int32Array } {
  const pages = Math.ceil(bytes / 65536);
  const module = new ModuleWriter(machineFeatures());
  module.importMemory({ initial: pages, maximum: pages, shared: false });
  const names = tileFunctions(module, tile);
  for (const name of [names.left, names.right, names.multiply]) module.export(name);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const instance = new WebAssembly.Instance(hostModule(module.finish(), 0), { env: { memory } });
  const functions = instance.exports as Record<string, unknown>;
  const exports: TileExports = {
    left: functions[names.left] as TileExports["left"],
    right: functions[names.right] as TileExports["right"],
    multiply: functions[names.multiply] as TileExports["multiply"],
  };
  return { exports, words: new Int32Array(memory.buffer) };
}

/** The next place at which a matrix of a tile may begin. */
export const align = (at: number): number => Math.ceil(at / 64) * 64;

/** Registers of A, B and C of a tile, at most: 16 rows and 64 bytes, 8 columns and 64 bytes, 16 rows and 8 words. */
const fragmentBytes = { a: 8 * 128, b: 4 * 128, c: 4 * 128 };

/** The functions of a tile in a module of their own, with memory of their own. */
export class HostTile {
  readonly #exports: TileExports;
  readonly #words: Int32Array;
  readonly #at: {
    readonly a: number;
    readonly b: number;
    readonly c: number;
    readonly d: number;
    readonly left: number;
    readonly right: number;
  };
  readonly #registers: { readonly a: number; readonly b: number };

  /** Throws NotAllowed where WebAssembly is not allowed. */
  constructor(tile: Tile, registers: { readonly a: number; readonly b: number }) {
    this.#registers = registers;
    const { left, right } = wideBytes(tile);
    const afterB = fragmentBytes.a + fragmentBytes.b;
    const at = { a: 0, b: fragmentBytes.a, c: afterB, d: afterB + fragmentBytes.c, left: 0, right: 0 };
    at.left = align(at.d + fragmentBytes.c);
    at.right = align(at.left + left);
    this.#at = at;
    const { exports, words } = instantiateTile(tile, at.right + right);
    this.#exports = exports;
    this.#words = words;
  }

  /**
   * Multiplies fragments, 32 words for each register of A, then B, then C, to a fragment of D. Returns false if it
   * cannot; then the result has no meaning.
   */
  multiply(from: Int32Array, to: Int32Array): boolean {
    const { a, b } = this.#registers;
    const at = this.#at;
    const words = this.#words;
    words.set(from.subarray(0, 32 * a), at.a / 4);
    words.set(from.subarray(32 * a, 32 * (a + b)), at.b / 4);
    words.set(from.subarray(32 * (a + b), 32 * (a + b + 4)), at.c / 4);
    this.#exports.left(at.a, at.left);
    this.#exports.right(at.b, at.right);
    if (this.#exports.multiply(at.left, at.right, at.c, at.d) !== 0) return false;
    to.set(words.subarray(at.d / 4, at.d / 4 + 128));
    return true;
  }
}

const known = new Map<string, HostTile>();

/** The functions of a product; null if there are none, or where WebAssembly is not allowed. */
export function hostTile(product: MatrixProduct): HostTile | null {
  const tile = tileOf(product);
  if (tile === null) return null;
  const key = JSON.stringify(tile);
  let host = known.get(key);
  if (host !== undefined) return host;
  const registers = { a: fragmentOf(product, "a").registers, b: fragmentOf(product, "b").registers };
  try {
    host = new HostTile(tile, registers);
  } catch (error) {
    if (error instanceof NotAllowed) return null;
    throw error;
  }
  known.set(key, host);
  return host;
}
