import { type Expr, kit } from "../../semantics/index.ts";
import type { Guard, Instruction, Op } from "../instruction.ts";
import type { IrFunction, Param, Register, RegisterClass } from "../module.ts";
import { onlyComputes, traitOf } from "../op-traits.ts";
import { renaming } from "../rename-registers.ts";
import { retargeted } from "../retarget.ts";
import { readsOf, valuesOf } from "./accesses.ts";
import { flowGraphOf } from "./flow-graph.ts";
import { livenessOf } from "./liveness.ts";

type Call = Extract<Op, { kind: "call" }>;

/** A function in which calls of small functions have been replaced by their bodies. */
export interface Inlined {
  readonly ir: IrFunction;
  /** By instruction, the index of the one that it comes from in the original function: for an inlined one, the call. */
  readonly origins: readonly number[];
}

/** The most instructions of a function that is inlined. */
const maxInstructions = 24;
/**
 * By how many instructions a function may grow: each copy also adds registers, and these make long code slow to
 * compile.
 */
const maxGrowth = (instructions: number): number => Math.max(150, instructions / 8);
/** The number of passes, and so the depth of calls that can be inlined. */
const rounds = 4;

/**
 * Inlines direct calls of functions that are small and do nothing but compute, so that it cannot be observed whether
 * they were entered. Null: nothing can be inlined. The functions must have been promoted: a function that is passed
 * something in memory is not inlined.
 */
export function inlineCalls(
  functions: readonly IrFunction[],
  numberOf: (name: string) => number | null,
): readonly Inlined[] | null {
  let all: readonly Inlined[] = functions.map((ir) => ({ ir, origins: ir.instructions.map((_, i) => i) }));
  let bodies: readonly (Body | null)[] = functions.map(bodyOf);
  if (bodies.every((body) => body === null)) return null;
  let isChanged = false;
  for (let round = 0; round < rounds; round++) {
    const calleeOf = ({ target }: Call): Body | null => {
      const callee = target.kind === "direct" ? numberOf(target.function) : null;
      return callee === null ? null : bodies[callee]!;
    };
    const before = all;
    all = before.map((f, i) => {
      const size = functions[i]!.instructions.length;
      const room = maxGrowth(size) - (f.ir.instructions.length - size);
      return new Inlining(f, room, calleeOf).result;
    });
    const isNew = all.some((f, i) => f !== before[i]);
    bodies = all.map((f, i) => (f === before[i] ? bodies[i]! : bodyOf(f.ir)));
    isChanged ||= isNew;
    if (!isNew) break;
  }
  return isChanged ? all : null;
}

/** A function that can be inlined. */
interface Body {
  readonly ir: IrFunction;
  readonly params: readonly (readonly number[])[];
  readonly returns: readonly (readonly number[])[];
  /** Registers that are read before they are written: they are zero when a function begins. */
  readonly zeros: readonly number[];
}

function bodyOf(ir: IrFunction): Body | null {
  const { instructions, registers } = ir;
  const isSmall = instructions.length <= maxInstructions && instructions.every(isInlinable);
  if (ir.kind !== "function" || ir.external || ir.file !== undefined || ir.noreturn || !isSmall) return null;
  const [params, returns] = [passedIn(ir.params), passedIn(ir.returns)];
  if (params === null || returns === null) return null;
  const live = livenessOf({ instructions, registers }, flowGraphOf(instructions), returns.flat()).liveIn(0);
  const given = new Set(params.flat());
  const zeros: number[] = [];
  live.forEach((r) => {
    if (!given.has(r)) zeros.push(r);
  });
  return { ir, params, returns, zeros };
}

/** Whether an instruction cannot be observed by others, cannot fail, and leaves the function at most by returning. */
function isInlinable(instruction: Instruction): boolean {
  const { op, lanes, dst } = instruction;
  if (lanes !== undefined || dst.some((to) => to !== null && typeof to !== "number")) return false;
  let isOwn = true;
  readsOf(instruction, {
    frame: () => {
      isOwn = false;
    },
    acrossLanes: () => {
      isOwn = false;
    },
  });
  return isOwn && onlyComputes(op) && !traitOf(op, "faults") && op.kind !== "exit";
}

/** By parameter, its registers; null if one is passed in memory. */
function passedIn(params: readonly Param[]): readonly (readonly number[])[] | null {
  const found = params.flatMap(({ storage }) => (storage.kind === "register" ? [storage.registers] : []));
  return found.length === params.length ? found : null;
}

/** Inlines the calls of one function. */
class Inlining {
  readonly result: Inlined;
  readonly #registers: Register[];
  readonly #out: Instruction[] = [];
  readonly #origins: number[] = [];
  /** The original index of the instruction that is being replaced. */
  #origin = 0;
  #room: number;
  #copies = 0;

