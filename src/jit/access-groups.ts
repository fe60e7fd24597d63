import { writesOf } from "../ir/flow/accesses.ts";
import type { Access, Instruction, IrFunction } from "../ir/index.ts";
import type { Expr } from "../semantics/index.ts";
import { type Address, addressOf } from "./address.ts";
import type { Prepared } from "./prepare.ts";
import type { Stretch } from "./reach.ts";

/** Accesses of one block whose addresses are a few bytes from each other: what holds for all is checked once. */
export interface AccessGroup {
  readonly access: Access;
  readonly address: Address;
  readonly stretch: Stretch;
  /** How many there are. */
  readonly count: number;
  /** Whether the address is known where the block begins. */
  readonly isEarly: boolean;
}

export interface GroupMember {
  readonly group: AccessGroup;
  /** Where the access begins within the group's stretch. */
  readonly at: number;
}

/** Bytes at most from the first to the last: what is further away may lie elsewhere. */
const widest = 4096;

interface Candidate {
  readonly index: number;
  readonly access: Access;
  readonly address: Address;
  readonly isEarly: boolean;
}

export const bytesOf = ({ bits, count }: Access): number => (bits / 8) * count;

/** The groups of a function's accesses, by instruction. */
export function accessGroups({ ir, instructions, graph }: Prepared): ReadonlyMap<number, GroupMember> {
  const members = new Map<number, GroupMember>();
  for (const { start, end } of graph.blocks) {
    for (const candidates of candidatesOf(instructions.slice(start, end), start, new Bases(ir))) {
      const [first] = candidates;
      const { access, address, isEarly } = first!;
      const stretch = stretchOf(candidates);
      const group = { access, address, stretch, count: candidates.length, isEarly };
      for (const c of candidates) members.set(c.index, { group, at: c.address.offset - stretch.offset });
    }
  }
  return members;
}

/** What several accesses touch together. */
function stretchOf(candidates: readonly Candidate[]): Stretch {
  const offset = Math.min(...candidates.map((c) => c.address.offset));
  const end = Math.max(...candidates.map((c) => c.address.offset + bytesOf(c.access)));
  return { offset, size: end - offset, align: Math.max(...candidates.map((c) => c.access.align)) };
}

/** Whether all are near each other, and aligned when the beginning of the stretch is. */
function isGroup(candidates: readonly Candidate[]): boolean {
  const { offset, size, align } = stretchOf(candidates);
  return size <= widest && candidates.every((c) => (c.address.offset - offset) % align === 0);
}

/** Accesses that have the same base where they are. Guards would leave out some of those that the others check for. */
function candidatesOf(instructions: readonly Instruction[], start: number, bases: Bases): Candidate[][] {
  const lists: Candidate[][] = [];
  const open = new Map<string, Candidate[]>();
  instructions.forEach((instruction, i) => {
    const { op } = instruction;
    if ((op.kind === "load" || op.kind === "store" || op.kind === "atomic") && op.surface === undefined) {
      const isAlone = instruction.guard !== null || instruction.lanes !== undefined || readsFile(op.address);
      const address = bases.resolve(addressOf(op.address));
      const isEarly = !isAlone && bases.isUnchanged(address.base);
      const candidate = { index: start + i, access: op.access, address, isEarly };
      const key = `${op.access.space} ${bases.keyOf(address.base)}`;
      const known = isAlone ? undefined : open.get(key);
      if (known !== undefined && isGroup([...known, candidate])) known.push(candidate);
      else {
        const list = [candidate];
        lists.push(list);
        if (!isAlone && address.base.kind !== "const") open.set(key, list);
      }
    }
    // What is called may free memory.
    if (op.kind === "call") open.clear();
    bases.step(instruction);
  });
  return lists;
}

/** What the registers of a block hold, as far as sums with constants show it. */
class Bases {
  readonly #versions = new Map<number, number>();
  readonly #sums = new Map<number, Address>();
  readonly #registers: IrFunction["registers"];

  constructor({ registers }: IrFunction) {
    this.#registers = registers;
  }

  resolve(address: Address): Address {
    const { base, offset } = address;
    const sum = base.kind === "reg" ? this.#sums.get(base.reg) : undefined;
    return sum === undefined || sum.base.ty !== base.ty ? address : { base: sum.base, offset: sum.offset + offset };
  }

  /** The same for expressions that have the same value; they are made of the registers as they are now. */
  keyOf(expr: Expr): string {
    switch (expr.kind) {
      case "reg":
        return `${expr.ty}:r${expr.reg}.${this.#versions.get(expr.reg) ?? 0}`;
      case "const":
        return `${expr.ty}:${expr.value}`;
      case "prim":
        return `${expr.prim}(${expr.args.map((arg) => this.keyOf(arg)).join()})`;
      default:
        return JSON.stringify(expr);
    }
  }

  /** Whether the registers that an expression reads are as they were where the block began. */
  isUnchanged(expr: Expr): boolean {
    if (expr.kind === "reg") return !this.#versions.has(expr.reg);
    return expr.kind === "const" || (expr.kind === "prim" && expr.args.every((arg) => this.isUnchanged(arg)));
  }

  /** The instruction has been executed. */
  step(instruction: Instruction): void {
    const { op, dst, guard, lanes } = instruction;
    const fresh: (readonly [number, Address])[] = [];
    if (op.kind === "pure" && guard === null && lanes === undefined) {
      op.values.forEach((value, i) => {
        const to = dst[i];
        const sum = this.resolve(addressOf(value));
        if (typeof to !== "number" || sum.base.kind !== "reg") return;
        if (this.#registers[to]!.bits === (value.ty === "i64" ? 64 : 32)) fresh.push([to, sum]);
      });
    }
    const written: number[] = [];
    writesOf(instruction, (r) => written.push(r));
    for (const r of written) {
      this.#versions.set(r, (this.#versions.get(r) ?? 0) + 1);
      this.#sums.delete(r);
      for (const [to, { base }] of this.#sums) if (mentions(base, r)) this.#sums.delete(to);
    }
    for (const [to, sum] of fresh) if (!written.some((r) => mentions(sum.base, r))) this.#sums.set(to, sum);
  }
}

/** Whether an expression reads what lies in a byte file, where it changes without a register being written. */
const readsFile = (expr: Expr): boolean =>
  expr.kind === "region" || expr.kind === "indirect" || (expr.kind === "prim" && expr.args.some(readsFile));

const mentions = (expr: Expr, register: number): boolean =>
  expr.kind === "reg"
    ? expr.reg === register
    : expr.kind === "prim" && expr.args.some((arg) => mentions(arg, register));
