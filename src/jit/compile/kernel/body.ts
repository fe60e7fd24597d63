import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { type Instruction, isLanewise } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { restartablePrefixOf } from "../analysis/access/restartable-prefix.ts";
import type { BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { CallContext, Caller } from "../calls/caller.ts";
import { Calls } from "../calls/calls.ts";
import { FileCalls } from "../calls/file-calls.ts";
import { writeCheckFreeLoop } from "../control/check-free-loop.ts";
import { convergedBlocks, ConvergedPath, isForWholeWarp } from "../control/converged-path.ts";
import { BlockReductions } from "../control/block-reductions.ts";
import { CountedBarriers } from "../control/counted-barriers.ts";
import { IfConversion } from "../control/if-conversion.ts";
import { type BranchCopies, Reconvergence } from "../control/reconvergence.ts";
import { Terminators } from "../control/terminators.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { DeadRegisters } from "../emit/dead-registers.ts";
import { Faults } from "../emit/faults.ts";
import type { AccessChecks } from "../memory/access-checks.ts";
import { stackWriter } from "../memory/alloca.ts";
import type { ExpectedObjects } from "../memory/expected-objects.ts";
import { Memory } from "../memory/memory.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { SuspensionPoints } from "../plan/suspension-points.ts";
import { idleTestsOf, type IdleTests, type LeavingBranch, leavingBranchesOf } from "../regions/idle-blocks.ts";
import { type StraightPath, straightPathOf } from "../regions/straight-path.ts";
import type { Suspension } from "../sync/suspension.ts";
import { ClusterPolls } from "../sync/cluster-polls.ts";
import { UnitOperations } from "../sync/unit-operations.ts";
import { WarpOperations } from "../sync/warp-operations.ts";
import { WarpWaits } from "../sync/warp-waits.ts";
import { Instructions } from "./instructions.ts";
import { StraightCode } from "./straight-code.ts";

/** Instructions of a block that is written in two versions, at most. */
const maxInVersions = 400;

/** The parts that the body of a function is written with. */
interface BodyParts {
  readonly chunk: Chunk;
  readonly dead: DeadRegisters;
  readonly context: FunctionContext;
  /** The objects that its accesses will probably find. */
  readonly objects: ExpectedObjects;
  readonly points: SuspensionPoints;
  /** Null where lanes never suspend. */
  readonly suspension: Suspension | null;
  /** Of a kernel: what is computed once for many chunks. */
  readonly invariants: Invariants | null;
  readonly calls: CallContext;
}

/** Writes the blocks of a function. */
export class Body {
  readonly #chunk: Chunk;
  readonly #accessChecks: AccessChecks;
  readonly #instructions: Instructions;
  readonly #terminators: Terminators;
  readonly #ifConversion: IfConversion;
  readonly flow: Reconvergence;
  /** Where the host counts which threads arrive at barriers; else null. */
  readonly counted: CountedBarriers | null;
  /** Barriers that reduce predicates of the whole block, if no others need counting; else null. */
  readonly reductions: BlockReductions | null;
  /** Where lanes may wait for others of their warp; else null. */
  readonly warpWaits: WarpWaits | null;
  readonly #invariants: Invariants | null;
  readonly #points: SuspensionPoints;
  readonly #suspension: Suspension | null;
  readonly #mayConverge: boolean;
  /** Whether there is so much code for converged lanes that the code for any lanes is written to be short. */
  #isFallback = false;

  constructor({ chunk, dead, context, objects, points, suspension, invariants, calls: callContext }: BodyParts) {
    this.#chunk = chunk;
    this.#invariants = invariants;
    this.#points = points;
    this.#suspension = suspension;
    const { unit, frame, isFunction } = callContext;
    const memory = new Memory(chunk, context, objects);
    this.#accessChecks = memory.accessChecks;
    const warpOperations = new WarpOperations(chunk, context, unit.module);
    const unitOperations = new UnitOperations(chunk, context);
    const faults = new Faults(chunk, context);
    const waitBlocks = new WarpWaitBlocks(chunk.analysis);
    this.warpWaits =
      waitBlocks.all.length === 0 || isFunction ? null : new WarpWaits(chunk, context, warpOperations, waitBlocks);
    this.#mayConverge = !isFunction && unit.shape.width === null && points.spins.size === 0;
    this.flow = new Reconvergence(chunk, dead, suspension, this.warpWaits);
    const { flow, warpWaits } = this;
    const caller: Caller = { ...callContext, chunk, flow, memory: context, faults, suspension };
    const calls = new Calls(caller);
    const fileCalls = new FileCalls(caller);
    const ended = isFunction ? (callContext.ended ?? []) : null;
    this.counted =
      suspension !== null && points.isCounted
        ? new CountedBarriers(chunk, flow, context, suspension, points, ended)
        : null;
    this.reductions =
      suspension !== null && !isFunction && unit.graph.reducesInBlock
        ? new BlockReductions(chunk, context, suspension, points)
        : null;
    const writeStackOp = stackWriter(chunk, context, frame);
    const parts = {
      chunk,
      invariants,
      memory,
      writeStackOp,
      calls,
      fileCalls,
      faults,
      flow,
      warpOperations,
      unitOperations,
      clusterPolls: new ClusterPolls(chunk, context),
      warpWaits,
    };
    this.#instructions = new Instructions(parts);
    this.#ifConversion = new IfConversion(chunk, unit.shape.maskedRounds, (block, isAlone) =>
      this.#writeIfConverted(block, isAlone),
    );
    this.#terminators = new Terminators(chunk, {
      counted: this.counted,
      reductions: this.reductions,
      flow,
      points,
      suspension,
      invariants,
      exits: calls,
      faults,
      instructions: this.#instructions,
      ifConversion: this.#ifConversion,
      writeForKnown: (block, lanes) => chunk.forSome(lanes, () => this.#writeIfConverted(block, true)),
    });
  }

  /** Lanes begin, or resume. */
  begin(): void {
    this.#terminators.begin();
  }

  /** Writes invariant instructions, which are executed before all others. */
  computeInvariants(instructions: readonly number[]): void {
    this.#instructions.computeInvariants(instructions);
  }

  /**
   * Writes one barrier region, whatever has been written before. `isWhole`: whether all lanes of the chunk have a
   * thread.
   */
  writeRegion(region: BarrierRegion, barriers: ReadonlyMap<number, number>, isWhole: Wasm): void {
    this.flow.enterRegion(region, barriers);
    this.#accessChecks.apart(() => this.write(isWhole));
  }

  /**
   * Writes all blocks, or those of the region that has been entered. `isWhole`: whether all lanes of the chunk have a
   * thread.
   */
  write(isWhole: Wasm = wasm.i32(1)): void {
    const { layout } = this.flow;
    const isEntered = layout.isInsideLoop(layout.start);
    const converged =
      this.#mayConverge && !isEntered
        ? convergedBlocks(this.#chunk.analysis, layout, this.#isUniformBarrier, this.#isForWarp)
        : null;
    const path =
      converged === null || converged.blocks.size === 0
        ? null
        : new ConvergedPath(this.#chunk, this.flow, converged.blocks);
    const before = path === null ? null : (): void => this.#writePath(path, isWhole);
    this.#isFallback = converged?.areMany === true;
    this.flow.write((block) => this.#writeBlock(block, null), before);
    this.#isFallback = false;
  }

  /** Whether all lanes of a chunk, which is a whole warp, perform an operation together. */
  readonly #isForWarp = (block: number, instruction: Instruction): boolean => {
    const { analysis, known, lanes } = this.#chunk;
    const namesLanes = instruction.op.kind === "warp" && instruction.op.mask !== null;
    return (namesLanes && analysis.isComplete(block)) || (lanes === 32 && isForWholeWarp(instruction, known));
  };

  /** Writes the code for converged lanes, which runs if all lanes of the chunk have a thread. */
  #writePath(path: ConvergedPath, isWhole: Wasm): void {
    const { writer } = this.#chunk;
    writer.value(isWhole);
    writer.expect(true);
    writer.if(() => this.#accessChecks.apart(() => path.write((block) => this.#writeBlock(block, path))));
  }

  /** Of which it is tested beforehand what all lanes of a block of threads do; null where lanes may wait. */
  get #invariantsOfTests(): Invariants | null {
    const mayWait = !this.#mayConverge || this.#suspension !== null || this.warpWaits !== null;
    return mayWait ? null : this.#invariants;
  }

  /** Whether blocks of threads may have nothing to do, if that can be tested beforehand. */
  idleTests(): IdleTests | null {
    const invariants = this.#invariantsOfTests;
    return invariants && idleTestsOf(this.#chunk, invariants);
  }

  /** The first branches at which threads leave, if nothing happens before. */
  leavingBranches(): readonly LeavingBranch[] {
    const invariants = this.#invariantsOfTests;
    return invariants === null ? [] : leavingBranchesOf(this.#chunk, invariants);
  }

  /** The path of all lanes of a block of threads, if it can be tested beforehand that they take it. */
  straightPath(): StraightPath | null {
    const invariants = this.#invariantsOfTests;
    return invariants && straightPathOf(this.#chunk, invariants, this.#accessChecks, this.#ifConversion);
  }

  /** Writes that path; see `StraightCode`. */
  writeStraight(...how: Parameters<StraightCode["write"]>): void {
    new StraightCode(this.#chunk, this.#accessChecks, this.#instructions).write(...how);
  }

  /**
   * Writes a block that only computes values which all lanes share, and returns the condition under which its branch is
   * taken.
   */
  writeScalarBlock(index: number): Wasm {
    const { graph, instructions } = this.#chunk.analysis.code;
    const { start, end } = graph.blocks[index]!;
    const last = instructions[end - 1]!;
    const isBranch = last.op.kind === "branch";
    const count = (isBranch ? end - 1 : end) - start;
    this.writeScalars(
      index,
      Array.from({ length: count }, (_, i) => start + i),
    );
    this.#chunk.begin(last);
    return !isBranch || last.guard === null ? wasm.i32(1) : this.#chunk.guardScalar(last.guard);
  }

  /** Writes instructions of a block that only compute values which all lanes share. */
  writeScalars(block: number, scalars: readonly number[]): void {
    const { instructions } = this.#chunk.analysis.code;
    this.#chunk.whileConverged(() => {
      for (const i of scalars) this.#instructions.write(block, i, instructions[i]!);
    });
  }

  /** Whether all lanes of a chunk arrive together at the barrier at the end of a block, if there is one. */
  readonly #isUniformBarrier = (block: number): boolean => {
    const at = this.#points.barriers.get(block);
    return at === undefined || this.#suspension!.uniformBarrierBefore(at) !== null;
  };

  /** `path`: the code for converged lanes of which the block is a part; null: code for any lanes. */
  #writeBlock(block: FlowBlock, path: ConvergedPath | null): void {
    const { instructions } = this.#chunk.analysis.code;
    const last = instructions[block.end - 1]!;
    const { end, taken, copies } = this.#copiesOf(block);
    const condition = this.#terminators.conditionOf(block, end, taken);
    const isCondition = (i: number): boolean => condition?.instructions.includes(i) === true;
    const write = (isDone: (instruction: number) => boolean = isCondition): void => {
      this.#chunk.scheduling.begin();
      for (let i = block.start; i < end; i++) {
        if (isDone(i)) continue;
        this.#instructions.write(block.index, i, instructions[i]!);
        this.#chunk.scheduling.written(instructions[i]!);
      }
      this.#chunk.scheduling.end();
    };
    this.#chunk.begin();
    // Functions are better small: calls may nest.
    const isLarge = this.#invariants === null || end - block.start > maxInVersions;
    const isSplit = !isLarge && instructions.slice(block.start, end).every(({ op }) => isLanewise(op));
    const active = this.#chunk.activeMask(block.index);
    const once = (): void => {
      if (path !== null) this.#writeConverged(block, end, isCondition, write);
      else if (isSplit && !this.#isFallback) this.#accessChecks.inVersions(block.start, end, active, write);
      else write();
    };
    const terminator = { block, condition, copies, path };
    const back = isSplit ? this.#terminators.backEdge(terminator) : null;
    const checks = back === null ? null : this.#accessChecks.hoistChecks(block.start, end, active);
    if (back === null || checks === null) once();
    else {
      const assuming = (then: (find: () => void, advance: () => void) => void): void =>
        this.#accessChecks.writeCheckFree(checks, then);
      const repeated = { ...back, rounds: checks.count, assuming, round: () => write() };
      writeCheckFreeLoop(this.#chunk.writer, repeated, path !== null ? once : write);
    }
    if (last.op.kind !== "branch") copies(false).copy();
    this.#chunk.begin(last);
    if (this.#terminators.write(terminator)) return;
    this.#instructions.write(block.index, block.end - 1, last);
    this.#terminators.continueAfter(block.index, path);
  }

  /**
   * The copies at the end of a block that are for the lanes that go one way, which are made where it is known that
   * there are any: from `end` on those for the lanes that do not take its branch, from `taken` on those for the lanes
   * that do.
   */
  #copiesOf(block: FlowBlock) {
    const { instructions, edgeCopies } = this.#chunk.analysis.code;
    const last = instructions[block.end - 1]!;
    const copiesBefore = (at: number, isFor: (a: Instruction, b: Instruction) => boolean): number => {
      let start = at;
      while (start > block.start && edgeCopies.has(start - 1) && isFor(instructions[start - 1]!, last)) start--;
      return start;
    };
    const taken = copiesBefore(block.end - 1, sameGuard);
    const end = last.op.kind === "branch" ? copiesBefore(taken, otherGuard) : taken;
    const copies = (isAll: boolean): BranchCopies => {
      const write = (from: number, to: number) => (): void => {
        for (let i = from; i < to; i++) {
          const instruction = instructions[i]!;
          this.#instructions.write(block.index, i, isAll ? { ...instruction, guard: null } : instruction);
        }
        this.#chunk.begin(last);
      };
      return { copy: write(taken, block.end - 1), copyOthers: write(end, taken) };
    };
    return { end, taken, copies };
  }

  /**
   * The instructions of a block for converged lanes, whose accesses are checked before all else. Where one does not
   * find what it is expected to, the code for any lanes restarts the block.
   */
  #writeConverged(
    { index }: FlowBlock,
    end: number,
    isCondition: (instruction: number) => boolean,
    write: (isDone: (instruction: number) => boolean) => void,
  ): void {
    const { analysis } = this.#chunk;
    const isSkipped = (i: number): boolean => isCondition(i) || this.#instructions.isSkipped(i);
    const prefix = restartablePrefixOf(analysis, index, end, isSkipped);
    for (const i of prefix.computed) this.#instructions.write(index, i, analysis.code.instructions[i]!);
    this.#chunk.begin();
    this.#accessChecks.checkPrefix(prefix, () => this.flow.continueAt(index));
    this.#accessChecks.inRuns(prefix, () => write((i) => isCondition(i) || prefix.computed.includes(i)));
  }

  /**
   * The instructions of an if-converted block, for some of the converged lanes. `isAlone`: whether it is the only one
   * after its branch, and so worth a version without tests.
   */
  #writeIfConverted({ index, start, end }: FlowBlock, isAlone: boolean): void {
    const { analysis, scheduling } = this.#chunk;
    const { instructions } = analysis.code;
    const write = (isDone: (instruction: number) => boolean): void => {
      scheduling.begin();
      for (let i = start; i < end; i++) {
        if (instructions[i]!.op.kind === "branch" || isDone(i)) continue;
        this.#instructions.write(index, i, instructions[i]!);
        scheduling.written(instructions[i]!);
      }
      scheduling.end();
    };
    this.#accessChecks.apart(() => {
      if (!isAlone) {
        write(() => false);
        return;
      }
      const prefix = restartablePrefixOf(analysis, index, end, (i) => this.#instructions.isSkipped(i));
      for (const i of prefix.computed) this.#instructions.write(index, i, instructions[i]!);
      this.#chunk.begin();
      const mask = this.#chunk.activeMask(index);
      this.#accessChecks.forSome(prefix, mask, () => write((i) => prefix.computed.includes(i)));
    });
  }
}

const sameGuard = ({ guard: a }: Instruction, { guard: b }: Instruction): boolean =>
  a === b || (a !== null && b !== null && a.register === b.register && a.negate === b.negate);

/** Whether the first is for the lanes that the second leaves out. */
const otherGuard = ({ guard: a }: Instruction, { guard: b }: Instruction): boolean =>
  a !== null && b !== null && a.register === b.register && a.negate !== b.negate;
