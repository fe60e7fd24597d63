import { type Expr, kit } from "../../semantics/index.ts";
import type { Destination, FileTarget, Instruction, Op } from "../instruction.ts";
import type { LaneRule } from "../lanes.ts";
import { argAt, variablesAt } from "../byte-file.ts";
import type { IrFunction, Register } from "../module.ts";
import { byteOf } from "../region.ts";
import { retargeted } from "../retarget.ts";
import { fileLeavesOf } from "./accesses.ts";
import { ComputedVariables } from "./computed-variables.ts";
import { componentsOf, type FileAccess, fileAccessesOf, ruleOf } from "./file-accesses.ts";
import { type Holder, holdersOf } from "./file-holders.ts";
import { HolderRegisters } from "./holder-registers.ts";
import { laneBlocks } from "./lane-blocks.ts";
import { type LaneMap, laneMapOf, LaneOperands, rowOf, type Rewriting, shuffle } from "./lane-operands.ts";
import { deadResults, singlePredicates, unitePairs, withoutNeedlessRules, withoutRule } from "./lane-rules.ts";
import { isAmong, laneNumber, tableOf } from "./lane-tables.ts";

/** A function whose byte file has become registers. Rules remain where lanes that are not active matter. */
export interface PromotedLanes {
  readonly ir: IrFunction;
  /** By instruction, its index in the function that it was made from. */
  readonly origins: readonly number[];
  /** By instruction, the lanes for which the program has it. */
  readonly rules: readonly (LaneRule | undefined)[];
}

/** What other routines access of %arg and %retval, which must be the same registers in all of them. */
export interface PassedAccesses {
  /** Each with the index of its instruction in the list. */
  readonly accesses: readonly FileAccess[];
  readonly instructions: readonly Instruction[];
}

/**
 * Promotes the whole byte file of a routine to registers, for threads of `width` lanes: elements that lanes share
 * become registers that are the same in all of them; elements of other lanes are fetched by shuffles. Null if the file
 * is accessed in a way for which there are no registers. `passed`: null where no routine calls another.
 */
export function promoteLanes(ir: IrFunction, width: number, passed: PassedAccesses | null): PromotedLanes | null {
  const variables = new ComputedVariables(ir);
  const own = fileAccessesOf(ir.instructions, width, variables);
  if (own === null) return null;
  const shift = ir.instructions.length;
  const others = passed?.accesses.map((access) => ({ ...access, index: access.index + shift })) ?? [];
  const instructions = [...ir.instructions, ...(passed?.instructions ?? [])];
  const holders = holdersOf(componentsOf([...own, ...others]), instructions, width);
  if (holders === null) return null;
  // Functions find what belongs to the thread, and what they are passed.
  const isKept = ({ home }: Register): boolean =>
    passed !== null && home !== undefined && home.at < variablesAt(ir.file!.grfBytes);
  return new LanePromotion(ir, width, holders, variables).promoted(isKept);
}

/** Whether a byte of a routine's file belongs to %arg or %retval. */
export const isPassed = (at: number, { file }: IrFunction): boolean => at >= argAt && at < variablesAt(file!.grfBytes);

class LanePromotion {
  readonly #ir: IrFunction;
  readonly #width: number;
  readonly #registers: HolderRegisters;
  readonly #single: ReadonlySet<number>;
  readonly #operands: LaneOperands;
  /** The rule of what is done once for the thread. */
  readonly #once: LaneRule;
  /** By lane, the map in which all lanes do what the program has that lane do. */
  readonly #allAs: LaneMap[] = [];
  /** By the lanes of a rule, the map in which each does what the program has for it. */
  readonly #same = new Map<number, LaneMap>();

  constructor(ir: IrFunction, width: number, holders: readonly Holder[], variables: ComputedVariables) {
    this.#ir = ir;
    this.#width = width;
    this.#once = { first: 0, count: width, noMask: true, uniform: false };
    this.#registers = new HolderRegisters(ir, width, holders);
    this.#operands = new LaneOperands(width, this.#registers, variables);
    this.#single = singlePredicates(ir, width);
  }

