import type { Graph, Node } from "./graph.ts";
import { chainOf, type Packer } from "./packs.ts";
import type { Reduction } from "./schedule.ts";

/** Vectors that are tested, or made bits, together, by the node whose value that is; they are packed. */
export function reductionsOf(graph: Graph, packer: Packer, quads: number): Map<Node, Reduction> {
  const found = new Map<Node, Reduction>();
  for (const { nodes } of graph.blocks) {
    for (const node of nodes) {
      const bound = boundOf(node);
      const leaves = bound === null ? leavesOf(node) : largestOf(bound.args[0]!);
      const packs = leaves === null ? null : packedLeaves(leaves, packer, quads);
      if (packs === null || (node.op === "i8x16.bitmask" && packs.length > 1)) continue;
      const limit = bound === null ? null : packer.broadcast(bound.args[1]!, packs[0]!.members.length);
      found.set(node, { packs, op: node.op, limit });
    }
  }
  return found;
}

function packedLeaves(leaves: readonly Node[], packer: Packer, quads: number): Reduction["packs"] | null {
  const width = Math.min(quads, leaves.length);
  const packs = [];
  for (let i = 0; i < leaves.length; i += width) {
    const pack = packer.seed(leaves.slice(i, i + width));
    if (pack === null || pack.kind === "build") return null;
    packs.push(pack);
  }
  return packs;
}

/** How many vectors are tested together. */
const counts = [16, 8, 4, 2] as const;

/** The comparison with a limit, if a node tests whether some lanes of vectors are above it. */
function boundOf(node: Node): Node | null {
  const [test] = node.args;
  return node.op === "v128.any_true" && test!.op === "i32x4.gt_u" ? test! : null;
}

/** The vectors of which each lane of a vector is the largest. */
function largestOf(most: Node): readonly Node[] | null {
  for (const count of counts) {
    const chain = chainOf(most, "i32x4.max_u", count);
    if (chain !== null) return chain;
  }
  return null;
}

function leavesOf(node: Node): readonly Node[] | null {
  if (node.op === "i8x16.bitmask") return narrowed(node.args[0]!);
  if (node.op !== "v128.any_true" && node.op !== "i32x4.all_true") return null;
  const op = node.op === "v128.any_true" ? "v128.or" : "v128.and";
  for (const count of counts) {
    const chain = chainOf(node.args[0]!, op, count);
    if (chain?.every((n) => n.op === chain[0]!.op)) return chain;
  }
  return null;
}

/** The four vectors of which the bytes of a vector are the low parts. */
function narrowed(node: Node): readonly Node[] | null {
  if (node.op !== "i8x16.narrow_i16x8_s") return null;
  const halves = node.args;
  if (!halves.every((h) => h.op === "i16x8.narrow_i32x4_s")) return null;
  return halves.flatMap((h) => h.args);
}

/**
 * Whether no lane of a conjunction is zero does not follow from its parts, unless these are masks, which is known only
 * once all packs are.
 */
export function dropPartialTests(reductions: Map<Node, Reduction>): void {
  for (const [node, { packs, op }] of reductions) {
    if (op === "i32x4.all_true" && packs.some(({ mask }) => mask === null)) reductions.delete(node);
  }
}
