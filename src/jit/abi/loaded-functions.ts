import { promoteFrames } from "../../ir/flow/index.ts";
import type { IrFunction, IrModule } from "../../ir/index.ts";
import type { ProgramFunction } from "../../machine/state/code.ts";
import type { Program } from "../../program/program.ts";

/** A function of a program in which sites are numbers of instructions: where the launcher looks for them. */
export interface LoadedFunction {
  /** The function as it was loaded: the layout of its frame, and what an activation costs. */
  readonly code: ProgramFunction;
  /** The same with registers in the place of variables of its frame, where they can be, and a return at its end. */
  readonly asLoaded: IrFunction;
  /** Whether lanes may take more of their stacks than its frame. */
  readonly allocates: boolean;
}

/** A program's functions, and the module of which they are made: with registers for variables of frames. */
interface LoadedFunctions {
  readonly promoted: IrModule;
  readonly list: readonly LoadedFunction[];
}

const known = new WeakMap<Program, LoadedFunctions>();

/** A program's functions as they are compiled, and as the launcher of kernels that are kept finds them. */
export function loadedFunctionsOf(program: Program): LoadedFunctions {
  let found = known.get(program);
  if (found === undefined) {
    const promoted = promoteFrames(program.module);
    const list = promoted.functions.map((ir, number): LoadedFunction => {
      const allocates = ir.instructions.some(({ op }) => op.kind === "alloca" || op.kind === "stack-save");
      return { code: program.functions[number]!, asLoaded: withReturn(ir), allocates };
    });
    known.set(program, (found = { promoted, list }));
  }
  return found;
}

/** Adds a return after a barrier at the end: lanes need a block in which to resume. */
function withReturn(ir: IrFunction): IrFunction {
  const last = ir.instructions.at(-1);
  if (last?.op.kind !== "barrier") return ir;
  const { span, location } = last;
  const op = { kind: "return", uniform: false } as const;
  return {
    ...ir,
    instructions: [...ir.instructions, { op, span, location, guard: null, dst: [], undefinedCases: [] }],
  };
}
