import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Guard, Instruction, LaneRule, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { type BranchCondition, branchConditionOf } from "../analysis/flow/branch-condition.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import { allLanes, type Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import type { SuspensionPlace, SuspensionPoints } from "../plan/suspension-points.ts";
import type { Suspension } from "../sync/suspension.ts";
import { takesBackEdge, isSelfLoop, type BackEdge } from "./check-free-loop.ts";
import type { ConvergedPath } from "./converged-path.ts";
import type { CountedBarriers } from "./counted-barriers.ts";
import type { IfConversion } from "./if-conversion.ts";
import { type IndexedBranch, writeIndexedBranch } from "./indexed-branch.ts";
import { type BranchCopies, type Reconvergence, noCopies } from "./reconvergence.ts";
import { everywhere } from "./uniform-branch.ts";

/** Rounds of loops after which lanes that may wait for others let them run. */
const patience = 64;

/** The copies at the end of a block; `isAll`: where it is known that all lanes do the same. */
type CopiesOf = (isAll: boolean) => BranchCopies;

/** A branch at the end of a block. */
interface Branch {
  readonly block: FlowBlock;
  readonly to: number;
  /** What is still to be tested, or null. */
  readonly test: BranchCondition | null;
  readonly copies: CopiesOf;
}

/** What the ends of blocks need to know of the function. */
interface TerminatorContext {
  readonly flow: Reconvergence;
  readonly pauses: SuspensionPoints;
  readonly suspension: Suspension | null;
  readonly counted: CountedBarriers | null;
  readonly hoisted: Invariants | null;
  /** Writes that lanes have ended: in a function, its callers are told. */
  readonly ended: (lanes: readonly Wasm[]) => void;
  readonly faults: Faults;
  /** The code for lanes in step that is being written. */
  readonly inStep: () => ConvergedPath;
  /** Writes an instruction of a block. */
  readonly instruction: (block: number, index: number, instruction: Instruction) => void;
  readonly passages: IfConversion;
}

/** Writes what a guard that is the same in all lanes decides. */
export function ifUniform(chunk: Chunk, guard: Guard, then: () => void): void {
  chunk.writer.value(chunk.guardScalar(guard));
  chunk.writer.if(then);
}

/** Writes where lanes go at the end of a block. */
export class Terminators {
  readonly #chunk: Chunk;
  readonly #flow: Reconvergence;
  readonly #pauses: SuspensionPoints;
  readonly #suspension: Suspension | null;
  readonly #counted: CountedBarriers | null;
  readonly #hoisted: Invariants | null;
  readonly #ended: TerminatorContext["ended"];
  readonly #faults: Faults;
  readonly #inStep: () => ConvergedPath;
  readonly #instruction: TerminatorContext["instruction"];
  readonly #passages: IfConversion;
  /** How often lanes may still go around loops in which they may wait for others. */
  readonly #patience: number | null;

  constructor(chunk: Chunk, context: TerminatorContext) {
    this.#chunk = chunk;
    this.#flow = context.flow;
    this.#pauses = context.pauses;
    this.#suspension = context.suspension;
    this.#counted = context.counted;
    this.#hoisted = context.hoisted;
    this.#ended = context.ended;
    this.#faults = context.faults;
    this.#inStep = context.inStep;
    this.#instruction = context.instruction;
    this.#passages = context.passages;
    this.#patience = context.pauses.spins.size > 0 ? chunk.writer.local("i32") : null;
  }

