import { lanesOf } from "../../abi/launch-shape.ts";
import { registersIn } from "../../../ir/module.ts";
import { isCall } from "../../../ir/calls.ts";
import { valuesOf } from "../../../ir/flow/accesses.ts";
import type { Argument, Instruction } from "../../../ir/index.ts";
import { signatureOf } from "../../../ir/signature.ts";
import { prepare, type PreparedCode } from "../analysis/code/prepared-code.ts";
import { type Shape, uniform, vector } from "../../../ir/uniformity/shape.ts";
import { specialShape } from "../analysis/values/special-registers.ts";
import type { Surroundings } from "../../../ir/uniformity/surroundings.ts";
import { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { type CallGraph, preparationIn } from "./call-graph.ts";
import type { CompiledFunction } from "./compiled-functions.ts";
import { type Convention, conventionOf, directConvention, routineConvention } from "./calling-convention.ts";
import { resumeBlocks, type SuspensionPoints, barrierPlacesOf, suspensionPointsOf } from "./suspension-points.ts";
import type { KernelScope } from "./scope.ts";

/** A function that the kernel calls, analysed: all that is decided before its code is written. */
export interface FunctionPlan {
  readonly compiled: CompiledFunction;
  readonly code: PreparedCode;
  readonly analysis: UniformityAnalysis;
  readonly convention: Convention;
  readonly points: SuspensionPoints;
}

/** Whether lanes may have exited by the end of a block, in what it calls. */
export const exitsInCallee =
  ({ graph, instructions }: PreparedCode, { mayExitIn }: CallGraph) =>
  (block: number): boolean =>
    mayExitIn(instructions[graph.blocks[block]!.end - 1]!);

/** A function as far as the calls that have been visited tell. */
interface Known {
  readonly code: PreparedCode;
  readonly params: Map<number, Shape>;
  /** Whether it is always called for all lanes of a chunk. */
  full: boolean;
  analysis: UniformityAnalysis | null;
}

/**
 * Finds how the functions that a kernel can reach are called, beginning with the kernel: a parameter that is uniform at
 * every call is passed as a scalar. Calls by address pass vectors.
 */
export class Planning {
  readonly #scope: KernelScope;
  readonly #graph: CallGraph;
  readonly #partial: ReadonlySet<CompiledFunction>;
  readonly #known = new Map<CompiledFunction, Known>();

  /** `partial`: functions from which some lanes may return before others. */
  constructor(scope: KernelScope, partial: ReadonlySet<CompiledFunction>) {
    this.#scope = scope;
    this.#graph = scope.graph;
    this.#partial = partial;
  }

  /** Plans the functions that are called from the kernel, directly or not. */
  from(kernel: UniformityAnalysis): FunctionPlan[] {
    const todo: UniformityAnalysis[] = [kernel];
    for (let caller = todo.pop(); caller !== undefined; caller = todo.pop()) {
      for (const f of this.#callsFrom(caller)) todo.push(this.#analyse(this.#known.get(f)!));
    }
    return [...this.#known].map(([compiled, { code, params, analysis }]) => {
      const mayExit = this.#graph.mayExit(compiled);
      const convention = this.#conventionOf(compiled, mayExit, params);
      return {
        compiled,
        code,
        analysis: analysis!,
        convention,
        points: suspensionPointsOf(code, this.#graph, this.#partial),
      };
    });
  }

  #conventionOf(f: CompiledFunction, mayExit: boolean, params: ReadonlyMap<number, Shape>): Convention {
    if (f.part !== null) return routineConvention(mayExit);
    return this.#graph.isCalledByAddress(f)
      ? conventionOf(signatureOf(f.ir), mayExit)
      : directConvention(f, mayExit, (r) => params.get(r)!);
  }

  /**
   * Notes the calls in a function. Returns the functions of which that tells something new: they have to be analysed
   * again.
   */
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
      const code = prepare(f, this.#scope.facts.bindings, preparationIn(this.#graph));
      const registers = registersIn(f.ir.params);
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
    const { shape, stacks } = this.#scope;
    const points = suspensionPointsOf(known.code, this.#graph, this.#partial);
    const resumed = resumeBlocks(points);
    const surroundings: Surroundings = {
      special: (leaf) => specialShape(leaf, shape),
      params: known.params,
      full: known.full,
      stalls: (block) => resumed.has(block),
      barrierPlaces: barrierPlacesOf(known.code, points, this.#graph.isLockstep),
      returnsPartially: (block) => points.partialReturns.has(block),
      exitsInCallee: exitsInCallee(known.code, this.#graph),
      separatesExits: true,
      stacks: stacks.isUsed,
      enlistsLanes: false,
      asksTogether: false,
      lanes: lanesOf(shape),
    };
    known.analysis = new UniformityAnalysis(known.code, surroundings);
    return known.analysis;
  }
}
