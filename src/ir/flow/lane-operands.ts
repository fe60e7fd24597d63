import { type Expr, type IndirectLeaf, kit, onceForEach, type Region, type RegionLeaf } from "../../semantics/index.ts";
import type { Destination, Instruction, Op } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import { mapOperands } from "../operands.ts";
import { byteOf, bytesOf, strideOf } from "../region.ts";
import type { ComputedVariables } from "./computed-variables.ts";
import { type Slot, slotAt } from "./file-holders.ts";
import { type HolderRegisters, inserted, part } from "./holder-registers.ts";
import { withoutRule } from "./lane-rules.ts";
import { isAmong, tableOf } from "./lane-tables.ts";

/** The lanes that execute an instruction: for each, the lane for which the program has it. */
export interface LaneMap {
  readonly lanes: readonly number[];
  /** By place in `lanes`. */
  readonly from: readonly number[];
  /** Whether each lane does what the program has for it. */
  readonly isOwn: boolean;
}

/** The map of some lanes, of which each is named once. */
export const laneMapOf = (lanes: readonly number[], from: readonly number[]): LaneMap => ({
  lanes,
  from,
  isOwn: lanes.every((lane, i) => lane === from[i]),
});

/** An instruction that is being rewritten, and what its operands need before it. */
export interface Rewriting {
  readonly instruction: Instruction;
  readonly rule: LaneRule;
  /** Instructions before it that make its operands. */
  readonly before: Instruction[];
  /** Elements of other lanes that these have fetched; null if there are none, as in most. */
  fetched: Map<string, Expr> | null;
  /** By register of which parts are written, its value with those that have been seen; the same. */
  pending: Map<number, Expr> | null;
}

/** Registers for what instructions read of the byte file, and for where their results go. */
export class LaneOperands {
  readonly #width: number;
  readonly #registers: HolderRegisters;
  readonly #variables: ComputedVariables;

  constructor(width: number, registers: HolderRegisters, variables: ComputedVariables) {
    this.#width = width;
    this.#registers = registers;
    this.#variables = variables;
  }

