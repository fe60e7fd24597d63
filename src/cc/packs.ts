import { placeOf } from "./aliases.ts";
import { narrowingOf, wideningOf } from "./conversions.ts";
import type { Block, Graph, Node } from "./graph.ts";

/** A value of several quads at once, or an effect on them. */
export interface Pack {
  readonly id: number;
  readonly members: readonly Node[];
  /**
   * `build`: put together from the members. `shuffle`: each takes bytes of any vectors of one or two packs. `widen`:
   * two each are made of the halves of a vector. `narrow`: each is made of two vectors, which one or two packs have in
   * order.
   */
  readonly kind: "op" | "const" | "same" | "build" | "phi" | "splat" | "shuffle" | "widen" | "narrow";
  args: (Pack | Node)[];
  mask: 32 | 64 | null;
}

const lanewise = /^(i32x4|f32x4|i64x2|f64x2|i16x8|i8x16|v128)\./;
const notPackable = /lane|bitmask|all_true|any_true|swizzle|_low_|_high_|zero|narrow|pairwise|load8x|load16x|load32x/;

/** Whether each element of an operation's result depends on the same quad of its operands alone. */
const isLanewise = (op: string): boolean =>
  (lanewise.test(op) && !notPackable.test(op) && !op.startsWith("v128.load") && !op.startsWith("v128.store")) ||
  op === "v128.load" ||
  op === "v128.store";

const compare = /^(i32x4|f32x4|i64x2|f64x2)\.(eq|ne|lt|le|gt|ge)(_[su])?$/;

/** Finds values of neighbouring quads that can be computed together. */
export class Packer {
  readonly packs: Pack[] = [];
  /** The pack that computes a node, and its place there. */
  readonly owner = new Map<Node, { readonly pack: Pack; readonly at: number }>();
  readonly #known = new Map<string, Pack | null>();
  /** The quads that a register has. */
  readonly #most: number;
  readonly #refused: ReadonlySet<string>;
  /** Neighbouring vectors whose halves packs are made of. */
  #halved: (readonly Node[])[] = [];

  /** `refused`: the members of packs that cannot be, as numbers with commas between them. */
  constructor(most: number, refused: ReadonlySet<string>) {
    this.#most = most;
    this.#refused = refused;
  }

  /** Tries to compute neighbouring nodes together, as many as fit a register, and so what their halves are made of. */
  seedAll(nodes: readonly Node[]): void {
    this.#halved = [];
    this.#inOrder(partsOf(nodes, this.#most).map((part) => () => this.seed(part)));
    const groups = this.#halved;
    for (const group of groups) this.seedAll(group);
  }

  /** Makes neighbouring packs. The vectors whose halves these are made of, in the same places, are neighbours, too. */
  #inOrder<T>(makers: readonly (() => T)[]): T[] {
    const start = this.#halved.length;
    const found: (readonly Node[])[][] = [];
    const made = makers.map((make) => {
      const mark = this.#halved.length;
      const result = make();
      found.push(this.#halved.slice(mark));
      return result;
    });
    const [first] = found;
    if (found.length > 1 && found.every(({ length }) => length === first!.length)) {
      this.#halved.length = start;
      this.#halved.push(...first!.map((_, i) => found.flatMap((groups) => groups[i]!)));
    }
    return made;
  }

  /** Tries to compute nodes together; keeps the pack if that saves work. */
  seed(nodes: readonly Node[]): Pack | null {
    const mark = this.packs.length;
    const halved = this.#halved.length;
    if (nodes.length === 1 && narrowingOf(nodes[0]!) === null) return null;
    const owned: Node[] = [];
    const keys: string[] = [];
    const pack = this.#pack(nodes, owned, keys);
    if (pack === null) return null;
    let saved = 0;
    for (const p of this.packs.slice(mark)) {
      if (p.kind === "build") saved -= this.sourcesOf(p.members) === null ? p.members.length : 1;
      else if (p.kind === "narrow") saved += 3 * p.members.length - 2;
      else if (isComputed(p)) saved += p.members.length - 1;
    }
    if (pack.kind !== "build" && saved > 0) return pack;
    if (mark === this.packs.length) return pack;
    this.packs.length = mark;
    this.#halved.length = halved;
    for (const node of owned) this.owner.delete(node);
    for (const key of keys) this.#known.delete(key);
    return null;
  }

  /** A vector as often as a register has quads. */
  broadcast(node: Node, quads: number): Pack {
    return this.#pack(new Array<Node>(quads).fill(node), [], [])!;
  }

