import type {
  Guard,
  Instruction as IrInstruction,
  IrFunction,
  LaneRule,
  Register,
  SourceLocation,
} from "../../ir/index.ts";
import { withBoundedPlaces } from "../../ir/flow/index.ts";
import { retargetedOp } from "../../ir/retarget.ts";
import { kit as k, mapChanged } from "../../semantics/index.ts";
import { leavesOrder } from "../isa/row.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";
import { lowerCompute } from "./compute.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { type FlowContext, lowerFlow } from "./flow.ts";
import { controlLanesOf, guardOf, lanesOf } from "./guard.ts";
import { type Layout, layOut } from "./layout.ts";
import { lowerImage } from "./image.ts";
import { lowerMemory } from "./memory.ts";
import { unitOf } from "./raw-message.ts";
import type { Symbols } from "./symbols.ts";

/**
 * The most bytes of a byte file: far more than the variables of compiled kernels need, but few enough that a launch can
 * have many files.
 */
const maxFileBytes = 4 * 2 ** 20;

/** The most channels of a thread. */
const maxChannels = 32;

/** Lowers one routine to an IR function: its variables to ranges of the byte file, its predicates to registers. */
export const lowerRoutine = (routine: BoundRoutine, symbols: Symbols): IrFunction =>
  withBoundedPlaces(new RoutineLowering(routine, symbols).lower());

class RoutineLowering implements FlowContext, LowerContext {
  readonly routine: BoundRoutine;
  readonly symbols: Symbols;
  readonly #layout: Layout;
  readonly #predicates: readonly Variable[];
  readonly #registers: ReadonlyMap<Variable, number>;
  readonly #files: Map<number, string> = new Map();
  #location: SourceLocation | null = null;
  /**
   * For each instruction of the routine, and for its end, the index of the first IR instruction that it was lowered to.
   */
  #starts: readonly number[] = [];

  constructor(routine: BoundRoutine, symbols: Symbols) {
    this.routine = routine;
    this.symbols = symbols;
    this.#layout = layOut(routine);
    this.#predicates = routine.variables.filter(({ kind }) => kind === "P");
    this.#registers = new Map(this.#predicates.map((variable, i) => [variable, i]));
  }

  lower(): IrFunction {
    const { routine } = this;
    const { grfBytes, argSize, retvalSize } = routine;
    const { bytes, variables, aliases } = this.#layout;
    const fits = bytes <= maxFileBytes;
    return {
      name: routine.name,
      kind: routine.kind,
      params: [],
      returns: [],
      registers: this.#registerNames().map((name): Register => ({ name, class: "pred", bits: 1 })),
      frame: [],
      instructions: fits ? this.#instructions() : [this.#tooLarge(bytes)],
      noreturn: false,
      bounds: {},
      source: routine.file.source,
      span: { start: routine.routine.name.start, end: routine.routine.name.end },
      files: this.#files,
      external: false,
      file: { bytes: fits ? bytes : maxFileBytes, grfBytes, argSize, retvalSize, variables, aliases },
    };
  }

  // ---- What lowering an instruction needs to know -------------------------------------------------------------------

  variable(name: Name): Variable {
    const variable = this.routine.variableOf.get(name);
    if (variable === undefined) throw new Error(`${name.text} is not bound`);
    return variable;
  }

  offsetOf(variable: Variable): number {
    return this.#layout.offsetOf(variable);
  }

  get fusedAt(): number {
    return this.#layout.fusedAt;
  }

  registerOf(variable: Variable): number {
    const register = this.#registers.get(variable);
    if (register === undefined) throw new Error(`${variable.name} is not a predicate`);
    return register;
  }

  get maskRegister(): number {
    return this.#predicates.length;
  }

  #registerNames(): readonly string[] {
    const names = this.#predicates.map(({ name }) => name);
    return this.routine.instructions.some((instruction) => this.#readsMask(instruction)) ? [...names, "%ce0"] : names;
  }

