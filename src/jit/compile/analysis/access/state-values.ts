import { accessesOf } from "../../../../ir/op-traits.ts";
import { registersRead } from "../../../../ir/flow/accesses.ts";
import type { Guard, Instruction } from "../../../../ir/index.ts";
import { splitOffset } from "../../../../semantics/bind.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { Value } from "../../../../semantics/types.ts";
import { noted } from "./noted.ts";
import { type Held, HeldValues, type Known, knownFrom, resultOf } from "../values/held-values.ts";
import type { ThreadValues } from "../values/thread-values.ts";

/** By register, what it holds, if that is known. */
export type State = ReadonlyMap<number, Held>;

/** A value of a register; null if it is not known. */
type Choice = Held | null;

/** What instructions compute from what registers hold: of the same values once. */
export class StateValues {
  readonly #values: ThreadValues;
  readonly #isFollowed: (register: number) => boolean;
  readonly #variesInWarp: (register: number) => boolean;
  readonly #held = new HeldValues();
  /** By expression that does not depend on any of these registers, what it is. */
  readonly #constant = new Map<Expr, Known | null>();
  /** By instruction, those of these registers that it reads, and results by what they hold. */
  readonly #reads = new Map<Instruction, readonly number[]>();
  readonly #choices = new Map<Instruction, Map<string, readonly Choice[]>>();
  readonly #starts = new Map<Instruction, Map<string, readonly number[] | null>>();

  /** By what a register holds, and an offset from it, where an access begins in each thread. */
  readonly #lists = new Map<string, readonly number[]>();

  /**
   * `isFollowed`: whether it may be in a state what a register holds; all others are known from threads' numbers or not
   * at all. `variesInWarp`: whether a register may differ between lanes of a warp.
   */
  constructor(
    values: ThreadValues,
    isFollowed: (register: number) => boolean,
    variesInWarp: (register: number) => boolean,
  ) {
    this.#values = values;
    this.#isFollowed = isFollowed;
    this.#variesInWarp = variesInWarp;
  }

  held(known: Known | null): Choice {
    return known === null ? null : this.#held.of(known);
  }

  /** Whether the threads of the block pass a guard, if it is known of all and the same for all; else null. */
  passes(guard: Guard, state: State): boolean | null {
    const known = guard.collapse === undefined ? this.#known(predicate(guard.register), state) : null;
    return known !== null && isOfAll(known) ? known.column[0] !== guard.negate : null;
  }

  /** By thread, whether it passes a guard, if that is known of all; else null. */
  passing(guard: Guard, state: State): readonly boolean[] | null {
    const known = guard.collapse === undefined ? this.#known(predicate(guard.register), state) : null;
    if (known === null || known.low !== null) return null;
    const column = (known.column as readonly boolean[]).map((value) => value !== guard.negate);
    return column.length === 1 ? Array.from({ length: this.#values.threads }, () => column[0]!) : column;
  }

  /** What a register may hold after an instruction that writes it: one of several values, for all lanes of a warp. */
  choicesAfter(instruction: Instruction, register: number, state: State): readonly Choice[] {
    const { op, dst, guard } = instruction;
    const key = `${register} ${state.get(register)?.id ?? ""} ${this.#keyOf(instruction, state)}`;
    return noted(this.#choices, instruction, key, () => {
      const value = op.kind === "pure" ? op.values[dst.indexOf(register)] : undefined;
      const found = value === undefined ? [null] : this.#choicesOf(value, state);
      if (guard === null) return found;
      const old = state.get(register) ?? null;
      const passes = this.passes(guard, state);
      if (passes !== null) return passes ? found : [old];
      return guard.collapse !== undefined || this.#variesInWarp(guard.register)
        ? [null]
        : [...new Set([...found, old])];
    });
  }

  /** By thread, where the access of an instruction begins; null where it is not known. */
  startsOf(instruction: Instruction, state: State): readonly number[] | null {
    return noted(this.#starts, instruction, this.#keyOf(instruction, state), () => {
      const [access, other] = accessesOf(instruction.op);
      if (other !== undefined || access?.place.kind !== "address") return null;
      const { base, offset } = splitOffset(access.place.address);
      const known = base === null ? null : this.#known(base, state);
      if (known === null || known.low !== null) return null;
      // Many instructions access what lies a constant apart, and in several stages.
      const held = base?.kind === "reg" ? state.get(base.reg) : undefined;
      const key = `${held?.id ?? ""} ${offset}`;
      const list = held === undefined ? undefined : this.#lists.get(key);
      if (list !== undefined) return list;
      const starts = this.#startsFrom(known, offset);
      this.#lists.set(key, starts);
      return starts;
    });
  }

  #startsFrom(known: Known, offset: bigint): readonly number[] {
    const bits = known.ty === "i64" ? 64 : 32;
    const from = Number(BigInt.asIntN(32, offset));
    const startOf = (value: Value): number =>
      bits === 32 ? ((value as number) + from) >>> 0 : Number(BigInt.asUintN(bits, BigInt(value) + offset));
    const column = known.column.map(startOf);
    return column.length === 1 ? Array.from({ length: this.#values.threads }, () => column[0]!) : column;
  }

  #keyOf(instruction: Instruction, state: State): string {
    let reads = this.#reads.get(instruction);
    if (reads === undefined) {
      reads = [...new Set(registersRead(instruction))].filter((r) => this.#isFollowed(r));
      this.#reads.set(instruction, reads);
    }
    return reads.map((r) => state.get(r)?.id ?? "").join();
  }

  /** What an expression may be: two values where a condition that the lanes of a warp share chooses between them. */
  #choicesOf(expr: Expr, state: State): readonly Choice[] {
    if (expr.kind === "prim" && expr.prim.endsWith(".select")) {
      const [condition, yes, no] = expr.args as readonly [Expr, Expr, Expr];
      const passes = this.#known(condition, state);
      if (passes === null) {
        if (condition.kind !== "reg" || this.#variesInWarp(condition.reg)) return [null];
        return [...new Set([this.held(this.#known(yes, state)), this.held(this.#known(no, state))])];
      }
      if (isOfAll(passes)) return [this.held(this.#known(passes.column[0] === true ? yes : no, state))];
    }
    return [this.held(this.#known(expr, state))];
  }

  #known(expr: Expr, state: State): Known | null {
    if (expr.kind === "reg" && this.#isFollowed(expr.reg)) {
      const held = state.get(expr.reg);
      return held?.ty === expr.ty ? held : null;
    }
    if (this.isConstant(expr)) {
      let known = this.#constant.get(expr);
      if (known === undefined) {
        const column = this.#values.columnOf(expr);
        this.#constant.set(expr, (known = column === null ? null : knownFrom(expr.ty, column)));
      }
      return known;
    }
    if (expr.kind !== "prim") return null;
    const args: Known[] = [];
    for (const arg of expr.args) {
      const known = this.#known(arg, state);
      if (known === null) return null;
      args.push(known);
    }
    return resultOf(expr, args);
  }

  /** Whether an expression reads no register that is followed. */
  isConstant(expr: Expr): boolean {
    if (expr.kind === "reg") return !this.#isFollowed(expr.reg);
    return expr.kind !== "prim" || expr.args.every((arg) => this.isConstant(arg));
  }
}

const predicate = (reg: number): Expr => ({ kind: "reg", ty: "pred", reg });

/** Whether a value is the same in all threads of the block. */
const isOfAll = ({ column, low }: Known): boolean => column.length === 1 && low === null;
