import { everyLeaf, type Expr, fold, type Value } from "../../semantics/index.ts";
import { argAt, fileLayout } from "../byte-file.ts";
import type { FileCallOp } from "../calls.ts";
import { laneAddressOf } from "../access.ts";
import type { Destination, Instruction } from "../instruction.ts";
import type { FileHome, IrFunction } from "../module.ts";
import { retargeted } from "../retarget.ts";
import type { WorkItemModel } from "../work-item-model.ts";
import { readsOf, registersRead } from "./accesses.ts";
import { flowGraphOf } from "./flow-graph.ts";
import { isPassed, type PromotedLanes } from "./lane-promotion.ts";

/** What a routine does in the private memory of its thread. Distances are from where %sp points when it begins. */
export interface PrivateUse {
  /** The end of what it stores there by itself. */
  readonly end: number;
  /** Its calls, and where %sp points then; null if that is not known. */
  readonly calls: readonly { readonly op: FileCallOp; readonly at: number | null }[];
}

/** A routine without what it does for the private memory of its thread. */
export interface WithoutPrivateStack {
  readonly lanes: PromotedLanes;
  readonly use: PrivateUse;
}

/**
 * Removes what a routine computes from what belongs to the hardware thread alone, where it serves nothing but stores to
 * the thread's private memory: each function that Intel's compiler writes moves `%sp` and `%fp`, and stores the old
 * `%fp` for debuggers. Null if something else depends on it, if the memory is read, or if a store may miss the memory.
 *
 * `isThreadsOwn`: whether a part of the file holds something that work items do not know.
 */
export function withoutPrivateStack(
  lanes: PromotedLanes,
  { width, model }: { readonly width: number; readonly model: WorkItemModel },
  isThreadsOwn: (home: FileHome) => boolean,
): WithoutPrivateStack | null {
  const { ir, origins, rules } = lanes;
  const own = new Set(ir.registers.flatMap(({ home }, r) => (home !== undefined && isThreadsOwn(home) ? [r] : [])));
  spread(own, ir.instructions);
  if ([...own].some((r) => isPassedRegister(ir, r))) return null;
  const left = ir.instructions.map((instruction) => withoutOwn(instruction, own));
  const use = left.includes("seen") ? null : new StackProbe(ir, own, model, width).use();
  if (use === null) return null;
  const places = [0];
  for (const one of left) places.push(places.at(-1)! + Number(one !== "unseen"));
  const keep = <T>(list: readonly T[]): T[] => list.filter((_, i) => left[i] !== "unseen");
  const instructions = (keep(left) as Instruction[]).map((one) => retargeted(one, (target) => places[target]!));
  return { lanes: { ir: { ...ir, instructions }, origins: keep(origins), rules: keep(rules) }, use };
}

const isPassedRegister = (ir: IrFunction, register: number): boolean => {
  const { home } = ir.registers[register]!;
  return home !== undefined && isPassed(home.at, ir);
};

/** Adds the registers that are computed from those in a set. */
function spread(own: Set<number>, instructions: readonly Instruction[]): void {
  for (let size = -1; size !== own.size; ) {
    size = own.size;
    for (const { op, dst, guard } of instructions) {
      if (op.kind !== "pure") continue;
      for (let i = 0; i < dst.length; i++) {
        const to = dst[i];
        if (typeof to !== "number" || own.has(to)) continue;
        const isGuarded = guard !== null && own.has(guard.register);
        if (isGuarded || reads(op.values[i]!, own)) own.add(to);
      }
    }
  }
}

/** What is left of an instruction: none if nothing sees it, "seen" if something sees what is the thread's own. */
function withoutOwn(instruction: Instruction, own: ReadonlySet<number>): Instruction | "seen" | "unseen" {
  const { op, dst } = instruction;
  if (op.kind === "store" && reads(laneAddressOf(op.place), own)) return "unseen";
  const isOwn = (to: Destination): boolean => typeof to === "number" && own.has(to);
  if (op.kind === "pure" && dst.length > 0 && dst.every(isOwn)) return "unseen";
  const left = dst.some(isOwn) ? withoutResults(instruction, isOwn) : instruction;
  const isSeen = own.size > 0 && registersRead(left).some((r) => own.has(r));
  return isSeen ? "seen" : left;
}

/** The instruction without some of its results, and what it computes for them alone. */
function withoutResults(instruction: Instruction, isDropped: (to: Destination) => boolean): Instruction {
  const { op, dst } = instruction;
  if (op.kind !== "pure") return { ...instruction, dst: dst.map((to) => (isDropped(to) ? null : to)) };
  const isLeft = dst.map((to) => !isDropped(to));
  const values = op.values.filter((_, i) => isLeft[i]);
  return { ...instruction, op: { kind: "pure", values }, dst: dst.filter((_, i) => isLeft[i]) };
}

