import type { FlowBlock } from "../../../ir/flow/flow-graph.ts";
import type { Instruction } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { everywhere } from "./uniform-branch.ts";

/** Instructions of a passage, at most: it is written several times. */
const maxIfConvertedInstructions = 24;

/** For how many times four lanes a passage is written, besides that for all. */
const narrow: readonly number[] = [1, 4];

/** What is written where only a few lanes go through a passage. */
interface Narrow {
  /** What decides about the branch. */
  readonly predicates: ReadonlyMap<number, Expr>;
  /** What is executed first of it. */
  readonly first: () => void;
  /** Goes to where all lanes meet. */
  readonly behind: () => void;
}

/**
 * Passages: blocks that lead from a branch to where it goes itself, so that lanes that are in step meet again behind it whatever
 * each has done. They are written among the code for lanes in step, which thus remain in step.
 */
export class IfConversion {
  readonly #chunk: Chunk;
  /** Writes the instructions of a block. */
  readonly #instructions: (block: FlowBlock) => void;

  constructor(chunk: Chunk, instructions: (block: FlowBlock) => void) {
    this.#chunk = chunk;
    this.#instructions = instructions;
  }

  /** The passage of the lanes that do not take a block's branch to another block, or null. */
  behind(block: FlowBlock, to: number): FlowBlock | null {
    const { graph, instructions, edgeCopies } = this.#chunk.analysis.code;
    const passage = graph.blocks[block.index + 1];
    if (instructions[block.end - 1]!.op.kind !== "branch" || passage === undefined || to <= passage.index) return null;
    const { start, end, successors } = passage;
    if (successors.length !== 1 || successors[0] !== to || end - start > maxIfConvertedInstructions) return null;
    const isPlain = (i: number): boolean => {
      const { op, guard, lanes } = instructions[i]!;
      const goesOn = op.kind === "branch" && i === end - 1 && guard === null;
      return lanes === undefined && (op.kind === "pure" || op.kind === "load" || op.kind === "store" || goesOn);
    };
    for (let i = block.start; i < end; i++) if (edgeCopies.has(i) || (i >= start && !isPlain(i))) return null;
    return passage;
  }

  /** Of lanes in step, those that do not take a branch go through. */
  write(passage: FlowBlock, { guard }: Instruction): void {
    const { writer } = this.#chunk;
    const mask = this.#chunk.guardMask({ ...guard!, negate: !guard!.negate })!;
    // The block may change the predicate.
    const locals = mask.map(() => writer.local("v128"));
    writer.assign(mask.map((value, q) => ({ local: locals[q]!, value })));
    this.#chunk.forSome(
      locals.map((local) => wasm.local("v128", local)),
      () => this.#instructions(passage),
    );
    for (const local of locals) writer.release(local);
  }

  /** The same where only a few of the first lanes do: the others have no part in the code. */
  writeNarrow(passage: FlowBlock, last: Instruction, { predicates, first, behind }: Narrow): void {
    const chunk = this.#chunk;
    const { register, negate } = last.guard!;
    const predicate = { kind: "reg", ty: "pred", reg: register } as const;
    for (const quads of narrow) {
      if (quads >= chunk.quads) continue;
      const rest = { from: 4 * quads, to: wasm.i64(BigInt(chunk.lanes - 1)) };
      const taken = everywhere(chunk, predicates, predicate, !negate, rest);
      if (taken === null) return;
      chunk.writer.value(taken);
      chunk.writer.if(() => {
        chunk.narrowed(quads, () => {
          first();
          this.write(passage, last);
        });
        behind();
      });
    }
  }
}
