import type { FlowBlock } from "../ir/flow/flow-graph.ts";
import type { Guard, Instruction, LaneRule, Op } from "../ir/index.ts";
import { type Wasm, wasm } from "../wasm/index.ts";
import { allLanes, type Chunk, type Mask } from "./chunk.ts";
import { type CallContext, Calls } from "./calls.ts";
import { aheadOf } from "./ahead.ts";
import { type BranchTest, everywhere, testOf } from "./branch-test.ts";
import { anyOf, type BranchCopies, ControlFlow, noCopies } from "./control-flow.ts";
import { Faults } from "./faults.ts";
import type { FlatPath } from "./flat-path.ts";
import { GatheringBlocks, Gatherings } from "./gatherings.ts";
import type { Hoisted } from "./hoisting.ts";
import { type IndexedBranch, writeIndexedBranch } from "./indexed-branch.ts";
import { blocksInStep, InStep } from "./in-step.ts";
import { bothMasks } from "./lane-bits.ts";
import type { MemoryContext } from "./locator.ts";
import { Memory } from "./memory.ts";
import type { Phase } from "./phase.ts";
import { Pins } from "./pins.ts";
import type { Pauses, Suspension } from "./suspension.ts";
import { Unsupported } from "./unsupported.ts";
import type { Value } from "./value.ts";
import { StackPieces } from "./stack-pieces.ts";
import { WarpOperations } from "./warp-operations.ts";

/** Rounds of loops after which lanes that may wait for others let them run. */
const patience = 64;

/** Instructions of a block at most of which there may be two versions. */
const mostInVersions = 400;

/** A branch at the end of a block. */
interface Branch {
  readonly block: FlowBlock;
  readonly to: number;
  /** What is still to be tested, or null. */
  readonly test: BranchTest | null;
  /** `isAll`: where it is known that all lanes do the same. */
  readonly copies: (isAll: boolean) => BranchCopies;
}

/** Writes the instructions of a function. */
export class Body {
  readonly #chunk: Chunk;
  readonly #memory: Memory;
  readonly #calls: Calls;
  readonly #stackPieces: StackPieces;
  readonly #warpOperations: WarpOperations;
  readonly #faults: Faults;
  readonly #pins: Pins;
  readonly flow: ControlFlow;
  /** Where lanes may wait for others of their warp; else null. */
  readonly gatherings: Gatherings | null;
  /** Instructions of which nothing is read later. */
  readonly #dead: ReadonlySet<number>;

  readonly #hoisted: Hoisted | null;
  readonly #pauses: Pauses;
  readonly #suspension: Suspension | null;
  /** Code for lanes that go the same way, where that is worth it. */
  #inStep: InStep | null = null;
  readonly #canBeInStep: boolean;
  /** How often lanes may still go around loops in which they may wait for others. */
  readonly #patience: number | null;

