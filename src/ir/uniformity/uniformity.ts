import { laneAddressOf } from "../access.ts";
import { hasAllLanes, operandsOf, writesOf } from "../flow/accesses.ts";
import type { BitSet } from "../flow/bit-set.ts";
import { type BarrierPlaces, divergenceWithBarriers } from "../flow/barrier-meetings.ts";
import { departuresOf, type Divergence } from "../flow/divergence.ts";
import type { FlowGraph } from "../flow/flow-graph.ts";
import { type Liveness, resultsOf } from "../flow/liveness.ts";
import { awaitsPhase } from "../mbarrier.ts";
import type { Guard, Instruction, IrFunction, LaneRule, OpOf, Space } from "../index.ts";
import { type Expr, everyLeaf } from "../../semantics/index.ts";
import { namesActive } from "./active-mask.ts";
import { LaneQuestion } from "./lane-question.ts";
import { joinedShape, readAt, sameShape, type Shape, uniform, vector } from "./shape.ts";
import type { Participants, Surroundings } from "./surroundings.ts";
import { warpShape } from "./warp-shape.ts";

/** A function whose expressions are bound, with the analyses of its flow. */
export interface AnalysedCode {
  readonly ir: Pick<IrFunction, "registers" | "returns" | "frameImage">;
  readonly instructions: readonly Instruction[];
  readonly graph: FlowGraph;
  readonly liveness: Liveness;
}

const nowhere: BarrierPlaces = { all: new Set(), released: new Set() };

/** An operation at which lanes wait for others of their warp. */
interface WarpWait {
  readonly mask: Expr;
  readonly guard: Guard | null;
}

/** Whether the launch ends at an instruction unless all lanes of a warp are there. */
export const isAlign = ({ op, guard, lanes }: Instruction): boolean =>
  op.kind === "warp" && op.warp.op === "align" && guard === null && lanes === undefined;

/**
 * The uniformity analysis of a function: the shapes of its registers, and where lanes diverge. Each depends on the
 * other, so both are found in passes, from the best case on, until nothing changes.
 */
export class Uniformity<C extends AnalysedCode = AnalysedCode> {
  readonly code: C;
  isDeparture: readonly boolean[];
  divergence: Divergence;
  readonly #around: Surroundings;
  readonly #shapes: (Shape | null)[];
  readonly #results: ReadonlySet<number>;
  /** By the blocks at which lanes may wait, the registers that those lanes still need. */
  readonly #waitLive = new Map<ReadonlySet<number>, BitSet | null>();
  /** The shapes of expressions while those of registers are found, and afterwards. */
  readonly #passing: LaneQuestion;
  readonly #settled: LaneQuestion;
  /** Whether any operation of a warp names the lanes that take part. */
  readonly #namesLanes: boolean;
  /** By block that begins with an operation of a warp to which all lanes that are named come together, these lanes. */
  #complete: ReadonlyMap<number, Participants> = new Map();

