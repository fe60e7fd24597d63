import { writesOf } from "../../../../ir/flow/accesses.ts";
import type { Access, AddressedSurface, Instruction, IrFunction, Op } from "../../../../ir/index.ts";
import { type RegisterLeaf, splitOffset } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

/** An address as a base and a constant number of bytes, added in the width of the address. */
export interface Address {
  readonly base: Expr;
  readonly offset: number;
}

const maxDistance = 2 ** 31;

export function addressOf(expr: Expr): Address {
  const { base, offset } = splitOffset(expr);
  const bytes = Number(offset);
  if (base === null || Math.abs(bytes) >= maxDistance) return { base: expr, offset: 0 };
  return { base, offset: bytes };
}

/**
 * The bytes that accesses to a common base touch: `size` bytes from an offset on, the first of them aligned to `align`.
 */
export interface ByteRange {
  readonly offset: number;
  readonly size: number;
  readonly align: number;
}

/** Accesses of one block whose addresses are a few bytes apart: one check is made for all of them. */
export interface AccessGroup {
  readonly access: Access;
  /** Whether it writes: generic addresses may be those of read-only memory. */
  readonly writes: boolean;
  /** The surface outside which they find nothing; null: whatever is at the address. */
  readonly surface: AddressedSurface | null;
  readonly address: Address;
  readonly range: ByteRange;
  /** The number of accesses. */
  readonly count: number;
  /** Whether the address is known at the start of the block. */
  readonly isEarly: boolean;
}

export interface GroupMember {
  readonly group: AccessGroup;
  /** The distance of the access from the start of the group's bytes. */
  readonly at: number;
}

/** The groups all of whose accesses are loads and stores of single elements. */
export function groupsOfElements(
  instructions: readonly Instruction[],
  members: ReadonlyMap<number, GroupMember>,
): ReadonlySet<AccessGroup> {
  const found = new Set([...members.values()].map(({ group }) => group));
  for (const [i, { group }] of members) {
    const { op } = instructions[i]!;
    const isElement = (op.kind === "load" || op.kind === "store") && op.access.count === 1;
    if (!isElement || op.access.bits !== group.access.bits) found.delete(group);
  }
  return found;
}

/** The most bytes from the first to the last: accesses further apart may belong to different objects. */
const maxSpan = 4096;

interface Candidate {
  readonly index: number;
  readonly access: Access;
  readonly writes: boolean;
  readonly surface: AddressedSurface | null;
  readonly address: Address;
  readonly isEarly: boolean;
}

export const bytesOf = ({ bits, count }: Access): number => (bits / 8) * count;

/** The variable at or nearest to an address in a space, by a name of any kind; null where none is known. */
export type VariableNear = (space: Access["space"], address: Address) => string | null;

/**
 * The groups of a function's accesses, by instruction. Accesses to different variables are in different groups, even if
 * their addresses have the same base.
 */
export function accessGroups(
  { ir, instructions, graph }: PreparedCode,
  variableNear: VariableNear = () => null,
): ReadonlyMap<number, GroupMember> {
  const members = new Map<number, GroupMember>();
  for (const { start, end } of graph.blocks) {
    const inBlock = instructions.slice(start, end);
    if (!inBlock.some(({ op }) => isAccess(op))) continue;
    for (const near of nearbyOf(inBlock, start, new Bases(ir), variableNear)) {
      const { candidates, range } = near;
      const { access, writes, surface, address, isEarly } = candidates[0]!;
      const group = { access, writes, surface, address, range, count: candidates.length, isEarly };
      for (const c of candidates) members.set(c.index, { group, at: c.address.offset - range.offset });
    }
  }
  return members;
}

/** Accesses near each other, all of which are aligned if the first byte that they touch is. */
class Nearby {
  readonly candidates: Candidate[] = [];
  #offset = 0;
  #end = 0;
  #align = 0;
  /** The greatest common divisor of the distances between their offsets. */
  #step = 0;

  constructor(first: Candidate) {
    this.add(first);
  }

