import { type Expr, kit, type SpecialName } from "../../semantics/index.ts";
import { windows } from "../address-map.ts";
import { argAt, fileLayout, surfaceIndex } from "../byte-file.ts";
import { plainAccess } from "../access.ts";
import type { Destination, Instruction, Op } from "../instruction.ts";
import type { LaneRule, Lanes } from "../lanes.ts";
import type { FileHome, IrFunction, Param, Register } from "../module.ts";
import { operandsOf } from "../operands.ts";
import { retargeted } from "../retarget.ts";
import type { PayloadPart, PayloadSource, WorkItemModel } from "../work-item-model.ts";
import { fileLeavesOf, readsOf } from "./accesses.ts";
import { isPassed, type PromotedLanes } from "./lane-promotion.ts";
import { withoutRule, writesShared } from "./lane-rules.ts";
import { maskedOffset } from "./slm-offsets.ts";
import { ThreadUniform } from "./thread-uniform.ts";

/** A routine without hardware threads, and under which conditions it does the same as with them. */
export interface WorkItemRoutine {
  readonly ir: IrFunction;
  /** By instruction, its number in the routine that it was made from. */
  readonly origins: readonly number[];
  /** Instructions whose results were for all lanes of the thread: no lane elsewhere may read the old ones. */
  readonly forAllLanes: ReadonlySet<number>;
  /** Instructions that all lanes of the thread that have not ended must reach together. */
  readonly together: ReadonlySet<number>;
  /** Instructions that some lanes, but not all, execute whether they are active or not. */
  readonly forAbsentLanes: ReadonlySet<number>;
  /** Registers of which all active lanes have the same value: the thread had one for all lanes, active or not. */
  readonly shared: ReadonlySet<number>;
}

/** A work item's form of a routine, and what it takes of the memory that threads have for themselves. */
export interface WorkItemFunction extends WorkItemRoutine {
  /** `bytes`: the most that an activation takes; `limit`: the most that all of a lane may take together. */
  readonly privateStack: { readonly bytes: number; readonly limit: number };
}

/** Gives a routine, its byte file promoted and its calls like those of PTX, the values that its thread had. */
export class WorkItemForm {
  readonly #ir: IrFunction;
  readonly #origins: readonly number[];
  readonly #rules: PromotedLanes["rules"];
  readonly #width: number;
  readonly #modes: Expr;
  readonly #model: WorkItemModel;
  readonly #registers: Register[];
  readonly #uniform: ThreadUniform;
  /** Predicates of which one lane's bit decides for all. */
  readonly #decides: ReadonlySet<number>;
  /** Whether offsets into shared local memory may have further bits, by which kernels know generic addresses. */
  readonly #tagsOffsets: boolean;
  /** By index of a surface, the register with its address. */
  readonly #surfaces = new Map<number, number>();

