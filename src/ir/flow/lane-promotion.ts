import { type Expr, type IndirectLeaf, kit, type RegionLeaf } from "../../semantics/index.ts";
import type { Destination, FileTarget, Instruction, Op } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands } from "../operands.ts";
import { byteOf } from "../region.ts";
import { retargeted } from "../retarget.ts";
import { ComputedVariables } from "./computed-variables.ts";
import { componentsOf, fileAccessesOf, ruleOf } from "./file-accesses.ts";
import { type Holder, holdersOf, type Slot, slotAt } from "./file-holders.ts";
import { HolderRegisters, inserted, part } from "./holder-registers.ts";
import { isAmong, tableOf } from "./lane-tables.ts";
import { singlePredicates, unitePairs, withoutNeedlessRules } from "./lane-rules.ts";

/** A function whose byte file has become registers. Rules remain where lanes that are not active matter. */
export interface PromotedLanes {
  readonly ir: IrFunction;
  /** By instruction, its index in the function that it was made from. */
  readonly origins: readonly number[];
  /** By instruction, the lanes for which the program has it. */
  readonly rules: readonly (LaneRule | undefined)[];
}

/** The lanes that execute an instruction: for each, the lane for which the program has it. */
type LaneMap = ReadonlyMap<number, number>;

/** What of an instruction is known while it is rewritten. */
interface Rewriting {
  readonly instruction: Instruction;
  readonly rule: LaneRule;
  /** Instructions before it that make its operands. */
  readonly before: Instruction[];
  /** Elements of other lanes that these have fetched. */
  readonly fetched: Map<string, Expr>;
  /** By register of which parts are written, its value with those that have been seen. */
  readonly pending: Map<number, Expr>;
}

/**
 * Promotes the whole byte file of a kernel to registers, for threads of `width` lanes: elements that lanes share become
 * registers that are the same in all of them; elements of other lanes are fetched by shuffles. Null if the file is
 * accessed in a way for which there are no registers.
 */
export function promoteLanes(ir: IrFunction, width: number): PromotedLanes | null {
  const variables = new ComputedVariables(ir);
  const accesses = fileAccessesOf(ir.instructions, width, variables);
  const holders = accesses === null ? null : holdersOf(componentsOf(accesses), ir.instructions, width);
  return holders === null ? null : new LanePromotion(ir, width, holders, variables).promoted();
}

class LanePromotion {
  readonly #ir: IrFunction;
  readonly #width: number;
  readonly #registers: HolderRegisters;
  readonly #single: ReadonlySet<number>;
  readonly #variables: ComputedVariables;

  constructor(ir: IrFunction, width: number, holders: readonly Holder[], variables: ComputedVariables) {
    this.#ir = ir;
    this.#variables = variables;
    this.#width = width;
    this.#registers = new HolderRegisters(ir, width, holders);
    this.#single = singlePredicates(ir, width);
  }

