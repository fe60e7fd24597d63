import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Guard, Instruction, Op } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { restartablePrefixOf } from "../analysis/access/restartable-prefix.ts";
import { deadInstructions } from "../analysis/code/dead-code.ts";
import type { BarrierRegion } from "../analysis/flow/barrier-regions.ts";
import { WarpWaitBlocks } from "../analysis/flow/warp-wait-blocks.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { CallContext, Caller } from "../calls/caller.ts";
import { Calls } from "../calls/calls.ts";
import { FileCalls } from "../calls/file-calls.ts";
import { writeCheckFreeLoop } from "../control/check-free-loop.ts";
import { convergedBlocks, ConvergedPath } from "../control/converged-path.ts";
import { CountedBarriers } from "../control/counted-barriers.ts";
import { IfConversion } from "../control/if-conversion.ts";
import { type BranchCopies, Reconvergence } from "../control/reconvergence.ts";
import { Terminators, ifUniform } from "../control/terminators.ts";
import type { Chunk } from "../emit/chunk.ts";
import { Faults } from "../emit/faults.ts";
import { LoadScheduling } from "../emit/load-scheduling.ts";
import { anyOf, bothMasks } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import type { Value } from "../lanes/value.ts";
import { Alloca } from "../memory/alloca.ts";
import { Memory } from "../memory/memory.ts";
import type { FunctionContext } from "../module/function-context.ts";
import type { SuspensionPoints } from "../plan/pauses.ts";
import type { StraightPath } from "../regions/straight-path.ts";
import type { Suspension } from "../sync/suspension.ts";
import { WarpOperations } from "../sync/warp-operations.ts";
import { WarpWaits } from "../sync/warp-waits.ts";

/** Instructions of a block at most of which there may be two versions. */
const maxInVersions = 400;

/** Writes the instructions of a function. */
export class Body {
  readonly #chunk: Chunk;
  readonly #memory: Memory;
  readonly #calls: Calls;
  readonly #fileCalls: FileCalls;
  readonly #stackPieces: Alloca;
  readonly #warpOperations: WarpOperations;
  readonly #faults: Faults;
  readonly #pins: LoadScheduling;
  readonly #ends: Terminators;
  readonly flow: Reconvergence;
  /** Where the host counts who comes to barriers; else null. */
  readonly counted: CountedBarriers | null;
  /** Where lanes may wait for others of their warp; else null. */
  readonly gatherings: WarpWaits | null;
  /** Instructions of which nothing is read later. */
  readonly #dead: ReadonlySet<number>;

  readonly #hoisted: Invariants | null;
  readonly #pauses: SuspensionPoints;
  readonly #suspension: Suspension | null;
  /** Code for lanes that go the same way, where that is worth it. */
  #inStep: ConvergedPath | null = null;
  readonly #canBeInStep: boolean;

