import { type Instruction, laneAddressOf } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import { type Expr, everyLeaf, type Ty } from "../../../../semantics/index.ts";
import { type BlockForm, BlockQuestion, shared } from "./block-forms.ts";

/** Asks for the forms of values of which registers are known by the one instruction that writes them. */
export abstract class WrittenQuestion extends BlockQuestion {
  readonly #written: ReadonlyMap<number, Instruction>;
  readonly #parameters = new Map<number, BlockForm>();

  /** `written`: by register that one instruction writes, before it is read, that instruction. */
  constructor(written: ReadonlyMap<number, Instruction>, block: Dim3) {
    super(block);
    this.#written = written;
  }

  /** What is written to a register; null where that is not computed, or is of another type. */
  protected writtenTo(register: number, ty: Ty): Expr | null {
    const instruction = this.#written.get(register);
    if (instruction?.op.kind !== "pure") return null;
    const value = instruction.op.values[instruction.dst.indexOf(register)]!;
    return value.ty === ty ? value : null;
  }

  protected override register(register: number, ty: Ty): BlockForm | null {
    const value = this.writtenTo(register, ty);
    if (value !== null) return this.of(value);
    if (!isParameter(this.#written.get(register))) return null;
    let form = this.#parameters.get(register);
    if (form === undefined) this.#parameters.set(register, (form = shared({ kind: "reg", ty, reg: register }, 0, 1)));
    return form.base.ty === ty ? form : null;
  }
}

/** Whether an instruction loads a parameter of the kernel. */
const isParameter = (instruction: Instruction | undefined): boolean => {
  const op = instruction?.op;
  if (op?.kind !== "load" || op.access.space !== "kernel-param" || op.access.count > 1) return false;
  return everyLeaf(laneAddressOf(op.place), ({ kind }) => kind === "const" || kind === "symbol");
};