  #add(pack: Pack, owned: Node[], keys: string[], key: string): Pack {
    this.packs.push(pack);
    this.#known.set(key, pack);
    keys.push(key);
    if (isComputed(pack)) {
      pack.members.forEach((node, at) => {
        if (this.owner.has(node)) return;
        this.owner.set(node, { pack, at });
        owned.push(node);
      });
    }
    return pack;
  }

  #pack(nodes: readonly Node[], owned: Node[], keys: string[]): Pack | null {
    const key = nodes.map((n) => n.id).join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [first] = nodes;
    const make = (kind: Pack["kind"], args: (Pack | Node)[] = []): Pack =>
      this.#add({ id: this.packs.length, members: nodes, kind, args, mask: null }, owned, keys, key);
    if (nodes.every((n) => n.op === "const")) return make("const");
    if (nodes.length > 1 && nodes.every((n) => n === first))
      return first!.op.endsWith(".splat") ? make("splat", [first!.args[0]!]) : make("same", [first!]);
    const build = (): Pack => make("build", [...nodes]);
    if (this.#refused.has(key) || new Set(nodes).size < nodes.length || nodes.some((n) => this.owner.has(n)))
      return build();
    const { op, block } = first!;
    if (!nodes.every((n) => n.block === block && n.ty === first!.ty)) return build();
    const widened = this.#widened(nodes, make);
    if (widened !== null) return widened;
    if (!nodes.every((n) => n.op === op && n.args.length === first!.args.length)) return build();
    if (op === "phi") {
      const phi = make("phi");
      phi.args = first!.args.map(
        (_, i) =>
          this.#pack(
            nodes.map((n) => n.args[i]!),
            owned,
            keys,
          )!,
      );
      return phi;
    }
    if (op === "i8x16.shuffle") {
      const sources = this.#shuffled(nodes, owned, keys);
      if (sources !== null) return make("shuffle", [...sources]);
    }
    const narrowed = this.#narrowed(nodes, owned, keys, make);
    if (narrowed !== null) return narrowed;
    if (!isLanewise(op)) return build();
    if (op === "v128.load") {
      return areAdjacent(nodes) ? make("op", [first!.args[0]!]) : build();
    }
    if (!nodes.every((n) => op === "v128.store" || n.immediates.join() === first!.immediates.join())) return build();
    if (op === "v128.store") {
      if (!areAdjacent(nodes)) return null;
      return make("op", [
        first!.args[0]!,
        this.#pack(
          nodes.map((n) => n.args[1]!),
          owned,
          keys,
        )!,
      ]);
    }
    for (const [i, arg] of first!.args.entries()) {
      if (arg.ty !== "v128" && nodes.some((n) => n.args[i] !== arg)) return build();
    }
    const pack = make("op");
    pack.args = first!.args.map((arg, i) =>
      arg.ty === "v128"
        ? this.#pack(
            nodes.map((n) => n.args[i]!),
            owned,
            keys,
          )!
        : arg,
    );
    return pack;
  }

  /** A pack of what is made of the halves of vectors, low and high ones by turns. */
  #widened(nodes: readonly Node[], make: (kind: "widen", args: Node[]) => Pack): Pack | null {
    const halves = nodes.map(wideningOf);
    const [first] = halves;
    const isWhole = halves.every((half, i) => {
      if (half === null || half.op !== first!.op || half.isHigh !== (i % 2 === 1)) return false;
      return half.from.every((node, k) => node === halves[i - (i % 2)]!.from[k]);
    });
    if (!isWhole) return null;
    const from = first!.from.map((_, k) => halves.filter((_, i) => i % 2 === 0).map((half) => half!.from[k]!));
    this.#halved.push(...from);
    return make("widen", from.flat());
  }

  /** A pack of what is made of two vectors each. */
  #narrowed(
    nodes: readonly Node[],
    owned: Node[],
    keys: string[],
    make: (kind: "narrow", args: Pack[]) => Pack,
  ): Pack | null {
    const narrowings = nodes.map(narrowingOf);
    const [first] = narrowings;
    if (!narrowings.every((narrowing) => narrowing !== null && narrowing.op === first!.op)) return null;
    const from = narrowings.flatMap((narrowing) => narrowing!.from);
    const pack = make("narrow", []);
    pack.args = this.#inOrder(partsOf(from, this.#most).map((part) => () => this.#pack(part, owned, keys)!));
    return pack;
  }

  /** The one or two packs, as wide as these vectors together, that compute all of them; null if none do. */
  sourcesOf(nodes: readonly Node[]): readonly Pack[] | null {
    const packs = new Set<Pack>();
    for (const node of nodes) {
      const pack = this.owner.get(node)?.pack;
      if (pack === undefined) return null;
      packs.add(pack);
    }
    const width = [...packs][0]!.members.length;
    const fits = packs.size <= 2 && [...packs].every(({ members }) => members.length === width);
    return fits ? [...packs] : null;
  }

  /** The packs from which shuffles of vectors take bytes, if they are not those of one operand each. */
  #shuffled(nodes: readonly Node[], owned: Node[], keys: string[]): readonly Pack[] | null {
    const vectors = [...new Set(nodes.flatMap((n) => n.args))];
    const sources = this.sourcesOf(vectors);
    if (sources !== null) return sources[0]!.members.length === nodes.length ? sources : null;
    if (vectors.length !== nodes.length || vectors.every((v) => v.op === "const")) return null;
    const pack = this.#pack(vectors, owned, keys);
    return pack === null || pack.kind === "build" ? null : [pack];
  }

  /** Says which packs are masks: every lane all ones or all zeros. */
  findMasks(): void {
    const element = new Map<Pack, 32 | 64 | null>();
    for (const pack of this.packs) element.set(pack, this.#maskBy(pack));
    for (let changed = true; changed; ) {
      changed = false;
      for (const pack of this.packs) {
        const was = element.get(pack);
        if (was === null || pack.kind === "const") continue;
        if (!this.#fits(pack, element)) {
          element.set(pack, null);
          changed = true;
        }
      }
    }
    for (const pack of this.packs) pack.mask = pack.kind === "const" ? null : element.get(pack)!;
  }

  /** The element of a mask, assuming that all its operands are masks. */
  #maskBy(pack: Pack): 32 | 64 | null {
    if (pack.kind === "const") return isMaskConstant(pack, 4) ? 32 : null;
    if (pack.kind === "phi") return 32;
    if (pack.kind !== "op") return null;
    const { op } = pack.members[0]!;
    if (compare.test(op)) return op.startsWith("i32") || op.startsWith("f32") ? 32 : null;
    return /^v128\.(and|or|xor|not|andnot|bitselect)$/.test(op) ? 32 : null;
  }

  #fits(pack: Pack, element: ReadonlyMap<Pack, 32 | 64 | null>): boolean {
    if (pack.kind === "op" && compare.test(pack.members[0]!.op)) return true;
    return (pack.args as Pack[]).every((arg) => element.get(arg) === element.get(pack));
  }
}

