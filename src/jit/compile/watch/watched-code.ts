import {
  atAddress,
  type Guard,
  type Instruction,
  type IrFunction,
  type Op,
  plainAccess,
  type Register,
  type RegisterClass,
  type Space,
} from "../../../ir/index.ts";
import { retargeted } from "../../../ir/retarget.ts";
import { type Expr, kit as k } from "../../../semantics/index.ts";

const types = { pred: "pred", b32: "i32", b64: "i64" } as const;

/** A function that is written anew, with further instructions between its own. */
export class WatchedCode {
  readonly #ir: IrFunction;
  readonly #registers: Register[];
  /** What is computed where the function begins. */
  readonly #begin: Instruction[] = [];
  readonly #out: Instruction[] = [];
  /** By instruction of the source, where its code begins. */
  readonly #places: number[] = [];
  readonly #own = new Set<number>();
  /** The instruction to which new ones belong, and its guard. */
  #at = 0;
  #guard: Guard | null = null;
  #found: Expr | null = null;

  constructor(ir: IrFunction) {
    this.#ir = ir;
    this.#registers = [...ir.registers];
  }

  /** A fresh register, as an expression. */
  register(kind: RegisterClass): Expr {
    const bits = { pred: 1, b32: 32, b64: 64 }[kind];
    const reg = this.#registers.push({ name: `watch${this.#registers.length}`, class: kind, bits }) - 1;
    return { kind: "reg", ty: types[kind], reg };
  }

  /** A register of the function itself. */
  own(reg: number): Expr {
    return { kind: "reg", ty: types[this.#registers[reg]!.class], reg };
  }

  /** A fresh register that has a value from where the function begins. */
  begun(value: Expr): Expr {
    const to = this.register(classOf(value));
    this.begin({ kind: "pure", values: [value] }, [to]);
    return to;
  }

  /** Adds an operation where the function begins, after those that have been added before. */
  begin(op: Op, dst: readonly Expr[]): void {
    this.#begin.push({ ...this.#templateAt(0), op, dst: dst.map(numberOf) });
  }

  /** Goes on to an instruction of the source: what is written from here on is for the lanes that its guard selects. */
  goTo(i: number): void {
    this.#places.push(this.#out.length);
    this.#at = i;
    this.#guard = this.#ir.instructions[i]?.guard ?? null;
  }

  /** The present instruction itself. */
  keep(): void {
    this.#own.add(this.#out.length);
    this.#push(this.#ir.instructions[this.#at]!);
  }

  set(to: Expr, value: Expr, guard = this.#guard): void {
    this.add({ kind: "pure", values: [value] }, [to], guard);
  }

  /** Computes a value once. */
  once(value: Expr): Expr {
    if (value.kind === "reg" || value.kind === "const") return value;
    const to = this.register(classOf(value));
    this.set(to, value);
    return to;
  }

  /** Computes a predicate that is false in lanes that the guard keeps from it. */
  test(value: Expr): Guard {
    const to = this.register("pred");
    if (this.#guard !== null) this.set(to, k.pred(false), null);
    this.set(to, value);
    return { register: numberOf(to), negate: false };
  }

  /** What `write` writes is for the lanes of a guard alone, of which `test` is one. */
  within<T>(guard: Guard, write: () => T): T {
    const outer = this.#guard;
    this.#guard = guard;
    const written = write();
    this.#guard = outer;
    return written;
  }

  /** Loads words that lie next to each other. */
  load(space: Space, address: Expr, count: number): readonly Expr[] {
    const words = Array.from({ length: count }, () => this.register("b32"));
    this.add({ kind: "load", access: plainAccess(space, 32, count, 4), place: atAddress(address) }, words);
    return words;
  }

  store(space: Space, address: Expr, values: readonly Expr[], guard = this.#guard): void {
    const access = plainAccess(space, 32, values.length, 4);
    this.add({ kind: "store", access, place: atAddress(address), values }, [], guard);
  }

  add(op: Op, dst: readonly Expr[], guard = this.#guard): void {
    this.#push({ ...this.#templateAt(this.#at), op, dst: dst.map(numberOf), guard });
  }

  /** Notes that there may be something to report. */
  find(test: Expr): void {
    const found = this.#foundRegister();
    this.set(found, k.op("pred.or", found, test));
  }

  /** Ends the launch if there may be something to report: a loop that goes on for ever must not keep it back. */
  stopIfFound(): void {
    this.add({ kind: "trap" }, [], { register: numberOf(this.#foundRegister()), negate: false });
  }

  /** Tells the launcher if there may be anything to report. `alarm`: gives the address of its word. */
  raiseAlarm(alarm: () => Expr): void {
    if (this.#found === null) return;
    this.store("global", alarm(), [k.i32(1)], { register: numberOf(this.#found), negate: false });
  }

  /** The function with all that has been written. */
  get ir(): IrFunction {
    const begin = this.#begin.length;
    const rest = this.#out.map((instruction, i) =>
      this.#own.has(i) ? retargeted(instruction, (target) => begin + this.#places[target]!) : instruction,
    );
    const instructions = [...this.#begin, ...rest];
    return { ...this.#ir, registers: this.#registers, instructions };
  }

  #foundRegister(): Expr {
    return (this.#found ??= this.begun(k.pred(false)));
  }

  #templateAt(index: number): Instruction {
    const { instructions, span } = this.#ir;
    const at = instructions[Math.min(index, instructions.length - 1)];
    return {
      op: { kind: "nothing" },
      dst: [],
      guard: null,
      undefinedCases: [],
      span: at?.span ?? span,
      location: at?.location ?? null,
    };
  }

  #push(instruction: Instruction): void {
    this.#out.push(instruction);
  }
}

const classOf = ({ ty }: Expr): RegisterClass => (ty === "pred" ? "pred" : ty === "i64" ? "b64" : "b32");

function numberOf(register: Expr): number {
  if (register.kind !== "reg") throw new Error("not a register");
  return register.reg;
}