  constructor(code: C, around: Surroundings) {
    this.code = code;
    this.#around = around;
    this.#namesLanes = code.instructions.some(({ op }) => op.kind === "warp" && op.mask !== null);
    this.#results = new Set(resultsOf(code.ir));
    this.#shapes = code.ir.registers.map((_, r) => around.params.get(r) ?? null);
    // Registers hold zeros at first.
    code.liveness.liveIn(0).forEach((r) => {
      this.#shapes[r] = around.params.has(r) ? vector : uniform;
    });
    for (const [r, shape] of around.params) this.#shapes[r] = shape;
    // The byte file may hold anything.
    code.ir.registers.forEach(({ home }, r) => {
      if (home?.lanes === null) this.#shapes[r] = uniform;
      else if (home !== undefined && this.#shapes[r] !== null) this.#shapes[r] = vector;
    });
    for (const r of this.#results) this.#shapes[r] = vector;
    this.#passing = new LaneQuestion({ register: (r) => this.#shapes[r]!, special: around.special });
    this.#settled = new LaneQuestion({ register: this.register, special: around.special });
    this.isDeparture = departuresOf(code.graph, code.instructions).map(
      (departs, block) => departs && !around.enlistsLanes && !(around.separatesExits && this.#exits(block)),
    );
    this.divergence = this.#diverge();
    const settled = new Uint8Array(code.instructions.length);
    while (this.#pass(settled)) {
      this.divergence = this.#diverge();
      this.#waitLive.clear();
    }
  }

  /** The shape of a register. One that nothing writes holds zeros. */
  readonly register = (r: number): Shape => this.#shapes[r] ?? uniform;

  shape(expr: Expr): Shape {
    return this.#settled.of(expr) ?? uniform;
  }

  /** Whether some lanes of the chunk may not be active in the block. */
  isPartial(block: number): boolean {
    return !this.#around.full || this.divergence.mayBePartial(block);
  }

  /** Whether a block's writes to a register have to be blended: lanes elsewhere still need their values. */
  merges(block: number, register: number): boolean {
    // Other lanes read the values of lanes that are not active.
    if (this.code.liveness.acrossLanes.has(register)) return this.isPartial(block);
    if (!this.divergence.mayBePartial(block)) return false;
    if (this.#results.has(register)) return true;
    const waiting = this.divergence.waiting(block);
    let live = this.#waitLive.get(waiting);
    if (live === undefined) {
      live = null;
      for (const w of waiting) {
        const there = this.code.liveness.liveIn(w);
        if (live === null) live = there.copy();
        else live.union(there);
      }
      this.#waitLive.set(waiting, live);
    }
    return live?.has(register) ?? false;
  }

  /** Whether all lanes that execute an instruction agree on its guard. */
  isUniformGuard(guard: Guard | null): boolean {
    if (guard?.collapse !== undefined) return false;
    return guard === null || this.register(guard.register).kind === "uniform";
  }

  /** Whether one address of a space may be a different byte of memory in each lane. */
  #isOwn(space: Space): boolean {
    const isOfStack = space === "local" || space === "call-param" || (space === "generic" && this.#around.stacks);
    return isOfStack && this.#around.lanes > 1 && this.code.ir.frameImage === undefined;
  }

  #exits(block: number): boolean {
    const { graph, instructions } = this.code;
    return instructions[graph.blocks[block]!.start]!.op.kind === "exit";
  }

  /** Whether lanes can diverge at the end of a block. */
  readonly isDivergent = (block: number): boolean => {
    const { graph, instructions } = this.code;
    const { guard, op, lanes } = instructions[graph.blocks[block]!.end - 1]!;
    if (lanes?.uniform === true) return false;
    if (lanes !== undefined && this.#leavesOut(lanes)) return true;
    if (guard?.collapse !== undefined) return false;
    if (op.kind === "branch-indexed" && this.shape(op.index).kind !== "uniform") return true;
    return !this.isUniformGuard(guard);
  };

  #diverge(): Divergence {
    this.#complete = new Map();
    const found = this.#divergeWith(this.isDivergent);
    const { participants } = this.#around;
    if (participants === undefined || !this.#namesLanes) return this.#noticed(found);
    const named = new Map<number, Participants>();
    for (const { index } of this.code.graph.blocks) {
      const lanes = this.#mayWaitIn(index, found) ? participants(index) : null;
      if (lanes !== null) named.set(index, lanes);
    }
    this.#findComplete(named);
    return this.#noticed(this.#complete.size === 0 ? found : this.#divergeWith(this.isDivergent));
  }

  /**
   * Finds those of some blocks with operations of warps to which all lanes that are named come together: followed
   * alone, they are never apart there. What two lanes do depends on no others. Nobody waits at any of the blocks until
   * one of them is the first at which some are missing; so if lanes are never apart as long as nobody waits, there is
   * no first one.
   */
  #findComplete(named: ReadonlyMap<number, Participants>): void {
    this.#complete = named;
    const alone = new Map<Participants, Divergence>();
    for (const lanes of new Set(named.values())) {
      alone.set(
        lanes,
        this.#divergeWith((b) => lanes.divides(b) ?? this.isDivergent(b)),
      );
    }
    // Those that have left are not waited for.
    const complete = [...named].filter(([block, lanes]) => alone.get(lanes)!.waiting(block).size === 0);
    if (complete.length < named.size) this.#findComplete(new Map(complete));
  }

  /** The same, if lanes that wait for others may have to notice when these leave. */
  #noticed(found: Divergence): Divergence {
    const { graph } = this.code;
    const someWait = this.#namesLanes && graph.blocks.some(({ index }) => this.#mayWaitIn(index, found));
    if (!someWait || !this.isDeparture.includes(true)) return found;
    // Lanes that wait for others notice when these leave.
    this.isDeparture = this.isDeparture.map(() => false);
    return this.#divergeWith(this.isDivergent);
  }

  /** `divergent`: whether lanes can diverge at the end of a block. */
  #divergeWith(divergent: (block: number) => boolean): Divergence {
    const { graph } = this.code;
    const { stalls, returnsPartially, exitsInCallee, barrierPlaces = nowhere } = this.#around;
    const options = {
      divergent,
      stalls: (block: number) => stalls(block) || this.#mayWaitApart(block),
      joinsOthers: (block: number) => this.#warpWait(block) !== null,
      splits: (block: number) => returnsPartially(block) || this.#mayWaitApart(block),
      exitsInside: exitsInCallee,
      needsAll: this.#needsAll,
    };
    return divergenceWithBarriers(graph, options, this.isDeparture, barrierPlaces);
  }

  /** Whether the launch ends where a block begins unless all lanes of the warp are there. */
  readonly #needsAll = (block: number): boolean => {
    const { graph, instructions } = this.code;
    return this.#around.lanes === 32 && isAlign(instructions[graph.blocks[block]!.start]!);
  };