  /** `isKept`: registers that are read where it does not show. */
  promoted(isKept: (register: Register) => boolean): PromotedLanes | null {
    const instructions: Instruction[] = [];
    const origins: number[] = [];
    const rules: (LaneRule | undefined)[] = [];
    const starts: number[] = [];
    for (const [i, instruction] of this.#ir.instructions.entries()) {
      starts.push(instructions.length);
      const written = this.#rewritten(instruction);
      if (written === null) return null;
      for (const one of written) {
        if (changesNothing(one)) continue;
        instructions.push(one);
        origins.push(i);
        // What lanes do for others is for all of the thread, whatever the program's instruction is for.
        rules.push(one.lanes?.noMask === true && one.lanes !== this.#once ? one.lanes : instruction.lanes);
      }
    }
    starts.push(instructions.length);
    const dead = deadResults(instructions, this.#registers.all.map(isKept));
    /** By instruction, how many are left before it. */
    const places = [0];
    for (const isDead of dead) places.push(places.at(-1)! + Number(!isDead));
    const left = <T>(list: readonly T[]): T[] => list.filter((_, i) => !dead[i]);
    const moved = left(instructions).map((one) => retargeted(one, (target) => places[starts[target]!]!));
    unitePairs(moved);
    const ir = { ...this.#ir, registers: this.#registers.all, instructions: moved };
    return { ir: withoutNeedlessRules(ir, this.#width), origins: left(origins), rules: left(rules) };
  }

  #rewritten(instruction: Instruction): readonly Instruction[] | null {
    const rule = ruleOf(instruction, this.#width);
    const rewriting: Rewriting = { instruction, rule, before: [], fetched: null, pending: null };
    if (instruction.lanes?.uniform === true) return this.#forControl(rewriting);
    const block = laneBlocks(rewriting, this.#width, this.#registers, this.#operands);
    if (block !== null) return block;
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

  /** A branch, call or return that takes all lanes or none. */
  #forControl(rewriting: Rewriting): readonly Instruction[] | null {
    const { instruction, rule, before } = rewriting;
    if (fileLeavesOf(instruction).length === 0) return [instruction];
    const made = this.#forLane(rewriting, rule.first);
    return made === null ? null : [...before, { ...made, lanes: rule }];
  }

  // ---- For all lanes of the thread ----------------------------------------------------------------------------------

  /** What is done once for the thread, each lane does by itself, for all lanes of the rule. */
  #forThread(rewriting: Rewriting): readonly Instruction[] | null {
    const { instruction, rule, before } = rewriting;
    const { op } = instruction;
    if (!rule.noMask && (instruction.lanes !== undefined || rule.count > 1)) return null;
    const lanes = Array.from({ length: rule.count }, (_, i) => rule.first + i);
    if (lanes.length > 1 && op.kind !== "pure" && op.kind !== "load") return null;
    const copies = lanes.map((lane) => this.#forLane(rewriting, lane));
    if (copies.includes(null)) return null;
    const once = copies as Instruction[];
    if (op.kind === "atomic") return this.#elected(rewriting, once[0]!);
    // Also lanes that are not active have the result: where a thread has fewer work items, others may read it of them.
    const isValue = instruction.lanes !== undefined && (op.kind === "pure" || op.kind === "load");
    const inAll = (one: Instruction): Instruction => (isValue ? { ...one, lanes: this.#once } : one);
    const made = once.map(inAll);
    if (op.kind === "load") return [...before, ...made, ...partsLoaded(rewriting).map(inAll)];
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
    let only = this.#allAs[lane];
    if (only === undefined) {
      const all = Array.from({ length: this.#width }, (_, l) => l);
      only = laneMapOf(
        all,
        all.map(() => lane),
      );
      this.#allAs[lane] = only;
    }
    return this.#operands.of(rewriting, withoutRule(rewriting.instruction), only, (expr) =>
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
    const { isOwn, lanes } = map;
    if (!isOwn && (instruction.op.kind !== "pure" || instruction.guard !== null)) return null;
    const table = isOwn ? null : tableOf(this.#sourcesIn(map));
    const number = table ?? laneNumber(this.#width);
    const made = this.#operands.of(rewriting, withoutRule(instruction), map, (expr) =>
      expr.kind === "special" && expr.name === "laneid" ? number : null,
    );
    if (made === null) return null;
    if (table !== null && !rule.noMask) return [...before, ...this.#forOthers(rewriting, made, lanes, table)];
    const limited = [made, ...partsLoaded(rewriting)].map((one) => this.#limited(one, lanes, rule.noMask));
    return limited.includes(null) ? null : [...before, ...limited.flatMap((some) => some!)];
  }

  /** By lane of the thread, the lane for which the program has what it does; 0 for lanes that do nothing. */
  #sourcesIn({ lanes, from }: LaneMap): readonly number[] {
    const sources = new Array<number>(this.#width).fill(0);
    for (const [i, lane] of lanes.entries()) sources[lane] = from[i]!;
    return sources;
  }

  /** What active lanes do for others: `from` is the number of the lane that must be active. */
  #forOthers(rewriting: Rewriting, made: Instruction, lanes: readonly number[], from: Expr): readonly Instruction[] {
    const all = this.#operands.forAll(rewriting);
    const { lanes: _, ...plain } = all;
    // A lane that is not active would not learn which ones are: each shows it, and all look.
    const [shown, seen] = [this.#registers.temporary(32), this.#registers.temporary(32)];
    const p = this.#registers.temporary(1);
    const isActive = kit.ne({ kind: "reg", ty: "i32", reg: seen }, kit.i32(0));
    const condition = kit.op("pred.and", isAmong(lanes, this.#width), isActive);
    return [
      { ...all, op: { kind: "pure", values: [kit.i32(0)] }, dst: [shown] },
      { ...plain, op: { kind: "pure", values: [kit.i32(1)] }, dst: [shown] },
      { ...all, ...shuffle({ kind: "reg", ty: "i32", reg: shown }, from, seen) },
      { ...all, op: { kind: "pure", values: [condition] }, dst: [p] },
      { ...all, op: made.op, dst: made.dst, guard: { register: p, negate: false } },
    ];
  }

  /** An instruction for some of the lanes; null if these decide together, which is not for each of them to know. */
  #limited(instruction: Instruction, lanes: readonly number[], noMask: boolean): readonly Instruction[] | null {
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
    if (instruction.guard?.collapse !== undefined) return null;
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
    const same = this.#sameLanes(rule);
    let map: LaneMap | null = null;
    for (const to of targetsOf(instruction)) {
      const own = this.#laneMapOf(to, rule, same);
      if (own === null || (map !== null && map !== own && !sameMap(map, own))) return null;
      map = own;
    }
    if (map === null || map === same) return same;
    return !map.isOwn && instruction.dst.some((to) => typeof to === "number") ? null : map;
  }

  /** The same for the lanes of one result; `same` if each lane gets its own. */
  #laneMapOf(to: Extract<FileTarget, { kind: "region" }>, rule: LaneRule, same: LaneMap): LaneMap | null {
    if (this.#operands.areOwn(to, rule)) return same;
    const slots = this.#operands.slots(to, rule);
    const row = rowOf(slots[0]!, this.#width);
    let isSame = true;
    for (let i = 0; i < slots.length; i++) {
      if (rowOf(slots[i]!, this.#width) !== row) return null;
      isSame &&= slots[i]!.element % this.#width === rule.first + i;
    }
    if (isSame) return same;
    const lanes = slots.map(({ element }) => element % this.#width);
    if (new Set(lanes).size !== rule.count) return null;
    return laneMapOf(
      lanes,
      lanes.map((_, i) => rule.first + i),
    );
  }

  /** The lanes of a rule that the thread has, each for itself. */
  #sameLanes({ first, count }: LaneRule): LaneMap {
    const key = first * 64 + count;
    let known = this.#same.get(key);
    if (known === undefined) {
      const lanes = Array.from({ length: Math.max(0, Math.min(count, this.#width - first)) }, (_, i) => first + i);
      known = laneMapOf(lanes, lanes);
      this.#same.set(key, known);
    }
    return known;
  }
}

/** Whether registers are written to themselves, as compilers do to say that a value is needed after a call. */
const changesNothing = ({ op, dst }: Instruction): boolean =>
  op.kind === "pure" &&
  dst.length > 0 &&
  dst.every((to, i) => {
    const value = op.values[i]!;
    return value.kind === "reg" && value.reg === to;
  });

/** After a load of parts of registers: puts what has been loaded into them. */
function partsLoaded({ instruction, pending }: Rewriting): readonly Instruction[] {
  if (instruction.op.kind !== "load" || pending === null) return [];
  const op: Op = { kind: "pure", values: [...pending.values()] };
  return [{ ...withoutRule(instruction), op, dst: [...pending.keys()], undefinedCases: [] }];
}

const targetsOf = ({ dst }: Instruction): readonly Extract<FileTarget, { kind: "region" }>[] =>
  dst.flatMap((to) => (to !== null && typeof to !== "number" && to.kind === "region" ? [to] : []));

function sameMap(a: LaneMap, b: LaneMap): boolean {
  if (a.lanes.length !== b.lanes.length) return false;
  const sources = new Map(b.lanes.map((lane, i) => [lane, b.from[i]!]));
  return a.lanes.every((lane, i) => sources.get(lane) === a.from[i]);
}
