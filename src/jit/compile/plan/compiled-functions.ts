import { type LoadedFunction, loadedFunctionsOf } from "../../abi/loaded-functions.ts";
import { withoutUnusedOlds } from "../analysis/code/unused-olds.ts";
import {
  functionsWithAddress,
  inlineCalls,
  promoteFile,
  type RoutineCalls,
  type RoutinePart,
  routineParts,
} from "../../../ir/flow/index.ts";
import { fits } from "../../../ir/calls.ts";
import type { IrFunction, WorkItemModel } from "../../../ir/index.ts";
import type { ProgramFunction } from "../../../machine/state/code.ts";
import type { Program } from "../../../program/program.ts";
import { functionsWithPolls, withClusterPolls } from "./cluster-polls.ts";
import { workItemForms } from "./work-items.ts";

/**
 * A function of a program in the form in which it is compiled: variables of its frame are registers where they can be.
 */
export interface CompiledFunction extends LoadedFunction {
  readonly ir: IrFunction;
  /** Its place among the program's functions. */
  readonly number: number;
  /** Whether its address is taken anywhere. */
  readonly hasAddress: boolean;
  /** By instruction, its index in `asLoaded`, which has neither polls nor inlined functions; null: the same. */
  readonly origins: readonly number[] | null;
  /**
   * Of a routine of vISA as work items execute it: the bytes that an activation may take of the memory that its thread
   * has for itself, and how many there are. Null for others, whose stacks are `code.stackCost` and the launch's.
   */
  readonly privateStack: { readonly bytes: number; readonly limit: number } | null;
  /** Of a routine of vISA: which part of it this is; null for PTX. */
  readonly part: CallablePart | null;
}

interface CallablePart extends Pick<RoutinePart, "isShared"> {
  /** Among all subroutines of the program; null for a routine itself. */
  readonly number: number | null;
}

/** The functions of a program. */
export class CompiledFunctions {
  readonly program: Program;
  /** The subroutines of its routines (vISA), where these are split. */
  readonly subroutines: readonly CompiledFunction[];
  #list: readonly CompiledFunction[] | null;
  #byCode: ReadonlyMap<ProgramFunction, CompiledFunction> | null = null;
  readonly #inThreads = new Map<number, CompiledFunctions>();
  #inlined: CompiledFunctions | null = null;
  readonly #workItems = new Map<string, CompiledFunctions | null>();
  readonly #regrouped = new Map<IrFunction, CompiledFunctions>();

  /** `list`: null for those of the program as they are, which are prepared when they are first asked for. */
  constructor(
    program: Program,
    list: readonly CompiledFunction[] | null = null,
    subroutines: readonly CompiledFunction[] = [],
  ) {
    this.program = program;
    this.#list = list;
    this.subroutines = subroutines;
  }

  get list(): readonly CompiledFunction[] {
    return (this.#list ??= compiledFunctionsOf(this.program));
  }

  /** The function of that name, through aliases. */
  named(name: string): CompiledFunction | null {
    const code = this.program.functionNamed(name);
    this.#byCode ??= new Map(this.list.map((f) => [f.code, f]));
    return code === null ? null : this.#byCode.get(code)!;
  }

  /**
   * The same functions, with small ones inlined; only for programs in which calls need not be counted against the
   * stacks.
   */
  get inlined(): CompiledFunctions {
    this.#inlined ??= this.#inline();
    return this.#inlined;
  }

  #inline(): CompiledFunctions {
    const found = inlineCalls(
      this.list.map((f) => f.ir),
      (name) => this.named(name)?.number ?? null,
    );
    if (found === null) return this;
    return new CompiledFunctions(
      this.program,
      this.list.map((f, i) => {
        const { ir, origins } = found[i]!;
        return { ...f, ir, origins: f.origins === null ? origins : origins.map((o) => f.origins![o]!) };
      }),
    );
  }

  /** The same functions as hardware threads of `width` lanes run them: routines are split into their subroutines. */
  inThreads(width: number): CompiledFunctions {
    let split = this.#inThreads.get(width);
    if (split === undefined) this.#inThreads.set(width, (split = this.#split(width)));
    return split;
  }

  /**
   * The same functions with a kernel of vISA, and what it may call, as its work items execute them, for threads of
   * `width` lanes; null where it cannot do without threads.
   */
  asWorkItems(
    { ir: { name }, number }: CompiledFunction,
    width: number,
    model: WorkItemModel,
  ): CompiledFunctions | null {
    const key = `${name} ${width}`;
    let found = this.#workItems.get(key);
    if (found === undefined) {
      const forms = workItemForms(this.list[number]!.ir, this.#routineCalls(), { width, model }, this.program.bindings);
      const list = this.list.map((f): CompiledFunction => {
        const form = forms?.get(f.ir);
        return form === undefined ? f : { ...f, ir: form.ir, origins: form.origins, privateStack: form.privateStack };
      });
      found = forms === null ? null : new CompiledFunctions(this.program, list);
      this.#workItems.set(key, found);
    }
    return found;
  }

  /** Which functions calls of vISA go to. */
  #routineCalls(): RoutineCalls {
    return {
      named: (name) => this.named(name)?.ir ?? null,
      byAddress: (op) => this.list.filter((f) => f.hasAddress && fits(op, f.ir)).map(({ ir }) => ir),
    };
  }

  /** The same functions with another form of a kernel, of as many instructions, for blocks of any size. */
  withAnyBlocks({ number }: CompiledFunction, ir: IrFunction): CompiledFunctions {
    if (ir === this.list[number]!.ir) return this;
    let found = this.#regrouped.get(ir);
    if (found === undefined) {
      found = new CompiledFunctions(
        this.program,
        this.list.map((f, i) => (i === number ? { ...f, ir } : f)),
      );
      this.#regrouped.set(ir, found);
    }
    return found;
  }

  #split(width: number): CompiledFunctions {
    const subroutines: CompiledFunction[] = [];
    const list = this.list.map((f): CompiledFunction => {
      const before = subroutines.length;
      const [routine, ...others] = routineParts(promoteFile(f.ir, width), before).map(
        ({ ir, origins, isShared }, i): CompiledFunction => {
          return { ...f, ir, origins, part: { isShared, number: i === 0 ? null : before + i - 1 } };
        },
      );
      subroutines.push(...others);
      return routine!;
    });
    return new CompiledFunctions(this.program, list, subroutines);
  }
}

function compiledFunctionsOf(program: Program): readonly CompiledFunction[] {
  const { promoted: module, list } = loadedFunctionsOf(program);
  const taken = functionsWithAddress(module);
  const polls = functionsWithPolls(module, taken);
  return module.functions.map((ir, number) => ({
    ...(polls.has(ir) && !ir.external
      ? withClusterPolls(ir)
      : { ir: withoutUnusedOlds(list[number]!.asLoaded), origins: null }),
    ...list[number]!,
    number,
    hasAddress: taken.has(ir),
    privateStack: null,
    part: null,
  }));
}
