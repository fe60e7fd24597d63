import { type Instruction, type Op, type OpOf, partOfCopy, type Register } from "../../../../ir/index.ts";
import { type Expr, kit } from "../../../../semantics/index.ts";
import { type SourceCode, withReplaced } from "./source-code.ts";

type CopyOp = OpOf<"copy">;

/**
 * The function with loads into registers of their own, and stores of these, for asynchronous copies. A copy may be
 * complete as soon as it is issued, and this one always is.
 */
export function withoutCopies(code: SourceCode): SourceCode {
  if (!code.ir.instructions.some(({ op }) => op.kind === "copy")) return code;
  const registers = [...code.ir.registers];
  const { ir, origins } = withReplaced(code, (instruction) =>
    instruction.op.kind === "copy" ? new Expansion(registers, instruction, instruction.op).instructions : [instruction],
  );
  return { ir: { ...ir, registers }, origins };
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
    const { size: given, whole, from } = op;
    if (given === null) {
      this.#copyWhole(null, null);
      return;
    }
    const size = word(this.#value(given));
    const bytes = kit.i32(4 * from.access.count);
    const isAll = kit.le(bytes, size, false);
    const isNone = kit.eq(size, kit.i32(0));
    if (whole) this.#copyWhole(null, isAll);
    else {
      this.#copyWhole(kit.op("pred.or", isAll, isNone), isAll);
      this.#copyPart(size, kit.op("pred.and", kit.not(isAll), kit.not(isNone)));
    }
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

  /** Copies in lanes that read all bytes, or none. */
  #copyWhole(when: Expr | null, isAll: Expr | null): void {
    const { from, to } = this.#op;
    const { guard } = this.#copy;
    const words = Array.from({ length: from.access.count }, () =>
      isAll === null ? this.#register("b32") : this.#value(kit.i32(0)),
    );
    const stores = when === null ? guard : this.#guarded(when);
    this.#push({ kind: "load", ...from }, words, isAll === null ? guard : this.#guarded(isAll));
    this.#push({ kind: "store", ...to, values: words.map(word) }, [], stores);
  }

  #copyPart(size: Expr, isPart: Expr): void {
    this.#push(partOfCopy(this.#op, size), [], this.#guarded(isPart));
  }
}
