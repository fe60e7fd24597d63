import type { WasmTy } from "../wasm/operation.ts";

/**
 * A value or an effect of a function in static single assignment form. `op` is the name of a WebAssembly instruction,
 * or one of `const`, `param`, `phi`, `select`, `call`, `callIndirect`, `result`.
 */
export class Node {
  readonly id: number;
  readonly op: string;
  /** Null: it has no value. */
  readonly ty: WasmTy | null;
  args: Node[];
  /** Lanes, byte indices of a shuffle, the offset of an access, the number of a parameter, function or result. */
  readonly immediates: readonly number[];
  readonly constant: number | bigint | readonly number[] | null;
  readonly block: Block;
  /** The node that stands for this one. */
  forward: Node | null = null;

  constructor(id: number, block: Block, parts: NodeParts) {
    this.id = id;
    this.block = block;
    this.op = parts.op;
    this.ty = parts.ty;
    this.args = parts.args ?? [];
    this.immediates = parts.immediates ?? [];
    this.constant = parts.constant ?? null;
  }
}

/** What a node is made of. */
export interface NodeParts {
  readonly op: string;
  readonly ty: WasmTy | null;
  readonly args?: Node[];
  readonly immediates?: readonly number[];
  readonly constant?: number | bigint | readonly number[];
}

/** How a block ends. Successors are in the order of `Block.successors`. */
export type Terminator =
  | { readonly kind: "goto" }
  /** To the first successor if the value is not 0, else to the second. */
  | { readonly kind: "branch"; on: Node; readonly likely: boolean | null }
  /** To the successor of that number, or the last one. */
  | { readonly kind: "table"; on: Node }
  | { readonly kind: "return"; values: Node[] }
  | { readonly kind: "unreachable" };

/** A basic block. */
export class Block {
  readonly id: number;
  /** The nearest block known to dominate this one. */
  readonly above: Block | null;
  /** In program order; phis are apart. */
  nodes: Node[] = [];
  phis: Node[] = [];
  readonly predecessors: Block[] = [];
  readonly successors: Block[] = [];
  end: Terminator = { kind: "unreachable" };

  constructor(id: number, above: Block | null) {
    this.id = id;
    this.above = above;
  }
}

/** Whether a block only leads from one to another. */
export const isOnlyBetween = (block: Block, from: Block, to: Block): boolean =>
  block.predecessors.length === 1 &&
  block.predecessors[0] === from &&
  block.phis.length === 0 &&
  block.end.kind === "goto" &&
  block.successors[0] === to;

/** A function as a graph. */
export interface Graph {
  readonly blocks: readonly Block[];
  readonly nodes: readonly Node[];
}

/** The node that stands for a node. */
export function resolved(node: Node): Node {
  let found = node;
  while (found.forward !== null) found = found.forward;
  return found;
}

/** Lets a phi stand for the one value that it has on all ways. Returns whether there is only one. */
export function forwardPhi(phi: Node): boolean {
  let same: Node | null = null;
  for (const arg of phi.args) {
    const value = resolved(arg);
    if (value === phi || value === same) continue;
    if (same !== null) return false;
    same = value;
  }
  if (same === null) return false;
  phi.forward = same;
  return true;
}

/** The blocks that are reached, each after those from which it is reached first, but for loops. */
export function reversePostorder({ blocks }: Graph): Block[] {
  const seen = new Set<Block>();
  const order: Block[] = [];
  const stack: { readonly block: Block; next: number }[] = [{ block: blocks[0]!, next: 0 }];
  seen.add(blocks[0]!);
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    // The last successor first, so that the others come before it.
    const to = top.block.successors[top.block.successors.length - 1 - top.next++];
    if (to === undefined) {
      order.push(top.block);
      stack.pop();
    } else if (!seen.has(to)) {
      seen.add(to);
      stack.push({ block: to, next: 0 });
    }
  }
  return order.reverse();
}