  /** Lanes begin, or go on after a pause. */
  begin(): void {
    if (this.#patience !== null) this.#chunk.writer.assign([{ local: this.#patience, value: wasm.i32(patience) }]);
  }

  /** Writes the last instruction of a block, if it is one that says where lanes go. */
  write(block: FlowBlock, test: BranchCondition | null, copies: CopiesOf): boolean {
    const { instructions, graph } = this.#chunk.analysis.code;
    const last = instructions[block.end - 1]!;
    const target = (instruction: number): number => graph.blockAt(instruction);
    switch (last.op.kind) {
      case "branch":
        this.#branch({ block, to: target(last.op.target), test, copies }, last);
        return true;
      case "return":
      case "exit":
        if (this.#chunk.converged) {
          const to = graph.blocks.length;
          this.#branchInStep({ block, to, test: null, copies: () => noCopies }, last);
        } else this.#leave(block.index, last);
        return true;
      case "barrier":
        this.#barrier(block, last.op, last);
        return true;
      case "branch-indexed":
        this.#branchIndexed({
          block: block.index,
          index: block.end - 1,
          instruction: last,
          op: last.op,
          targets: last.op.targets.map(target),
        });
        return true;
      default:
        return false;
    }
  }

  /** All lanes go on behind a block. */
  goOn(block: number): void {
    if (this.#chunk.converged) this.#inStep().jump(block, block + 1);
    // The end of the function is a return.
    else if (block === this.#chunk.analysis.code.graph.blocks.length - 1) this.#flow.leave(block, null);
  }

  /**
   * What is tested only where lanes may go different ways. `end`, `taken`: where the copies begin for lanes that do not take
   * the branch, and for those that do.
   */
  testOf({ index, end: behind }: FlowBlock, end: number, taken: number): BranchCondition | null {
    const { instructions, graph } = this.#chunk.analysis.code;
    const { op, guard } = instructions[behind - 1]!;
    // What is read of a byte file is read for one instruction.
    if (op.kind !== "branch" || guard === null || this.#chunk.file !== null) return null;
    if (this.#chunk.guardMask(guard) === null) return null;
    const to = graph.blockAt(op.target);
    // When all go back, or none goes forward, there is nothing else to do.
    const isSimple = to > index ? end === taken : taken === behind - 1 && !this.#pauses.spins.has(to);
    if (!isSimple && !this.#chunk.converged) return null;
    const { analysis, rematerialized } = this.#chunk;
    return branchConditionOf(analysis, rematerialized, index, end, (i) => this.#hoisted?.has(i) === true);
  }

  /** How all lanes of a block that is a loop by itself go around once more; null for others. */
  wayBack(block: FlowBlock, test: BranchCondition | null, copies: CopiesOf): BackEdge | null {
    const { index, end } = block;
    if (!isSelfLoop(this.#chunk, block) || this.#pauses.spins.has(index)) return null;
    const last = this.#chunk.analysis.code.instructions[end - 1]!;
    return {
      goesOn: () => {
        this.#chunk.begin(last);
        const all = this.#isDecided({ test }, last, true);
        if (all === null) this.#test(index, test, last);
        this.#chunk.writer.value(all ?? takesBackEdge(this.#chunk, index, last.guard!));
      },
      copy: copies(true).copy,
      again: () => (this.#chunk.converged ? this.#inStep() : this.#flow).jump(index, index),
    };
  }

  /** 1 only if all lanes take the branch, or none does; null where no other test tells than that of each lane. */
  #isDecided({ test }: Pick<Branch, "test">, { guard }: Instruction, takes: boolean): Wasm | null {
    if (test === null) return null;
    const { register, negate } = guard!;
    return everywhere(this.#chunk, test.predicates, { kind: "reg", ty: "pred", reg: register }, takes !== negate);
  }

  #branch(branch: Branch, last: Instruction): void {
    if (this.#chunk.converged) {
      this.#branchInStep(branch, last);
      return;
    }
    const { block, to, test, copies } = branch;
    const all = this.#isDecided(branch, last, true);
    const none = to <= block.index ? null : this.#isDecided(branch, last, false);
    const go = (): void => {
      this.#test(block.index, test, last);
      this.#branchInLanes(branch, last);
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
    if (none === null) go();
    else this.#if(wasm.op("i32.eqz", none), go, false);
  }

  /** Executes what decides about a branch in each lane. */
  #test(block: number, test: BranchCondition | null, last: Instruction): void {
    const { instructions } = this.#chunk.analysis.code;
    for (const i of test?.instructions ?? []) this.#instruction(block, i, instructions[i]!);
    this.#chunk.begin(last);
  }

  /** A branch, or where lanes leave, of lanes in step. */
  #branchInStep(branch: Branch, last: Instruction): void {
    const { block, to, copies } = branch;
    const next = block.index + 1;
    const inStep = this.#inStep();
    const take = (): void => {
      copies(true).copy();
      inStep.jump(block.index, to);
    };
    if (last.guard === null) {
      take();
      return;
    }
    if (to === next) {
      this.#test(block.index, branch.test, last);
      copies(false).copyOthers();
      copies(false).copy();
    } else {
      const mask = this.#chunk.guardMask(last.guard);
      if (mask === null) ifUniform(this.#chunk, last.guard, take);
      else this.#takeOrPart(branch, last, mask, take);
      copies(true).copyOthers();
    }
    inStep.jump(block.index, next);
  }

  /**
   * Lanes stay in step if all take a branch, or none does, or if those that do not meet the others behind one block. Else the
   * other code sends each where it goes.
   */
  #takeOrPart(branch: Branch, last: Instruction, mask: readonly Wasm[], take: () => void): void {
    const { block, to, test } = branch;
    const passage = this.#passages.behind(block, to);
    const meet = (): void => this.#inStep().jump(block.index, to);
    const part = (): void => {
      if (passage === null) this.#part(branch, last);
      else {
        this.#passages.write(passage, last);
        meet();
      }
    };
    const all = this.#isDecided(branch, last, true);
    const none = this.#isDecided(branch, last, false);
    if (all === null || none === null) {
      this.#test(block.index, test, last);
      const others = mask.map((lanes) => wasm.op("v128.not", lanes));
      this.#if(anyOf(mask), () => {
        this.#if(wasm.op("i32.eqz", anyOf(others)), take, true);
        part();
      });
      return;
    }
    const unlessNone = (then: () => void): void => this.#if(wasm.op("i32.eqz", none), then);
    const testAndPart = (): void => {
      if (passage !== null) {
        const first = (): void => this.#test(block.index, test, last);
        this.#passages.writeNarrow(passage, last, { predicates: test!.predicates, first, behind: meet });
      }
      this.#test(block.index, test, last);
      part();
    };
    // What is more likely is asked first.
    if (to <= block.index) {
      this.#if(all, take, true);
      unlessNone(testAndPart);
    } else {
      unlessNone(() => {
        this.#if(all, take, true);
        testAndPart();
      });
    }
  }

  /** The other code goes on, and sends each lane where it goes. */
  #part(branch: Branch, last: Instruction): void {
    const next = branch.block.index + 1;
    if (last.op.kind === "branch") this.#branchInLanes(branch, last);
    else this.#leave(branch.block.index, last);
    if (next < this.#chunk.analysis.code.graph.blocks.length) this.#flow.goOnAt(next);
    else this.#flow.end();
  }

  /** `expected`: what the condition most often is, if that is known. */
  #if(condition: Wasm, then: () => void, expected: boolean | null = null): void {
    this.#chunk.writer.value(condition);
    if (expected !== null) this.#chunk.writer.expect(expected);
    this.#chunk.writer.if(then);
  }

  #branchInLanes({ block: { index: block }, to, copies: copiesOf }: Branch, { guard, lanes }: Instruction): void {
    const copies = copiesOf(false);
    const isPatient = to <= block && this.#pauses.spins.has(to);
    const go = (): void => {
      if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.#flow.jump(block, to));
      else this.#flow.branch(block, to, guard, isPatient ? noCopies : copies);
    };
    if (!isPatient) go();
    else {
      copies.copyOthers();
      copies.copy();
      this.#branchPatiently(() => {
        if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.#flow.pause("loop", block, to, null));
        else this.#pause("loop", block, to, guard);
      }, go);
    }
  }

  /** Lanes that have gone around for long let others run. */
  #branchPatiently(pause: () => void, go: () => void): void {
    const { writer } = this.#chunk;
    writer.value(wasm.op("i32.sub", wasm.local("i32", this.#patience!), wasm.i32(1)));
    writer.tee(this.#patience!);
    writer.i32(0);
    writer.op("i32.ge_s");
    writer.if(go, pause);
  }

  #barrier({ index: block, end }: FlowBlock, op: Extract<Op, { kind: "barrier" }>, instruction: Instruction): void {
    const at = this.#pauses.barriers.get(block)!;
    if (this.#pauses.isCounted) {
      this.#counted!.arrive(block, end - 1, instruction, op, at);
      return;
    }
    const meeting = this.#suspension!.meetingBefore(at);
    if (meeting !== null) this.#suspension!.meet(meeting);
    else this.#pause("barrier", block, at, instruction.guard);
  }

  #pause(place: SuspensionPlace, block: number, at: number, guard: Guard | null): void {
    const mask = guard === null ? null : this.#chunk.guardMask(guard);
    if (guard === null || mask !== null) this.#flow.pause(place, block, at, mask);
    else ifUniform(this.#chunk, guard, () => this.#flow.pause(place, block, at, null));
  }

  /** For what moves all lanes or none. */
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
      if (op.kind === "exit") this.#ended(this.#chunk.maskOf(block, mask) ?? allLanes(this.#chunk));
      this.#flow.leave(block, mask);
    };
    const mask = this.#chunk.movedMask(guard);
    if (guard === null || mask !== null) leave(mask);
    else ifUniform(this.#chunk, guard, () => leave(null));
  }

  #branchIndexed(branch: IndexedBranch): void {
    const { guard, lanes } = branch.instruction;
    if (lanes !== undefined && !(lanes.uniform && guard === null))
      throw new Unsupported("indexed branches of some lanes");
    // What moves all lanes or none is for all that are here.
    this.#chunk.begin();
    this.#chunk.file?.read(branch.instruction);
    const write = (instruction: Instruction): void =>
      writeIndexedBranch(this.#chunk, this.#flow, this.#faults, { ...branch, instruction });
    if (guard !== null && this.#chunk.guardMask(guard) === null) {
      ifUniform(this.#chunk, guard, () => write({ ...branch.instruction, guard: null }));
    } else write(branch.instruction);
  }
}
