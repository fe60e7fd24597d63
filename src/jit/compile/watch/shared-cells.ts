import { accessesOf, type IrFunction, type MemoryAccess, windows } from "../../../ir/index.ts";
import type { Extent } from "../../../machine/memory/extent.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";
import { PointerRoots } from "./pointer-roots.ts";
import type { CellBytes } from "./shadow-plan.ts";
import { isSharedSpace, isWatched } from "./spaces.ts";
import type { WatchChoices } from "./watch-choices.ts";

/** Bytes of the largest cells. */
const largest: CellBytes = 4;

/** A variable of shared memory that has cells of a size of its own. */
export interface SharedVariable {
  readonly extent: Extent;
  readonly bytes: CellBytes;
}

/**
 * The cells of shared memory. Where each access is computed from one variable, each variable has cells as large as the
 * narrowest access to it, so that words of four bytes are not noted byte by byte because some other variable holds
 * bytes. That an access stays within its variable is tested: if it does not, the interpreter says what it does.
 */
export class SharedCells {
  /** Bytes of the smallest cells: planes have room for as many. */
  readonly bytes: CellBytes;
  readonly #variables = new Map<number, SharedVariable>();
  readonly #roots = new Map<IrFunction, PointerRoots>();
  readonly #extentOf: WatchChoices["sharedExtentOf"];

  /** `areAlike`: whether all of shared memory must have cells of one size. */
  constructor(
    functions: readonly IrFunction[],
    bytes: CellBytes,
    areAlike: boolean,
    extentOf: WatchChoices["sharedExtentOf"],
  ) {
    this.bytes = bytes;
    this.#extentOf = extentOf;
    if (areAlike || bytes === largest || !this.#divide(functions)) this.#variables.clear();
  }

  /** The variable that an address is computed from; null where all cells are of one size. */
  variableOf(ir: IrFunction, address: Expr): SharedVariable | null {
    if (this.#variables.size === 0) return null;
    return this.#variables.get(this.#extentFor(ir, address)!.start)!;
  }

  /** The address of a cell's word in a plane. */
  inPlane(plane: Extent, address: Expr, variable: SharedVariable | null): Expr {
    const { start } = windows.shared;
    const from = variable?.extent.start ?? start;
    const { bytes } = variable ?? this;
    // The words of a variable begin where those of the smallest cells would begin.
    const words = plane.start + (from - start) * (4 / this.bytes);
    return k.add(k.int(address, words - from * (4 / bytes)), scaled(address, bytes));
  }

  /** Finds the variables; false if cells of several sizes are impossible, or of no use. */
  #divide(functions: readonly IrFunction[]): boolean {
    for (const ir of functions) {
      for (const made of ir.instructions.flatMap(({ op }) => accessesOf(op))) {
        if (!isNoted(made)) continue;
        const extent = made.place.kind === "address" ? this.#extentFor(ir, made.place.address) : null;
        if (extent === null) return false;
        const known = this.#variables.get(extent.start)?.bytes ?? largest;
        this.#variables.set(extent.start, { extent, bytes: Math.min(known, made.access.bits / 8) as CellBytes });
      }
    }
    return [...this.#variables.values()].some(({ bytes }) => bytes > this.bytes);
  }

  /** The variable, where one alone is found, and its cells can begin where it begins. */
  #extentFor(ir: IrFunction, address: Expr): Extent | null {
    let roots = this.#roots.get(ir);
    if (roots === undefined) this.#roots.set(ir, (roots = new PointerRoots(ir, true)));
    const extents = roots
      .of(address)
      .flatMap((root) => (root.kind === "variable" ? (this.#extentOf(root.name) ?? []) : []));
    const [extent] = extents;
    const isOne = extent !== undefined && extents.every(({ start }) => start === extent.start);
    return isOne && extent.start % 4 === 0 ? extent : null;
  }
}

/** Whether some of the bytes of an access lie outside a variable. */
export function isOutside({ extent: { start, end } }: SharedVariable, address: Expr, bytes: number): Expr {
  const places = end - start - bytes + 1;
  if (places <= 0) return k.pred(true);
  return k.not(k.lt(k.sub(address, k.int(address, start)), k.int(address, places), false));
}

const isNoted = ({ access }: MemoryAccess): boolean => isWatched(access) && isSharedSpace(access.space);

/** An address in bytes of a plane that has a word of four bytes for each cell. */
export const scaled = (address: Expr, bytes: CellBytes): Expr =>
  bytes === 4 ? address : k.shl(address, k.i32(Math.log2(4 / bytes)));