  /** `suspension`: where there are pauses. */
  constructor(
    chunk: Chunk,
    context: FunctionContext,
    pauses: SuspensionPoints,
    suspension: Suspension | null,
    hoisted: Invariants | null,
    calls: CallContext,
  ) {
    this.#chunk = chunk;
    this.#hoisted = hoisted;
    this.#pauses = pauses;
    this.#suspension = suspension;
    this.#memory = new Memory(chunk, context);
    this.#warpOperations = new WarpOperations(chunk, context.context, context.layout);
    this.#faults = new Faults(chunk, context);
    this.#pins = new LoadScheduling(chunk);
    this.#dead = deadInstructions(chunk);
    const gathering = new WarpWaitBlocks(chunk.analysis);
    this.gatherings =
      gathering.all.length === 0 || calls.isFunction
        ? null
        : new WarpWaits(chunk, context, this.#warpOperations, gathering);
    const { width } = context.unit.shape;
    this.#canBeInStep = !calls.isFunction && width === null && pauses.spins.size === 0;
    this.flow = new Reconvergence(chunk, suspension, this.gatherings, (block) => this.#block(block));
    const caller: Caller = { ...calls, chunk, flow: this.flow, memory: context, faults: this.#faults, suspension };
    this.#calls = new Calls(caller);
    this.#fileCalls = new FileCalls(caller);
    this.counted =
      suspension !== null && pauses.isCounted
        ? new CountedBarriers(
            chunk,
            this.flow,
            context,
            suspension,
            pauses,
            calls.isFunction ? (calls.ended ?? []) : null,
          )
        : null;
    this.#ends = new Terminators(chunk, {
      counted: this.counted,
      flow: this.flow,
      pauses,
      suspension,
      hoisted,
      calls: this.#calls,
      faults: this.#faults,
      inStep: () => this.#inStep!,
      instruction: (block, index, instruction) => this.#instruction(block, index, instruction),
      passages: new IfConversion(chunk, (block) => this.#writePassage(block)),
    });
    this.#stackPieces = new Alloca(chunk, calls.unit, context, calls.frame);
  }

  /** Lanes begin, or go on after a pause. */
  begin(): void {
    this.#ends.begin();
  }

  /** What is written next is a phase alone, whatever has been written before. */
  enterPhase(phase: BarrierRegion, barriers: ReadonlyMap<number, number>): void {
    this.#memory.forget();
    this.flow.enterPhase(phase, barriers);
  }

  /** Writes all blocks, or those of a phase. `isWhole`: whether all lanes of the chunk have a thread. */
  write(isWhole: Wasm = wasm.i32(1)): void {
    const { layout } = this.flow;
    const isEntered = layout.isInsideLoop(layout.start);
    const blocks =
      this.#canBeInStep && !isEntered
        ? convergedBlocks(this.#chunk.analysis, layout, this.#isMeeting)
        : new Set<number>();
    if (blocks.size === 0) {
      this.flow.write();
      return;
    }
    const { writer } = this.#chunk;
    const inStep = new ConvergedPath(this.#chunk, this.flow, blocks, (block) => this.#block(block));
    this.#inStep = inStep;
    this.flow.write(() => {
      writer.value(isWhole);
      writer.expect(true);
      writer.if(() => inStep.write());
      this.#memory.forget();
    });
  }

  /**
   * The instructions of a block for lanes in step: what they access is checked before all else. Where it is not as expected, the
   * other code begins the block again.
   */
  #writeInStep(
    { index }: FlowBlock,
    end: number,
    isTest: (instruction: number) => boolean,
    write: (isDone: (instruction: number) => boolean) => void,
  ): void {
    const { analysis } = this.#chunk;
    const isSkipped = (i: number): boolean => isTest(i) || this.#dead.has(i) || this.#hoisted?.has(i) === true;
    const ahead = restartablePrefixOf(analysis, index, end, isSkipped);
    for (const i of ahead.computed) this.#instruction(index, i, analysis.code.instructions[i]!);
    this.#chunk.begin();
    this.#memory.checkAhead(ahead, () => this.flow.goOnAt(index));
    write((i) => isTest(i) || ahead.computed.includes(i));
  }

  /** The instructions of a block for some of the lanes in step. */
  #writePassage({ index, start, end }: FlowBlock): void {
    const { instructions } = this.#chunk.analysis.code;
    this.#memory.forget();
    for (let i = start; i < end; i++) {
      if (instructions[i]!.op.kind !== "branch") this.#instruction(index, i, instructions[i]!);
    }
    this.#memory.forget();
  }

  /** The way that all lanes of a block may go, if there is one for which that can be told beforehand. */
  flatPath(): StraightPath | null {
    const isSimple =
      this.#canBeInStep && this.#suspension === null && this.gatherings === null && this.#hoisted !== null;
    return isSimple ? this.#memory.flatPath(this.#hoisted) : null;
  }

  /**
   * Writes what chunks do on that way: `eachChunk` goes through them row by row. `hoist`: computes what a chunk is told beforehand.
   */
  writeFlat(
    { blocks, decided, accesses }: StraightPath,
    hoist: () => void,
    eachChunk: (beginRow: () => void, run: () => void) => void,
  ): void {
    const { graph, instructions } = this.#chunk.analysis.code;
    const write = (): void => {
      this.#chunk.converged = true;
      for (const block of blocks) {
        const { start, end } = graph.blocks[block]!;
        this.#pins.begin();
        for (let i = start; i < end; i++) {
          const { op } = instructions[i]!;
          const moves = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
          if (moves || decided.has(i)) continue;
          this.#instruction(block, i, instructions[i]!);
          this.#pins.written(instructions[i]!);
        }
        this.#pins.end();
      }
      this.#chunk.converged = false;
    };
    this.#memory.alongRow(accesses, (find, moveOn) => {
      const beginRow = (): void => {
        hoist();
        find();
      };
      eachChunk(beginRow, () => {
        hoist();
        write();
        moveOn();
      });
    });
  }