  /** The slot of a lane's element. */
  slot(place: Pick<RegionLeaf, "region" | "bits">, lane: number): Slot {
    const byte = byteOf(place.region, place.bits, lane);
    return slotAt(this.#registers.holderAt(byte), byte, place.bits)!;
  }

  /** The slots of the elements of a rule's lanes. */
  slots(place: Pick<RegionLeaf, "region" | "bits">, rule: LaneRule): readonly Slot[] {
    const bytes = bytesOf(place.region, place.bits, rule);
    const holder = this.#registers.holderAt(bytes[0]!);
    return bytes.map((byte) => slotAt(holder, byte, place.bits)!);
  }

  /** Whether each lane of a rule has its own element of one row; false also where that is not seen at once. */
  areOwn({ region, bits }: Pick<RegionLeaf, "region" | "bits">, rule: LaneRule): boolean {
    const stride = strideOf(region, rule);
    const start = byteOf(region, bits, rule.first);
    const holder = this.#registers.holderAt(start);
    if (stride === null || stride * bits !== holder.bits || rule.first + rule.count > this.#width) return false;
    return slotAt(holder, start, bits)!.element % this.#width === rule.first;
  }

  /** An instruction with registers for what it reads and writes; null if it is not known how, or if no lane does it. */
  of(
    rewriting: Rewriting,
    instruction: Instruction,
    map: LaneMap,
    special: (leaf: Expr) => Expr | null,
  ): Instruction | null {
    // None of the work items has a channel of the instruction, as where a compiler packs four lanes into sixteen.
    if (map.lanes.length === 0) return null;
    let isKnown = true;
    const rewrite = onceForEach<Expr>((expr, rewrite) => {
      if (expr.kind === "prim") return { ...expr, args: expr.args.map(rewrite) };
      if (expr.kind === "indirect") return this.#readAny(rewriting, expr, rewrite(expr.address));
      if (expr.kind !== "region") return special(expr) ?? expr;
      const value = this.#read(rewriting, expr, map);
      isKnown &&= value !== null;
      return value ?? expr;
    });
    const read = mapOperands(instruction, rewrite);
    if (!isKnown) return null;
    const values: Expr[] = read.op.kind === "pure" ? [...read.op.values] : [];
    const isLoad = read.op.kind === "load";
    const dst = read.dst.map((to, i): Destination | undefined => {
      if (to === null || typeof to === "number") return to;
      if (to.kind === "indirect") return undefined;
      const from = map.from[0]!;
      const slot = this.slot(to, from);
      const { register, bits } = this.#registers.at(to, from, slot);
      if (to.bits === bits) return isLoad && rewriting.pending?.has(register) === true ? undefined : register;
      // A load writes whole registers: what it loads is put into the part afterwards.
      const loaded = isLoad ? this.#registers.temporary(32) : null;
      const value: Expr | undefined = loaded === null ? values[i] : { kind: "reg", ty: "i32", reg: loaded };
      const old = rewriting.pending?.get(register) ?? { kind: "reg", ty: bits === 64 ? "i64" : "i32", reg: register };
      const whole = value === undefined ? null : inserted(old, { bits, shift: slot.shift, size: to.bits }, value);
      if (whole === null) return undefined;
      rewriting.pending ??= new Map();
      rewriting.pending.set(register, whole);
      if (loaded !== null) return loaded;
      values[i] = whole;
      return register;
    });
    if (dst.includes(undefined)) return null;
    const op: Op = read.op.kind === "pure" ? { kind: "pure", values } : read.op;
    return { ...read, op, dst: dst as Destination[], undefinedCases: [] };
  }

  /** What lanes read that each read their own element of one row, as most do; null where they do not. */
  #readOwn(leaf: RegionLeaf, map: LaneMap): Expr | null {
    const width = this.#width;
    const { region, bits } = leaf;
    const { lanes, from } = map;
    const start = byteOf(region, bits, from[0]!);
    const holder = this.#registers.holderAt(start);
    if (holder.kind !== "rows") return null;
    const first = slotAt(holder, start, bits)!;
    // The lane that would have element 0 of the row.
    const row = first.element - lanes[0]!;
    if (row % width !== 0) return null;
    for (let i = 1; i < lanes.length; i++) {
      const places = byteOf(region, bits, from[i]!) - start;
      if (8 * places !== holder.bits * (lanes[i]! - lanes[0]!)) return null;
    }
    return part(this.#registers.ofElement(holder, first.element), holder.bits, first.shift, leaf);
  }

  /** What the lanes of a map read; null if there are too many registers to choose from. */
  #read(rewriting: Rewriting, leaf: RegionLeaf, map: LaneMap): Expr | null {
    const own = this.#readOwn(leaf, map);
    if (own !== null) return own;
    const width = this.#width;
    const { lanes, from: sources } = map;
    const from = sources[0]!;
    if (isScalar(leaf.region)) return this.#readOne(rewriting, leaf, from);
    const slots = sources.map((lane) => this.slot(leaf, lane));
    const [slot] = slots;
    if (slots.some(({ shift }) => shift !== slot!.shift)) return null;
    const { register, bits, kind } = this.#registers.at(leaf, from, slot!);
    const isSame = slots.every(({ element }) => element === slot!.element);
    const one = (r: number): Expr => ({ kind: "reg", ty: bits === 64 ? "i64" : "i32", reg: r });
    if (kind === "elements") {
      if (isSame) return part(register, bits, slot!.shift, leaf);
      const registers = slots.map((s, i) => this.#registers.at(leaf, sources[i]!, s).register);
      const chosen = registers.reduceRight<Expr | null>(
        (rest, r, i) => (rest === null ? one(r) : kit.select(isAmong([lanes[i]!], width), one(r), rest)),
        null,
      );
      const held = this.#kept(rewriting, chosen!, bits);
      return part(held, bits, slot!.shift, leaf);
    }
    const rows = slots.map((s) => rowOf(s, width));
    const numbers = new Map(lanes.map((lane, i) => [lane, slots[i]!.element % width]));
    const all = Array.from({ length: width }, (_, l) => numbers.get(l) ?? (isSame ? slot!.element % width : l));
    const fetched = [...new Set(rows)].map((row) => {
      const at = rows.indexOf(row);
      const { register: r } = this.#registers.at(leaf, sources[at]!, slots[at]!);
      return { row, value: this.#fetched(rewriting, r, bits, all) };
    });
    const value = fetched.reduce<Expr | null>((rest, { row, value }) => {
      const mine = lanes.filter((_, i) => rows[i] === row);
      return rest === null ? value : kit.select(isAmong(mine, width), value, rest);
    }, null);
    return part(this.#kept(rewriting, value!, bits), bits, slot!.shift, leaf);
  }

  /** The element of a lane, which all others read, too. */
  #readOne(rewriting: Rewriting, leaf: RegionLeaf, lane: number): Expr {
    const width = this.#width;
    const slot = this.slot(leaf, lane);
    const { register, bits, kind } = this.#registers.at(leaf, lane, slot);
    if (kind === "elements") return part(register, bits, slot.shift, leaf);
    const value = this.#fetched(rewriting, register, bits, new Array<number>(width).fill(slot.element % width));
    return part(this.#kept(rewriting, value, bits), bits, slot.shift, leaf);
  }

  /** The element of a variable at a computed byte of the file; beyond it there are zeros. */
  #readAny(rewriting: Rewriting, leaf: IndirectLeaf, address: Expr): Expr {
    const variable = this.#variables.of(leaf)!;
    const width = this.#width;
    const holder = this.#registers.holderAt(variable.at);
    const { at, bits } = holder;
    const distance = kit.sub(address, kit.i32(at));
    const element = this.#inRegister(rewriting, kit.shr(distance, kit.i32(Math.log2(bits / 8)), true));
    const lane = kit.and(element, kit.i32(width - 1));
    const rows = Math.ceil((8 * variable.bytes) / bits / width);
    const zero: Expr = bits === 64 ? kit.i64(0n) : kit.i32(0);
    const value = Array.from({ length: rows }, (_, row) => row).reduce((rest, row) => {
      const first = kit.sub(element, kit.i32(row * width));
      const fetched = this.#fetch(rewriting, this.#registers.ofElement(holder, row * width), bits, lane);
      return kit.select(kit.lt(first, kit.i32(width), false), fetched, rest);
    }, zero);
    return part(this.#kept(rewriting, value, bits), bits, 0, leaf);
  }

  /** The register of other lanes: `from` has the number of one for each lane. */
  #fetched(rewriting: Rewriting, register: number, bits: number, from: readonly number[]): Expr {
    const key = `${register} ${from}`;
    rewriting.fetched ??= new Map();
    let found = rewriting.fetched.get(key);
    if (found === undefined) {
      rewriting.fetched.set(key, (found = this.#fetch(rewriting, register, bits, tableOf(from))));
    }
    return found;
  }

  /** A register of the lane with a number. */
  #fetch(rewriting: Rewriting, register: number, bits: number, lane: Expr): Expr {
    const one = (value: Expr): Expr => {
      const to = this.#registers.temporary(32);
      rewriting.before.push({ ...this.forAll(rewriting), ...shuffle(value, lane, to) });
      return { kind: "reg", ty: "i32", reg: to };
    };
    if (bits !== 64) return one({ kind: "reg", ty: "i32", reg: register });
    const whole: Expr = { kind: "reg", ty: "i64", reg: register };
    return kit.pair(
      one(this.#inRegister(rewriting, kit.wrap(whole))),
      one(this.#inRegister(rewriting, kit.high(whole))),
    );
  }

  /** A register that holds a value in all lanes of the thread. */
  #inRegister(rewriting: Rewriting, value: Expr): Extract<Expr, { kind: "reg" }> {
    const reg = this.#registers.temporary(value.ty === "i64" ? 64 : 32);
    rewriting.before.push({ ...this.forAll(rewriting), op: { kind: "pure", values: [value] }, dst: [reg] });
    return { kind: "reg", ty: value.ty, reg };
  }

  /** What instructions that all lanes of the thread execute, active or not, have in common. */
  forAll({ instruction: { span, location } }: Pick<Rewriting, "instruction">): Omit<Instruction, "op" | "dst"> {
    const lanes = { first: 0, count: this.#width, noMask: true, uniform: false };
    return { span, location, guard: null, lanes, undefinedCases: [] };
  }

  /** The register with a value in the lanes that execute the instruction. */
  #kept(rewriting: Rewriting, value: Expr, bits: number): number {
    if (value.kind === "reg") return value.reg;
    const { before, instruction } = rewriting;
    if (instruction.lanes?.noMask === true) return this.#inRegister(rewriting, value).reg;
    const reg = this.#registers.temporary(bits === 64 ? 64 : 32);
    const op: Op = { kind: "pure", values: [value] };
    before.push({ ...withoutRule(instruction), op, dst: [reg], guard: null, undefinedCases: [] });
    return reg;
  }
}

/** Whether all lanes have the same element of a region. */
const isScalar = ({ vertical, width, horizontal }: Region): boolean =>
  vertical === 0 && (width === 1 || horizontal === 0);

/** The row of an element, which has `width` of them. */
export const rowOf = ({ element }: Slot, width: number): number => Math.floor(element / width);

/** A shuffle by lane numbers, to a register. */
export const shuffle = (
  value: Expr,
  lane: Expr,
  to: Destination,
): Pick<Instruction, "op" | "dst" | "undefinedCases"> => ({
  op: {
    kind: "warp",
    mask: null,
    aligned: false,
    warp: { op: "shfl", mode: "idx", operands: [value, lane, kit.i32(31)] },
  },
  dst: [to, null],
  undefinedCases: [],
});
