import { splitOffset } from "../../semantics/bind.ts";
import type { Expr } from "../../semantics/index.ts";
import type { Access } from "../access.ts";
import type { Destination, Instruction, Op } from "../instruction.ts";
import type { FrameVariable, IrFunction, Register } from "../module.ts";
import { type FrameLeaf, frameLeavesOf, operandsOf } from "./accesses.ts";

/** A part of a variable that a register can hold: `bits` bits at an offset in bytes. */
export interface Element {
  readonly offset: number;
  readonly bits: Access["bits"];
}

/** The most elements of a variable that are promoted: with more, the registers would cost more than they save. */
const maxElements = 256;

/** How a frame variable is used: in elements, if no two overlap, or else as memory. */
export class VariableUse {
  readonly size: number;
  #elements: Map<number, Access["bits"]> | null = new Map();

  constructor(size: number) {
    this.size = size;
  }

  add({ offset, bits }: Element): void {
    if (this.#elements === null) return;
    const known = this.#elements.get(offset);
    if (known === undefined) this.#elements.set(offset, bits);
    else if (known !== bits) this.#elements = null;
  }

  /** Notes that its address is taken, or that it is used in a way that registers cannot be. */
  needsMemory(): void {
    this.#elements = null;
  }

  /** Notes a variable that is copied whole to or from this one: both have the same elements. */
  join(other: VariableUse): void {
    if (other.size !== this.size || other.#elements === null) this.#elements = null;
    else for (const [offset, bits] of other.#elements) this.add({ offset, bits });
  }

  /** In ascending order of offset; null if the variable has to lie in memory. */
  get elements(): readonly Element[] | null {
    if (this.#elements === null || this.#elements.size > maxElements) return null;
    const list = [...this.#elements].map(([offset, bits]) => ({ offset, bits })).sort((a, b) => a.offset - b.offset);
    const apart = list.every(({ offset, bits }, i) => offset + bits / 8 <= (list[i + 1]?.offset ?? this.size));
    return apart ? list : null;
  }
}

type MemoryOp = Extract<Op, { kind: "load" | "store" }>;

/** A load or store of elements of one variable, the first at `offset`. */
export interface ElementAccess {
  readonly op: MemoryOp;
  readonly variable: number;
  readonly offset: number;
}

/** The access that an instruction makes to a frame variable, if registers could serve it; or else null. */
export function elementAccessOf({ op, dst }: Instruction, { frame, registers }: IrFunction): ElementAccess | null {
  if ((op.kind !== "load" && op.kind !== "store") || op.place.kind !== "address") return null;
  const { base, offset: distance } = splitOffset(op.place.address);
  if (base?.kind !== "frame" || base.generic) return null;
  const offset = base.offset + Number(distance);
  const fits = op.kind === "load" ? loadsFit(op.access, dst, registers) : storesFit(op);
  return fits && isWithin(op.access, offset, frame[base.variable]!) ? { op, variable: base.variable, offset } : null;
}

/** Whether an access stays within the variable, wherever the frame lies, and is invisible to other lanes. */
function isWithin({ space, bits, count, align, volatile, order }: Access, offset: number, to: FrameVariable): boolean {
  const aligned = align <= Math.max(to.align, 1) && offset % align === 0;
  const inside = offset >= 0 && offset + (bits / 8) * count <= to.size && !to.unsized;
  return (space === "local" || space === "call-param") && aligned && inside && !volatile && order === "weak";
}

const loadsFit = ({ bits }: Access, dst: readonly Destination[], registers: readonly Register[]): boolean =>
  dst.every((to) => {
    if (to === null) return true;
    const size = typeof to === "number" ? registers[to]!.class : "pred";
    return size === "b64" || (size === "b32" && bits <= 32);
  });

const storesFit = ({ access: { bits }, values }: Extract<Op, { kind: "store" }>): boolean =>
  values.every((value) => value === null || typesOfBits[bits].includes(value.ty));

const typesOfBits: Readonly<Record<Access["bits"], readonly Expr["ty"][]>> = {
  8: ["i32", "i64"],
  16: ["i32", "i64"],
  32: ["i32", "f32", "i64"],
  64: ["i64", "f64"],
};

export const elementsOf = ({ op: { access }, offset }: ElementAccess): readonly Element[] =>
  Array.from({ length: access.count }, (_, i) => ({ offset: offset + (i * access.bits) / 8, bits: access.bits }));

/** How a function's own instructions use its frame variables. Variables that calls pass whole are not covered. */
export function variableUsesOf(ir: IrFunction): readonly VariableUse[] {
  const uses = ir.frame.map(({ size }) => new VariableUse(size));
  const escapes = (leaf: FrameLeaf): void => uses[leaf.variable]!.needsMemory();
  for (const instruction of ir.instructions) {
    const access = elementAccessOf(instruction, ir);
    if (access !== null) for (const element of elementsOf(access)) uses[access.variable]!.add(element);
    const { op, undefinedCases } = instruction;
    const read = access === null ? operandsOf(op) : op.kind === "store" ? op.values : [];
    frameLeavesOf([...read, ...undefinedCases.map((u) => u.when)], escapes);
  }
  return uses;
}