  promoted(): PromotedLanes | null {
    const instructions: Instruction[] = [];
    const origins: number[] = [];
    const rules: (LaneRule | undefined)[] = [];
    const starts: number[] = [];
    for (const [i, instruction] of this.#ir.instructions.entries()) {
      starts.push(instructions.length);
      const written = this.#rewritten(instruction);
      if (written === null) return null;
      for (const one of written) {
        instructions.push(one);
        origins.push(i);
        rules.push(instruction.lanes);
      }
    }
    starts.push(instructions.length);
    const moved = instructions.map((one) => retargeted(one, (target) => starts[target]!));
    unitePairs(moved);
    const ir = { ...this.#ir, registers: this.#registers.all, instructions: moved };
    return { ir: withoutNeedlessRules(ir, this.#width), origins, rules };
  }

  #rewritten(instruction: Instruction): readonly Instruction[] | null {
    const rule = ruleOf(instruction, this.#width);
    const rewriting: Rewriting = { instruction, rule, before: [], fetched: new Map(), pending: new Map() };
    if (instruction.lanes?.uniform === true) return [instruction];
    const holders = targetsOf(instruction).map((to) =>
      this.#registers.holderAt(byteOf(to.region, to.bits, rule.first)),
    );
    const isShared = holders.length > 0 && holders.every(({ kind }) => kind === "elements");
    if (isShared || this.#isOne(instruction, rule)) return this.#forThread(rewriting);
    if (holders.some(({ kind }) => kind === "elements")) return null;
    return this.#byLanes(rewriting);
  }

  /** Whether an instruction that writes no element is executed once for the thread. */
  #isOne({ dst, op, lanes }: Instruction, { noMask, count }: LaneRule): boolean {
    if (!noMask || count !== 1 || lanes === undefined) return false;
    if (op.kind === "atomic" || op.kind === "store") return dst.every((to) => to === null || typeof to === "number");
    return dst.every((to) => typeof to !== "object" && (to === null || this.#single.has(to)));
  }

  // ---- For all lanes of the thread ----------------------------------------------------------------------------------

  /** What is done once for the thread, each lane does by itself, for all lanes of the rule. */
  #forThread(rewriting: Rewriting): readonly Instruction[] | null {
    const { instruction, rule, before } = rewriting;
    const { op } = instruction;
    if (!rule.noMask && instruction.lanes !== undefined) return null;
    if (!rule.noMask && rule.count > 1) return null;
    const lanes = Array.from({ length: rule.count }, (_, i) => rule.first + i);
    if (lanes.length > 1 && op.kind !== "pure" && op.kind !== "load") return null;
    const copies = lanes.map((lane) => this.#forLane(rewriting, lane));
    if (copies.includes(null)) return null;
    const made = copies as Instruction[];
    if (op.kind === "atomic") return this.#elected(rewriting, made[0]!);
    if (op.kind !== "pure" || made.length === 1) return [...before, ...made];
    // Of several values for parts of a register, the last has all.
    const last = new Map<Destination, Expr>();
    for (const { op: each, dst } of made) {
      if (each.kind === "pure") for (const [i, to] of dst.entries()) last.set(to, each.values[i]!);
    }
    return [...before, { ...made[0]!, op: { kind: "pure", values: [...last.values()] }, dst: [...last.keys()] }];
  }

  /** An instruction as one lane executes it, by a lane that has no number. */
  #forLane(rewriting: Rewriting, lane: number): Instruction | null {
    const { lanes: _, ...instruction } = rewriting.instruction;
    const only: LaneMap = new Map(Array.from({ length: this.#width }, (_, l) => [l, lane]));
    return this.#withOperands(rewriting, instruction, only, (expr) =>
      expr.kind === "special" && expr.name === "laneid" ? kit.i32(lane) : null,
    );
  }

  /** An atomic operation of the thread: one of the lanes performs it, and tells the others. */
  #elected({ before }: Rewriting, instruction: Instruction): readonly Instruction[] | null {
    const { dst, guard } = instruction;
    if (guard !== null) return null;
    const [leader, isLeader] = [this.#registers.temporary(32), this.#registers.temporary(1)];
    const elect: Op = { kind: "warp", mask: null, aligned: false, warp: { op: "elect", operands: [] } };
    const found = dst.map((to) => (to === null ? null : this.#registers.temporary(32)));
    const lane: Expr = { kind: "reg", ty: "i32", reg: leader };
    const told = dst.flatMap((to, i): Instruction[] =>
      to === null ? [] : [{ ...instruction, ...shuffle({ kind: "reg", ty: "i32", reg: found[i]! }, lane, to) }],
    );
    if (dst.some((to) => typeof to === "number" && this.#registers.all[to]!.bits !== 32)) return null;
    return [
      ...before,
      { ...instruction, op: elect, dst: [leader, isLeader] },
      { ...instruction, dst: found, guard: { register: isLeader, negate: false } },
      ...told,
    ];
  }

  // ---- Lane by lane -------------------------------------------------------------------------------------------------

  #byLanes(rewriting: Rewriting): readonly Instruction[] | null {
    const { instruction, rule, before } = rewriting;
    const map = this.#laneMap(rewriting);
    if (map === null) return null;
    const isOwn = [...map].every(([lane, from]) => lane === from);
    const { lanes: _, ...rest } = instruction;
    if (!isOwn && (!rule.noMask || instruction.op.kind !== "pure" || instruction.guard !== null)) return null;
    const table = isOwn ? null : tableOf(Array.from({ length: this.#width }, (_, l) => map.get(l) ?? 0));
    const made = this.#withOperands(rewriting, rest, map, (expr) =>
      table !== null && expr.kind === "special" && expr.name === "laneid" ? table : null,
    );
    if (made === null) return null;
    return [...before, ...this.#limited(made, [...map.keys()], rule.noMask)];
  }

  /** An instruction for some of the lanes. */
  #limited(instruction: Instruction, lanes: readonly number[], noMask: boolean): readonly Instruction[] {
    const isAll = lanes.length === this.#width;
    if (!noMask && isAll) return [instruction];
    const [first, count] = [Math.min(...lanes), lanes.length];
    const isRange = Math.max(...lanes) - first + 1 === count;
    const range = (limits: boolean) => ({
      noMask,
      uniform: false,
      ...(limits ? { first, count } : { first: 0, count: this.#width }),
    });
    if (noMask && isRange) return [{ ...instruction, lanes: range(true) }];
    const p = this.#registers.temporary(1);
    const { guard } = instruction;
    const among = isAmong(lanes, this.#width);
    const own: Expr | null = guard === null ? null : { kind: "reg", ty: "pred", reg: guard.register };
    const condition = own === null ? among : kit.op("pred.and", among, guard!.negate ? kit.not(own) : own);
    const test: Instruction = { ...instruction, op: { kind: "pure", values: [condition] }, dst: [p], guard: null };
    const limited = { ...instruction, guard: { register: p, negate: false } };
    const rule = range(false);
    return noMask
      ? [
          { ...test, lanes: rule },
          { ...limited, lanes: rule },
        ]
      : [test, limited];
  }

  /** By lane that gets a result, the lane for which the program computes it; null where results part. */
  #laneMap({ instruction, rule }: Rewriting): LaneMap | null {
    const lanes = Array.from({ length: rule.count }, (_, i) => rule.first + i);
    let map: LaneMap | null = null;
    for (const to of targetsOf(instruction)) {
      const slots = lanes.map((lane) => this.#slot(to, lane));
      if (slots.some((slot) => rowOf(slot, this.#width) !== rowOf(slots[0]!, this.#width))) return null;
      const own = new Map(slots.map(({ element }, i) => [element % this.#width, lanes[i]!]));
      if (own.size !== lanes.length || (map !== null && !sameMap(map, own))) return null;
      map = own;
    }
    if (map === null) return new Map(lanes.filter((lane) => lane < this.#width).map((lane) => [lane, lane]));
    return [...map].some(([lane, from]) => lane !== from) && instruction.dst.some((to) => typeof to === "number")
      ? null
      : map;
  }

  #slot(place: Pick<RegionLeaf, "region" | "bits">, lane: number): Slot {
    const byte = byteOf(place.region, place.bits, lane);
    return slotAt(this.#registers.holderAt(byte), byte, place.bits)!;
  }

  // ---- Operands -----------------------------------------------------------------------------------------------------

  /** An instruction with registers for what it reads and writes; null if it is not known how. */
  #withOperands(
    rewriting: Rewriting,
    instruction: Instruction,
    map: LaneMap,
    special: (leaf: Expr) => Expr | null,
  ): Instruction | null {
    const memo = new Map<Expr, Expr>();
    let isKnown = true;
    const rewrite = (expr: Expr): Expr => {
      let value = memo.get(expr);
      if (value === undefined) memo.set(expr, (value = rewritten(expr)));
      return value;
    };
    const rewritten = (expr: Expr): Expr => {
      if (expr.kind === "prim") return { ...expr, args: expr.args.map(rewrite) };
      if (expr.kind === "indirect") return this.#readAny(rewriting, expr, rewrite(expr.address));
      if (expr.kind !== "region") return special(expr) ?? expr;
      const value = this.#read(rewriting, expr, map);
      isKnown &&= value !== null;
      return value ?? expr;
    };
    const read = mapOperands(instruction, rewrite);
    if (!isKnown) return null;
    const values: Expr[] = read.op.kind === "pure" ? [...read.op.values] : [];
    const dst = read.dst.map((to, i): Destination | undefined => {
      if (to === null || typeof to === "number") return to;
      if (to.kind === "indirect") return undefined;
      const [[, from]] = [...map] as [[number, number]];
      const slot = this.#slot(to, from);
      const { register, bits } = this.#registers.at(to, from, slot);
      if (to.bits === bits) return register;
      const value = values[i];
      const old = rewriting.pending.get(register) ?? { kind: "reg", ty: bits === 64 ? "i64" : "i32", reg: register };
      const whole = value === undefined ? null : inserted(old, { bits, shift: slot.shift, size: to.bits }, value);
      if (whole === null) return undefined;
      rewriting.pending.set(register, whole);
      values[i] = whole;
      return register;
    });
    if (dst.includes(undefined)) return null;
    const op: Op = read.op.kind === "pure" ? { kind: "pure", values } : read.op;
    return { ...read, op, dst: dst as Destination[], undefinedCases: [] };
  }

  /** What the lanes of a map read; null if there are too many registers to choose from. */
  #read(rewriting: Rewriting, leaf: RegionLeaf, map: LaneMap): Expr | null {
    const width = this.#width;
    const lanes = [...map];
    const [, from] = lanes[0]!;
    const slots = lanes.map(([, lane]) => this.#slot(leaf, lane));
    const [slot] = slots;
    if (slots.some(({ shift }) => shift !== slot!.shift)) return null;
    const { register, bits, kind } = this.#registers.at(leaf, from, slot!);
    const isSame = slots.every(({ element }) => element === slot!.element);
    const one = (r: number): Expr => ({ kind: "reg", ty: bits === 64 ? "i64" : "i32", reg: r });
    if (kind === "elements") {
      if (isSame) return part(register, bits, slot!.shift, leaf);
      const registers = slots.map((s, i) => this.#registers.at(leaf, lanes[i]![1], s).register);
      const chosen = registers.reduceRight<Expr | null>(
        (rest, r, i) => (rest === null ? one(r) : kit.select(isAmong([lanes[i]![0]], width), one(r), rest)),
        null,
      );
      const held = this.#kept(rewriting, chosen!, bits);
      return part(held, bits, slot!.shift, leaf);
    }
    const rows = slots.map((s) => rowOf(s, width));
    const isOwn = lanes.every(([lane], i) => slots[i]!.element % width === lane && rows[i] === rows[0]);
    if (isOwn) return part(register, bits, slot!.shift, leaf);
    const numbers = new Map(lanes.map(([lane], i) => [lane, slots[i]!.element % width]));
    const all = Array.from({ length: width }, (_, l) => numbers.get(l) ?? (isSame ? slot!.element % width : l));
    const fetched = [...new Set(rows)].map((row) => {
      const at = rows.indexOf(row);
      const { register: r } = this.#registers.at(leaf, lanes[at]![1], slots[at]!);
      return { row, value: this.#fetched(rewriting, r, bits, all) };
    });
    const value = fetched.reduce<Expr | null>((rest, { row, value }) => {
      const mine = lanes.flatMap(([lane], i) => (rows[i] === row ? [lane] : []));
      return rest === null ? value : kit.select(isAmong(mine, width), value, rest);
    }, null);
    return part(this.#kept(rewriting, value!, bits), bits, slot!.shift, leaf);
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
      rewriting.before.push({ ...this.#forAll(rewriting), ...shuffle(value, lane, to) });
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
  #inRegister(rewriting: Rewriting, value: Expr): Expr {
    const reg = this.#registers.temporary(value.ty === "i64" ? 64 : 32);
    rewriting.before.push({ ...this.#forAll(rewriting), op: { kind: "pure", values: [value] }, dst: [reg] });
    return { kind: "reg", ty: value.ty, reg };
  }

  /** What instructions that all lanes of the thread execute, active or not, have in common. */
  #forAll({ instruction: { span, location } }: Rewriting): Omit<Instruction, "op" | "dst"> {
    const lanes = { first: 0, count: this.#width, noMask: true, uniform: false };
    return { span, location, guard: null, lanes, undefinedCases: [] };
  }

  #kept({ before, instruction }: Rewriting, value: Expr, bits: number): number {
    if (value.kind === "reg") return value.reg;
    const reg = this.#registers.temporary(bits === 64 ? 64 : 32);
    const { lanes: _, ...rest } = instruction;
    before.push({ ...rest, op: { kind: "pure", values: [value] }, dst: [reg], guard: null, undefinedCases: [] });
    return reg;
  }
}

const targetsOf = ({ dst }: Instruction): readonly Extract<FileTarget, { kind: "region" }>[] =>
  dst.flatMap((to) => (to !== null && typeof to !== "number" && to.kind === "region" ? [to] : []));

const rowOf = ({ element }: Slot, width: number): number => Math.floor(element / width);

const sameMap = (a: LaneMap, b: LaneMap): boolean => a.size === b.size && [...a].every(([k, v]) => b.get(k) === v);

/** A shuffle by lane numbers, to a register. */
const shuffle = (value: Expr, lane: Expr, to: Destination): Pick<Instruction, "op" | "dst" | "undefinedCases"> => ({
  op: {
    kind: "warp",
    mask: null,
    aligned: false,
    warp: { op: "shfl", mode: "idx", operands: [value, lane, kit.i32(31)] },
  },
  dst: [to, null],
  undefinedCases: [],
});