  /** Whether a block is an operation of a warp that names other lanes, for which lanes have to come together. */
  isWarpWait(block: number): boolean {
    return this.#warpWait(block) !== null;
  }

  /** Whether a block begins with an operation of a warp to which all lanes that are named come together. */
  isComplete(block: number): boolean {
    return this.#complete.has(block);
  }

  /** Whether in such a block several groups of lanes each name themselves. */
  isApart(block: number): boolean {
    return this.#complete.get(block)?.areApart === true;
  }

  /** Whether lanes may have to wait at a block for others of their warp in the same function. */
  mayWait(block: number): boolean {
    return this.#mayWaitIn(block, this.divergence);
  }

  /** Whether lanes may exit in a function that a block calls. */
  exitsInCallee(block: number): boolean {
    return this.#around.exitsInCallee(block);
  }

  #mayWaitIn(block: number, divergence: Divergence): boolean {
    if (this.#warpWait(block) === null) return false;
    return this.code.graph.blocks.some(({ index }) => index >= block && divergence.waiting(index).has(block));
  }

  /** The operation at which lanes may wait in a block. Lanes that name none but themselves need not wait. */
  #warpWait(block: number): WarpWait | null {
    if (!this.#namesLanes || this.#complete.has(block)) return null;
    const { graph, instructions } = this.code;
    const { op, guard } = instructions[graph.blocks[block]!.start]!;
    if (op.kind !== "warp" || op.mask === null) return null;
    const { mask } = op;
    const waits = (at: number): boolean => this.isWarpWait(at);
    const isActive =
      mask.kind === "reg" && this.isUniformGuard(guard) && namesActive(this.code, mask.reg, block, waits);
    if (isActive) return null;
    return { mask, guard };
  }