  constructor(before: Inlined, room: number, calleeOf: (op: Call) => Body | null) {
    const { ir, origins } = before;
    this.#room = room;
    this.#registers = [...ir.registers];
    if (!ir.instructions.some(({ op }) => op.kind === "call" && calleeOf(op) !== null)) {
      this.result = before;
      return;
    }
    /** The new index of each instruction; branch targets are corrected when all are known. */
    const places = new Int32Array(ir.instructions.length + 1);
    const old: number[] = [];
    ir.instructions.forEach((instruction, i) => {
      places[i] = this.#out.length;
      this.#origin = origins[i]!;
      const { op } = instruction;
      const body = op.kind === "call" ? calleeOf(op) : null;
      if (op.kind === "call" && body !== null && body.ir !== ir && this.#copy(instruction, op, body)) return;
      old.push(this.#out.length);
      this.#push(instruction);
    });
    places[ir.instructions.length] = this.#out.length;
    for (const at of old) this.#out[at] = retargeted(this.#out[at]!, (target) => places[target]!);
    const after = { ir: { ...ir, registers: this.#registers, instructions: this.#out }, origins: this.#origins };
    this.result = this.#copies === 0 ? before : after;
  }

  #push(instruction: Instruction): void {
    this.#out.push(instruction);
    this.#origins.push(this.#origin);
  }

  /**
   * Replaces a call by a copy of the body. False if arguments and parameters do not fit, or the function would grow too
   * much.
   */
  #copy(call: Instruction, op: Call, { ir, params, returns, zeros }: Body): boolean {
    const args = op.args.map(valuesOf);
    const results = op.results.map((r) => (r.kind === "register" ? r.registers : r.kind === "discard" ? [] : null));
    const classOf = (r: number): RegisterClass => ir.registers[r]!.class;
    const fits =
      args.length === params.length &&
      params.every((registers, i) => sameClasses(registers.map(classOf), args[i]!.map(classOfValue))) &&
      results.length === returns.length &&
      returns.every((registers, i) => {
        const to = results[i];
        if (to?.length === 0) return true;
        return (
          to != null &&
          sameClasses(
            registers.map(classOf),
            to.map((r) => this.#registers[r]!.class),
          )
        );
      });
    if (!fits || ir.instructions.length > this.#room) return false;
    this.#room -= ir.instructions.length;
    this.#copies++;

    const first = this.#registers.length;
    this.#registers.push(...ir.registers.map((r) => ({ ...r, name: `${ir.name}:${r.name}` })));
    const own = (r: number): number => first + r;
    const plain = (op: Op, dst: readonly number[] = [], guard: Guard | null = null): Instruction => {
      const { span, location } = call;
      return { guard, op, dst, undefinedCases: [], span, location };
    };
    const move = (to: readonly number[], values: readonly Expr[]): void => {
      if (to.length > 0) this.#push(plain({ kind: "pure", values }, to));
    };
    const skip = call.guard === null ? null : this.#out.length;
    if (call.guard !== null) {
      this.#push(
        plain({ kind: "branch", target: 0, uniform: false }, [], { ...call.guard, negate: !call.guard.negate }),
      );
    }
    move(params.flat().map(own), args.flat());
    move(
      zeros.map(own),
      zeros.map((r) => zero[classOf(r)]),
    );
    const start = this.#out.length;
    const renamed = renaming(own);
    for (const [i, instruction] of ir.instructions.entries()) {
      const { op: inner, ...rest } = renamed(instruction);
      const end = ir.instructions.length;
      const left: Op = i + 1 === end ? { kind: "nothing" } : { kind: "branch", target: end, uniform: false };
      this.#push(retargeted({ ...rest, op: inner.kind === "return" ? left : inner }, (target) => start + target));
    }
    const taken = returns.flatMap((registers, i) => (results[i]!.length === 0 ? [] : registers));
    move(
      results.flatMap((to) => to ?? []),
      taken.map((r) => read(own(r), classOf(r))),
    );
    if (skip !== null) this.#out[skip] = retargeted(this.#out[skip]!, () => this.#out.length);
    return true;
  }
}

const classOfValue = ({ ty }: Expr): RegisterClass =>
  ty === "pred" ? "pred" : ty === "i64" || ty === "f64" ? "b64" : "b32";

const sameClasses = (a: readonly RegisterClass[], b: readonly RegisterClass[]): boolean =>
  a.length === b.length && a.every((c, i) => c === b[i]);

const zero: Readonly<Record<RegisterClass, Expr>> = { pred: kit.pred(false), b32: kit.i32(0), b64: kit.i64(0n) };

const read = (reg: number, c: RegisterClass): Expr => ({
  kind: "reg",
  ty: c === "pred" ? "pred" : c === "b64" ? "i64" : "i32",
  reg,
});
