import type { Graph, Node } from "./graph.ts";
import { nanTestsOf } from "./nan-tests.ts";
import { chainOf, type Packer } from "./packs.ts";
import type { Reduction } from "./schedule.ts";

/** Vectors that are tested, or made bits, together, by the node whose value that is; they are packed. */
export function reductionsOf(graph: Graph, packer: Packer, quads: number): Map<Node, Reduction> {
  const found = new Map<Node, Reduction>();
  const nanTests = nanTestsOf(graph);
  for (const { nodes } of graph.blocks) {
    for (const node of nodes) {
      const bound = boundOf(node);
      const test =
        bound === null ? testOf(node, nanTests) : { op: "above" as const, leaves: largestOf(bound.args[0]!) };
      const leaves = test?.leaves ?? null;
      const packs = leaves === null ? null : packedLeaves(leaves, packer, quads);
      if (packs === null || (test!.op === "bits" && packs.length > 1)) continue;
      const limit = bound === null ? null : packer.broadcast(bound.args[1]!, packs[0]!.members.length);
      found.set(node, { packs, op: test!.op, limit });
    }
  }
  return found;
}

function packedLeaves(leaves: readonly Node[], packer: Packer, quads: number): Reduction["packs"] | null {
  const width = Math.min(quads, leaves.length);
  if (width < 2 || leaves.length % width !== 0) return null;
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

/** What is asked of several vectors together, and those. */
interface Test {
  readonly op: Reduction["op"];
  readonly leaves: readonly Node[] | null;
}

function testOf(node: Node, nanTests: ReadonlyMap<Node, readonly Node[]>): Test | null {
  const [tested] = node.args;
  const numbers = nanTests.get(node);
  if (numbers !== undefined) return { op: node.op === "i32x4.bitmask" ? "nan_f32" : "nan_f64", leaves: numbers };
  if (node.op === "i8x16.bitmask") return { op: "bits", leaves: narrowed(tested!) };
  if (node.op === "i32x4.all_true") return { op: "all", leaves: leavesOf(tested!, "v128.and") };
  if (node.op !== "v128.any_true") return null;
  if (tested!.op === "v128.not") return { op: "not_all", leaves: leavesOf(tested!.args[0]!, "v128.and") };
  return { op: "any", leaves: leavesOf(tested!, "v128.or") };
}

/** The vectors that a chain of operations unites, if they are alike. */
function leavesOf(node: Node, op: string): readonly Node[] | null {
  for (const count of counts) {
    const chain = chainOf(node, op, count);
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
