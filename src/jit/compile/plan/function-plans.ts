import { isCall } from "../../../ir/calls.ts";
import { valuesOf } from "../../../ir/flow/accesses.ts";
import type { Argument, Instruction } from "../../../ir/index.ts";
import { signatureOf } from "../../../ir/signature.ts";
import type { LaunchShape } from "../../abi/launch-shape.ts";
import { prepare, type PreparedCode } from "../analysis/code/prepared-code.ts";
import { type Shape, uniform, vector } from "../analysis/values/shape.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import { UniformityAnalysis, type Surroundings } from "../analysis/values/uniformity.ts";
import { type CallGraph, preparationIn } from "./call-graph.ts";
import type { CompiledFunction } from "./callables.ts";
import { type Convention, conventionOf, directConvention, routineConvention } from "./calling-convention.ts";
import { resumeBlocks, type SuspensionPoints, suspensionPointsOf } from "./pauses.ts";
import type { ProgramFacts } from "./program-facts.ts";

/** A function of the program as it will be written. */
export interface FunctionPlan {
  readonly callable: CompiledFunction;
  readonly code: PreparedCode;
  readonly analysis: UniformityAnalysis;
  readonly convention: Convention;
  readonly pauses: SuspensionPoints;
}

/** Blocks at whose end lanes may be gone. */
export const exitsInCallee =
  ({ graph, instructions }: PreparedCode, { mayLoseLanes }: CallGraph) =>
  (block: number): boolean =>
    mayLoseLanes(instructions[graph.blocks[block]!.end - 1]!);

/** What is known of a function from all calls that have been looked at. */
interface Known {
  readonly code: PreparedCode;
  readonly params: Map<number, Shape>;
  /** Whether all lanes of a chunk are always together. */
  full: boolean;
  analysis: UniformityAnalysis | null;
}

/**
 * Finds how the functions that a kernel reaches are called, from the kernel on: a parameter that is the same in all lanes
 * at each call is passed as one number. Calls by address pass vectors.
 */
export class Planning {
  readonly #graph: CallGraph;
  readonly #facts: ProgramFacts;
  readonly #shape: LaunchShape;
  readonly #stacks: boolean;
  readonly #known = new Map<CompiledFunction, Known>();

  readonly #parting: ReadonlySet<CompiledFunction>;

  /** `stacks`: whether anything lies in the lanes' stacks; `parting`: functions from which some lanes may come back before others. */
  constructor(
    graph: CallGraph,
    facts: ProgramFacts,
    shape: LaunchShape,
    stacks: boolean,
    parting: ReadonlySet<CompiledFunction>,
  ) {
    this.#parting = parting;
    this.#graph = graph;
    this.#facts = facts;
    this.#shape = shape;
    this.#stacks = stacks;
  }

  /** The functions that are called from the kernel, directly or not. */
  from(kernel: UniformityAnalysis): FunctionPlan[] {
    const todo: UniformityAnalysis[] = [kernel];
    for (let caller = todo.pop(); caller !== undefined; caller = todo.pop()) {
      for (const f of this.#callsFrom(caller)) todo.push(this.#analyse(this.#known.get(f)!));
    }
    return [...this.#known].map(([callable, { code, params, analysis }]) => {
      const loses = this.#graph.losesLanes(callable);
      const convention = this.#conventionOf(callable, loses, params);
      return {
        callable,
        code,
        analysis: analysis!,
        convention,
        pauses: suspensionPointsOf(code, this.#graph, this.#parting),
      };
    });
  }

  #conventionOf(f: CompiledFunction, loses: boolean, params: ReadonlyMap<number, Shape>): Convention {
    if (f.part !== null) return routineConvention(loses);
    return this.#graph.isCalledByAddress(f)
      ? conventionOf(signatureOf(f.ir), loses)
      : directConvention(f, loses, (r) => params.get(r)!);
  }

  /** Takes note of the calls in a function; what it calls is to be looked at again if there is something new. */
  #callsFrom(caller: UniformityAnalysis): ReadonlySet<CompiledFunction> {
    const changed = new Set<CompiledFunction>();
    const { graph, instructions } = caller.code;
    instructions.forEach((instruction, i) => {
      const { op } = instruction;
      if (!isCall(op)) return;
      const args = op.kind === "call" ? op.args : [];
      for (const f of this.#graph.targetsOf(op)) {
        if (!f.ir.external && this.#note(caller, graph.blockAt(i), instruction, args, f)) changed.add(f);
      }
    });
    return changed;
  }

  #note(
    caller: UniformityAnalysis,
    block: number,
    { guard, lanes }: Instruction,
    args: readonly Argument[],
    f: CompiledFunction,
  ): boolean {
    let known = this.#known.get(f);
    const isNew = known === undefined;
    const byAddress = f.part === null && this.#graph.isCalledByAddress(f);
    if (known === undefined) {
      const code = prepare(f, this.#facts.bindings, preparationIn(this.#graph));
      const registers = f.ir.params.flatMap(({ storage }) => (storage.kind === "register" ? storage.registers : []));
      const params = new Map(registers.map((r) => [r, byAddress ? vector : uniform]));
      this.#known.set(f, (known = { code, params, full: !byAddress, analysis: null }));
    }
    let changed = isNew;
    const isForAll = caller.isUniformGuard(guard) && (lanes === undefined || lanes.uniform);
    if (known.full && (caller.isPartial(block) || !isForAll)) {
      known.full = false;
      changed = true;
    }
    f.ir.params.forEach(({ storage }, i) => {
      if (storage.kind !== "register") return;
      const values = args[i] === undefined ? [] : valuesOf(args[i]);
      storage.registers.forEach((r, j) => {
        const value = values[j];
        if (value !== undefined && caller.shape(value).kind === "uniform") return;
        if (known.params.get(r)!.kind === "vector") return;
        known.params.set(r, vector);
        changed = true;
      });
    });
    return changed;
  }

  #analyse(known: Known): UniformityAnalysis {
    const pauses = suspensionPointsOf(known.code, this.#graph, this.#parting);
    const stalled = resumeBlocks(pauses);
    const around: Surroundings = {
      special: (leaf) => specialShape(leaf, this.#shape),
      params: known.params,
      full: known.full,
      stalls: (block) => stalled.has(block),
      returnsPartially: (block) => pauses.parting.has(block),
      exitsInCallee: exitsInCallee(known.code, this.#graph),
      separatesExits: true,
      stacks: this.#stacks,
      enlistsLanes: false,
      lanes: 4 * this.#shape.quads,
    };
    known.analysis = new UniformityAnalysis(known.code, around);
    return known.analysis;
  }
}