  /** `suspension`: where there are pauses. */
  constructor(
    chunk: Chunk,
    context: MemoryContext,
    pauses: Pauses,
    suspension: Suspension | null,
    hoisted: Hoisted | null,
    calls: CallContext,
  ) {
    this.#chunk = chunk;
    this.#hoisted = hoisted;
    this.#pauses = pauses;
    this.#suspension = suspension;
    this.#patience = pauses.spins.size > 0 ? chunk.writer.local("i32") : null;
    this.#memory = new Memory(chunk, context);
    this.#warpOperations = new WarpOperations(chunk, context.context, context.layout);
    this.#faults = new Faults(chunk, context);
    this.#pins = new Pins(chunk, context.context, context.layout.values);
    this.#dead = deadInstructions(chunk);
    const gathering = new GatheringBlocks(chunk.analysis);
    this.gatherings =
      gathering.all.length === 0 || calls.isFunction
        ? null
        : new Gatherings(chunk, context, this.#warpOperations, gathering);
    const { width } = context.unit.shape;
    this.#canBeInStep = !calls.isFunction && width === null && pauses.spins.size === 0;
    this.flow = new ControlFlow(chunk, suspension, this.gatherings, (block) => this.#block(block));
    this.#calls = new Calls(chunk, this.flow, context, this.#faults, calls);
    this.#stackPieces = new StackPieces(chunk, calls.unit, context, calls.frame);
  }

  /** Lanes begin, or go on after a pause. */
  begin(): void {
    if (this.#patience !== null) this.#chunk.writer.assign([{ local: this.#patience, value: wasm.i32(patience) }]);
  }

  /** What is written next is a phase alone, whatever has been written before. */
  enterPhase(phase: Phase, barriers: ReadonlyMap<number, number>): void {
    this.#memory.forget();
    this.flow.enterPhase(phase, barriers);
  }

  /** Writes all blocks, or those of a phase. `isWhole`: whether all lanes of the chunk have a thread. */
  write(isWhole: Wasm = wasm.i32(1)): void {
    const { layout } = this.flow;
    const isEntered = layout.isInsideLoop(layout.start);
    const blocks =
      this.#canBeInStep && !isEntered ? blocksInStep(this.#chunk.analysis, layout, this.#isMeeting) : new Set<number>();
    if (blocks.size === 0) {
      this.flow.write();
      return;
    }
    const { writer } = this.#chunk;
    const inStep = new InStep(this.#chunk, this.flow, blocks, (block) => this.#block(block));
    this.#inStep = inStep;
    this.flow.write(() => {
      writer.value(isWhole);
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
    const ahead = aheadOf(analysis, index, end, isSkipped);
    for (const i of ahead.computed) this.#instruction(index, i, analysis.code.instructions[i]!);
    this.#chunk.begin();
    this.#memory.checkAhead(ahead, () => this.flow.goOnAt(index));
    write((i) => isTest(i) || ahead.computed.includes(i));
  }

  /** The way that all lanes of a block may go, if there is one for which that can be told beforehand. */
  flatPath(): FlatPath | null {
    const isSimple =
      this.#canBeInStep && this.#suspension === null && this.gatherings === null && this.#hoisted !== null;
    return isSimple ? this.#memory.flatPath(this.#hoisted) : null;
  }

  /** Writes what a chunk does on that way. */
  writeFlat({ blocks, decided }: FlatPath): void {
    const { graph, instructions } = this.#chunk.analysis.code;
    this.#memory.trusting(() => {
      this.#chunk.inStep = true;
      for (const block of blocks) {
        const { start, end } = graph.blocks[block]!;
        this.#pins.begin(graph.blocks[block]!);
        for (let i = start; i < end; i++) {
          const { op } = instructions[i]!;
          const moves = op.kind === "branch" || op.kind === "return" || op.kind === "exit";
          if (moves || decided.has(i)) continue;
          this.#instruction(block, i, instructions[i]!);
          this.#pins.written(i, instructions[i]!);
        }
      }
      this.#chunk.inStep = false;
    });
  }

  /** Whether all lanes of a chunk come to the barrier at the end of a block at once. */
  readonly #isMeeting = (block: number): boolean => {
    const at = this.#pauses.barriers.get(block);
    return at === undefined || this.#suspension!.meetingBefore(at) !== null;
  };

  #block(block: FlowBlock): void {
    const { instructions, graph, edgeCopies } = this.#chunk.analysis.code;
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
    const test = last.op.kind === "branch" ? this.#testOf(block, end, taken) : null;
    const isTest = (i: number): boolean => test?.instructions.includes(i) === true;
    const write = (isDone: (instruction: number) => boolean = isTest): void => {
      this.#pins.begin(block);
      for (let i = block.start; i < end; i++) {
        if (isDone(i)) continue;
        this.#instruction(block.index, i, instructions[i]!);
        this.#pins.written(i, instructions[i]!);
      }
    };
    this.#chunk.begin();
    // Functions are better small: calls may nest.
    const isLarge = this.#hoisted === null || end - block.start > mostInVersions;
    if (this.#chunk.inStep) this.#writeInStep(block, end, isTest, write);
    else if (isLarge || !instructions.slice(block.start, end).every(isPlain)) write();
    else this.#memory.inVersions(block.start, end, this.#chunk.activeMask(block.index), write);
    if (last.op.kind !== "branch") copy();
    this.#chunk.begin(last);
    const target = (instruction: number): number => graph.blockAt(instruction);
    switch (last.op.kind) {
      case "branch":
        this.#branch({ block, to: target(last.op.target), test, copies }, last);
        return;
      case "return":
      case "exit":
        if (this.#chunk.inStep) {
          const to = graph.blocks.length;
          this.#branchInStep({ block, to, test: null, copies: () => noCopies }, last);
        } else this.#leave(block.index, last);
        return;
      case "barrier":
        this.#barrier(block.index, last.op, last);
        return;
      case "branch-indexed":
        this.#branchIndexed({
          block: block.index,
          index: block.end - 1,
          instruction: last,
          op: last.op,
          targets: last.op.targets.map(target),
        });
        return;
      default:
        this.#instruction(block.index, block.end - 1, last);
        if (this.#chunk.inStep) this.#inStep!.jump(block.index, block.index + 1);
        // The end of the function is a return.
        else if (block.index === graph.blocks.length - 1) this.flow.leave(block.index, null);
    }
  }

  /**
   * What is tested only where lanes may go different ways. `end`, `taken`: where the copies begin for lanes that do not take
   * the branch, and for those that do.
   */
  #testOf({ index, end: behind }: FlowBlock, end: number, taken: number): BranchTest | null {
    const { instructions, graph } = this.#chunk.analysis.code;
    const { op, guard } = instructions[behind - 1]!;
    // What is read of a byte file is read for one instruction.
    if (op.kind !== "branch" || guard === null || this.#chunk.file !== null) return null;
    if (this.#chunk.guardMask(guard) === null) return null;
    const to = graph.blockAt(op.target);
    // When all go back, or none goes forward, there is nothing else to do.
    const isSimple = to > index ? end === taken : taken === behind - 1 && !this.#pauses.spins.has(to);
    if (!isSimple && !this.#chunk.inStep) return null;
    return testOf(this.#chunk, index, end, (i) => this.#hoisted?.has(i) === true);
  }

  /** 1 only if all lanes take the branch, or none does; null where no other test tells than that of each lane. */
  #isDecided({ test }: Branch, { guard }: Instruction, takes: boolean): Wasm | null {
    if (test === null) return null;
    const { register, negate } = guard!;
    return everywhere(this.#chunk, test.predicates, { kind: "reg", ty: "pred", reg: register }, takes !== negate);
  }

  #branch(branch: Branch, last: Instruction): void {
    if (this.#chunk.inStep) {
      this.#branchInStep(branch, last);
      return;
    }
    const { block, to, test, copies } = branch;
    const all = this.#isDecided(branch, last, true);
    const none = to <= block.index ? null : this.#isDecided(branch, last, false);
    const { writer } = this.#chunk;
    const go = (): void => {
      this.#test(block.index, test, last);
      this.#branchInLanes(branch, last);
    };
    if (all !== null) {
      writer.value(all);
      writer.if(() => {
        copies(true).copy();
        this.flow.jump(block.index, to);
      });
    }
    if (none === null) go();
    else {
      writer.value(wasm.op("i32.eqz", none));
      writer.if(go);
    }
  }

  /** Executes what decides about a branch in each lane. */
  #test(block: number, test: BranchTest | null, last: Instruction): void {
    const { instructions } = this.#chunk.analysis.code;
    for (const i of test?.instructions ?? []) this.#instruction(block, i, instructions[i]!);
    this.#chunk.begin(last);
  }

  /** A branch, or where lanes leave, of lanes in step: they stay so if all take it, or none does. */
  #branchInStep(branch: Branch, last: Instruction): void {
    const { block, to, test } = branch;
    const { writer } = this.#chunk;
    const { copy, copyOthers } = branch.copies(true);
    const { guard } = last;
    const take = (): void => {
      copy();
      this.#inStep!.jump(block.index, to);
    };
    const pass = (): void => {
      copyOthers();
      this.#inStep!.jump(block.index, block.index + 1);
    };
    if (guard === null) {
      take();
      return;
    }
    const mask = this.#chunk.guardMask(guard);
    if (mask === null) {
      writer.value(this.#chunk.guardScalar(guard));
      writer.if(take);
      pass();
      return;
    }
    const next = block.index + 1;
    /** The other code sends each lane where it goes. */
    const part = (): void => {
      if (last.op.kind === "branch") this.#branchInLanes(branch, last);
      else this.#leave(block.index, last);
      if (next < this.#chunk.analysis.code.graph.blocks.length) this.flow.goOnAt(next);
      else this.flow.end();
    };
    const [all, none] = [true, false].map((takes) => this.#isDecided(branch, last, takes)) as [
      Wasm | null,
      Wasm | null,
    ];
    if (to === next) {
      this.#test(block.index, test, last);
      const both = branch.copies(false);
      both.copyOthers();
      both.copy();
      this.#inStep!.jump(block.index, next);
    } else if (all === null || none === null) {
      this.#test(block.index, test, last);
      const others = mask.map((lanes) => wasm.op("v128.not", lanes));
      writer.value(anyOf(mask));
      writer.if(() => {
        writer.value(wasm.op("i32.eqz", anyOf(others)));
        writer.if(take);
        part();
      });
      pass();
    } else {
      const testAndPart = (): void => {
        this.#test(block.index, test, last);
        part();
      };
      if (to <= block.index) {
        writer.value(all);
        writer.if(take);
        writer.value(wasm.op("i32.eqz", none));
        writer.if(testAndPart);
      } else {
        writer.value(wasm.op("i32.eqz", none));
        writer.if(() => {
          writer.value(all);
          writer.if(take);
          testAndPart();
        });
      }
      pass();
    }
  }

  #branchInLanes({ block: { index: block }, to, copies: copiesOf }: Branch, { guard, lanes }: Instruction): void {
    const copies = copiesOf(false);
    const isPatient = to <= block && this.#pauses.spins.has(to);
    const go = (): void => {
      if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.flow.jump(block, to));
      else this.flow.branch(block, to, guard, isPatient ? noCopies : copies);
    };
    if (!isPatient) go();
    else {
      copies.copyOthers();
      copies.copy();
      this.#branchPatiently(() => {
        if (lanes?.uniform === true) this.#ifDecided(guard, lanes, () => this.flow.pause(block, to, null));
        else this.#pause(block, to, guard);
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

  #barrier(block: number, op: Extract<Op, { kind: "barrier" }>, { guard, lanes }: Instruction): void {
    const isPlain = op.mode === "sync" && op.count === null && op.id.kind === "const" && op.id.value === 0;
    if (!isPlain) throw new Unsupported("barriers other than barrier 0 for all threads");
    if (lanes !== undefined || (guard !== null && this.#chunk.file !== null))
      throw new Unsupported("barriers of some lanes");
    const at = this.#pauses.barriers.get(block);
    const meeting = at === undefined ? null : this.#suspension!.meetingBefore(at);
    if (at === undefined) {
      if (this.#chunk.inStep) this.flow.leaveTogether(block);
      else this.flow.leave(block, null);
    } else if (meeting !== null) this.#suspension!.meet(meeting);
    else this.#pause(block, at, guard);
  }

  #pause(block: number, at: number, guard: Guard | null): void {
    const mask = guard === null ? null : this.#chunk.guardMask(guard);
    if (guard === null || mask !== null) this.flow.pause(block, at, mask);
    else this.#ifUniform(guard, () => this.flow.pause(block, at, null));
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
      this.#ifDecided(guard, lanes, () => this.flow.end());
      return;
    }
    const leave = (mask: Mask): void => {
      if (op.kind === "exit") this.#calls.end(this.#chunk.maskOf(block, mask) ?? allLanes(this.#chunk));
      this.flow.leave(block, mask);
    };
    const mask = this.#chunk.movedMask(guard);
    if (guard === null || mask !== null) leave(mask);
    else this.#ifUniform(guard, () => leave(null));
  }

  #branchIndexed(branch: IndexedBranch): void {
    const { guard, lanes } = branch.instruction;
    if (lanes !== undefined && !(lanes.uniform && guard === null))
      throw new Unsupported("indexed branches of some lanes");
    // What moves all lanes or none is for all that are here.
    this.#chunk.begin();
    this.#chunk.file?.read(branch.instruction);
    const write = (instruction: Instruction): void =>
      writeIndexedBranch(this.#chunk, this.flow, this.#faults, { ...branch, instruction });
    if (guard !== null && this.#chunk.guardMask(guard) === null) {
      this.#ifUniform(guard, () => write({ ...branch.instruction, guard: null }));
    } else write(branch.instruction);
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

  #ifUniform(guard: NonNullable<Instruction["guard"]>, then: () => void): void {
    this.#chunk.writer.value(this.#chunk.guardScalar(guard));
    this.#chunk.writer.if(then);
  }

  #raise(index: number, lanes: Mask): void {
    const { writer } = this.#chunk;
    writer.value(lanes === null ? wasm.i32(1) : anyOf(lanes));
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
      this.#ifUniform(guard, () => this.#perform(block, index, { ...instruction, guard: null }, instruction.op));
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
      case "alloca":
      case "stack-save":
      case "stack-restore":
        this.#stackPieces.perform(block, index, instruction, op);
        return;
      case "warp":
        this.#warp(block, instruction, op);
        return;
      case "activemask": {
        const scalar = this.#warpOperations.present(this.#lanes(block, { ...instruction, guard: null }));
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

/** Pure instructions, and loads of constants, whose results nobody reads. */
function deadInstructions({ analysis }: Chunk): ReadonlySet<number> {
  const { graph, liveness, instructions } = analysis.code;
  const dead = new Set<number>();
  for (const { index } of graph.blocks) {
    liveness.walk(index, (i, behind) => {
      const { op, dst } = instructions[i]!;
      if (op.kind === "pure" && dst.every((to) => typeof to === "number" && !behind.has(to))) dead.add(i);
    });
  }
  return dead;
}