function reads(expr: Expr, registers: ReadonlySet<number>): boolean {
  if (expr.kind === "reg" || expr.kind === "lane-word") return registers.has(expr.reg);
  return expr.kind === "prim" && expr.args.some((arg) => reads(arg, registers));
}

// ---- Where %sp points -----------------------------------------------------------------------------------------------

/** The thread for which addresses are computed: its number, and what is in its registers when a routine begins. */
interface Probe {
  readonly thread: number;
  /** The address of its private memory, and where %sp and %fp point when a function begins. */
  readonly memory: bigint;
  readonly sp: bigint;
  readonly fp: bigint;
}

/** By probe, the value of a register; null if it is not known. */
type Values = readonly Value[] | null;

/** Numbers of threads that have each bit once, none, all, and some. */
const threads = [0, ...Array.from({ length: 12 }, (_, bit) => 1 << bit), 4095, 1365, 2730, 1234];

/**
 * Computes, for threads of all kinds, what a routine makes of the thread's registers, and compares the addresses of its
 * stores: all must be the same distance from where %sp has pointed at first.
 */
class StackProbe {
  readonly #ir: IrFunction;
  readonly #own: ReadonlySet<number>;
  readonly #model: WorkItemModel;
  readonly #width: number;
  readonly #probes: readonly Probe[];
  /** The registers that are computed: the thread's own, and those that these are computed from. */
  readonly #followed: ReadonlySet<number>;