  /** Whether lanes that reach a block together may have to wait for different lanes. */
  #mayWaitApart(block: number): boolean {
    const found = this.#warpWait(block);
    return found !== null && (!this.isUniformGuard(found.guard) || this.shape(found.mask).kind !== "uniform");
  }

  /** Looks at all instructions once that are not settled: those write vectors alone. True if a shape has changed. */
  #pass(settled: Uint8Array): boolean {
    const { graph, instructions, ir } = this.code;
    let changed = false;
    let [block, at, result] = [0, 0, 0];
    let instruction: Instruction;
    const write = (r: number): void => {
      // A vector stays one.
      if (this.#shapes[r] === vector && ir.registers[r]!.home?.lanes !== null) {
        result++;
        return;
      }
      settled[at] = 0;
      const shape = this.#written(instruction, result++, block);
      if (shape === null) return;
      const joined = this.#join(r, block, instruction, shape);
      const old = this.#shapes[r]!;
      if (old !== null && sameShape(old, joined)) return;
      this.#shapes[r] = joined;
      changed = true;
    };
    for (const { index, start, end } of graph.blocks) {
      block = index;
      for (at = start; at < end; at++) {
        if (settled[at] === 1) continue;
        instruction = instructions[at]!;
        result = 0;
        settled[at] = 1;
        writesOf(instruction, write);
      }
    }
    return changed;
  }

  #join(r: number, block: number, { guard, lanes }: Instruction, shape: Shape): Shape {
    const old = this.#shapes[r]!;
    const { bits, home } = this.code.ir.registers[r]!;
    if (home?.lanes === null) return uniform;
    const joined = old === null ? shape : joinedShape(old, shape);
    if ((joined.kind === "vector" && joined.rows === undefined) || !this.isUniformGuard(guard)) return vector;
    if (lanes !== undefined && (home === undefined ? this.#leavesOut(lanes) : !hasAllLanes(lanes, home))) return vector;
    if (lanes?.noMask !== true && this.merges(block, r)) return vector;
    // A narrow register has no room for a base of 32 bits.
    if (shape.kind !== "uniform" && bits < 32 && !(shape.kind === "rows" && bits === 1)) return vector;
    return joined;
  }

  /** Whether a rule leaves out some lanes of the chunk. */
  #leavesOut({ first, count }: LaneRule): boolean {
    return first > 0 || count < this.#around.lanes;
  }

  /** The shape of what lanes learn of an mbarrier: where they ask for the same phase of the same one, all learn it. */
  #answer(op: OpOf<"atomic">): Shape | null {
    let found: Shape | null = uniform;
    const isShared = (leaf: Expr): boolean => {
      // Where all have the same address, they find the same word.
      const shape = leaf.kind === "old" ? uniform : this.#passing.of(leaf);
      if (shape === null) found = null;
      return shape === null || shape.kind === "uniform";
    };
    return operandsOf(op).every((operand) => everyLeaf(operand, isShared)) ? found : vector;
  }

  /** The shape of the n-th register that an instruction writes; null as long as nothing is known. */
  #written({ op, dst }: Instruction, n: number, block: number): Shape | null {
    const at = dst.length === 1 ? 0 : placeOf(n, dst);
    switch (op.kind) {
      case "pure": {
        return this.#passing.of(op.values[at]!);
      }
      case "load": {
        const address = this.#passing.of(laneAddressOf(op.place));
        if (op.place.kind === "surface" || this.#isOwn(op.access.space)) return vector;
        return address === null ? null : readAt(address);
      }
      case "activemask":
        return uniform;
      case "barrier":
        return uniform;
      case "warp":
        // Lanes that have waited for different lanes, or that need not wait for these, go on together.
        if (op.mask !== null && (this.mayWait(block) || this.isApart(block))) return vector;
        return warpShape(op, at, (expr) => this.#passing.of(expr));
      case "atomic":
        return this.#around.asksTogether && awaitsPhase(op) ? this.#answer(op) : vector;
      case "cluster-poll":
        // All blocks of the cluster have begun or not, whoever asks.
        return op.asks === "begun" ? uniform : vector;
      case "call":
      case "file-call":
      case "subroutine-call":
      case "alloca":
      case "stack-save":
      case "unit":
        return vector;
      // These have no results.
      case "store":
      case "copy":
      case "commit-copies":
      case "await-copies":
      case "order-products":
      case "cluster-barrier":
      case "fence":
      case "branch":
      case "branch-indexed":
      case "return":
      case "exit":
      case "trap":
      case "breakpoint":
      case "stack-restore":
      case "sleep":
      case "nothing":
      case "unsupported":
        return vector;
    }
  }
}

/** The place of the n-th register among the destinations of an instruction. */
function placeOf(n: number, dst: Instruction["dst"]): number {
  let registers = 0;
  return dst.findIndex((to) => typeof to === "number" && registers++ === n);
}
