import { type Access, accessesOf, type Instruction, type IrFunction, plainAccess, windows } from "../../../ir/index.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { variablesInMemory } from "../../../ir/flow/variables-in-memory.ts";
import { isOfFrame } from "./spaces.ts";
import type { WatchedCode } from "./watched-code.ts";

/**
 * What a cell of the frame holds until it is written: nothing that a program is likely to store, in any of its halves.
 * One that does is interpreted in vain.
 */
const unwritten = 0x7fb5_d329;

/** Bytes of a function's variables, at most: they are filled when the function begins. */
const maxBytes = 4096;

/** Bytes of a cell: those of the narrowest access to variables of frames. */
export type FrameCell = 2 | 4;

/** Whether a function accesses variables of frames, or has any in memory. */
export const hasFrame = (ir: IrFunction): boolean =>
  variablesInMemory(ir).size > 0 ||
  ir.instructions.some(({ op }) => accessesOf(op).some(({ access }) => isOfFrame(access)));

/** Returns why what is read of a function's variables cannot be watched; null if it can. */
export function frameObstacleOf(ir: IrFunction): string | null {
  const variables = [...variablesInMemory(ir)].map((i) => ir.frame[i]!);
  if (variables.some(({ unsized }) => unsized)) return "parameters of any size";
  if (variables.reduce((sum, { size }) => sum + size, 0) > maxBytes) return "large variables of the frame";
  const isByte = ({ access }: { readonly access: Access }): boolean => isOfFrame(access) && access.bits === 8;
  return ir.instructions.some(({ op }) => accessesOf(op).some(isByte)) ? "bytes of variables of the frame" : null;
}

/** The cells of all functions' variables. */
export const frameCellOf = (functions: readonly IrFunction[]): FrameCell =>
  functions.some(({ instructions }) =>
    instructions.some(({ op }) => accessesOf(op).some(({ access }) => isOfFrame(access) && access.bits === 16)),
  )
    ? 2
    : 4;

/** Whether a generic address is one of local memory. */
export function isLocal(address: Expr): Expr {
  const { from, end } = windows.local;
  const window: Expr = { kind: "special", ty: "i64", name: "window" };
  return k.lt(k.sub(k.sub(address, window), k.i64(BigInt(from))), k.i64(BigInt(end - from)), false);
}

/**
 * Watches whether a function reads what has not been written of variables of frames. They are filled with a value where
 * the function begins; whoever reads that value may have read it before it was written. What is passed on without being
 * read takes it along.
 */
export class FrameWatch {
  readonly #code: WatchedCode;
  readonly #cell: FrameCell;

  constructor(code: WatchedCode, ir: IrFunction, cell: FrameCell) {
    this.#code = code;
    this.#cell = cell;
    const given = new Set(ir.params.flatMap(({ storage }) => (storage.kind === "frame" ? [storage.variable] : [])));
    for (const variable of variablesInMemory(ir)) if (!given.has(variable)) this.#fill(ir, variable);
  }

  /**
   * Writes what comes before an access that may be one of a frame, and returns what is to be written after it. `where`:
   * in which lanes it is one; null for all.
   */
  access({ op, dst }: Instruction, access: Access, where: Expr | null): (() => void) | null {
    if (access.bits < 8 * this.#cell) {
      if (where !== null) this.#code.find(where);
      return null;
    }
    if (op.kind !== "load") return null;
    // The address may be one of the results.
    const isIn = where === null ? null : this.#code.once(where);
    return () => {
      const tests = dst.flatMap((to) => (typeof to === "number" ? this.#tests(this.#code.own(to), access.bits) : []));
      if (tests.length === 0) return;
      const found = tests.reduce((a, b) => k.op("pred.or", a, b));
      this.#code.find(isIn === null ? found : k.op("pred.and", isIn, found));
    };
  }

  /** Whether parts of a loaded value are what a cell holds before it is written. */
  #tests(value: Expr, bits: Access["bits"]): readonly Expr[] {
    const words = value.ty === "i64" ? [k.wrap(value), ...(bits === 64 ? [k.high(value)] : [])] : [value];
    return words.flatMap((word) => {
      if (this.#cell === 4) return [k.eq(word, k.i32(unwritten))];
      const halves = bits === 16 ? [0] : [0, 16];
      return halves.map((at) =>
        k.eq(k.and(k.shr(word, k.i32(at), false), k.i32(0xffff)), k.i32((unwritten >>> at) & 0xffff)),
      );
    });
  }

  #fill({ frame }: IrFunction, variable: number): void {
    const { size, align, space } = frame[variable]!;
    const addressAt = (offset: number): Expr => ({ kind: "frame", ty: "i64", variable, offset, generic: false });
    let at = 0;
    const store = (bits: 16 | 32, count: number, value: number): void => {
      const access = plainAccess(space, bits, count, Math.min(align, bits / 8));
      const values = new Array<Expr>(count).fill(k.i32(value));
      this.#code.begin({ kind: "store", access, place: { kind: "address", address: addressAt(at) }, values }, []);
      at += (bits / 8) * count;
    };
    while (size - at >= 16) store(32, 4, unwritten);
    while (size - at >= 4) store(32, 1, unwritten);
    if (size - at >= 2) store(16, 1, unwritten & 0xffff);
  }
}
