import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { awaitsPhase, endingOp, type Guard, type Instruction, type LaneRule, type Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { type BranchCondition, branchConditionOf } from "../analysis/flow/branch-condition.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { hasKnownLanes, fullMask, type Mask } from "../lanes/mask.ts";
import type { SuspensionPlace, SuspensionPoints } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";
import type { BlockEnd, Branch, ConvergedBranch, ExitLog, InstructionWriter } from "./block-end.ts";
import { type BackEdge, isSelfLoop, takesBackEdge } from "./check-free-loop.ts";
import type { ConvergedPath } from "./converged-path.ts";
import type { BlockReductions } from "./block-reductions.ts";
import type { CountedBarriers } from "./counted-barriers.ts";
import type { IfConversion } from "./if-conversion.ts";
import { type IndexedBranch, writeIndexedBranch } from "./indexed-branch.ts";
import { noCopies, type Reconvergence } from "./reconvergence.ts";
import { hasMaskedRounds, writeMaskedRounds } from "./masked-rounds.ts";
import { everywhere, ifUniform } from "./uniform-branch.ts";

/** Rounds of a spin loop after which its lanes yield. */
const patience = 64;

/** The parts of a function that the ends of its blocks are written with. */
interface TerminatorContext {
  readonly flow: Reconvergence;
  readonly points: SuspensionPoints;
  readonly suspension: Suspension | null;
  readonly counted: CountedBarriers | null;
  readonly reductions: BlockReductions | null;
  readonly invariants: Invariants | null;
  readonly exits: ExitLog;
  readonly faults: Faults;
  readonly instructions: InstructionWriter;
  readonly ifConversion: IfConversion;
  /** Writes a block for some of the converged lanes, which are known while code is written. */
  readonly writeForKnown: (block: FlowBlock, lanes: readonly Wasm[]) => void;
}

/** Writes the ends of blocks: where their lanes go next. */
export class Terminators {
  readonly #chunk: Chunk;
  readonly #parts: TerminatorContext;
  readonly #flow: Reconvergence;
  /** The local that counts rounds of spin loops down; null where there are none. */
  readonly #patience: number | null;

  constructor(chunk: Chunk, parts: TerminatorContext) {
    this.#chunk = chunk;
    this.#parts = parts;
    this.#flow = parts.flow;
    this.#patience = parts.points.spins.size > 0 ? chunk.writer.local("i32") : null;
  }

  /** Lanes begin, or resume. */
  begin(): void {
    if (this.#patience !== null) this.#chunk.writer.assign([{ local: this.#patience, value: wasm.i32(patience) }]);
  }

  /** Writes the last instruction of a block if it says where lanes go, and returns whether it does. */
  write(end: BlockEnd): boolean {
    const { block, path } = end;
    const { instructions, graph } = this.#chunk.analysis.code;
    const last = instructions[block.end - 1]!;
    const target = (instruction: number): number => graph.blockAt(instruction);
    const op = endingOp(last.op);
    if (op === null) return false;
    switch (op.kind) {
      case "branch":
        this.#branch({ ...end, to: target(op.target) }, last);
        return true;
      case "return":
      case "exit":
        if (path === null) this.#leave(block.index, last);
        else {
          const to = graph.blocks.length;
          this.#branchConverged({ block, to, condition: null, copies: () => noCopies, path }, last);
        }
        return true;
      case "barrier":
        this.#barrier(block, op, last);
        return true;
      case "branch-indexed":
        this.#branchIndexed({
          block: block.index,
          index: block.end - 1,
          instruction: last,
          op,
          targets: op.targets.map(target),
        });
        return true;
      // Lanes go on after it, if they do, at the next block.
      case "subroutine-call":
      case "trap":
      case "cluster-barrier":
      case "sleep":
      case "warp":
        return false;
    }
  }

  /** All lanes continue after a block whose last instruction does not say where they go. */
  continueAfter(block: number, path: ConvergedPath | null): void {
    if (path !== null) path.jump(block, block + 1);
    else if (this.#awaitsPhase(block + 1)) this.#flow.suspend("loop", block, block + 1, null);
    // The end of the function is a return.
    else if (block === this.#chunk.analysis.code.graph.blocks.length - 1) this.#flow.leave(block, null);
  }

  /**
   * The condition of a block's branch, if it is evaluated lane by lane only where lanes may diverge. `end`, `taken`:
   * where the copies begin for lanes that do not take the branch, and for those that do.
   */
  conditionOf({ index, end: blockEnd }: FlowBlock, end: number, taken: number): BranchCondition | null {
    const { instructions, graph } = this.#chunk.analysis.code;
    const { op, guard } = instructions[blockEnd - 1]!;
    // Operands in a byte file are loaded for one instruction.
    if (op.kind !== "branch" || guard === null || this.#chunk.file !== null) return null;
    if (this.#chunk.guardMask(guard) === null) return null;
    const { points, invariants } = this.#parts;
    const to = graph.blockAt(op.target);
    // If all lanes branch back, or none forward, there are no copies to make.
    const isSimple = to > index ? end === taken : taken === blockEnd - 1 && !points.spins.has(to);
    if (!isSimple && !this.#chunk.converged) return null;
    const { analysis, rematerialized } = this.#chunk;
    return branchConditionOf(analysis, rematerialized, index, end, (i) => invariants?.has(i) === true);
  }

  /** The back edge of a block that is a loop by itself; null for other blocks. */
  backEdge({ block, condition, copies, path }: BlockEnd): BackEdge | null {
    const { index, end } = block;
    if (!isSelfLoop(this.#chunk, block) || this.#parts.points.spins.has(index)) return null;
    const last = this.#chunk.analysis.code.instructions[end - 1]!;
    return {
      isTakenByAll: () => {
        this.#chunk.begin(last);
        const all = this.#isDecided(condition, last, true);
        if (all === null) this.#evaluate(index, condition, last);
        this.#chunk.writer.value(all ?? takesBackEdge(this.#chunk, index, last.guard!));
      },
      copy: copies(true).copy,
      take: () => (path ?? this.#flow).jump(index, index),
    };
  }

  /** 1 only if all lanes take the branch, or none does; null if that takes a test of each lane. */
  #isDecided(condition: BranchCondition | null, { guard }: Instruction, takes: boolean): Wasm | null {
    if (condition === null) return null;
    const { register, negate } = guard!;
    return everywhere(this.#chunk, condition.predicates, { kind: "reg", ty: "pred", reg: register }, takes !== negate);
  }

  #branch(branch: Branch, last: Instruction): void {
    const { block, to, condition, copies, path } = branch;
    if (path !== null) {
      this.#branchConverged({ ...branch, path }, last);
      return;
    }
    const all = this.#isDecided(condition, last, true);
    const none = to <= block.index ? null : this.#isDecided(condition, last, false);
    const branchByLane = (): void => {
      this.#evaluate(block.index, condition, last);
      this.#branchByLane(branch, last);
    };
    if (all !== null) {
      this.#if(
        all,
        () => {
          copies(true).copy();
          this.#flow.jump(block.index, to);
        },
        true,
      );
    }
    if (none === null) branchByLane();
    else this.#if(wasm.op("i32.eqz", none), branchByLane, false);
  }

  /** Evaluates the condition of a branch in each lane. */
  #evaluate(block: number, condition: BranchCondition | null, last: Instruction): void {
    const { instructions } = this.#chunk.analysis.code;
    for (const i of condition?.instructions ?? []) this.#parts.instructions.write(block, i, instructions[i]!);
    this.#chunk.begin(last);
  }

  /** A branch, return or exit of converged lanes. */
  #branchConverged(branch: ConvergedBranch, last: Instruction): void {
    const { block, to, copies, path } = branch;
    const next = block.index + 1;
    const take = (): void => {
      copies(true).copy();
      path.jump(block.index, to);
    };
    if (last.guard === null) {
      take();
      return;
    }
    if (to === next) {
      this.#evaluate(block.index, branch.condition, last);
      copies(false).copyOthers();
      copies(false).copy();
    } else {
      const mask = this.#chunk.guardMask(last.guard);
      if (mask === null) ifUniform(this.#chunk, last.guard, take);
      else if (hasMaskedRounds(branch, this.#parts.ifConversion)) {
        const all = this.#isDecided(branch.condition, last, true);
        const none = this.#isDecided(branch.condition, last, false);
        const evaluate = (): void => this.#evaluate(block.index, branch.condition, last);
        const end = { all, none, evaluate, mask, take };
        writeMaskedRounds(this.#chunk, this.#parts.ifConversion, branch, end);
        path.jump(block.index, next);
        return;
      } else this.#takeOrDiverge(branch, last, mask, take);
      copies(true).copyOthers();
    }
    path.jump(block.index, next);
  }

  /**
   * Lanes stay converged if all take a branch or none does, or if the blocks up to the place where they are together
   * again can be if-converted. Else the code for any lanes takes over.
   */
  #takeOrDiverge(branch: ConvergedBranch, last: Instruction, mask: readonly Wasm[], take: () => void): void {
    const { block, to, condition, path } = branch;
    const { ifConversion } = this.#parts;
    const region = ifConversion.regionAfter(block, to, true);
    const join = (): void => path.jump(block.index, region!.join);
    const staying = mask.map((lanes) => wasm.op("v128.not", lanes));
    if (region?.blocks.length === 1 && region.loops.size === 0 && hasKnownLanes(staying)) {
      this.#evaluate(block.index, condition, last);
      this.#parts.writeForKnown(region.blocks[0]!, staying);
      join();
      return;
    }
    const diverge = (): void => {
      if (region === null) this.#diverge(branch, last);
      else {
        ifConversion.write(region, last);
        join();
      }
    };
    const all = this.#isDecided(condition, last, true);
    const none = this.#isDecided(condition, last, false);
    if (all === null || none === null) {
      this.#evaluate(block.index, condition, last);
      this.#if(anyOf(mask), () => {
        this.#if(wasm.op("i32.eqz", anyOf(staying)), take, true);
        diverge();
      });
      return;
    }
    const unlessNone = (then: () => void): void => this.#if(wasm.op("i32.eqz", none), then);
    const evaluateAndDiverge = (): void => {
      const evaluate = (): void => this.#evaluate(block.index, condition, last);
      if (region !== null) {
        ifConversion.writeNarrow(region, last, { predicates: condition!.predicates, evaluate, join });
      }
      evaluate();
      diverge();
    };
    // The more likely outcome is tested first.
    if (to <= block.index) {
      this.#if(all, take, true);
      unlessNone(evaluateAndDiverge);
    } else {
      unlessNone(() => {
        this.#if(all, take, true);
        evaluateAndDiverge();
      });
    }
  }

  /** Converged lanes diverge: the code for any lanes takes over after the branch. */
  #diverge(branch: Branch, last: Instruction): void {
    const next = branch.block.index + 1;
    if (last.op.kind === "branch") this.#branchByLane(branch, last);
    else this.#leave(branch.block.index, last);
    if (next < this.#chunk.analysis.code.graph.blocks.length) this.#flow.continueAt(next);
    else this.#flow.end();
  }

  /** `expected`: the likely value of the condition, if it is known. */
  #if(condition: Wasm, then: () => void, expected: boolean | null = null): void {
    this.#chunk.writer.value(condition);
    if (expected !== null) this.#chunk.writer.expect(expected);
    this.#chunk.writer.if(then);
  }

  #branchByLane({ block: { index: block }, to, copies: copiesOf }: Branch, { guard, lanes }: Instruction): void {
    const copies = copiesOf(false);
    const mayYield = to <= block && this.#parts.points.spins.has(to);
    const branch = (): void => {
      if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.#flow.jump(block, to));
      else this.#flow.branch(block, to, guard, mayYield ? noCopies : copies);
    };
    if (!mayYield) branch();
    else {
      copies.copyOthers();
      copies.copy();
      const suspend = (): void => {
        if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.#flow.suspend("loop", block, to, null));
        else this.#suspend("loop", block, to, guard);
      };
      if (this.#parts.points.polls.has(to)) suspend();
      else this.#branchOrYield(branch, suspend);
    }
  }

  /**
   * Whether lanes wait for a phase of an mbarrier at a block. They give others a turn before: threads that wait for
   * each phase of an mbarrier find none complete if others may be two phases ahead of them.
   */
  #awaitsPhase(index: number): boolean {
    const { graph, instructions } = this.#chunk.analysis.code;
    if (!this.#parts.points.spins.has(index) || this.#parts.suspension?.isLockstep !== false) return false;
    const { start, end } = graph.blocks[index]!;
    return instructions.slice(start, end).some(({ op }) => awaitsPhase(op));
  }

  /** Lanes yield to others once their patience with a spin loop is at its end. */
  #branchOrYield(branch: () => void, yieldTurn: () => void): void {
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.sub", wasm.local("i32", this.#patience!), wasm.i32(1)));
    writer.tee(this.#patience!);
    writer.i32(0);
    writer.op("i32.ge_s");
    writer.if(branch, yieldTurn);
  }

  #barrier({ index: block, end }: FlowBlock, op: Extract<Op, { kind: "barrier" }>, instruction: Instruction): void {
    const { points, counted, reductions, suspension } = this.#parts;
    const at = points.barriers.get(block)!;
    reductions?.vote(block, instruction, op);
    const state = suspension!.uniformBarrierBefore(at);
    if (counted !== null) counted.arrive(block, end - 1, instruction, op, at);
    else if (state !== null) suspension!.arrive(state);
    else this.#suspend("barrier", block, at, instruction.guard);
  }

  #suspend(place: SuspensionPlace, block: number, at: number, guard: Guard | null): void {
    const mask = guard === null ? null : this.#chunk.guardMask(guard);
    if (guard === null || mask !== null) this.#flow.suspend(place, block, at, mask);
    else ifUniform(this.#chunk, guard, () => this.#flow.suspend(place, block, at, null));
  }

  /** For an instruction that one lane's guard decides for all. */
  #ifDecided(guard: Guard | null, { first }: LaneRule, then: () => void): void {
    if (guard === null) then();
    else {
      this.#chunk.writer.value(this.#chunk.guardOfLane(guard, first));
      this.#chunk.writer.if(then);
    }
  }

  #leave(block: number, { guard, op, lanes }: Instruction): void {
    if (lanes?.uniform === true) {
      this.#ifDecided(guard, lanes, () => this.#flow.end());
      return;
    }
    const leave = (mask: Mask): void => {
      if (op.kind === "exit") {
        this.#parts.exits.noteExits(this.#chunk.maskOf(block, mask) ?? fullMask(this.#chunk.quads));
      }
      this.#flow.leave(block, mask);
    };
    const mask = this.#chunk.movedMask(guard);
    if (guard === null || mask !== null) leave(mask);
    else ifUniform(this.#chunk, guard, () => leave(null));
  }

  #branchIndexed(indexed: Omit<IndexedBranch, "mayYield" | "branchOrYield">): void {
    const { guard, lanes } = indexed.instruction;
    const branch: IndexedBranch = {
      ...indexed,
      mayYield: (to) => to <= indexed.block && this.#parts.points.spins.has(to),
      branchOrYield: (jump, yieldTurn) => this.#branchOrYield(jump, yieldTurn),
    };
    if (lanes !== undefined && !(lanes.uniform && guard === null))
      throw new Unsupported("indexed branches of some lanes");
    // A rule by which one lane decides for all is not for the lanes that are elsewhere.
    this.#chunk.begin();
    this.#chunk.file?.read(branch.instruction);
    const write = (instruction: Instruction): void =>
      writeIndexedBranch(this.#chunk, this.#flow, this.#parts.faults, { ...branch, instruction });
    if (guard !== null && this.#chunk.guardMask(guard) === null) {
      ifUniform(this.#chunk, guard, () => write({ ...branch.instruction, guard: null }));
    } else write(branch.instruction);
  }
}
