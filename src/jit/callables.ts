import { functionsWithAddress, promoteFrames } from "../ir/flow/index.ts";
import type { IrFunction } from "../ir/index.ts";
import type { Engine } from "../interpreter/engine.ts";
import type { LoadedFunction } from "../interpreter/loaded-function.ts";

/** A function of a program as it is compiled: what can be is in registers, and no longer in its frame. */
export interface Callable {
  readonly ir: IrFunction;
  /** As the interpreter has it: where the frame has what, what an activation costs. */
  readonly code: LoadedFunction;
  /** Its place among the program's functions. */
  readonly number: number;
  /** Whether its address is taken anywhere. */
  readonly hasAddress: boolean;
  /** Whether lanes may take more of their stacks in it than its frame. */
  readonly allocates: boolean;
}

/** The functions of a program. */
export class Callables {
  readonly list: readonly Callable[];
  readonly #byCode: ReadonlyMap<LoadedFunction, Callable>;
  readonly engine: Engine;

  constructor(engine: Engine) {
    const module = promoteFrames(engine.module);
    const taken = functionsWithAddress(module);
    this.engine = engine;
    this.list = module.functions.map((ir, number) => ({
      ir,
      code: engine.functions[number]!,
      number,
      hasAddress: taken.has(ir),
      allocates: ir.instructions.some(({ op }) => op.kind === "alloca" || op.kind === "stack-save"),
    }));
    this.#byCode = new Map(this.list.map((f) => [f.code, f]));
  }

  /** The function of that name, through aliases. */
  named(name: string): Callable | null {
    const code = this.engine.functionNamed(name);
    return code === null ? null : this.#byCode.get(code)!;
  }
}
