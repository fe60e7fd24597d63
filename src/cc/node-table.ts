import type { WasmTy } from "../wasm/operation.ts";
import { type Block, Node, type NodeParts } from "./graph.ts";
import { simplified } from "./simplify.ts";

/** How far up among dominating blocks an equal value is looked for. */
const maxDistance = 64;

/** Makes the nodes of a function. Values that are equal and certainly computed before are not computed again. */
export class NodeTable {
  readonly nodes: Node[] = [];
  readonly #known = new Map<Block, Map<string, Node>>();
  readonly #constants = new Map<string, Node>();

  /** Adds a node to the end of a block. */
  add(block: Block, parts: NodeParts): Node {
    const node = new Node(this.nodes.length, block, parts);
    this.nodes.push(node);
    block.nodes.push(node);
    return node;
  }

  phi(block: Block, ty: WasmTy): Node {
    const node = new Node(this.nodes.length, block, { op: "phi", ty });
    this.nodes.push(node);
    block.phis.push(node);
    return node;
  }

  /** A constant: bits for floating-point numbers, bytes for vectors. */
  constant(entry: Block, ty: WasmTy, constant: number | bigint | readonly number[]): Node {
    const key = `${ty} ${constant.toString()}`;
    let node = this.#constants.get(key);
    if (node === undefined) {
      node = new Node(this.nodes.length, entry, { op: "const", ty, constant });
      this.nodes.push(node);
      this.#constants.set(key, node);
    }
    return node;
  }

  zero(entry: Block, ty: WasmTy): Node {
    if (ty === "v128") return this.constant(entry, ty, new Array<number>(16).fill(0));
    return this.constant(entry, ty, ty === "i64" || ty === "f64" ? 0n : 0);
  }

  /** A value without side effects. */
  pure(block: Block, parts: NodeParts): Node {
    const simple = simplified(parts, {
      constant: (ty, value) => this.constant(block, ty, value),
      op: (more) => this.pure(block, more),
    });
    if (simple !== null) return simple;
    const key = `${parts.op} ${parts.args!.map((a) => a.id).join()} ${parts.immediates?.join() ?? ""}`;
    let at: Block | null = block;
    for (let steps = 0; at !== null && steps < maxDistance; steps++, at = at.above) {
      const known = this.#known.get(at)?.get(key);
      if (known !== undefined) return known;
    }
    const node = this.add(block, parts);
    const own = this.#known.get(block) ?? new Map<string, Node>();
    this.#known.set(block, own.set(key, node));
    return node;
  }
}
