import type { BasicBlock, FunctionCode, Site } from "./code.ts";
import type { Warp } from "./warp.ts";

/** What a lane took from its stack with `alloca`, within one activation. */
export interface StackPiece {
  readonly lane: number;
  readonly start: number;
  readonly end: number;
}

/**
 * A function being executed by some lanes of a warp. Each activation has registers of its own: one value per lane,
 * `lane` elements behind the register's base, and one word per predicate, a bit per lane.
 */
export class Activation {
  readonly code: FunctionCode;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  readonly #clean: Int32Array;
  warp!: Warp;
  /** Who called, from where, and where the lanes go on; null for a kernel. */
  caller: Activation | null = null;
  callSite: Site | null = null;
  resume: BasicBlock | null = null;
  /** Copies the results to the caller, for the lanes that return. */
  onReturn: ((x: Activation, mask: number) => void) | null = null;
  depth = 0;
  /** Lanes that have neither returned nor exited. */
  live = 0;
  /** Lanes that have returned and wait for the others. */
  returned = 0;
  /** Where the frame begins in the lanes' stack, and the bytes of the unsized formal behind it. */
  base = 0;
  unsizedBytes = 0;
  /** Bytes of the lane's stack in use, this frame included; `alloca` adds to it. */
  top = 0;
  /** The same with saved registers, which count against the limit but have no address. */
  cost = 0;
  /** Lane by lane, where the next `alloca` goes; null before the first one. */
  tops: Int32Array | null = null;
  pieces: StackPiece[] | null = null;

  constructor(code: FunctionCode) {
    this.code = code;
    const buffer = new ArrayBuffer(code.fileBytes);
    this.i32 = new Int32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.i64 = new BigInt64Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.#clean = new Int32Array(buffer, 0, code.cleanBytes >> 2);
  }

  static enter(code: FunctionCode, warp: Warp, mask: number): Activation {
    const x = code.pool.pop() ?? new Activation(code);
    x.#clean.fill(0);
    x.warp = warp;
    x.live = mask;
    x.returned = 0;
    x.unsizedBytes = 0;
    x.tops = null;
    x.pieces = null;
    return x;
  }

  /** Makes room for another activation of the same function. Nobody may hold on to this one. */
  release(): void {
    this.caller = null;
    this.callSite = null;
    this.resume = null;
    this.onReturn = null;
    this.code.pool.push(this);
  }
}
