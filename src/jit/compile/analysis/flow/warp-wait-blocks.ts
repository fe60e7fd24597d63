import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import type { Op } from "../../../../ir/index.ts";
import { type WarpWaitKind, kindOf } from "../../../abi/warp-wait-layout.ts";
import type { UniformityAnalysis } from "../values/uniformity.ts";

export type WarpInstruction = Extract<Op, { kind: "warp" }>;

/** The blocks at which lanes may wait for others of their warp, with the kind of operation for which they wait. */
export class WarpWaitBlocks {
  readonly #analysis: UniformityAnalysis;
  readonly #kinds = new Map<number, WarpWaitKind>();

  constructor(analysis: UniformityAnalysis) {
    this.#analysis = analysis;
    const { graph, instructions } = analysis.code;
    for (const { index, start } of graph.blocks) {
      const { op } = instructions[start]!;
      if (op.kind === "warp" && analysis.mayWait(index)) this.#kinds.set(index, kindOf(op.warp));
    }
  }

  get all(): readonly number[] {
    return [...this.#kinds.keys()];
  }

  has(block: number): boolean {
    return this.#kinds.has(block);
  }

  /** The graph with edges back from each block to those whose waiting lanes it may release. */
  withReturns(graph: FlowGraph): FlowGraph {
    const back = graph.blocks.flatMap(({ index }) => this.releasedBy(index).map((at) => ({ at, from: index })));
    return {
      ...graph,
      blocks: graph.blocks.map((block) => ({
        ...block,
        predecessors: [...block.predecessors, ...back.flatMap(({ at, from }) => (at === block.index ? [from] : []))],
      })),
    };
  }

  /**
   * The blocks at which lanes may wait while a block runs, and may be released at its end. Where all lanes are needed,
   * the last ones to arrive release the others, or the launch ends.
   */
  releasedBy(block: number): readonly number[] {
    const { graph } = this.#analysis.code;
    const here = this.#analysis.divergence.waiting(block);
    const kind = this.#kinds.get(block);
    const mayEnd = graph.blocks[block]!.successors.includes(graph.blocks.length) || this.#analysis.exitsInCallee(block);
    const mayRelease = (at: number, other: WarpWaitKind): boolean =>
      here.has(at) && (other === "align" ? at === block : mayEnd || other === kind);
    return [...this.#kinds].flatMap(([at, other]) => (mayRelease(at, other) ? [at] : []));
  }
}