/** Whether a pack is what computes its members. */
export const isComputed = ({ kind }: Pack): boolean =>
  kind !== "const" && kind !== "same" && kind !== "build" && kind !== "splat";

/** Whether all lanes of a constant are all ones or zeros. */
export function isMaskConstant(pack: Pack, bytes: number): boolean {
  return pack.members.every((n) => {
    const c = n.constant as readonly number[];
    return c.every((b, i) => (b === 0 || b === 0xff) && b === c[i - (i % bytes)]);
  });
}

/** The groups of values from which packing begins: stores next to each other, and the quads of a value. */
export function* seedsOf(graph: Graph, groups: readonly (readonly Node[])[]): Generator<readonly Node[]> {
  for (const block of graph.blocks) yield* storesInRow(block);
  yield* groups;
  // Where a chunk has a single quad, its values of 64 bits have two vectors.
  for (const { nodes } of graph.blocks) for (const node of nodes) if (narrowingOf(node) !== null) yield [node];
}

/** Groups of as many nodes as fit a register, of a number of them that is a multiple of that. */
function partsOf(nodes: readonly Node[], most: number): (readonly Node[])[] {
  let width = most;
  while (nodes.length % width !== 0) width /= 2;
  return Array.from({ length: nodes.length / width }, (_, i) => nodes.slice(width * i, width * (i + 1)));
}

/** Stores of a block that follow each other, in the code and in memory. */
function* storesInRow({ nodes }: Block): Generator<readonly Node[]> {
  let run: Node[] = [];
  for (const node of nodes) {
    const isStore = node.op === "v128.store";
    if (!isStore && node.ty !== null) continue;
    const last = run.at(-1);
    if (isStore && (last === undefined || areAdjacent([last, node]))) {
      run.push(node);
      continue;
    }
    yield run;
    run = isStore ? [node] : [];
  }
  yield run;
}

/** Whether accesses are to neighbouring vectors. */
function areAdjacent(nodes: readonly Node[]): boolean {
  const [first] = nodes.map(placeOf);
  return nodes.every((n, i) => {
    const { base, offset } = placeOf(n);
    return base === first!.base && offset === first!.offset + 16 * i;
  });
}

/** The vectors that are united by a chain of operations, the first ones last. */
export function chainOf(node: Node, op: string, count: number): Node[] | null {
  const found: Node[] = [];
  let at = node;
  for (let i = 1; i < count; i++) {
    if (at.op !== op) return null;
    found.unshift(at.args[1]!);
    at = at.args[0]!;
  }
  found.unshift(at);
  return found;
}
