import type { WasmTy } from "../wasm/operation.ts";
import { Block, type Graph, isOnlyBetween, Node, type NodeParts, type Terminator } from "./graph.ts";
import { isEffect } from "./passes.ts";

/** Whether a quad's addresses follow each other is tested at the end of `head`; `join` is where both ways meet. */
interface QuadAccess {
  readonly head: Block;
  readonly addresses: Node;
  /** A load or store of the whole quad. */
  readonly access: Node;
  readonly join: Block;
  /** What has been loaded on either way; null: a store. */
  readonly loaded: Node | null;
}

/**
 * Where the quads of a value are accessed one after the other, each as a vector if its addresses follow each other and
 * lane by lane if not, first tests whether the addresses of all of them do: then they are one access.
 */
export function uniteAdjoiningQuads(graph: Graph, most: number): void {
  const seen = new Set<Block>();
  const unions: (readonly QuadAccess[])[] = [];
  for (const block of graph.blocks) {
    if (seen.has(block)) continue;
    const run = runFrom(block, seen);
    for (let i = 0; i + 1 < run.length; ) {
      const count = run.length - i >= most ? most : 2;
      unions.push(run.slice(i, i + count));
      i += count;
    }
  }
  const replaced = new Map<Node, Node>();
  // The last ones first: where one begins another ends, after which another block is there.
  for (const quads of unions.reverse()) {
    for (const [loaded, phi] of new Union(graph, quads).write()) replaced.set(loaded, phi);
  }
  if (replaced.size > 0) replaceAll(graph, replaced);
}

/** Lets all that uses values use those that replace them, which are made from them. */
function replaceAll({ nodes, blocks }: Graph, replaced: ReadonlyMap<Node, Node>): void {
  const replacing = new Set(replaced.values());
  const by = (node: Node): Node => replaced.get(node) ?? node;
  for (const node of nodes) if (!replacing.has(node)) node.args = node.args.map(by);
  for (const { end } of blocks) {
    if (end.kind === "branch" || end.kind === "table") end.on = by(end.on);
    else if (end.kind === "return") end.values = end.values.map(by);
  }
}

/** The accesses that begin with a block, each where the one before ends. */
function runFrom(first: Block, seen: Set<Block>): QuadAccess[] {
  const run: QuadAccess[] = [];
  for (let head = first; ; ) {
    const next = quadAccessOf(head);
    if (next === null || (run.length > 0 && !isNextTo(run, next))) return run;
    seen.add(head);
    run.push(next);
    head = next.join;
  }
}

function quadAccessOf(head: Block): QuadAccess | null {
  const addresses = testedAddresses(head.end);
  if (addresses === null) return null;
  const [whole, byLane] = head.successors as [Block, Block];
  const [join] = whole.successors;
  if (join === undefined || join.predecessors.length !== 2 || join.phis.length > 1) return null;
  if (![whole, byLane].every((way) => isOnlyBetween(way, head, join))) return null;
  const access = whole.nodes.find(({ op }) => op === "v128.load" || op === "v128.store");
  const [address] = access?.args ?? [];
  if (access === undefined || !isFirstLane(address!, addresses)) return null;
  if (whole.nodes.some((node) => node !== access && node !== address)) return null;
  const [loaded = null] = join.phis;
  const isLoad = access.op === "v128.load";
  if ((loaded !== null) !== isLoad || byLane.nodes.some((node) => isEffect(node) && !isLaneStore(node))) return null;
  if (isLoad && loaded!.args[join.predecessors.indexOf(whole)] !== access) return null;
  return { head, addresses, access, join, loaded };
}

const isFirstLane = (address: Node, addresses: Node): boolean =>
  address.op === "i32x4.extract_lane" && address.args[0] === addresses && address.immediates[0] === 0;

const isLaneStore = ({ op }: Node): boolean => op === "v128.store32_lane";

/** The addresses of a quad, if a block ends with a branch that asks whether they are those of four words in a row. */
function testedAddresses(end: Terminator): Node | null {
  if (end.kind !== "branch" || end.on.op !== "i32x4.all_true") return null;
  const [test] = end.on.args;
  if (test!.op !== "i32x4.eq") return null;
  const [addresses, expected] = test!.args as [Node, Node];
  const [first, distances] = expected.args;
  const isSame =
    expected.op === "i32x4.add" &&
    first!.op === "i8x16.shuffle" &&
    first!.args[0] === addresses &&
    first!.immediates.every((byte, i) => byte === i % 4) &&
    distances!.op === "const" &&
    (distances!.constant as readonly number[]).every((byte, i) => byte === (i % 4 === 0 ? i : 0));
  return isSame ? addresses : null;
}

