import {
  type Instruction,
  type IrFunction,
  laneAddressOf,
  type Op,
  type OpOf,
  type Register,
} from "../../../../ir/index.ts";
import { retargeted } from "../../../../ir/retarget.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";

type CopyOp = OpOf<"copy">;

interface Code {
  readonly ir: IrFunction;
  /** By instruction, its number in the function that reports name; null: the same. */
  readonly origins: readonly number[] | null;
}

/**
 * The function with loads into registers of their own, and stores of these, for asynchronous copies. A copy may be
 * complete as soon as it is issued, and this one always is.
 */
export function withoutCopies({ ir, origins }: Code): Code {
  if (!ir.instructions.some(({ op }) => op.kind === "copy")) return { ir, origins };
  const registers = [...ir.registers];
  const instructions: Instruction[] = [];
  const from: number[] = [];
  const places: number[] = [];
  ir.instructions.forEach((instruction, i) => {
    places.push(instructions.length);
    const { op } = instruction;
    const written = op.kind === "copy" ? new Expansion(registers, instruction, op).instructions : [instruction];
    instructions.push(...written);
    for (const _ of written) from.push(origins?.[i] ?? i);
  });
  places.push(instructions.length);
  const moved = instructions.map((instruction) => retargeted(instruction, (target) => places[target]!));
  return { ir: { ...ir, registers, instructions: moved }, origins: from };
}

const word = (reg: number): Expr => ({ kind: "reg", ty: "i32", reg });
const isTrue = (reg: number): Expr => ({ kind: "reg", ty: "pred", reg });

/** One copy, in lanes for which its guard holds. */
class Expansion {
  readonly instructions: Instruction[] = [];
  readonly #registers: Register[];
  readonly #copy: Instruction;
  readonly #op: CopyOp;

  constructor(registers: Register[], copy: Instruction, op: CopyOp) {
    this.#registers = registers;
    this.#copy = copy;
    this.#op = op;
    const words = this.#loaded();
    this.#push({ kind: "store", ...op.to, values: words.map(word) }, [], copy.guard);
  }

  #register(c: "b32" | "pred"): number {
    const name = `copy${this.#registers.length}`;
    return this.#registers.push({ name, class: c, bits: c === "pred" ? 1 : 32 }) - 1;
  }

  #push(op: Op, dst: readonly number[], guard: Instruction["guard"]): void {
    const { span, location } = this.#copy;
    this.instructions.push({ op, dst, guard, undefinedCases: [], span, location });
  }

  #value(value: Expr, c: "b32" | "pred" = "b32"): number {
    const to = this.#register(c);
    this.#push({ kind: "pure", values: [value] }, [to], null);
    return to;
  }

  /** The condition, in lanes for which the copy's guard holds. */
  #guarded(when: Expr): Instruction["guard"] {
    const { guard } = this.#copy;
    if (guard === null) return { register: this.#value(when, "pred"), negate: false };
    const own = isTrue(guard.register);
    const both = kit.op("pred.and", guard.negate ? kit.not(own) : own, when);
    return { register: this.#value(both, "pred"), negate: false };
  }

  /** The registers into which the source is loaded. */
  #loaded(): readonly number[] {
    const { from, size: given, whole } = this.#op;
    const { count } = from.access;
    if (given === null) {
      const words = Array.from({ length: count }, () => this.#register("b32"));
      this.#push({ kind: "load", ...from }, words, this.#copy.guard);
      return words;
    }
    const bytes = 4 * count;
    const size = word(this.#value(given));
    const isAll = kit.le(kit.i32(bytes), size, false);
    const words = this.#zeros(count);
    this.#push({ kind: "load", ...from }, words, this.#guarded(isAll));
    return whole ? words : this.#parts(words, size, kit.lt(size, kit.i32(bytes), false));
  }

  #zeros(count: number): number[] {
    return Array.from({ length: count }, () => this.#value(kit.i32(0)));
  }

  /**
   * Loads the words of which all bytes are read, and up to three bytes after them, in lanes for which `isPart` holds.
   */
  #parts(whole: readonly number[], size: Expr, isPart: Expr): readonly number[] {
    const { access, place } = this.#op.from;
    const address = laneAddressOf(place);
    const load = (at: Expr, bits: 8 | 32, when: Expr): number => {
      const [to] = this.#zeros(1);
      const part = { ...access, bits, count: 1, align: bits / 8 };
      const op: Op = { kind: "load", access: part, place: { kind: "address", address: at } };
      this.#push(op, [to!], this.#guarded(kit.op("pred.and", isPart, when)));
      return to!;
    };
    const plus = (offset: Expr): Expr =>
      kit.add(address, address.ty === "i64" ? kit.op("i64.extend_i32_u", offset) : offset);
    const words = whole.slice(1).map((_, i) => {
      return load(plus(kit.i32(4 * i)), 32, kit.le(kit.i32(4 * (i + 1)), size, false));
    });
    const end = kit.and(size, kit.i32(~3));
    const bytes = [0, 1, 2].map((b) => {
      const byte = load(plus(kit.add(end, kit.i32(b))), 8, kit.lt(kit.i32(b), kit.and(size, kit.i32(3)), false));
      return kit.shl(word(byte), kit.i32(8 * b));
    });
    const tail = word(this.#value(bytes.reduce((a, b) => kit.or(a, b))));
    return whole.map((all, i) => {
      const last = kit.select(kit.eq(end, kit.i32(4 * i)), tail, kit.i32(0));
      const part = words[i] === undefined ? last : kit.or(word(words[i]), last);
      return this.#value(kit.select(isPart, part, word(all)));
    });
  }
}