  #readsMask({ operands }: Instruction): boolean {
    return Object.values(operands).some((operand) => {
      if (operand.kind !== "general") return false;
      const { root } = this.variable(operand.variable);
      return root.predefined && root.name === "%ce0";
    });
  }

  target(label: Name): number {
    const bound = this.routine.labels.get(label.text);
    if (bound === undefined) throw new Error(`${label.text} is not bound`);
    return this.#starts[bound.at]!;
  }

  // ---- Instructions -------------------------------------------------------------------------------------------------

  #instructions(): readonly IrInstruction[] {
    const { instructions } = this.routine;
    const straight = instructions.map((instruction) => this.#withMask(instruction, this.#straight(instruction)));
    const parts = this.#partNames();
    const starts = [0];
    for (const [i, lowered] of straight.entries()) {
      starts.push(starts[i]! + (lowered?.length ?? 1) + (parts.has(i + 1) ? 1 : 0));
    }
    this.#starts = starts;
    return instructions.flatMap((instruction, i) => {
      this.#locate(instruction);
      const lowered = straight[i] ?? [lowerFlow(this, instruction)];
      const part = parts.get(i + 1);
      // Branches within an instruction count from where it begins.
      const placed =
        straight[i] === null
          ? lowered
          : mapChanged(lowered, (one) => {
              const op = retargetedOp(one.op, (target) => starts[i]! + target);
              return op === one.op ? one : { ...one, op };
            });
      return [...placed.map((one) => this.#emit(instruction, one)), ...(part ? [this.#end(instruction, part)] : [])];
    });
  }

  /**
   * Names of the parts of the routine (body and subroutines) that execution can run past, by the index after their last
   * instruction.
   */
  #partNames(): ReadonlyMap<number, string> {
    const { labels, instructions, name } = this.routine;
    const starts = [...labels.values()].filter(({ kind }) => kind === "subroutine").sort((a, b) => a.at - b.at);
    const ends = [...starts.map(({ at }) => at), instructions.length];
    const names = ends.map((end, part): [number, string] => [end, part === 0 ? name : starts[part - 1]!.name]);
    return new Map(names.filter(([end]) => end > 0 && mayContinue(instructions[end - 1]!)));
  }

  /** The trap after a part, for lanes that run past its end. */
  #end({ start, end }: Instruction, part: string): IrInstruction {
    const fault = { code: "falls-off-end", message: `execution reaches the end of \`${part}\`` };
    const span = { start, end };
    return { guard: null, op: { kind: "trap", fault }, dst: [], undefinedCases: [], span, location: this.#location };
  }

  #tooLarge(bytes: number): IrInstruction {
    const { name } = this.routine.routine;
    const reason = `its variables take ${bytes} bytes; ${maxFileBytes} are modelled`;
    return {
      guard: null,
      op: { kind: "unsupported", what: this.routine.name, reason },
      dst: [],
      undefinedCases: [],
      span: { start: name.start, end: name.end },
      location: null,
    };
  }

  /**
   * Lowers anything but control flow, for which it returns null: that is one instruction each, lowered once all labels
   * have an index.
   */
  #straight(instruction: Instruction): readonly Lowered[] | null {
    const { execution, name } = instruction.row;
    if (name === "FILE" || name === "LOC") return [];
    switch (execution.kind) {
      case "none":
        return [this.#refused(instruction, execution.reason)];
      case "compute":
      case "special":
        return lowerCompute(this, instruction);
      case "memory":
        return lowerMemory(this, instruction);
      case "image":
        return lowerImage(this, instruction);
      case "flow":
        return null;
    }
  }

  /** Precedes an instruction that reads `%ce0` by what finds the mask: no lane, then those that are active. */
  #withMask(instruction: Instruction, lowered: readonly Lowered[] | null): readonly Lowered[] | null {
    if (lowered === null || !this.#readsMask(instruction)) return lowered;
    const { simd } = this.routine;
    // A thread of one work item has all channels.
    const count = simd === 1 ? maxChannels : simd;
    const set = (value: 0 | 1): Lowered => ({
      op: { kind: "pure", values: [k.ne(k.i32(value), k.i32(0))] },
      dst: [this.maskRegister],
      lanes: { first: 0, count, noMask: value === 0, uniform: false },
      unguarded: true,
    });
    const before = [set(0), set(1)];
    const moved = lowered.map((one) => ({ ...one, op: retargetedOp(one.op, (target) => before.length + target) }));
    return [...before, ...moved];
  }

  #refused(instruction: Instruction, reason: string): Lowered {
    const why = reason + unitOf(instruction, this.routine);
    return { op: { kind: "unsupported", what: instruction.row.mnemonic, reason: why }, dst: [] };
  }

  #locate({ row, operands }: Instruction): void {
    const operand = Object.values(operands)[0];
    if (row.name === "FILE" && operand?.kind === "string") {
      const file = this.#files.size + 1;
      this.#files.set(file, operand.text);
      this.#location = null;
    }
    if (row.name === "LOC" && operand?.kind === "number") {
      this.#location = { file: Math.max(1, this.#files.size), line: operand.value, column: 0 };
    }
  }

  #emit(instruction: Instruction, lowered: Lowered): IrInstruction {
    const { op, dst, undefinedCases = [], unguarded = false } = lowered;
    const { start, end, predicate, exec } = instruction;
    const guard: Guard | null = unguarded ? null : guardOf(this, predicate);
    const rule = isFlow(instruction) ? controlLanesOf : lanesOf;
    const lanes: LaneRule | null = lowered.lanes ?? (exec === null ? null : rule(exec));
    return {
      guard,
      ...(lanes === null ? {} : { lanes }),
      op,
      dst,
      undefinedCases,
      span: { start, end },
      location: this.#location,
    };
  }
}

const mayContinue = ({ row, predicate }: Instruction): boolean => predicate !== null || !leavesOrder(row);

const isFlow = ({ row }: Instruction): boolean => row.execution.kind === "flow";
