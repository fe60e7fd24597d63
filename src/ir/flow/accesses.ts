import type { Expr } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { Lanes } from "../lanes.ts";
import type { FileHome } from "../module.ts";
import { hasInner, operandsOf } from "../operands.ts";

export { operandsOf, valuesOf } from "../operands.ts";

export type FrameLeaf = Extract<Expr, { kind: "frame" }>;

/** Is shown what an instruction reads; the same may be shown more than once. */
export interface ReadVisitor {
  readonly register?: (register: number) => void;
  /**
   * A register of which lanes read the values of other lanes, which may be at other places: a predicate read as a word
   * of lanes or collapsed, a register read without a mask. `register` is shown it too.
   */
  readonly acrossLanes?: (register: number) => void;
  /** The address of a variable of the frame. */
  readonly frame?: (leaf: FrameLeaf) => void;
  /** A variable of the frame that is passed whole. */
  readonly variable?: (variable: number) => void;
}

/** Shows what an instruction reads: operands, guard, computed places of results. Undefined cases are left out. */
export function readsOf({ guard, op, dst, lanes }: Instruction, visitor: ReadVisitor): void {
  const visit = lanes?.noMask === true ? showingOthers(visitor) : visitor;
  if (guard !== null) {
    visit.register?.(guard.register);
    if (guard.collapse !== undefined) visit.acrossLanes?.(guard.register);
  }
  let seen: SeenParts | null = null;
  const operands = operandsOf(op);
  for (let i = 0; i < operands.length; i++) seen = showLeaves(operands[i]!, visit, seen);
  for (let i = 0; i < dst.length; i++) {
    const to = dst[i];
    if (typeof to === "object" && to !== null && to.kind === "indirect") seen = showLeaves(to.address, visit, seen);
  }
  if (op.kind === "call") for (const arg of op.args) if (arg.kind === "frame") visit.variable?.(arg.variable);
  if (op.kind === "subroutine-call") {
    // What the subroutine does not write is the same after it.
    const register = op.allLanes ? ofOthers(visitor) : visit.register;
    if (register !== undefined) op.registers?.forEach(register);
  }
}

/** The visitor of an instruction that all lanes execute, even those that are at other places. */
const showingOthers = (visitor: ReadVisitor): ReadVisitor =>
  visitor.acrossLanes === undefined ? visitor : { ...visitor, register: ofOthers(visitor) };

/** The registers that an instruction reads, some of them perhaps more than once. */
export function registersRead(instruction: Instruction): readonly number[] {
  const found: number[] = [];
  readsOf(instruction, { register: (r) => found.push(r) });
  return found;
}

/** Shows a register that all lanes read, even those that are at other places. */
const ofOthers =
  ({ register, acrossLanes }: ReadVisitor) =>
  (r: number): void => {
    register?.(r);
    acrossLanes?.(r);
  };

/** By register, the instructions that write it, in their order. */
export function writersIn(instructions: readonly Instruction[]): ReadonlyMap<number, readonly Instruction[]> {
  const writers = new Map<number, Instruction[]>();
  for (const instruction of instructions) {
    writesOf(instruction, (r) => {
      const list = writers.get(r);
      if (list === undefined) writers.set(r, [instruction]);
      else list.push(instruction);
    });
  }
  return writers;
}

/** Shows the registers that an instruction writes in the lanes that execute it. */
export function writesOf({ op, dst }: Instruction, register: (register: number) => void): void {
  for (let i = 0; i < dst.length; i++) {
    const to = dst[i];
    if (typeof to === "number") register(to);
  }
  if (op.kind === "subroutine-call") op.registers?.forEach(register);
  if (op.kind !== "call") return;
  for (const result of op.results) if (result.kind === "register") result.registers.forEach(register);
}

/** The registers that it writes. */
export function registersWritten(instruction: Instruction): readonly number[] {
  const found: number[] = [];
  writesOf(instruction, (r) => found.push(r));
  return found;
}

/**
 * Whether an instruction gives a register that it writes (and whose home is `home`) a new value in every lane that
 * reaches it.
 */
export const writesAlways = ({ guard, lanes }: Instruction, home?: FileHome): boolean =>
  guard === null && (lanes === undefined || (home !== undefined && hasAllLanes(lanes, home)));

/** Whether the lanes of a rule include all those of a part of the byte file. */
export const hasAllLanes = (rule: Lanes, { lanes }: FileHome): boolean =>
  lanes === null || (rule.first <= lanes.first && rule.first + rule.count >= lanes.first + lanes.count);

