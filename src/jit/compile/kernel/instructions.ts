import type { Guard, Instruction, Op } from "../../../ir/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import type { RowMove } from "../analysis/access/row-moves.ts";
import { deadInstructions } from "../analysis/code/dead-code.ts";
import { isAlign } from "../../../ir/uniformity/uniformity.ts";
import type { Invariants } from "../analysis/values/invariant-code.ts";
import type { Calls } from "../calls/calls.ts";
import type { FileCalls } from "../calls/file-calls.ts";
import type { Reconvergence } from "../control/reconvergence.ts";
import { ifUniform } from "../control/uniform-branch.ts";
import type { Chunk } from "../emit/chunk.ts";
import type { Faults } from "../emit/faults.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { bothMasks, type Mask } from "../lanes/mask.ts";
import type { Narrow } from "../lanes/narrow.ts";
import type { Value } from "../lanes/value.ts";
import type { StackWriter } from "../memory/alloca.ts";
import type { Memory } from "../memory/memory.ts";
import type { ClusterPolls } from "../sync/cluster-polls.ts";
import { areInGroups } from "../sync/own-groups.ts";
import type { UnitOperations } from "../sync/unit-operations.ts";
import type { WarpOperations } from "../sync/warp-operations.ts";
import type { WarpWaits } from "../sync/warp-waits.ts";

/** The parts that instructions of different kinds are written with. */
interface InstructionParts {
  readonly chunk: Chunk;
  /** Of a kernel: what is computed once for many chunks. */
  readonly invariants: Invariants | null;
  readonly memory: Memory;
  readonly writeStackOp: StackWriter;
  readonly calls: Calls;
  readonly fileCalls: FileCalls;
  readonly faults: Faults;
  readonly flow: Reconvergence;
  readonly warpOperations: WarpOperations;
  readonly unitOperations: UnitOperations;
  readonly clusterPolls: ClusterPolls;
  /** Where lanes may wait for others of their warp; else null. */
  readonly warpWaits: WarpWaits | null;
}

/** Writes single instructions, but for those that end blocks. */
export class Instructions {
  readonly #chunk: Chunk;
  readonly #parts: InstructionParts;
  /** Instructions whose results are never read. */
  readonly #dead: ReadonlySet<number>;

  constructor(parts: InstructionParts) {
    this.#chunk = parts.chunk;
    this.#parts = parts;
    this.#dead = deadInstructions(parts.chunk.analysis.code);
  }

  /** Whether nothing is written for an instruction where it stands. */
  isSkipped(index: number): boolean {
    const { invariants, memory } = this.#parts;
    return this.#dead.has(index) || invariants?.has(index) === true || memory.rows.isSkipped(index);
  }

  /** Writes an instruction of a block where it stands. */
  write(block: number, index: number, instruction: Instruction): void {
    if (!this.isSkipped(index)) this.#execute(block, index, instruction);
  }

