import { type Expr, kit, type RegionLeaf } from "../../semantics/index.ts";
import type { IrFunction, Register } from "../module.ts";
import { byteOf } from "../region.ts";
import { lastBefore } from "./ascending.ts";
import type { Holder, Slot } from "./file-holders.ts";

type Bits = RegionLeaf["bits"];

interface Held {
  readonly register: number;
  readonly bits: Bits;
  readonly kind: Holder["kind"];
}

/** The registers that hold the components of a function's byte file, and temporary ones. */
export class HolderRegisters {
  readonly #registers: Register[];
  readonly #holders: readonly Holder[];
  /** By byte that has been asked for. */
  readonly #holderOf = new Map<number, Holder>();
  readonly #width: number;
  readonly #file: IrFunction["file"];
  /** By holder, the registers of its elements or rows. */
  readonly #held = new Map<Holder, Map<number, number>>();

  constructor(ir: IrFunction, width: number, holders: readonly Holder[]) {
    this.#registers = [...ir.registers];
    this.#file = ir.file;
    this.#width = width;
    this.#holders = holders;
  }

  /** The registers of the function, and all that have been added. */
  get all(): readonly Register[] {
    return this.#registers;
  }

  /** The holder of a byte that the program accesses. */
  holderAt(byte: number): Holder {
    let holder = this.#holderOf.get(byte);
    if (holder === undefined) {
      holder = this.#holders[lastBefore(this.#holders, ({ component }) => component.start, byte)]!;
      this.#holderOf.set(byte, holder);
    }
    return holder;
  }

  /** The register of a lane's element, given its slot. */
  at(place: Pick<RegionLeaf, "region" | "bits">, lane: number, { element }: Slot): Held {
    const holder = this.holderAt(byteOf(place.region, place.bits, lane));
    return { register: this.ofElement(holder, element), bits: holder.bits, kind: holder.kind };
  }

  /** The register that has an element. */
  ofElement(holder: Holder, element: number): number {
    let registers = this.#held.get(holder);
    if (registers === undefined) this.#held.set(holder, (registers = new Map()));
    const index = holder.kind === "elements" ? element : Math.floor(element / this.#width);
    let register = registers.get(index);
    if (register === undefined) registers.set(index, (register = this.#add(holder, index)));
    return register;
  }

  /** A register that stands for no part of the file; of one bit it is a predicate. */
  temporary(bits: 1 | 32 | 64): number {
    const name = `temporary ${this.#registers.length}`;
    return this.#registers.push({ name, class: bits === 1 ? "pred" : bits === 64 ? "b64" : "b32", bits }) - 1;
  }

  #add({ kind, at, bits, component }: Holder, index: number): number {
    const variables = this.#file?.variables ?? [];
    const name = variables[lastBefore(variables, (v) => v.at, component.start)]?.name ?? "";
    const size = bits / 8;
    const row = at + index * this.#width * size;
    const first = Math.max(0, Math.floor((component.start - row) / size));
    const last = Math.min(this.#width, Math.ceil((component.end - row) / size));
    const home =
      kind === "elements"
        ? { at: at + index * size, bits, lanes: null }
        : { at: row + first * size, bits, lanes: { first, count: last - first } };
    return this.#registers.push({ name, class: bits === 64 ? "b64" : "b32", bits, home }) - 1;
  }
}

/** A part of a register of `whole` bits, from bit `shift` on, as a leaf reads it. */
export function part(
  reg: number,
  whole: Bits,
  shift: number,
  { ty, bits, signed }: Pick<RegionLeaf, "ty" | "bits" | "signed">,
): Expr {
  if (bits === whole) {
    const value: Expr = { kind: "reg", ty, reg };
    return bits < 32 && signed ? kit.narrow(value, bits, true) : value;
  }
  if (whole < 64) return kit.field({ kind: "reg", ty: "i32", reg }, shift, bits, signed);
  const register: Expr = { kind: "reg", ty: "i64", reg };
  const half = shift >= 32 ? kit.high(register) : kit.wrap(register);
  return bits === 32 ? kit.bitcast(half, ty) : kit.field(half, shift & 31, bits, signed);
}

/** The part of a register of `bits` bits that is `size` bits long, from bit `shift` on. */
interface Part {
  readonly bits: Bits;
  readonly shift: number;
  readonly size: Bits;
}

/** The value of a register with another one of its parts; null if that has another type. */
export function inserted(old: Expr, { bits, shift, size }: Part, value: Expr): Expr | null {
  if (bits < 64) {
    if (value.ty !== "i32") return null;
    const mask = 2 ** size - 1;
    return kit.or(kit.and(old, kit.i32(~(mask << shift))), kit.shl(kit.and(value, kit.i32(mask)), kit.i32(shift)));
  }
  if (size !== 32) return null;
  const half = kit.bitcast(value, "i32");
  return shift === 0 ? kit.pair(half, kit.high(old)) : kit.pair(kit.wrap(old), half);
}