  get range(): ByteRange {
    return { offset: this.#offset, size: this.#end - this.#offset, align: this.#align };
  }

  /** Adds an access; false if it is too far away, or not aligned with the others. */
  add(candidate: Candidate): boolean {
    const { access, address } = candidate;
    const isFirst = this.candidates.length === 0;
    const offset = isFirst ? address.offset : Math.min(this.#offset, address.offset);
    const endOfAccess = address.offset + bytesOf(access);
    const end = isFirst ? endOfAccess : Math.max(this.#end, endOfAccess);
    const align = Math.max(this.#align, access.align);
    const step = isFirst ? 0 : greatestDivisor(this.#step, Math.abs(address.offset - this.#offset));
    if (!isFirst && (end - offset > maxSpan || step % align !== 0)) return false;
    this.candidates.push(candidate);
    [this.#offset, this.#end, this.#align, this.#step] = [offset, end, align, step];
    return true;
  }
}

/** The greatest common divisor of two numbers that are not negative. */
function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

const isAccess = (op: Op): op is Extract<Op, { kind: "load" | "store" | "atomic" }> =>
  op.kind === "load" || op.kind === "store" || op.kind === "atomic";

/** Accesses that have the same base where they are. Guards would leave out some of those that the others check for. */
function nearbyOf(
  instructions: readonly Instruction[],
  start: number,
  bases: Bases,
  variableNear: VariableNear,
): Nearby[] {
  const lists: Nearby[] = [];
  const open = new Map<string, Nearby>();
  instructions.forEach((instruction, i) => {
    const { op } = instruction;
    if (isAccess(op) && op.place.kind === "address") {
      const isAlone = instruction.guard !== null || instruction.lanes !== undefined || readsFile(op.place.address);
      const address = bases.resolve(addressOf(op.place.address));
      const isEarly = !isAlone && bases.isUnchanged(address.base);
      const surface = op.place.surface ?? null;
      const candidate = { index: start + i, access: op.access, writes: op.kind !== "load", surface, address, isEarly };
      const space = op.access.space === "generic" && candidate.writes ? "generic, written" : op.access.space;
      const variable = variableNear(op.access.space, address);
      const key = `${space} ${surface?.index} ${bases.keyOf(address.base)} ${variable}`;
      const joins = !isAlone && open.get(key)?.add(candidate) === true;
      if (!joins) {
        const list = new Nearby(candidate);
        lists.push(list);
        if (!isAlone && address.base.kind !== "const") open.set(key, list);
      }
    }
    // A callee may free memory.
    if (op.kind === "call") open.clear();
    bases.step(instruction);
  });
  return lists;
}

/** The registers of a block as sums of other registers and constants, where instructions show it. */
class Bases {
  readonly #versions = new Map<number, number>();
  readonly #sums = new Map<number, Sum>();
  /** By register, those that hold a sum with it. */
  readonly #users = new Map<number, Set<number>>();
  readonly #registers: IrFunction["registers"];

  constructor({ registers }: IrFunction) {
    this.#registers = registers;
  }

  resolve(address: Address): Address {
    const { base, offset } = address;
    const sum = base.kind === "reg" ? this.#sums.get(base.reg) : undefined;
    return sum === undefined || sum.base.ty !== base.ty ? address : { base: sum.base, offset: sum.offset + offset };
  }

  /** A key that is the same for expressions with the same value, given the present values of registers. */
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

  /** Whether the registers that an expression reads have the values that they had at the start of the block. */
  isUnchanged(expr: Expr): boolean {
    if (expr.kind === "reg") return !this.#versions.has(expr.reg);
    return expr.kind === "const" || (expr.kind === "prim" && expr.args.every((arg) => this.isUnchanged(arg)));
  }

  /** Takes note of an instruction that has been executed. */
  step(instruction: Instruction): void {
    const { op, dst, guard, lanes } = instruction;
    const fresh: (readonly [number, Sum])[] = [];
    if (op.kind === "pure" && guard === null && lanes === undefined) {
      op.values.forEach((value, i) => {
        const to = dst[i];
        const { base, offset } = this.resolve(addressOf(value));
        if (typeof to !== "number" || base.kind !== "reg") return;
        if (this.#registers[to]!.bits === (value.ty === "i64" ? 64 : 32)) fresh.push([to, { base, offset }]);
      });
    }
    const written: number[] = [];
    writesOf(instruction, (r) => written.push(r));
    for (const r of written) {
      this.#versions.set(r, (this.#versions.get(r) ?? 0) + 1);
      this.#forget(r);
      for (const to of this.#users.get(r) ?? []) this.#sums.delete(to);
      this.#users.delete(r);
    }
    for (const [to, sum] of fresh) {
      const { reg } = sum.base;
      if (written.includes(reg)) continue;
      this.#sums.set(to, sum);
      const users = this.#users.get(reg);
      if (users === undefined) this.#users.set(reg, new Set([to]));
      else users.add(to);
    }
  }

  #forget(register: number): void {
    const sum = this.#sums.get(register);
    if (sum === undefined) return;
    this.#sums.delete(register);
    this.#users.get(sum.base.reg)?.delete(register);
  }
}

/** A register plus a constant. */
interface Sum {
  readonly base: RegisterLeaf;
  readonly offset: number;
}

/** Whether an expression reads a byte file, which changes without a register being written. */
const readsFile = (expr: Expr): boolean =>
  expr.kind === "region" || expr.kind === "indirect" || (expr.kind === "prim" && expr.args.some(readsFile));