  /** `modes`: what `%cr0` holds where functions are called. */
  constructor({ ir, origins, rules }: PromotedLanes, width: number, model: WorkItemModel, modes: Expr) {
    this.#ir = ir;
    this.#width = width;
    this.#modes = modes;
    this.#origins = origins;
    this.#rules = rules;
    this.#model = model;
    this.#registers = ir.registers.map(({ home: _, ...register }) => register);
    this.#uniform = new ThreadUniform(ir);
    this.#tagsOffsets = ir.instructions.some(({ op }) => operandsOf(op).some(hasTag));
    this.#decides = new Set(
      ir.instructions.flatMap(({ guard }, i) => {
        const decides = rules[i]?.uniform === true || rules[i]?.count === 1 || guard?.collapse !== undefined;
        return guard !== null && decides ? [guard.register] : [];
      }),
    );
  }

  /** Null if something is needed of the thread that work items do not know. */
  routine(): WorkItemRoutine | null {
    const { instructions, kind } = this.#ir;
    if (!this.#uniform.holds) return null;
    const converted = instructions.map((instruction, i) => this.#instruction(instruction, i));
    const start = this.#start();
    if (start === null || converted.includes(null)) return null;
    const moved = (converted as Instruction[]).map((i) => retargeted(i, (target) => target + start.length));
    const { file: _, ...rest } = this.#ir;
    const where = (holds: (instruction: Instruction, rule: LaneRule | undefined) => boolean): ReadonlySet<number> =>
      new Set(instructions.flatMap((one, i) => (holds(one, this.#rules[i]) ? [i + start.length] : [])));
    return {
      ir: {
        ...rest,
        params: kind === "kernel" ? this.#params() : rest.params,
        registers: this.#registers,
        instructions: [...start, ...moved],
      },
      origins: [...start.map(() => 0), ...this.#origins],
      forAllLanes: where(
        (one, rule) =>
          rule?.noMask === true &&
          !rule.uniform &&
          one.op.kind !== "store" &&
          (one.lanes === undefined || this.#isOnce(one, rule)),
      ),
      together: where((instruction, rule) => this.#needsAll(instruction, rule)),
      forAbsentLanes: where(
        (one, rule) => one.lanes?.noMask === true && !one.lanes.uniform && !this.#isOnce(one, rule),
      ),
      shared: new Set(this.#ir.registers.flatMap((_, r) => (this.#uniform.has(r) ? [r] : []))),
    };
  }

  /** Whether an instruction that all lanes execute stands for one that the thread executes once. */
  #isOnce(instruction: Instruction, rule: LaneRule | undefined): boolean {
    const { lanes } = instruction;
    if (lanes?.noMask !== true || rule === undefined) return false;
    return rule.count < lanes.count || writesShared(instruction, this.#ir.registers);
  }

  /**
   * Whether lanes that are elsewhere would make a difference to an instruction: a barrier, a return or a call for the
   * whole thread, a store for all lanes, a predicate under a mask whose bit in one lane decides for all.
   */
  #needsAll({ op, dst, lanes }: Instruction, rule: LaneRule | undefined): boolean {
    const isControl = op.kind === "return" || op.kind === "call";
    if (op.kind === "barrier" || (isControl && rule?.uniform === true)) return true;
    const isAccess = op.kind === "store" || op.kind === "atomic";
    if (rule?.noMask === true && rule.count > 1 && isAccess && lanes === undefined) return true;
    return rule?.noMask !== true && dst.some((to) => typeof to === "number" && this.#decides.has(to));
  }

  // ---- Instructions -------------------------------------------------------------------------------------------------

  #instruction(instruction: Instruction, at: number): Instruction | null {
    const { op, dst, guard, lanes } = instruction;
    if (this.#ir.kind === "function" && this.#dependsOnOthers(instruction, this.#rules[at])) return null;
    // Each lane would call its own function, where a thread reports that addresses differ.
    if (op.kind === "call" && op.target.kind === "indirect" && !this.#uniform.isSame(op.target.address)) return null;
    if (fileLeavesOf(instruction).length > 0 || dst.some((to) => to !== null && typeof to !== "number")) return null;
    if (op.kind === "barrier" && (op.mode !== "sync" || op.count !== null)) return null;
    const isUniformGuard = guard === null || this.#uniform.has(guard.register);
    if ((guard?.collapse !== undefined || lanes?.uniform === true) && !isUniformGuard) return null;
    const place = op.kind === "load" || op.kind === "store" || op.kind === "atomic" ? op.place : null;
    const located = place?.kind === "surface" ? this.#atAddress(op, at) : this.#tagsOffsets ? op : withoutMask(op);
    if (located === null) return null;
    const plain = guard?.collapse === undefined ? guard : { register: guard.register, negate: guard.negate };
    const own = lanes?.uniform === true ? withoutRule(instruction) : instruction;
    return own === instruction && located === op && plain === guard ? own : { ...own, op: located, guard: plain };
  }

  /**
   * Whether an instruction of a function reads registers of lanes that may not have called it, or writes what they see
   * after the call.
   */
  #dependsOnOthers(instruction: Instruction, rule: LaneRule | undefined): boolean {
    const { op, dst } = instruction;
    let isAcross = op.kind === "warp";
    readsOf(instruction, { acrossLanes: (r) => (isAcross ||= this.#ir.registers[r]!.class === "pred") });
    if (isAcross || rule?.uniform === true) return isAcross;
    const isReturned = (to: Destination): boolean => {
      const home = typeof to === "number" ? this.#ir.registers[to]!.home : undefined;
      return home !== undefined && home.lanes !== null && isPassed(home.at, this.#ir);
    };
    if (rule?.noMask === true) return dst.some(isReturned);
    return dst.some((to) => typeof to === "number" && this.#decides.has(to));
  }

  /** An access to a surface as one at an address; null where it is not known which surface it is. */
  #atAddress(op: Op, at: number): Op | null {
    if ((op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") || op.place.kind !== "surface") return null;
    const index = this.#constantAt(op.place.surface, at);
    const from = index === null ? undefined : this.#model.surfaces.get(index);
    if (index === null || from === undefined) return null;
    let register = this.#surfaces.get(index);
    if (register === undefined) {
      register = this.#registers.push({ name: `surface ${index}`, class: "b64", bits: 64 }) - 1;
      this.#surfaces.set(index, register);
    }
    const base: Expr = { kind: "reg", ty: "i64", reg: register };
    const address = kit.add(base, kit.widen(op.place.offset, false));
    return { ...op, place: { kind: "address", address, surface: { index, param: from } } };
  }

  /** The constant that an expression is before an instruction; null if it is none, or if that is not known. */
  #constantAt(expr: Expr, at: number): number | null {
    if (expr.kind === "const") return Number(expr.value) >>> 0;
    if (expr.kind !== "reg") return null;
    const { instructions } = this.#ir;
    // A block begins at every target of a branch; to go past one, no branch may lead there.
    for (let i = at - 1; i >= 0 && !this.#isTarget(i + 1); i--) {
      const { op, dst, guard } = instructions[i]!;
      if (!dst.includes(expr.reg)) continue;
      const value = op.kind === "pure" && guard === null ? op.values[dst.indexOf(expr.reg)]! : null;
      return value?.kind === "const" ? Number(value.value) >>> 0 : null;
    }
    const writers = instructions.filter(({ dst }) => dst.includes(expr.reg));
    const [writer] = writers;
    const value = writer?.op.kind === "pure" && writer.guard === null ? writer.op.values[0]! : null;
    return writers.length === 1 && value?.kind === "const" && instructions.indexOf(writer!) < at
      ? Number(value.value) >>> 0
      : null;
  }

  #targets: ReadonlySet<number> | null = null;

  #isTarget(index: number): boolean {
    this.#targets ??= new Set(this.#ir.instructions.flatMap(({ op }) => (op.kind === "branch" ? [op.target] : [])));
    return this.#targets.has(index);
  }

  // ---- How a work item begins ---------------------------------------------------------------------------------------

  /** Instructions that give registers what the thread's payload gave them; null if work items do not know it. */
  #start(): Instruction[] | null {
    const read = new Set<number>();
    const written = new Set<number>();
    for (const instruction of this.#ir.instructions) {
      readsOf(instruction, { register: (r) => read.add(r) });
      for (const to of instruction.dst) if (typeof to === "number") written.add(to);
    }
    const start: Instruction[] = [];
    for (const [r, { home }] of this.#ir.registers.entries()) {
      if (home === undefined || !read.has(r)) continue;
      const found = this.#initial(r, home, written.has(r));
      if (found === null) return null;
      if (found !== "zero") start.push(this.#emitted(found, r));
    }
    for (const [index, r] of this.#surfaces) {
      start.push(this.#emitted(paramLoad(this.#model.surfaces.get(index)!, 64), r));
    }
    return start;
  }

  /** What a register begins as. */
  #initial(register: number, home: FileHome, isWritten: boolean): Op | "zero" | null {
    const { at, bits, lanes } = home;
    // The variables of a function are its own, and what it is passed it is given.
    if (this.#ir.kind === "function" && at >= argAt) return "zero";
    const end = at + ((lanes?.count ?? 1) * bits) / 8;
    const overlaps = (start: number, size: number): boolean => at < start + size && end > start;
    const parts = this.#model.parts.filter((part) => overlaps(part.at, part.bytes));
    const [part] = parts;
    if (part === undefined) {
      if (this.#model.filled.some((range) => overlaps(range.at, range.size))) return null;
      if (at >= argAt) return "zero";
      // The modes are written before anything is computed, by which they become constants.
      const first = this.#ir.kind === "kernel" ? kit.i32(0) : this.#modes;
      if (at === fileLayout.cr0.at && bits === 32) return pure(first);
      if (overlaps(fileLayout.cr0.at, fileLayout.cr0.bytes)) return null;
      if (at === fileLayout.surfaces.at) return pure(kit.i32(surfaceIndex.slm));
      return null;
    }
    if (lanes !== null) return this.#ofLanes(register, { at, bits, lanes }, parts, isWritten);
    const whole = parts.find((one) => at >= one.at && end <= one.at + one.bytes);
    return whole === undefined ? null : ofThread(whole.source, whole.from + at - whole.at, bits, this.#width);
  }

  /** A register of which each lane has an element of its own; what its lanes begin with may be in several parts. */
  #ofLanes(
    register: number,
    { at, bits, lanes }: FileHome & { readonly lanes: Lanes },
    parts: readonly PayloadPart[],
    isWritten: boolean,
  ): Op | null {
    const [{ source }] = parts as [PayloadPart];
    const size = bits / 8;
    const end = at + size * lanes.count;
    const covered = parts.reduce((sum, p) => sum + Math.min(end, p.at + p.bytes) - Math.max(at, p.at), 0);
    const isOwn = ({ source: other, from, at: start }: PayloadPart): boolean =>
      isSame(other, source) && from - start === size * lanes.first - at;
    if (covered !== end - at || !parts.every(isOwn)) return null;
    if (source.kind === "item-index" && bits === 32) return pure(itemIndex());
    if (source.kind !== "local-id" || bits !== 16) return null;
    // Ids are small: where nothing else is written to it, the register may be treated as a wide one.
    if (!isWritten) this.#registers[register] = { ...this.#registers[register]!, bits: 32 };
    return pure(special("tid", source.dimension));
  }

  #emitted(op: Op, register: number): Instruction {
    const { span, location } = this.#ir.instructions[0]!;
    return { op, dst: [register], guard: null, undefinedCases: [], span, location };
  }

  #params(): Param[] {
    const { pointers, paramBytes } = this.#model;
    const param = (offset: number, size: number): Param => ({
      name: "",
      type: { kind: "b", size, align: Math.min(size, 8), unsized: false },
      storage: { kind: "kernel", offset },
    });
    const params: Param[] = [];
    // The bytes between pointers are one parameter each.
    let end = 0;
    for (const offset of [...pointers].sort((a, b) => a - b)) {
      if (offset > end) params.push({ ...param(end, offset - end), type: block(offset - end) });
      params.push(param(offset, 8));
      end = offset + 8;
    }
    if (paramBytes > end) params.push({ ...param(end, paramBytes - end), type: block(paramBytes - end) });
    return params;
  }
}

/**
 * An access to shared local memory without the mask over its offset, which hides what the address is made of. An offset
 * with other bits then misses its object, and whoever looks the address up applies the mask.
 */
function withoutMask(op: Op): Op {
  const found = maskedOffset({ op });
  if (found === null || (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic")) return op;
  return { ...op, place: { kind: "address", address: kit.add(found.offset, found.start) } };
}

/** The bit that IGC sets in generic addresses of shared local memory, which it uses as offsets as they are. */
const genericTag = 0x1000_0000;

const hasTag = (expr: Expr): boolean =>
  expr.kind === "prim" ? expr.args.some(hasTag) : expr.kind === "const" && Number(expr.value) === genericTag;

const block = (size: number): Param["type"] => ({ kind: "array", size, align: 8, unsized: false });

const pure = (value: Expr): Op => ({ kind: "pure", values: [value] });

/** What lanes share of a source, from one of its bytes on; null if it is not known, or not the same in all lanes. */
function ofThread(source: PayloadSource, from: number, bits: FileHome["bits"], width: number): Op | null {
  switch (source.kind) {
    case "param":
      return paramLoad(source.offset + from, bits);
    case "group-id":
      return partOf(special("ctaid", source.dimension), from, bits);
    case "group-size":
      return partOf(special("ntid", source.dimension), from, bits);
    case "group-count":
      return partOf(special("nctaid", source.dimension), from, bits);
    case "item-count":
      return partOf(itemCount(source.dimension), from, bits);
    case "thread-index":
      return partOf(threadIndex(width), from, bits);
    case "zero":
      return pure(bits === 64 ? kit.i64(0n) : kit.i32(0));
    case "item-index":
    case "local-id":
    case "private":
      return null;
  }
}

const isSame = (a: PayloadSource, b: PayloadSource): boolean =>
  a.kind === b.kind && (a.kind !== "local-id" || b.kind !== "local-id" || a.dimension === b.dimension);

/** A part of a doubleword, which begins at a byte; null if it is not all in it. */
const partOf = (value: Expr, at: number, bits: number): Op | null =>
  8 * at + bits > 32 ? null : pure(bits === 32 ? value : kit.field(value, 8 * at, bits, false));

/** The number of a work item's thread in its group. */
function threadIndex(width: number): Expr {
  const [x, y, z] = ([0, 1, 2] as const).map((dimension) => special("tid", dimension));
  const row = kit.add(kit.mul(z!, special("ntid", 1)), y!);
  const item = kit.add(kit.mul(row, special("ntid", 0)), x!);
  return kit.shr(item, kit.i32(Math.log2(width)), false);
}

/** The index of a work item in the launch, with x varying fastest. */
function itemIndex(): Expr {
  const [x, y, z] = ([0, 1, 2] as const).map((dimension) =>
    kit.add(kit.mul(special("ctaid", dimension), special("ntid", dimension)), special("tid", dimension)),
  );
  const [width, height] = ([0, 1] as const).map(itemCount);
  return kit.add(kit.mul(kit.add(kit.mul(z!, height!), y!), width!), x!);
}

/** How many work items a launch has in a direction. */
const itemCount = (dimension: 0 | 1 | 2): Expr => kit.mul(special("nctaid", dimension), special("ntid", dimension));

const special = (name: "tid" | "ctaid" | "ntid" | "nctaid", dimension: 0 | 1 | 2): Expr => ({
  kind: "special",
  ty: "i32",
  name: `${name}.${"xyz"[dimension]}` as SpecialName,
});

const paramLoad = (offset: number, bits: FileHome["bits"]): Op => ({
  kind: "load",
  access: plainAccess("kernel-param", bits, 1, 1),
  place: { kind: "address", address: kit.i64(BigInt(windows["kernel-param"].start + offset)) },
});