  /** Whether all lanes of a chunk come to the barrier at the end of a block at once. */
  readonly #isMeeting = (block: number): boolean => {
    const at = this.#pauses.barriers.get(block);
    return at === undefined || this.#suspension!.meetingBefore(at) !== null;
  };

  #block(block: FlowBlock): void {
    const { instructions, edgeCopies } = this.#chunk.analysis.code;
    const last = instructions[block.end - 1]!;
    // Copies for the lanes that go one way are made where it is known that there are any.
    const copiesBefore = (behind: number, isFor: (a: Instruction, b: Instruction) => boolean): number => {
      let start = behind;
      while (start > block.start && edgeCopies.has(start - 1) && isFor(instructions[start - 1]!, last)) start--;
      return start;
    };
    const taken = copiesBefore(block.end - 1, sameGuard);
    const end = last.op.kind === "branch" ? copiesBefore(taken, otherGuard) : taken;
    const copies = (isAll: boolean): BranchCopies => {
      const write = (from: number, to: number) => (): void => {
        for (let i = from; i < to; i++) {
          const instruction = instructions[i]!;
          this.#instruction(block.index, i, isAll ? { ...instruction, guard: null } : instruction);
        }
        this.#chunk.begin(last);
      };
      return { copy: write(taken, block.end - 1), copyOthers: write(end, taken) };
    };
    const { copy } = copies(false);
    const test = this.#ends.testOf(block, end, taken);
    const isTest = (i: number): boolean => test?.instructions.includes(i) === true;
    const write = (isDone: (instruction: number) => boolean = isTest): void => {
      this.#pins.begin();
      for (let i = block.start; i < end; i++) {
        if (isDone(i)) continue;
        this.#instruction(block.index, i, instructions[i]!);
        this.#pins.written(instructions[i]!);
      }
      this.#pins.end();
    };
    this.#chunk.begin();
    // Functions are better small: calls may nest.
    const isLarge = this.#hoisted === null || end - block.start > maxInVersions;
    const isSplit = !isLarge && instructions.slice(block.start, end).every(isPlain);
    const active = this.#chunk.activeMask(block.index);
    const once = (): void => {
      if (this.#chunk.converged) this.#writeInStep(block, end, isTest, write);
      else if (isSplit) this.#memory.inVersions(block.start, end, active, write);
      else write();
    };
    const back = isSplit ? this.#ends.wayBack(block, test, copies) : null;
    const rounds = back === null ? null : this.#memory.roundsAhead(block.start, end, active);
    if (back === null || rounds === null) once();
    else {
      const assuming = (then: (find: () => void, moveOn: () => void) => void): void =>
        this.#memory.assuming(rounds, then);
      const repeated = { ...back, rounds: rounds.count, assuming, round: () => write() };
      writeCheckFreeLoop(this.#chunk.writer, repeated, this.#chunk.converged ? once : write);
    }
    if (last.op.kind !== "branch") copy();
    this.#chunk.begin(last);
    if (this.#ends.write(block, test, copies)) return;
    this.#instruction(block.index, block.end - 1, last);
    this.#ends.goOn(block.index);
  }

  /** The lanes that execute an instruction: those of its guard that are active. */
  #lanes(block: number, { guard }: Instruction): Mask {
    return bothMasks(this.#chunk.activeMask(block), this.#guardMask(guard));
  }

  #guardMask(guard: Guard | null): Mask {
    return guard === null ? null : this.#chunk.guardMask(guard);
  }

  #warp(block: number, instruction: Instruction, op: Extract<Op, { kind: "warp" }>): void {
    if (this.gatherings?.blocks.has(block)) {
      this.gatherings.gather(block, instruction, op, this.flow);
      return;
    }
    const guard = this.#guardMask(instruction.guard);
    if (op.mask !== null) this.#calls.meet(block, op.mask, guard);
    this.#warpOperations.perform(op.warp, this.#lanes(block, instruction), { block, dst: instruction.dst, guard });
  }

  #raise(index: number, lanes: Mask): void {
    const { writer } = this.#chunk;
    writer.value(lanes === null ? wasm.i32(1) : anyOf(lanes));
    writer.expect(false);
    writer.if(() => this.#faults.raise(index, lanes));
  }

  /** Writes instructions that are executed ahead of all others. */
  hoist(instructions: readonly number[]): void {
    for (const index of instructions) {
      if (!this.#dead.has(index)) this.#execute(0, index, this.#chunk.analysis.code.instructions[index]!);
    }
  }

  #instruction(block: number, index: number, instruction: Instruction): void {
    if (!this.#dead.has(index) && this.#hoisted?.has(index) !== true) this.#execute(block, index, instruction);
  }

  #execute(block: number, index: number, instruction: Instruction): void {
    const { guard } = instruction;
    this.#chunk.begin(instruction);
    this.#chunk.file?.read(instruction);
    if (guard !== null && this.#chunk.guardMask(guard) === null) {
      ifUniform(this.#chunk, guard, () => this.#perform(block, index, { ...instruction, guard: null }, instruction.op));
    } else this.#perform(block, index, instruction, instruction.op);
    this.#chunk.file?.finish();
  }

  #perform(block: number, index: number, instruction: Instruction, op: Op): void {
    switch (op.kind) {
      case "pure": {
        const mask = instruction.guard === null ? null : this.#chunk.guardMask(instruction.guard);
        const values = op.values.map((v, i) => (instruction.dst[i] == null ? null : this.#chunk.value(v)));
        this.#chunk.write(block, instruction.dst, values, mask);
        return;
      }
      case "load":
        this.#memory.load(block, index, instruction, op);
        return;
      case "store":
        this.#memory.store(block, index, instruction, op);
        return;
      case "call":
        this.#calls.call(block, index, instruction, op);
        return;
      case "file-call":
        this.#fileCalls.call(block, index, instruction, op);
        return;
      case "subroutine-call":
        this.#fileCalls.callSubroutine(block, index, instruction, op);
        return;
      case "alloca":
      case "stack-save":
      case "stack-restore":
        this.#stackPieces.perform(block, index, instruction, op);
        return;
      case "warp":
        this.#warp(block, instruction, op);
        return;
      case "activemask": {
        const scalar = this.#warpOperations.present(this.#lanes(block, instruction));
        const value: Value = { kind: "uniform", ty: "i32", scalar };
        this.#chunk.write(block, instruction.dst, [value], this.#guardMask(instruction.guard));
        return;
      }
      case "trap":
      case "unsupported":
        this.#raise(index, this.#lanes(block, instruction));
        return;
      case "atomic":
        this.#memory.atomic(block, index, instruction, op);
        return;
      // Loops in which lanes sleep give way as those do that look at memory.
      case "sleep":
      case "fence":
      case "nothing":
      case "breakpoint":
        return;
      default:
        throw new Unsupported(op.kind);
    }
  }
}

/** Whether an instruction may be written twice. */
const isPlain = ({ op }: Instruction): boolean => op.kind === "pure" || op.kind === "load" || op.kind === "store";

const sameGuard = ({ guard: a }: Instruction, { guard: b }: Instruction): boolean =>
  a === b || (a !== null && b !== null && a.register === b.register && a.negate === b.negate);

/** Whether the first is for the lanes that the second leaves out. */
const otherGuard = ({ guard: a }: Instruction, { guard: b }: Instruction): boolean =>
  a !== null && b !== null && a.register === b.register && a.negate !== b.negate;
