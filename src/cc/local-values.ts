import type { WasmTy } from "../wasm/operation.ts";
import { type Block, forwardPhi, type Node, resolved } from "./graph.ts";
import type { NodeTable } from "./node-table.ts";

/**
 * The values of locals in each block while a function is read, in static single assignment form (Braun et al., Simple
 * and Efficient Construction of Static Single Assignment Form, 2013).
 */
export class LocalValues {
  readonly #table: NodeTable;
  readonly #entry: Block;
  readonly #typeOf: (local: number) => WasmTy;
  readonly #values = new Map<Block, Map<number, Node>>();
  /** The locals that a loop assigns, by its first block. */
  readonly #loops = new Map<Block, ReadonlySet<number>>();
  /** Phis of loops whose code has not been read to its end. */
  readonly #open = new Map<Block, Map<number, Node>>();

  constructor(table: NodeTable, entry: Block, typeOf: (local: number) => WasmTy) {
    this.#table = table;
    this.#entry = entry;
    this.#typeOf = typeOf;
  }

  set(block: Block, local: number, value: Node): void {
    this.#of(block).set(local, value);
  }

  get(block: Block, local: number): Node {
    const known = this.#of(block).get(local);
    if (known !== undefined) return resolved(known);
    const found = this.#incoming(block, local);
    this.set(block, local, found);
    return found;
  }

  /** Begins a loop, of which not all predecessors are known. */
  openLoop(head: Block, assigned: ReadonlySet<number>): void {
    this.#loops.set(head, assigned);
    this.#open.set(head, new Map());
  }

  /** Ends a loop. */
  seal(head: Block): void {
    const open = this.#open.get(head)!;
    this.#open.delete(head);
    for (const [local, phi] of open) this.#complete(phi, local);
  }

  #of(block: Block): Map<number, Node> {
    let values = this.#values.get(block);
    if (values === undefined) this.#values.set(block, (values = new Map()));
    return values;
  }

  #incoming(block: Block, local: number): Node {
    const [first] = block.predecessors;
    if (first === undefined) return this.#table.zero(this.#entry, this.#typeOf(local));
    const assigned = this.#loops.get(block);
    const isChoice = assigned === undefined ? block.predecessors.length > 1 : assigned.has(local);
    if (!isChoice) return this.get(first, local);
    const phi = this.#table.phi(block, this.#typeOf(local));
    this.set(block, local, phi);
    const open = this.#open.get(block);
    if (open !== undefined) open.set(local, phi);
    else this.#complete(phi, local);
    return resolved(phi);
  }

  #complete(phi: Node, local: number): void {
    phi.args = phi.block.predecessors.map((from) => this.get(from, local));
    forwardPhi(phi);
  }
}