  /** Writes invariant instructions, which are executed before all others. */
  computeInvariants(instructions: readonly number[]): void {
    for (const index of instructions) {
      if (!this.#dead.has(index)) this.#execute(0, index, this.#chunk.analysis.code.instructions[index]!);
    }
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
    const { memory, calls, fileCalls, writeStackOp, warpOperations, unitOperations } = this.#parts;
    const row = memory.rows.at(index);
    if (row !== null) {
      this.#moveRows(block, index, instruction, row);
      return;
    }
    switch (op.kind) {
      case "pure": {
        const mask = instruction.guard === null ? null : this.#chunk.guardMask(instruction.guard);
        const word = memory.assembledWord(index);
        const computed = (): (Value | Narrow | null)[] =>
          op.values.map((v, i) => {
            const to = instruction.dst[i];
            return to == null ? null : this.#chunk.valueFor(to, v);
          });
        const values = word === null ? computed() : [word];
        this.#chunk.write(block, instruction.dst, values, mask);
        return;
      }
      case "load":
        memory.load(block, index, instruction, op);
        return;
      case "store":
        memory.store(block, index, instruction, op);
        return;
      case "call":
        calls.call(block, index, instruction, op);
        return;
      case "file-call":
        fileCalls.call(block, index, instruction, op);
        return;
      case "subroutine-call":
        fileCalls.callSubroutine(block, index, instruction, op);
        return;
      case "alloca":
      case "stack-save":
      case "stack-restore":
        writeStackOp(block, index, instruction, op);
        return;
      case "unit":
        unitOperations.perform(block, index, instruction, op);
        return;
      case "warp":
        this.#warp(block, index, instruction, op);
        return;
      case "activemask": {
        const scalar = warpOperations.present(this.#lanes(block, instruction));
        const value: Value = { kind: "uniform", ty: "i32", scalar };
        this.#chunk.write(block, instruction.dst, [value], this.#guardMask(instruction.guard));
        return;
      }
      case "trap":
      case "unsupported":
        this.#raise(index, this.#lanes(block, instruction));
        return;
      case "atomic":
        this.#atomic(block, index, instruction, op);
        return;
      // Loops in which lanes sleep yield as those do that look at memory.
      case "sleep":
      case "fence":
      case "commit-copies":
      case "await-copies":
      case "order-products":
      case "nothing":
      case "breakpoint":
        return;
      case "copy":
        throw new Error("copies have become loads and stores");
      case "cluster-poll":
        this.#parts.clusterPolls.write(block, index, instruction, op.asks);
        return;
      case "cluster-barrier":
        throw new Error("the barriers of clusters have become polls");
      // The ends of blocks: `Terminators` writes those that it knows.
      case "branch":
      case "branch-indexed":
      case "return":
      case "exit":
      case "barrier":
        throw new Unsupported(op.kind);
      default:
        op satisfies never;
    }
  }

  #moveRows(block: number, index: number, { dst }: Instruction, move: RowMove): void {
    const { rows } = this.#parts.memory;
    if (move.to === "store") rows.copy(block, index, move);
    else {
      const { values, locals } = rows.fragments(block, index, move);
      this.#chunk.write(block, dst, values, null);
      for (const local of locals) this.#chunk.writer.release(local);
    }
  }

  #atomic(block: number, index: number, instruction: Instruction, op: Extract<Op, { kind: "atomic" }>): void {
    const { memory, faults } = this.#parts;
    const problems = memory.atomic(block, index, instruction, op);
    if (problems === null) return;
    const { writer } = this.#chunk;
    writer.value(anyOf(problems.lanes));
    writer.expect(false);
    writer.if(() => faults.raise(index, problems.lanes, problems.numbers));
    problems.release();
  }

  #warp(block: number, index: number, instruction: Instruction, op: Extract<Op, { kind: "warp" }>): void {
    const { chunk } = this.#parts;
    const write = (): void => this.#warpOperation(block, index, instruction, op);
    if (chunk.lanes === 32 && isAlign(instruction)) chunk.requireAll(block, write);
    else write();
  }

  #warpOperation(block: number, index: number, instruction: Instruction, op: Extract<Op, { kind: "warp" }>): void {
    const { chunk, warpWaits, calls, warpOperations, flow } = this.#parts;
    if (warpWaits?.blocks.has(block) && !chunk.converged) {
      warpWaits.arrive(block, instruction, op, flow);
      return;
    }
    const guard = this.#guardMask(instruction.guard);
    const results = { block, instruction: index, dst: instruction.dst };
    const { analysis } = chunk;
    const isInGroups = (): boolean => chunk.converged && areInGroups(op.mask, chunk.known);
    // Where all that come name each other, results are what the analysis says: the same in all lanes, perhaps.
    if (analysis.isComplete(block) ? analysis.isApart(block) : isInGroups()) {
      const lanes = bothMasks(chunk.activeMask(block), guard);
      warpOperations.performApart(op.warp, op.mask!, lanes, { ...results, guard });
      return;
    }
    calls.performNamed(block, op, guard, (lanes) => {
      warpOperations.perform(op.warp, bothMasks(chunk.activeMask(block), lanes), { ...results, guard: lanes });
    });
  }

  #raise(index: number, lanes: Mask): void {
    const { writer } = this.#chunk;
    writer.value(lanes === null ? wasm.i32(1) : anyOf(lanes));
    writer.expect(false);
    writer.if(() => this.#parts.faults.raise(index, lanes));
  }

  /** The lanes that execute an instruction: those of its guard that are active. */
  #lanes(block: number, { guard }: Instruction): Mask {
    return bothMasks(this.#chunk.activeMask(block), this.#guardMask(guard));
  }

  #guardMask(guard: Guard | null): Mask {
    return guard === null ? null : this.#chunk.guardMask(guard);
  }
}
