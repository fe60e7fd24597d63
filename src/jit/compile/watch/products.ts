import { flowGraphOf } from "../../../ir/flow/index.ts";
import {
  type ProductRegisters,
  registerUsesOf,
  type RegisterUses,
  type Touched,
} from "../../../ir/flow/warpgroup-registers.ts";
import type { Instruction, IrFunction, OpOf } from "../../../ir/index.ts";

const found = "registers of products of warpgroups that may be in use";

/** Commits after which it does not matter how many there have been: no wait leaves so many groups. */
const mostCommits = 15;

/** What products have left at a place of the code, by register; `max`: what may be, `min`: what certainly is. */
class ProductState {
  /** One more than the fewest commits since the last product that writes it; 0: none may be in flight. */
  readonly written: Uint8Array;
  /** The same of the last product that reads it as a part of A. */
  readonly read: Uint8Array;
  /** Whether a product that writes it is certainly in flight. */
  readonly isWritten: Uint8Array;
  /** Which shape that product has, from 1; 0: one of several. */
  readonly shape: Uint8Array;
  /** Whether a fence has certainly come after it. */
  readonly isFenced: Uint8Array;
  /** Bits: since the last fence an instruction that is no product may have read it (1), or written it (2). */
  readonly touched: Uint8Array;

  constructor(registers: number) {
    const make = (): Uint8Array => new Uint8Array(registers);
    this.written = make();
    this.read = make();
    this.isWritten = make();
    this.shape = make();
    this.isFenced = make();
    this.touched = make();
  }

  copy(): ProductState {
    const copied = new ProductState(0);
    for (const name of fields) Object.assign(copied, { [name]: this[name].slice() });
    return copied;
  }

  /** Adds what may be at the same place after another way. Returns whether anything is new. */
  join(other: ProductState): boolean {
    let isNew = false;
    const set = (list: Uint8Array, r: number, value: number): void => {
      isNew ||= list[r] !== value;
      list[r] = value;
    };
    for (let r = 0; r < this.written.length; r++) {
      if (this.shape[r] !== other.shape[r]) {
        const only = this.written[r] === 0 ? other.shape[r]! : other.written[r] === 0 ? this.shape[r]! : 0;
        set(this.shape, r, only);
      }
      for (const list of ["written", "read"] as const) set(this[list], r, soonest(this[list][r]!, other[list][r]!));
      for (const list of ["isWritten", "isFenced"] as const) set(this[list], r, this[list][r]! & other[list][r]!);
      set(this.touched, r, this.touched[r]! | other.touched[r]!);
    }
    return isNew;
  }

  rename(to: number, from: number): void {
    for (const name of fields) this[name][to] = this[name][from]!;
  }
}

const fields = ["written", "read", "isWritten", "shape", "isFenced", "touched"] as const;

const soonest = (a: number, b: number): number => (a === 0 || b === 0 ? a + b : Math.min(a, b));

/**
 * Why compiled code cannot watch the registers that products of warpgroups use (9.7.15.5.2, 9.7.15.7); null if there is
 * certainly nothing to report of them: all accesses and products are apart in time, whatever ways the warps take.
 */
export function productObstacleOf(ir: IrFunction): string | null {
  const uses = registerUsesOf(ir);
  if (!uses.any) return null;
  const graph = flowGraphOf(ir.instructions);
  const states = new Map<number, ProductState>([[0, new ProductState(ir.registers.length)]]);
  const shapes: string[] = [];
  const todo = [0];
  for (let block = todo.pop(); block !== undefined; block = todo.pop()) {
    const state = states.get(block)!.copy();
    const { start, end, successors } = graph.blocks[block]!;
    for (let i = start; i < end; i++) if (!passes(state, ir.instructions[i]!, i, uses, shapes)) return found;
    for (const next of successors) {
      if (next === graph.blocks.length) continue;
      const known = states.get(next);
      if (known === undefined) states.set(next, state.copy());
      if (known === undefined || known.join(state)) todo.push(next);
    }
  }
  return null;
}

/** Goes past an instruction. Returns whether there is certainly nothing to report. */
function passes(state: ProductState, { op, guard }: Instruction, i: number, uses: RegisterUses, shapes: string[]) {
  const product = uses.products[i] ?? null;
  if (product === null && op.kind !== "order-products") return touch(state, uses.touched(i));
  // Only some ways lead past it.
  if (guard !== null) return false;
  if (product !== null) return issue(state, product, shapes);
  order(state, op as OpOf<"order-products">);
  return true;
}

function order(state: ProductState, op: OpOf<"order-products">): void {
  const { written, read, isWritten, isFenced, touched } = state;
  if (op.step === "fence") {
    touched.fill(0);
    isFenced.fill(1);
    return;
  }
  for (const list of [written, read]) {
    for (let r = 0; r < list.length; r++) {
      if (list[r] === 0) continue;
      if (op.step !== "wait") list[r] = Math.min(list[r]! + 1, mostCommits);
      else if (list[r]! - 1 > op.pending) list[r] = 0;
    }
  }
  if (op.step === "wait") for (let r = 0; r < written.length; r++) if (written[r] === 0) isWritten[r] = 0;
}

function issue(state: ProductState, { product, accumulators, left }: ProductRegisters, shapes: string[]): boolean {
  const { n, k, d } = product.tile;
  const name = `m64n${n}k${k}.${d}`;
  if (!shapes.includes(name)) shapes.push(name);
  const shape = shapes.indexOf(name) + 1;
  for (const r of left) if (state.written[r] !== 0 || (state.touched[r]! & 2) !== 0) return false;
  for (const r of accumulators) {
    const isOther = state.written[r] !== 0 && state.shape[r] !== shape && state.isFenced[r] === 0;
    if (state.touched[r] !== 0 || isOther) return false;
  }
  for (const r of left) state.read[r] = 1;
  for (const r of accumulators) {
    state.written[r] = 1;
    state.isWritten[r] = 1;
    state.shape[r] = shape;
    state.isFenced[r] = 0;
  }
  return true;
}

/** An instruction that is no product. */
function touch(state: ProductState, { reads, writes, copies }: Touched): boolean {
  const renamed = new Set<number>();
  for (const [to, from] of copies) {
    if (state.written[from] === 0) continue;
    if (state.isWritten[from] === 0) return false;
    state.rename(to, from);
    renamed.add(to).add(from);
  }
  for (const r of reads) {
    if (renamed.has(r)) continue;
    if (state.written[r] !== 0) return false;
    state.touched[r]! |= 1;
  }
  for (const r of writes) {
    if (renamed.has(r)) continue;
    if (state.written[r] !== 0 || state.read[r] !== 0) return false;
    state.touched[r]! |= 2;
  }
  return true;
}
