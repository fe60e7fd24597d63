import { operandsOf } from "../../../ir/flow/accesses.ts";
import { type FlowBlock, type FlowGraph, flowGraphOf } from "../../../ir/flow/flow-graph.ts";
import { type LoopRange, loopsOf } from "../../../ir/flow/loops.ts";
import {
  accessesOf,
  type Instruction,
  type IrFunction,
  leadsBack,
  type MemoryAccess,
  targetsIn,
} from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { divergentKindsOf, kind, kindOf } from "./values/lane-kinds.ts";

/** Kernels with more instructions are not examined. */
const maxInstructions = 2000;

/** How many times as long several threads at once must take, by estimate, for threads to run alone. */
const leastGain = 1.3;

/** Rounds of a loop within another one, for each round of that. */
const innerRounds = 8;

/** How many times as long lanes take together that leave a loop at different times: half of them have left it. */
const idleLanes = 2;

/**
 * Whether the threads of a kernel are faster one after the other, as scalar code, than several at once as vectors:
 * where they spend their time in loops in which what they have loaded sends each its own way, and of what they do there
 * most is done lane by lane anyhow, or more of the vectors' lanes would have left than not.
 */
export function isFasterAlone(ir: IrFunction): boolean {
  const { instructions } = ir;
  if (instructions.length > maxInstructions || !instructions.some(leadsBack)) return false;
  const { alone, together } = new LoopCosts(ir);
  return together > leastGain * alone;
}

const plainOps: ReadonlySet<string> = new Set(["pure", "load", "store", "branch", "return", "exit", "nothing"]);

/** Whether each thread of a kernel does all for itself alone, and waits for no other. */
export const canRunAlone = ({ instructions }: IrFunction): boolean =>
  instructions.every(({ op, lanes }) => plainOps.has(op.kind) && lanes === undefined && accessesOf(op).every(isWeak));

const isWeak = ({ place, access: { order, volatile } }: MemoryAccess): boolean =>
  place.kind === "address" && place.surface === undefined && order === "weak" && !volatile;

/** What the loops of a kernel cost in which lanes diverge: for each thread, in simple instructions of the machine. */
class LoopCosts {
  alone = 0;
  together = 0;
  readonly #instructions: readonly Instruction[];
  readonly #graph: FlowGraph;
  readonly #kinds: Readonly<Uint8Array>;

  constructor(ir: IrFunction) {
    this.#instructions = ir.instructions;
    this.#graph = flowGraphOf(ir.instructions);
    this.#kinds = divergentKindsOf(ir);
    for (const loop of loopsOf(this.#graph)) this.#add(loop, 1, 1);
  }

  /** `weight`: the rounds of the loops around this one; `idle`: how many times as long these take for idle lanes. */
  #add(loop: LoopRange, weight: number, idle: number): void {
    const inLoop = idle * (this.#isLeftApart(loop) ? idleLanes : 1);
    const isDivergent = idle > 1 || this.#blocksOf(loop).some((block) => this.#diverges(this.#last(block)));
    const others = innermost(loop);
    for (const block of this.#blocksOf(loop)) {
      const isInOther = others.some(({ start, end }) => start <= block.index && block.index <= end);
      if (!isDivergent || isInOther) continue;
      for (const instruction of this.#instructions.slice(block.start, block.end)) {
        this.alone += weight * this.#costAlone(instruction);
        this.together += weight * inLoop * this.#costTogether(instruction);
      }
    }
    for (const other of others) this.#add(other, weight * innerRounds, inLoop);
  }

  #blocksOf({ start, end }: LoopRange): readonly FlowBlock[] {
    return this.#graph.blocks.slice(start, end + 1);
  }

  #last({ end }: FlowBlock): Instruction {
    return this.#instructions[end - 1]!;
  }

  /** Whether lanes may leave a loop at different times. */
  #isLeftApart(loop: LoopRange): boolean {
    const [from, to] = [this.#graph.blocks[loop.start]!.start, this.#graph.blocks[loop.end]!.end];
    const leaves = (branch: Instruction): boolean =>
      targetsIn(branch.op).some((target) => target <= from || target >= to);
    return (
      this.#blocksOf(loop).some((block) => this.#diverges(this.#last(block)) && leaves(this.#last(block))) ||
      loop.inner.some((other) => other.end === loop.end && this.#isLeftApart(other))
    );
  }

  /** Whether it depends on each lane where a branch leads. */
  #diverges({ op, guard }: Instruction): boolean {
    return op.kind === "branch" && guard !== null && this.#kinds[guard.register] === kind.vector;
  }

  #costAlone({ op }: Instruction): number {
    const values = operandsOf(op).reduce((sum, expr) => sum + costOf(expr, () => 1), 0);
    // With its check. Loads from global memory wait for each other.
    return accessesOf(op).reduce((sum, { access }) => sum + (access.space === "local" ? 2 : 3), values);
  }

  #costTogether(instruction: Instruction): number {
    const { op } = instruction;
    const values = operandsOf(op).reduce((sum, expr) => sum + costOf(expr, vectorCost), 0);
    const apart = accessesOf(op).filter(
      ({ place }) => place.kind === "address" && kindOf(place.address, this.#kinds) >= kind.computed,
    );
    return values + apart.length + (this.#diverges(instruction) ? 1.5 : 0);
  }
}

/** The loops directly within one. Several that end in the same place, as `continue` makes them, are one loop. */
const innermost = ({ end, inner }: LoopRange): readonly LoopRange[] =>
  inner.flatMap((other) => (other.end === end ? innermost(other) : [other]));

const costOf = (expr: Expr, ofPrim: (expr: Prim) => number): number =>
  expr.kind === "prim" ? expr.args.reduce((sum, arg) => sum + costOf(arg, ofPrim), ofPrim(expr)) : 0;

type Prim = Extract<Expr, { kind: "prim" }>;

/** The cost of an operation for each of four lanes that compute it at once, most of them one of the machine's. */
function vectorCost({ prim, ty, args }: Prim): number {
  const by = args[1];
  if (prim === "i64.mul" && !args.some(isNarrowFactor)) return 4;
  if (/^i64\.(shl|shr_[su]|rotl|rotr)$/.test(prim) && by!.kind !== "const") return 3;
  if (/^i(32|64)\.(div|rem)_/.test(prim)) return 2;
  return ty === "i64" || ty === "f64" ? 0.5 : 0.25;
}

/** Products with powers of two are shifts, and those of extended words take one instruction. */
const isNarrowFactor = (expr: Expr): boolean =>
  expr.kind === "const"
    ? Number.isInteger(Math.log2(Number(expr.value)))
    : expr.kind === "prim" && expr.prim.startsWith("i64.extend");
