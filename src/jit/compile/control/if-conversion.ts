import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import { type Instruction, isLanewise } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { everywhere } from "./uniform-branch.ts";

/** The most instructions of a block that is if-converted, since it is written several times. */
const maxIfConvertedInstructions = 24;

/** The numbers of quads for which an if-converted block is written, besides that for all lanes. */
const narrowQuads: readonly number[] = [1, 4];

/** How an if-converted block is written for a few lanes. */
interface NarrowVersion {
  /** The expressions of the predicates on which the branch depends. */
  readonly predicates: ReadonlyMap<number, Expr>;
  /** Evaluates the condition in each lane. */
  readonly evaluate: () => void;
  /** Jumps to the block at which all lanes reconverge. */
  readonly join: () => void;
}

/**
 * If-conversion: a block that a branch skips, and that leads to the branch's target, is written with a mask in the code
 * for converged lanes. They stay converged whichever of them execute it.
 */
export class IfConversion {
  readonly #chunk: Chunk;
  /** Writes the instructions of a block. */
  readonly #instructions: (block: FlowBlock) => void;

  constructor(chunk: Chunk, instructions: (block: FlowBlock) => void) {
    this.#chunk = chunk;
    this.#instructions = instructions;
  }

  /** Returns the block that a block's branch skips, if it can be if-converted; else null. */
  skippedBy(block: FlowBlock, to: number): FlowBlock | null {
    const { graph, instructions, edgeCopies } = this.#chunk.analysis.code;
    const skipped = graph.blocks[block.index + 1];
    if (instructions[block.end - 1]!.op.kind !== "branch" || skipped === undefined || to <= skipped.index) return null;
    const { start, end, successors } = skipped;
    if (successors.length !== 1 || successors[0] !== to || end - start > maxIfConvertedInstructions) return null;
    const fits = (i: number): boolean => {
      const { op, guard, lanes } = instructions[i]!;
      const isJump = op.kind === "branch" && i === end - 1 && guard === null;
      return lanes === undefined && (isLanewise(op) || isJump);
    };
    for (let i = block.start; i < end; i++) if (edgeCopies.has(i) || (i >= start && !fits(i))) return null;
    return skipped;
  }

  /**
   * Writes a skipped block for those of the converged lanes that do not take the branch, given its last instruction.
   */
  write(skipped: FlowBlock, { guard }: Instruction): void {
    const { writer } = this.#chunk;
    const mask = this.#chunk.guardMask({ ...guard!, negate: !guard!.negate })!;
    // The block may change the predicate.
    const locals = mask.map(() => writer.local("v128"));
    writer.assign(mask.map((value, q) => ({ local: locals[q]!, value })));
    this.#chunk.forSome(
      locals.map((local) => wasm.local("v128", local)),
      () => this.#instructions(skipped),
    );
    for (const local of locals) writer.release(local);
  }

  /**
   * Writes versions for the case that only a few of the first lanes execute the block: they have code for these alone.
   */
  writeNarrow(skipped: FlowBlock, last: Instruction, { predicates, evaluate, join }: NarrowVersion): void {
    const chunk = this.#chunk;
    const { register, negate } = last.guard!;
    const predicate = { kind: "reg", ty: "pred", reg: register } as const;
    for (const quads of narrowQuads) {
      if (quads >= chunk.quads) continue;
      const rest = { from: 4 * quads, to: wasm.i64(BigInt(chunk.lanes - 1)) };
      const taken = everywhere(chunk, predicates, predicate, !negate, rest);
      if (taken === null) return;
      chunk.writer.value(taken);
      chunk.writer.if(() => {
        chunk.narrowed(quads, () => {
          evaluate();
          this.write(skipped, last);
        });
        join();
      });
    }
  }
}
