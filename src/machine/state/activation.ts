import type { Restore } from "../memory/checkpoint.ts";
import type { BasicBlock, FunctionCode, Site } from "./code.ts";
import type { Warp } from "./warp.ts";

/** What a lane took from its stack with `alloca`, within one activation. */
export interface StackPiece {
  readonly lane: number;
  readonly start: number;
  readonly end: number;
}

/** A register file seen as elements of 8 and 16 bits, and as elements that need not be aligned. */
export interface SmallViews {
  readonly i8: Int8Array;
  readonly u8: Uint8Array;
  readonly i16: Int16Array;
  readonly u16: Uint16Array;
  readonly data: DataView;
}

/** What calls copy from one byte file to another's: the thread's part, %arg and %retval. */
export interface PassedParts {
  readonly thread: Int32Array;
  readonly arg: Int32Array;
  readonly retval: Int32Array;
}

const smallViews = (buffer: ArrayBuffer): SmallViews => ({
  i8: new Int8Array(buffer),
  u8: new Uint8Array(buffer),
  i16: new Int16Array(buffer),
  u16: new Uint16Array(buffer),
  data: new DataView(buffer),
});

const noViews = smallViews(new ArrayBuffer(0));

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
  /** The same bytes for code that has a byte file; else empty. */
  readonly small: SmallViews;
  /** The byte file. */
  readonly file: DataView;
  /** Parts of it; null before the first call. */
  passed: PassedParts | null = null;
  readonly #clean: Int32Array;
  readonly within: Activation | null;
  warp!: Warp;
  /** Who called, from where, and where the lanes go on; null for a kernel. */
  caller: Activation | null = null;
  callSite: Site | null = null;
  resume: BasicBlock | null = null;
  /** The lanes that go on there, where they are not those that have returned; else 0. */
  resumeMask = 0;
  /** Copies the results to the caller, for the lanes that return. */
  onReturn: ((x: Activation, mask: number) => void) | null = null;
  depth = 0;
  /** Counts the calls of the warp. */
  serial = 0;
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

  /** `within`: the activation whose registers and byte file it shares, for a subroutine. */
  constructor(code: FunctionCode, within: Activation | null = null) {
    this.code = code;
    this.within = within;
    if (within !== null) {
      ({ i32: this.i32, f32: this.f32, i64: this.i64, f64: this.f64, small: this.small, file: this.file } = within);
      this.#clean = within.#clean;
      return;
    }
    const buffer = new ArrayBuffer(code.fileBytes);
    this.i32 = new Int32Array(buffer);
    this.f32 = new Float32Array(buffer);
    this.i64 = new BigInt64Array(buffer);
    this.f64 = new Float64Array(buffer);
    const at = code.byteFileAt;
    this.small = at < 0 ? noViews : smallViews(buffer);
    this.file = at < 0 ? noViews.data : new DataView(buffer, at, code.ir.file?.bytes ?? 0);
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

  /** A subroutine of `within`, in its registers and its byte file. */
  static enterWithin(within: Activation, mask: number): Activation {
    const x = new Activation(within.code, within);
    x.warp = within.warp;
    x.live = mask;
    return x;
  }

  checkpoint(): Restore {
    const { warp, caller, callSite, resume, resumeMask, onReturn, depth, serial, live, returned } = this;
    const { base, unsizedBytes, top, cost } = this;
    const flow = { warp, caller, callSite, resume, resumeMask, onReturn, depth, serial, live, returned };
    const tops = this.tops?.slice() ?? null;
    const pieces = this.pieces && [...this.pieces];
    // The registers of a subroutine are those of the activation around it.
    const registers = this.within === null ? this.i32.slice() : null;
    return () => {
      Object.assign(this, flow, { base, unsizedBytes, top, cost });
      this.tops = tops?.slice() ?? null;
      this.pieces = pieces && [...pieces];
      if (registers !== null) this.i32.set(registers);
    };
  }

  /** Makes room for another activation of the same function. Nobody may hold on to this one. */
  release(): void {
    this.caller = null;
    this.callSite = null;
    this.resume = null;
    this.onReturn = null;
    this.resumeMask = 0;
    if (this.within === null) this.code.pool.push(this);
  }
}
