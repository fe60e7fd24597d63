import type { Restore } from "../memory/checkpoint.ts";
import type { Site } from "./code.ts";
import type { Activation, BasicBlock, FunctionCode, StackPiece, Warp } from "./launch-state.ts";
import { type PassedParts, type SmallViews, smallViews } from "./register-views.ts";

const noViews = smallViews(new ArrayBuffer(0));

class FunctionActivation implements Activation {
  readonly code: FunctionCode;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly i64: BigInt64Array;
  readonly f64: Float64Array;
  readonly small: SmallViews;
  readonly file: DataView;
  passed: PassedParts | null = null;
  readonly clean: Int32Array;
  readonly within: Activation | null;
  warp: Warp;
  caller: Activation | null = null;
  callSite: Site | null = null;
  resume: BasicBlock | null = null;
  resumeMask = 0;
  onReturn: ((x: Activation, mask: number) => void) | null = null;
  depth = 0;
  serial = 0;
  live = 0;
  returned = 0;
  base = 0;
  unsizedBytes = 0;
  top = 0;
  cost = 0;
  pointers: Int32Array | null = null;
  pieces: StackPiece[] | null = null;

  constructor(code: FunctionCode, warp: Warp, within: Activation | null) {
    this.code = code;
    this.warp = warp;
    this.within = within;
    if (within !== null) {
      ({ i32: this.i32, f32: this.f32, i64: this.i64, f64: this.f64, small: this.small, file: this.file } = within);
      this.clean = within.clean;
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
    this.clean = new Int32Array(buffer, 0, code.cleanBytes >> 2);
  }

  checkpoint(): Restore {
    const { warp, caller, callSite, resume, resumeMask, onReturn, depth, serial, live, returned } = this;
    const { base, unsizedBytes, top, cost } = this;
    const flow = { warp, caller, callSite, resume, resumeMask, onReturn, depth, serial, live, returned };
    const pointers = this.pointers?.slice() ?? null;
    const pieces = this.pieces && [...this.pieces];
    // The registers of a subroutine are those of the activation around it.
    const registers = this.within === null ? this.i32.slice() : null;
    return () => {
      Object.assign(this, flow, { base, unsizedBytes, top, cost });
      this.pointers = pointers?.slice() ?? null;
      this.pieces = pieces && [...pieces];
      if (registers !== null) this.i32.set(registers);
    };
  }

  release(): void {
    this.caller = null;
    this.callSite = null;
    this.resume = null;
    this.onReturn = null;
    this.resumeMask = 0;
    if (this.within === null) this.code.pool.push(this);
  }
}

/** A call of a function by some lanes of a warp, with registers that are zeros. */
export function enterFunction(code: FunctionCode, warp: Warp, mask: number): Activation {
  const x = code.pool.pop() ?? new FunctionActivation(code, warp, null);
  x.clean.fill(0);
  x.warp = warp;
  x.live = mask;
  x.returned = 0;
  x.unsizedBytes = 0;
  x.pointers = null;
  x.pieces = null;
  return x;
}

/** A call of a subroutine of `within`, in the registers and the byte file of that. */
export function enterSubroutine(within: Activation, mask: number): Activation {
  const x = new FunctionActivation(within.code, within.warp, within);
  x.live = mask;
  return x;
}
