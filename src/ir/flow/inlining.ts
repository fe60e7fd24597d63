import { type Expr, kit } from "../../semantics/index.ts";
import type { Guard, Instruction, Op } from "../instruction.ts";
import type { IrFunction, Param, Register, RegisterClass } from "../module.ts";
import { renaming } from "../rename-registers.ts";
import { retargeted } from "../retarget.ts";
import { readsOf, valuesOf } from "./accesses.ts";
import { flowGraphOf } from "./flow-graph.ts";
import { livenessOf } from "./liveness.ts";

type Call = Extract<Op, { kind: "call" }>;

/** A function with copies of small ones in the place of calls. */
export interface Inlined {
  readonly ir: IrFunction;
  /** By instruction, the number of the one in the function from which it has come: of what has been copied, the call. */
  readonly origins: readonly number[];
}

/** What can be copied has so many instructions at most. */
const mostInstructions = 24;
/** By how many instructions a function of so many may grow: registers that are copied as well make long code slow to compile. */
const mostGrowth = (instructions: number): number => Math.max(150, instructions / 8);
/** How often functions that have become small are looked for: the depth of calls that can disappear. */
const rounds = 4;

/**
 * Functions with the bodies of others in the place of direct calls, as far as these are small and do nothing but compute: nobody
 * can see then that they have been entered. Null: nothing can be copied. The functions must have been promoted: what they pass to
 * each other in memory is not copied.
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
      const room = mostGrowth(size) - (f.ir.instructions.length - size);
      return new Inlining(f, room, calleeOf).result;
    });
    const isNew = all.some((f, i) => f !== before[i]);
    bodies = all.map((f, i) => (f === before[i] ? bodies[i]! : bodyOf(f.ir)));
    isChanged ||= isNew;
    if (!isNew) break;
  }
  return isChanged ? all : null;
}

/** A function that can be copied. */
interface Body {
  readonly ir: IrFunction;
  readonly params: readonly (readonly number[])[];
  readonly returns: readonly (readonly number[])[];
  /** Registers that are read before they are written: they are zeros when a function begins. */
  readonly zeros: readonly number[];
}

function bodyOf(ir: IrFunction): Body | null {
  const { instructions, registers } = ir;
  const isSmall = instructions.length <= mostInstructions && instructions.every(onlyComputes);
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

/** Whether an instruction can neither be seen by others nor go wrong. */
function onlyComputes(instruction: Instruction): boolean {
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
  return isOwn && (op.kind === "pure" || op.kind === "branch" || op.kind === "return" || op.kind === "nothing");
}

/** By parameter, its registers; null where one is passed in memory. */
function passedIn(params: readonly Param[]): readonly (readonly number[])[] | null {
  const found = params.flatMap(({ storage }) => (storage.kind === "register" ? [storage.registers] : []));
  return found.length === params.length ? found : null;
}

/** One function on its way. */
class Inlining {
  readonly result: Inlined;
  readonly #registers: Register[];
  readonly #out: Instruction[] = [];
  readonly #origins: number[] = [];
  /** The instruction that is being replaced, of those before. */
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
    /** Where each instruction is now; targets are put right when all are known. */
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

  /** Puts a copy of a function in the place of a call. False where they do not fit, or there is no room. */
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