/** Whether an access is of the same kind as those before it, and needs none of them. */
function isNextTo(run: readonly QuadAccess[], { head, addresses, access }: QuadAccess): boolean {
  const [{ access: first }] = run as [QuadAccess];
  const loaded = new Set(run.map((quad) => quad.loaded));
  const own = new Set(head.nodes);
  const isFree = (node: Node): boolean =>
    !loaded.has(node) && (!own.has(node) || (!isAccess(node) && node.args.every(isFree)));
  return (
    access.op === first.op &&
    access.immediates[0] === first.immediates[0] &&
    head.nodes.every(isFree) &&
    [addresses, ...access.args.slice(1)].every(isFree)
  );
}

const isAccess = (node: Node): boolean => isEffect(node) || node.op.includes(".load") || node.op === "global.get";

/** The way on which all quads of some accesses are accessed together. */
class Union {
  readonly #graph: Graph;
  readonly #quads: readonly QuadAccess[];

  constructor(graph: Graph, quads: readonly QuadAccess[]) {
    this.#graph = graph;
    this.#quads = quads;
  }

  /** Returns what has been loaded on either way, by what a single way had loaded. */
  write(): [Node, Node][] {
    const [first] = this.#quads as [QuadAccess];
    const { head } = first;
    const last = this.#quads.at(-1)!;
    for (const quad of this.#quads.slice(1)) this.#move(quad.head, head);
    const [alone, together, after] = [this.#block(head), this.#block(head), this.#block(head)];
    this.#moveEnd(head, alone);
    this.#moveEnd(last.join, after);
    this.#move(last.join, after);
    const test = this.#test(head);
    head.end = { kind: "branch", on: test, likely: null };
    this.#goto(head, together);
    this.#goto(head, alone);
    const loads = this.#access(together);
    together.end = { kind: "goto" };
    last.join.end = { kind: "goto" };
    this.#goto(together, after);
    this.#goto(last.join, after);
    return this.#quads.flatMap(({ loaded }, k): [Node, Node][] => {
      if (loaded === null) return [];
      const phi = this.#node(after, { op: "phi", ty: "v128", args: [loads[k]!, loaded] });
      after.phis.push(phi);
      return [[loaded, phi]];
    });
  }

  #block(above: Block): Block {
    const block = new Block(this.#graph.blocks.length, above);
    (this.#graph.blocks as Block[]).push(block);
    return block;
  }

  #node(block: Block, parts: NodeParts): Node {
    const node = new Node(this.#graph.nodes.length, block, parts);
    (this.#graph.nodes as Node[]).push(node);
    return node;
  }

  #add(block: Block, op: string, ty: WasmTy | null, args: Node[], immediates: readonly number[] = []): Node {
    const node = this.#node(block, { op, ty, args, immediates });
    block.nodes.push(node);
    return node;
  }

  #goto(from: Block, to: Block): void {
    from.successors.push(to);
    to.predecessors.push(from);
  }

  /** Moves what a block computes to the end of another. */
  #move(from: Block, to: Block): void {
    for (const node of from.nodes) (node as { block: Block }).block = to;
    to.nodes.push(...from.nodes);
    from.nodes = [];
  }

  /** Lets another block end as one does. */
  #moveEnd(from: Block, to: Block): void {
    to.end = from.end;
    for (const next of from.successors.splice(0)) {
      to.successors.push(next);
      next.predecessors[next.predecessors.indexOf(from)] = to;
    }
  }

  /** Whether the lanes of all quads lie in a row. */
  #test(head: Block): Node {
    const [{ addresses }] = this.#quads as [QuadAccess];
    const at = this.#add(head, "i32x4.extract_lane", "i32", [addresses], [0]);
    const first = this.#add(head, "i32x4.splat", "v128", [at]);
    const equal = this.#quads.map((quad, k) => {
      const distances = [0, 1, 2, 3].flatMap((lane) => [16 * k + 4 * lane, 0, 0, 0]);
      const constant = this.#node(head, { op: "const", ty: "v128", constant: distances });
      const expected = this.#add(head, "i32x4.add", "v128", [first, constant]);
      return this.#add(head, "i32x4.eq", "v128", [quad.addresses, expected]);
    });
    const all = equal.reduce((a, b) => this.#add(head, "v128.and", "v128", [a, b]));
    return this.#add(head, "i32x4.all_true", "i32", [all]);
  }

  #access(block: Block): Node[] {
    const [{ addresses, access }] = this.#quads as [QuadAccess];
    const at = this.#add(block, "i32x4.extract_lane", "i32", [addresses], [0]);
    const [offset] = access.immediates;
    return this.#quads.map((quad, k) =>
      this.#add(block, access.op, access.ty, [at, ...quad.access.args.slice(1)], [offset! + 16 * k]),
    );
  }
}