export type FileLeaf = Extract<Expr, { kind: "region" | "indirect" }>;

/**
 * The elements of the byte file that an instruction reads, each once; those that determine the places of others come
 * first.
 */
export function fileLeavesOf({ op, dst }: Instruction): readonly FileLeaf[] {
  const found: FileLeaf[] = [];
  let seen: Set<Expr> | null = null;
  const operands = operandsOf(op);
  for (let i = 0; i < operands.length; i++) seen = fileLeavesIn(operands[i]!, found, seen);
  for (let i = 0; i < dst.length; i++) {
    const to = dst[i];
    if (typeof to === "object" && to !== null && to.kind === "indirect") seen = fileLeavesIn(to.address, found, seen);
  }
  return found;
}

/** Elements among which another one is looked for one by one; nearly no instruction reads more. */
const fewLeaves = 16;

/** Adds the elements in an expression. `seen`: parts that have been looked at, returned with those of this one. */
function fileLeavesIn(expr: Expr, found: FileLeaf[], seen: Set<Expr> | null): Set<Expr> | null {
  switch (expr.kind) {
    case "region":
    case "indirect": {
      let known = seen;
      if (found.length < fewLeaves) {
        if (found.includes(expr)) return seen;
      } else {
        known ??= new Set();
        if (found.length === fewLeaves) for (const leaf of found) known.add(leaf);
        if (known.has(expr)) return known;
        known.add(expr);
      }
      if (expr.kind === "indirect") known = fileLeavesIn(expr.address, found, known);
      found.push(expr);
      return known;
    }
    case "prim": {
      const { args } = expr;
      let known = seen;
      // Leaves may be looked at again: remembering them would take longer.
      if (hasInner(args)) {
        known ??= new Set();
        if (known.has(expr)) return known;
        known.add(expr);
      }
      for (let i = 0; i < args.length; i++) known = fileLeavesIn(args[i]!, found, known);
      return known;
    }
    default:
      return seen;
  }
}

/** Shows the addresses of frame variables that occur in some expressions. */
export function frameLeavesOf(exprs: readonly (Expr | null)[], frame: (leaf: FrameLeaf) => void): void {
  const seen = new SeenParts();
  for (const expr of exprs) if (expr !== null) readsOfExpr(expr, { frame }, seen);
}

/** Shows the leaves of an operand. `seen`: parts of earlier operands, returned together with those of this one. */
function showLeaves(expr: Expr, visit: ReadVisitor, seen: SeenParts | null): SeenParts | null {
  // Nearly all operands are leaves, or have only leaves as arguments: there is nothing to remember.
  const isShallow = expr.kind === "prim" ? !hasInner(expr.args) : expr.kind !== "indirect";
  const known = isShallow ? nothing : (seen ?? new SeenParts());
  readsOfExpr(expr, visit, known);
  return isShallow ? seen : known;
}

/** Shows the leaves of an expression. Shared parts, and those in `seen`, are visited once. */
function readsOfExpr(expr: Expr, visit: ReadVisitor, seen: SeenParts): void {
  switch (expr.kind) {
    case "reg":
      visit.register?.(expr.reg);
      break;
    case "lane-word":
      visit.register?.(expr.reg);
      visit.acrossLanes?.(expr.reg);
      break;
    case "frame":
      visit.frame?.(expr);
      break;
    case "indirect":
      readsOfExpr(expr.address, visit, seen);
      break;
    case "prim": {
      const { args } = expr;
      // Leaves may be shown again: remembering them would take longer.
      if (hasInner(args) && !seen.add(expr)) break;
      for (let i = 0; i < args.length; i++) readsOfExpr(args[i]!, visit, seen);
      break;
    }
    default:
      break;
  }
}

/** Parts of expressions: few of them are looked for one by one, as a set costs more than it saves. */
class SeenParts {
  readonly #few: Expr[] = [];
  #many: Set<Expr> | null = null;

  /** Adds a part; false if it is one of them. */
  add(expr: Expr): boolean {
    if (this.#many === null) {
      if (this.#few.includes(expr)) return false;
      this.#few.push(expr);
      if (this.#few.length > fewLeaves) this.#many = new Set(this.#few);
      return true;
    }
    if (this.#many.has(expr)) return false;
    this.#many.add(expr);
    return true;
  }
}

/** For expressions without parts that are remembered. */
const nothing = new SeenParts();