  constructor(ir: IrFunction, own: ReadonlySet<number>, model: WorkItemModel, width: number) {
    this.#ir = ir;
    this.#own = own;
    this.#model = model;
    this.#width = width;
    const { bytes } = model.privateMemory;
    this.#probes = threads.map((thread, i) => {
      // Some lie before a multiple of 2^32, so that carries are seen.
      const first = 0x1000_0000_0000n + BigInt(i) * 0x1_2345_6780n + (i % 3 === 0 ? 0xffff_f000n : 0n);
      const memory = first + BigInt(thread * bytes);
      const sp = memory + BigInt(64 * i);
      return { thread, memory, sp, fp: sp - 32n };
    });
    this.#followed = followedFrom(own, ir.instructions);
  }

  /** Null if a store of the thread's own may be elsewhere, or if a function does not leave %sp as it was. */
  use(): PrivateUse | null {
    const { instructions, kind } = this.#ir;
    const calls: PrivateUse["calls"][number][] = [];
    let end = 0;
    let isKnown = true;
    if (!instructions.some(({ op }) => op.kind === "file-call") && this.#own.size === 0) return { end, calls };
    this.#eachInstruction((instruction, state) => {
      const { op } = instruction;
      if (op.kind === "store" && reads(laneAddressOf(op.place), this.#own)) {
        const stored = op.place.kind === "address" ? this.#endOf(instruction, op.place.address, state) : null;
        isKnown &&= stored !== null;
        end = Math.max(end, stored ?? 0);
      }
      if (op.kind === "file-call") calls.push({ op, at: this.#distance(this.#pointer(state)) });
      if (op.kind === "return" && kind === "function") isKnown &&= this.#isUnchanged(state);
    });
    return isKnown ? { end, calls } : null;
  }

  // ---- States -------------------------------------------------------------------------------------------------------

  /** Shows each instruction that is reached, and what is in the registers before it. */
  #eachInstruction(show: (instruction: Instruction, state: Map<number, Values>) => void): void {
    const { instructions } = this.#ir;
    const { blocks } = flowGraphOf(instructions);
    const changes = instructions.map(({ dst }) => dst.some((to) => typeof to === "number" && this.#followed.has(to)));
    const before: (Map<number, Values> | null)[] = blocks.map(() => null);
    before[0] = new Map([...this.#followed].map((r) => [r, this.#initial(r)]));
    const todo = [0];
    for (let b = todo.pop(); b !== undefined; b = todo.pop()) {
      const { start, end, successors } = blocks[b]!;
      const state = new Map(before[b]!);
      for (let i = start; i < end; i++) if (changes[i]) this.#execute(instructions[i]!, state);
      for (const s of successors) {
        if (s < blocks.length && joins(before, s, state)) todo.push(s);
      }
    }
    for (const { index, start, end } of blocks) {
      const state = before[index];
      if (state === null || state === undefined) continue;
      for (let i = start; i < end; i++) {
        show(instructions[i]!, state);
        if (changes[i]) this.#execute(instructions[i]!, state);
      }
    }
  }

  #execute({ op, dst, guard, lanes }: Instruction, state: Map<number, Values>): void {
    const forAll = lanes === undefined || (lanes.noMask && lanes.first === 0 && lanes.count >= this.#width);
    const isPlain = op.kind === "pure" && guard === null && forAll;
    const values = dst.map((to, i) =>
      typeof to === "number" && this.#followed.has(to) && isPlain ? this.#valuesOf(op.values[i]!, state, 0) : null,
    );
    for (const [i, to] of dst.entries()) if (typeof to === "number" && state.has(to)) state.set(to, values[i]!);
  }

  /** `lane`: the lane that computes it, which matters where lanes access elements of a block. */
  #valuesOf(expr: Expr, state: ReadonlyMap<number, Values>, lane: number | null): Values {
    const isKnown = everyLeaf(expr, (leaf) => {
      if (leaf.kind === "reg") return (state.get(leaf.reg) ?? null) !== null;
      return leaf.kind === "const" || (lane !== null && leaf.kind === "special" && leaf.name === "laneid");
    });
    if (!isKnown) return null;
    return this.#probes.map((_, probe) =>
      fold(expr, (leaf) => (leaf.kind === "reg" ? state.get(leaf.reg)![probe]! : (lane ?? 0))),
    );
  }

  // ---- What registers begin with ------------------------------------------------------------------------------------

  #initial(register: number): Values {
    const { home } = this.#ir.registers[register]!;
    if (home === undefined || home.lanes !== null) return null;
    const { at, bits } = home;
    const { file, kind } = this.#ir;
    if (at >= argAt) {
      if (isPassed(at, this.#ir) || file === undefined) return null;
      const isFilled = kind === "kernel" && this.#model.filled.some((f) => at < f.at + f.size && at + bits / 8 > f.at);
      if (!isFilled) return this.#probes.map(() => (bits === 64 ? 0n : 0));
    }
    const words = this.#probes.map((probe) => this.#bytesAt(probe, at, bits / 8));
    return words.includes(null) ? null : (words as Value[]);
  }

  /** The bytes of the file with which a thread begins, as a number; null if they are not known. */
  #bytesAt(probe: Probe, at: number, bytes: number): Value | null {
    const part = this.#knownParts(probe).find((p) => at >= p.at && at + bytes <= p.at + p.bytes);
    if (part === undefined) return null;
    const value = BigInt.asUintN(8 * bytes, part.value >> BigInt(8 * (at - part.at)));
    return bytes === 8 ? value : Number(BigInt.asIntN(32, value));
  }

  /** The parts of the file that are known when a thread begins, as numbers. */
  #knownParts({ thread, memory, sp, fp }: Probe) {
    const { parts, privateMemory } = this.#model;
    const isKernel = this.#ir.kind === "kernel";
    const { sr0, msg0 } = privateMemory.stateOf(thread);
    const state = [
      { ...fileLayout.sp, value: isKernel ? 0n : sp },
      { ...fileLayout.fp, value: isKernel ? 0n : fp },
      { ...fileLayout.hw_id, value: BigInt(thread) },
      { at: fileLayout.sr0.at, bytes: 4, value: BigInt(sr0) },
      { at: fileLayout.msg0.at, bytes: 4, value: BigInt(msg0) },
    ];
    const first = memory - BigInt(thread * privateMemory.bytes);
    const payload = parts.flatMap(({ at, bytes, from, source }) => {
      if (source.kind === "private") return [{ at: at - from, bytes: 8, value: memory + BigInt(source.offset) }];
      if (source.kind !== "param" || privateMemory.base === null) return [];
      const start = privateMemory.base - source.offset - from;
      return start < 0 || start + 8 > bytes ? [] : [{ at: at + start, bytes: 8, value: first }];
    });
    return isKernel ? [...state, ...payload] : state;
  }

  // ---- Distances ----------------------------------------------------------------------------------------------------

  /** Where %sp points; null if that is not known. */
  #pointer(state: ReadonlyMap<number, Values>): Values {
    return this.#threadBytes(state, fileLayout.sp.at) ?? null;
  }

  /** A qword among the thread's registers, in whatever registers it is held. */
  #threadBytes(state: ReadonlyMap<number, Values>, at: number): Values {
    const parts = [...this.#held(at, at + 8)];
    if (parts.length === 0) return this.#probes.map((probe) => this.#bytesAt(probe, at, 8)!);
    const known = parts.map((r) => ({ home: this.#ir.registers[r]!.home!, values: state.get(r) ?? null }));
    if (known.some(({ values }) => values === null)) return null;
    const covered = known.reduce((sum, { home }) => sum + home.bits / 8, 0);
    if (covered !== 8) return null;
    return this.#probes.map((_, probe) =>
      known.reduce((whole, { home, values }) => {
        const value = BigInt.asUintN(home.bits, BigInt(values![probe]!));
        return whole | (value << BigInt(8 * (home.at - at)));
      }, 0n),
    );
  }

  #held(start: number, end: number): readonly number[] {
    return this.#ir.registers.flatMap(({ home }, r) =>
      home !== undefined && home.at < end && home.at + home.bits / 8 > start ? [r] : [],
    );
  }

  /** How far addresses are from where %sp has pointed at first, or, in a kernel, from where the memory begins. */
  #distance(addresses: Values): number | null {
    if (addresses === null) return null;
    const { kind } = this.#ir;
    const distances = addresses.map((address, i) => {
      const { memory, sp } = this.#probes[i]!;
      return BigInt(address) - (kind === "kernel" ? memory : sp);
    });
    const [first] = distances;
    const isSame = distances.every((distance) => distance === first) && first! >= 0n && first! < 2n ** 31n;
    return isSame ? Number(first) : null;
  }

  /** The end of what a store writes, from where %sp has pointed at first; null if that is not known. */
  #endOf({ op, lanes }: Instruction, address: Expr, state: ReadonlyMap<number, Values>): number | null {
    if (op.kind !== "store") return null;
    const range = lanes?.noMask === true ? lanes : { first: 0, count: this.#width };
    let end = 0;
    for (let lane = range.first; lane < range.first + range.count; lane++) {
      const at = this.#distance(this.#valuesOf(address, state, lane));
      if (at === null) return null;
      end = Math.max(end, at + (op.access.count * op.access.bits) / 8);
    }
    return end;
  }

  /** Whether the thread's registers are as they were when the function began. */
  #isUnchanged(state: ReadonlyMap<number, Values>): boolean {
    return [...this.#own].every((r) => {
      const { home } = this.#ir.registers[r]!;
      if (home === undefined || home.at >= argAt) return true;
      const [before, now] = [this.#initial(r), state.get(r) ?? null];
      if (before === null || now === null) return !this.#isWritten(r);
      return before.every((value, i) => value === now[i]);
    });
  }

  #isWritten(register: number): boolean {
    return this.#ir.instructions.some(({ dst }) => dst.includes(register));
  }
}

