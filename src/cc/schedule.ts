import { mayAlias, reads, writes } from "./aliases.ts";
import type { Block, Graph, Node } from "./graph.ts";
import { isComputed, type Pack, type Packer } from "./packs.ts";
import { isEffect } from "./passes.ts";

/** What is computed at once. */
export type Unit = Node | Pack;

/** Vectors that are tested, or made bits, together. */
export interface Reduction {
  readonly packs: readonly Pack[];
  /**
   * `bits`: a bit for each lane. Else a condition: some bit is set (`any`); no word of the conjunction is zero (`all`);
   * some bit of it is not set (`not_all`); some word is above that of the limit, without signs (`above`); there is a
   * NaN (`nan_f32`, `nan_f64`), which the sum of all shows.
   */
  readonly op: "bits" | "any" | "all" | "not_all" | "above" | "nan_f32" | "nan_f64";
  readonly limit: Pack | null;
}

export const isPack = (unit: Unit): unit is Pack => "kind" in unit;

/** Packs that need each other. */
export class Cycle extends Error {
  readonly packs: readonly Pack[];

  constructor(packs: readonly Pack[]) {
    super("packs need each other");
    this.packs = packs;
  }
}

/** How far back accesses are told from each other. */
const maxDistance = 64;

/** Orders what the blocks of a function compute, and leaves out what nothing needs. */
export class Schedule {
  readonly #packer: Packer;
  readonly #reductions: ReadonlyMap<Node, Reduction>;
  readonly #needed = new Set<Unit>();
  /** What the blocks have: members of packs may be others, which have been dropped since nothing uses them. */
  readonly #live: ReadonlySet<Node>;

  constructor(graph: Graph, packer: Packer, reductions: ReadonlyMap<Node, Reduction>) {
    this.#packer = packer;
    this.#reductions = reductions;
    this.#live = new Set(graph.blocks.flatMap(({ phis, nodes }) => [...phis, ...nodes]));
    this.#findNeeded(graph);
  }

  /** Whether a unit is computed; of one that is not any value does. */
  isNeeded(unit: Unit): boolean {
    return this.#needed.has(unit);
  }

  #isLive(unit: Unit): boolean {
    if (!isPack(unit)) return this.#live.has(unit);
    return !isComputed(unit) || unit.members.some((member) => this.#live.has(member));
  }

  unitOf(node: Node): Unit {
    return this.#packer.owner.get(node)?.pack ?? node;
  }

  /** What a unit is computed from. */
  argsOf(unit: Unit): readonly Unit[] {
    if (isPack(unit)) return unit.args;
    const reduction = this.#reductions.get(unit);
    if (reduction === undefined) return unit.args;
    return reduction.limit === null ? reduction.packs : [...reduction.packs, reduction.limit];
  }

  #findNeeded(graph: Graph): void {
    const work: Unit[] = [];
    const need = (found: Unit): void => {
      const unit = isPack(found) ? found : this.unitOf(found);
      if (this.#needed.has(unit) || !this.#isLive(unit)) return;
      this.#needed.add(unit);
      work.push(unit);
    };
    for (const { nodes, end } of graph.blocks) {
      for (const node of nodes) if (isEffect(node)) need(node);
      if (end.kind === "branch" || end.kind === "table") need(end.on);
      else if (end.kind === "return") end.values.forEach(need);
    }
    for (let unit = work.pop(); unit !== undefined; unit = work.pop()) this.argsOf(unit).forEach(need);
  }

  /** The units of a block, each after those that it needs. */
  order(block: Block): readonly Unit[] {
    const after = this.#memoryOrder(block);
    const done = new Set<Unit>();
    const open: Unit[] = [];
    const order: Unit[] = [];
    const visit = (found: Unit): void => {
      const unit = isPack(found) ? found : this.unitOf(found);
      if (done.has(unit) || !this.#needed.has(unit)) return;
      if (isPack(unit) && (unit.kind === "phi" || (isComputed(unit) && unit.members[0]!.block !== block))) return;
      if (!isPack(unit) && (unit.block !== block || unit.op === "phi" || unit.op === "const")) return;
      const at = open.indexOf(unit);
      if (at >= 0) throw new Cycle(open.slice(at).filter(isPack));
      open.push(unit);
      this.argsOf(unit).forEach(visit);
      after.get(unit)?.forEach(visit);
      open.pop();
      done.add(unit);
      if (!isPack(unit) || isComputed(unit)) order.push(unit);
    };
    for (const node of block.nodes) {
      const unit = this.unitOf(node);
      if (this.#needed.has(unit)) visit(unit);
    }
    return order;
  }

  /** What each unit that accesses memory comes after: writes keep their order. */
  #memoryOrder(block: Block): ReadonlyMap<Unit, ReadonlySet<Unit>> {
    const after = new Map<Unit, Set<Unit>>();
    const written: Node[] = [];
    let read: Node[] = [];
    for (const node of block.nodes) {
      const isWrite = writes(node);
      if (!isWrite && !reads(node)) continue;
      const unit = this.unitOf(node);
      if (!this.#needed.has(unit)) continue;
      const before = after.get(unit) ?? new Set<Unit>();
      after.set(unit, before);
      const put = (other: Node | undefined): void => {
        if (other !== undefined && this.unitOf(other) !== unit) before.add(this.unitOf(other));
      };
      if (!isWrite) {
        put(written.slice(-maxDistance).findLast((write) => mayAlias(node, write)) ?? written.at(-maxDistance));
        read.push(node);
        continue;
      }
      put(written.at(-1));
      const conflicts = read.length > maxDistance ? read : read.filter((other) => mayAlias(node, other));
      conflicts.forEach(put);
      read = read.filter((other) => !conflicts.includes(other));
      written.push(node);
    }
    return after;
  }
}
