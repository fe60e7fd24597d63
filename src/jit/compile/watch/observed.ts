import {
  accessesOf,
  type Instruction,
  type IrFunction,
  laneAddressOf,
  type MemoryAccess,
  type Op,
  productOperands,
} from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import type { WatchedCode } from "./watched-code.ts";
import { isSharedSpace } from "./spaces.ts";

/** An instruction that the sanitizers themselves want to see. */
export interface ObservedInstruction {
  readonly instruction: Instruction;
  /** Its index in the function's list. */
  readonly index: number;
  /** Those of its accesses that they watch: of shared memory. */
  readonly accesses: readonly MemoryAccess[];
}

/** Units of the machine that access memory asynchronously, or as others do: all that is known of it is known late. */
const units: ReadonlySet<string> = new Set(["bulk-copy", "box-load", "box-store", "multiply-warpgroup", "clear-range"]);

/** Whether an operation is one of a unit of the machine that sanitizers can see in compiled code. */
export const isObservedUnit = (op: Op): boolean => op.kind === "unit" && units.has(op.unit.op);

/**
 * Whether shared memory is for the sanitizers themselves to watch: where units of the machine access it, and where
 * mbarriers order accesses.
 */
export const needsObservers = ({ instructions }: IrFunction): boolean =>
  instructions.some(({ op }) => {
    if (op.kind === "atomic") return op.problem !== undefined || op.tracks !== undefined;
    if (op.kind === "commit-copies" || op.kind === "await-copies") return op.bulk;
    return op.kind === "order-products" || isObservedUnit(op);
  });

/** Whether units may write memory of the device. */
export const unitsStore = ({ instructions }: IrFunction): boolean =>
  instructions.some(
    ({ op }) =>
      op.kind === "unit" && (op.unit.op === "box-store" || (op.unit.op === "bulk-copy" && !isSharedSpace(op.unit.to))),
  );

/** What is neither an access nor a unit, and yet orders accesses. */
function orders(op: Op): boolean {
  switch (op.kind) {
    case "fence":
    case "order-products":
    case "commit-copies":
    case "await-copies":
    case "copy":
      return true;
    case "nothing":
      return op.proxy === "async";
    case "warp":
      return op.mask !== null;
    default:
      return false;
  }
}

/** Shows the sanitizers what happens to shared memory: before each instruction that matters, and after barriers. */
export class Observation {
  readonly list: ObservedInstruction[] = [];
  readonly #code: WatchedCode;

  constructor(code: WatchedCode) {
    this.#code = code;
  }

  /** Writes what comes before an instruction. Returns what comes after it, if anything. */
  write(instruction: Instruction, index: number): (() => void) | null {
    const { op } = instruction;
    const accesses = accessesOf(op).filter(({ access }) => isSharedSpace(access.space));
    const isProduct = op.kind === "unit" && op.unit.op === "multiply-warpgroup";
    if (accesses.length === 0 && !isProduct && op.kind !== "barrier" && !orders(op)) return null;
    const number = this.list.push({ instruction, index, accesses }) - 1;
    const show = (after: boolean, operands: readonly Expr[]): void =>
      this.#code.add({ kind: "unit", unit: { op: "observe", number, after }, operands }, []);
    // A product has descriptors.
    if (isProduct) show(false, [op.operands[productOperands.b]!, op.operands[productOperands.a]!]);
    else
      show(
        false,
        accesses.map(({ place }) => laneAddressOf(place)),
      );
    return op.kind === "barrier" ? () => show(true, []) : null;
  }
}