/** Takes a state over to the beginning of a block. Returns whether that has changed what is known there. */
function joins(before: (Map<number, Values> | null)[], block: number, state: ReadonlyMap<number, Values>): boolean {
  const known = before[block];
  if (known === null || known === undefined) {
    before[block] = new Map(state);
    return true;
  }
  let isNew = false;
  for (const [r, values] of known) {
    if (values === null) continue;
    const other = state.get(r) ?? null;
    if (other?.every((value, i) => value === values[i])) continue;
    known.set(r, null);
    isNew = true;
  }
  return isNew;
}

/** The registers that some are computed from, and these. */
function followedFrom(own: ReadonlySet<number>, instructions: readonly Instruction[]): ReadonlySet<number> {
  const found = new Set(own);
  const computing = instructions.filter(({ op }) => op.kind === "pure");
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const instruction of computing) {
      if (instruction.dst.some((to) => typeof to === "number" && found.has(to)))
        readsOf(instruction, { register: (r) => found.add(r) });
    }
  }
  return found;
}

// ---- All routines together ------------------------------------------------------------------------------------------

/**
 * By routine, the most bytes that an activation takes of its thread's private memory; null if %sp is not known where
 * it matters, or if calls that do not nest to any depth leave the memory. Where they do, `limit` bytes are what all
 * activations may take together.
 */
export function privateCosts(
  uses: ReadonlyMap<IrFunction, PrivateUse>,
  targetsOf: (op: FileCallOp) => readonly IrFunction[],
  limit: number,
): ReadonlyMap<IrFunction, number> | null {
  const costs = new Map<IrFunction, number>();
  const isUsed = [...uses].some(([{ kind }, { end }]) => kind === "function" && end > 0);
  for (const [routine, { end, calls }] of uses) {
    if (isUsed && calls.some(({ at }) => at === null)) return null;
    costs.set(
      routine,
      calls.reduce((most, { at }) => Math.max(most, at ?? 0), end),
    );
  }
  const needs = new Map<IrFunction, number | "open">();
  // Calls that come back to a function that is open are counted when they are made.
  const need = (routine: IrFunction): number => {
    const known = needs.get(routine);
    if (known !== undefined) return known === "open" ? 0 : known;
    needs.set(routine, "open");
    const { end, calls } = uses.get(routine)!;
    const most = calls.reduce(
      (sum, { op, at }) => Math.max(sum, ...targetsOf(op).map((f) => (at ?? 0) + need(f))),
      end,
    );
    needs.set(routine, most);
    return most;
  };
  const [kernel] = uses.keys();
  return need(kernel!) <= limit ? costs : null;
}
