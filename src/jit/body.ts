import type { FlowBlock } from "../ir/flow/flow-graph.ts";
import type { Instruction, Op } from "../ir/index.ts";
import { wasm } from "../wasm/index.ts";
import type { Chunk } from "./chunk.ts";
import { ControlFlow } from "./control-flow.ts";
import { Memory, type MemoryContext } from "./memory.ts";
import { Unsupported } from "./unsupported.ts";

/** Writes the instructions of a function. */
export class Body {
  readonly #chunk: Chunk;
  readonly #memory: Memory;
  readonly flow: ControlFlow;
  /** Instructions of which nothing is read later. */
  readonly #dead: ReadonlySet<number>;

  constructor(chunk: Chunk, context: MemoryContext) {
    this.#chunk = chunk;
    this.#memory = new Memory(chunk, context);
    this.#dead = deadInstructions(chunk);
    this.flow = new ControlFlow(chunk, (block) => this.#block(block));
  }

  #block(block: FlowBlock): void {
    const { instructions, graph } = this.#chunk.analysis.code;
    for (let i = block.start; i < block.end - 1; i++) this.#instruction(block.index, i, instructions[i]!);
    const last = instructions[block.end - 1]!;
    this.#chunk.begin();
    const target = (instruction: number): number => graph.blockAt(instruction);
    switch (last.op.kind) {
      case "branch":
        this.#branch(block.index, target(last.op.target), last);
        return;
      case "return":
      case "exit":
        this.#leave(block.index, last);
        return;
      case "branch-indexed":
        this.#branchIndexed(block.index, last, last.op.targets.map(target));
        return;
      default:
        this.#instruction(block.index, block.end - 1, last);
        // The end of the function is a return.
        if (block.index === graph.blocks.length - 1) this.flow.leave(block.index, null);
    }
  }

  #branch(block: number, to: number, { guard }: Instruction): void {
    if (guard === null) this.flow.jump(block, to);
    else this.flow.branch(block, to, guard);
  }

  #leave(block: number, { guard }: Instruction): void {
    if (guard === null) {
      this.flow.leave(block, null);
      return;
    }
    const mask = this.#chunk.guardMask(guard);
    if (mask !== null) this.flow.leave(block, mask);
    else this.#ifUniform(guard, () => this.flow.leave(block, null));
  }

  #branchIndexed(_block: number, { op }: Instruction, _targets: readonly number[]): void {
    throw new Unsupported(op.kind);
  }

  #ifUniform(guard: NonNullable<Instruction["guard"]>, then: () => void): void {
    this.#chunk.writer.value(this.#chunk.guardScalar(guard));
    this.#chunk.writer.if(then);
  }

  #instruction(block: number, index: number, instruction: Instruction): void {
    if (this.#dead.has(index)) return;
    const { guard } = instruction;
    this.#chunk.begin();
    if (guard !== null && this.#chunk.guardMask(guard) === null) {
      this.#ifUniform(guard, () => this.#perform(block, index, { ...instruction, guard: null }, instruction.op));
    } else this.#perform(block, index, instruction, instruction.op);
  }

  #perform(block: number, index: number, instruction: Instruction, op: Op): void {
    switch (op.kind) {
      case "pure": {
        const mask = instruction.guard === null ? null : this.#chunk.guardMask(instruction.guard);
        const values = op.values.map((v, i) => (typeof instruction.dst[i] === "number" ? this.#chunk.value(v) : null));
        this.#chunk.write(block, instruction.dst, values, mask);
        return;
      }
      case "load":
        this.#memory.load(block, index, instruction, op);
        return;
      case "store":
        this.#memory.store(block, index, instruction, op);
        return;
      case "fence":
      case "nothing":
      case "breakpoint":
        return;
      default:
        throw new Unsupported(op.kind);
    }
  }
}

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

export const noLanes = wasm.i32x4(0);
