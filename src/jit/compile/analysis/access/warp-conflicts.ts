import { accessesOf } from "../../../../ir/op-traits.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import { AddressSums, gcd, isRegister, isRounds, sumText, threadNumbers } from "./address-sums.ts";
import { type ThreadFacts, type ThreadSet, threadFactsOf } from "./reaching-threads.ts";

/**
 * What lanes of a warp, or of a hardware thread, find of each other's plain accesses between two barriers. `loads`: a
 * lane may load what another has stored, or overwrite what another loads, in memory that they share: programs that know
 * of no other schedule rely on the lanes of a warp going together. `overwrites`: only what is loaded before it is
 * overwritten in global memory may depend on it; `stores`: only the last of several stores. `none`: nothing that the
 * code shows.
 */
export type WarpConflicts = "none" | "stores" | "overwrites" | "loads";

/** The conflicts from the least that depends on the order of lanes to the most. */
const byWeight: readonly WarpConflicts[] = ["none", "stores", "overwrites", "loads"];

const heavier = (a: WarpConflicts, b: WarpConflicts): WarpConflicts =>
  byWeight.indexOf(a) < byWeight.indexOf(b) ? b : a;

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/** More than the accesses of so many instructions have patterns. */
const mostPatterns = 2 ** 20;

/** Lanes that execute an instruction together, and what is promised of what they store. */
export interface LaneGroup {
  readonly lanes: number;
  /** Whether their stores to global memory take effect in the order of the instructions, too. */
  readonly ordersStores: boolean;
}

/** Lanes of a warp (PTX): which of several that store to a place in global memory comes last is undefined. */
export const warp: LaneGroup = { lanes: 32, ordersStores: false };

/** Lanes of a hardware thread (vISA), of which each instruction is one message to memory. */
export const hardwareThread = (lanes: number): LaneGroup => ({ lanes, ordersStores: true });

/** An access as far as it matters which others it meets. */
interface Touch {
  /** The variables and pointers from which its address is computed: none for any of shared memory. */
  readonly objects: ReadonlySet<string>;
  readonly isShared: boolean;
  readonly writes: boolean;
  /**
   * The address: bytes from one thread to the next in x, y and z, a constant, an unknown multiple of a number, which
   * may differ from lane to lane (0: none), and the rest as a text, which is the same for all.
   */
  readonly steps: readonly number[];
  readonly constant: number;
  readonly multiple: number;
  readonly rest: string;
  readonly bytes: number;
  /** The threads that may be there. */
  readonly threads: ThreadSet;
  /** The address of each thread of the block, in shared memory; null where it depends on more than their numbers. */
  readonly starts: readonly number[] | null;
  /** A number for its steps, bytes and threads. */
  readonly pattern: number;
  /** A text that is another one for accesses which differ in anything. */
  readonly key: string;
}

/** Finds what lanes of a group find of each other's accesses, in blocks of some shape. */
export function warpConflictsOf(ir: IrFunction, block: Dim3, bindings: Bindings, group = warp): WarpConflicts {
  const { instructions } = ir;
  if (instructions.length > maxInstructions) return "stores";
  const sums = new AddressSums(ir);
  const facts = threadFactsOf(ir, block, bindings);
  const changes = group.ordersStores ? changesInLoops(instructions) : (): boolean => false;
  const touches = new Map<number, readonly Touch[]>();
  const seen = { ...facts, changes, patterns: new Map<string, number>() };
  instructions.forEach((instruction, i) => {
    const found = touchesOf(instruction, sums, seen, i, group);
    if (found.length > 0) touches.set(i, found);
  });
  if (![...touches.values()].some((list) => list.some((t) => t.writes))) return "none";
  return conflictsBetween(ir, touches, new Meetings(block, group));
}

/** Whether a term may be another in each round of a loop, though it is the same in all lanes. */
type Changes = (term: string) => boolean;

function changesInLoops(instructions: readonly Instruction[]): Changes {
  const changed = new Set<number>();
  /** The first instruction of the loops that contain the present one, seen from the end of the code. */
  let start = instructions.length;
  for (let i = instructions.length - 1; i >= 0; i--) {
    const instruction = instructions[i]!;
    if (instruction.op.kind === "branch" && instruction.op.target <= i) start = Math.min(start, instruction.op.target);
    if (i >= start) writesOf(instruction, (r) => changed.add(r));
    else start = instructions.length;
  }
  if (changed.size === 0) return () => false;
  const known = new Map<string, boolean>();
  return (term) => {
    let changes = known.get(term);
    if (changes === undefined) {
      changes = (term.match(registerWords) ?? []).some((word) => changed.has(Number(word.slice(1))));
      known.set(term, changes);
    }
    return changes;
  };
}

/** Registers in a term. */
const registerWords = /(?<![a-z])r\d+/g;

/** What is known of threads, of terms, and of the patterns of accesses, which are numbered as they are found. */
interface SeenThreads extends ThreadFacts {
  readonly changes: Changes;
  readonly patterns: Map<string, number>;
}

function touchesOf(
  instruction: Instruction,
  sums: AddressSums,
  { at, values, changes, patterns }: SeenThreads,
  index: number,
  { ordersStores }: LaneGroup,
): readonly Touch[] {
  return accessesOf(instruction.op).flatMap(({ effect, access: { space, bits, count }, place }) => {
    if (effect === "atomic" || place.kind !== "address") return [];
    const sum = sums.of(place.address);
    const objects = sums.variablesOf(sum);
    const isShared = space === "shared";
    if (!isShared && space !== "global" && space !== "generic") return [];
    // Pointers of unknown origin do not count: each load through one would be a conflict.
    const isKept = ordersStores && effect === "store";
    if (!isShared && objects.size === 0 && !isKept) return [];
    const terms = [...sum].filter(([term]) => term !== "" && !threadNumbers.includes(term));
    // Where one term is as of another round of a loop, so may registers be.
    const isOfRounds = terms.some(([term]) => isRounds(term));
    const isUnknown = ([term, factor]: (typeof terms)[number]): boolean =>
      (isOfRounds && isRegister(term)) || changes(term) || sums.varies(new Map([[term, factor]]));
    const unknown = terms.filter(isUnknown);
    const touch = {
      objects,
      isShared,
      writes: effect === "store",
      steps: threadNumbers.map((name) => Number(sum.get(name) ?? 0n)),
      constant: Number(sum.get("") ?? 0n),
      multiple: commonMultiple(unknown.map(([, factor]) => factor)),
      rest: sumText(new Map(terms.filter((term) => !unknown.includes(term)))),
      bytes: (bits / 8) * count,
      threads: at(index),
      starts: isShared ? (values?.of(place.address) ?? null) : null,
    };
    const text = `${touch.steps.join()} ${touch.bytes} ${touch.threads.name}`;
    const pattern = patterns.get(text) ?? patterns.size;
    patterns.set(text, pattern);
    return [{ ...touch, pattern, key: keyOf(touch) }];
  });
}

/** The largest power of two that divides all factors, so that it does so where a product wraps around, too. */
function commonMultiple(factors: readonly bigint[]): number {
  const common = factors.reduce(gcd, 0n);
  return Number(common & -common);
}

/** Which accesses of different lanes of a group may have a byte in common. */
class Meetings {
  readonly #block: Dim3;
  readonly #group: LaneGroup;
  /** By two patterns, and by a multiple: whether accesses meet at a distance. */
  readonly #known = new Map<number, Map<number, Map<number, boolean>>>();

  constructor(block: Dim3, group: LaneGroup) {
    this.#block = block;
    this.#group = group;
  }

  /** Whether nothing that is found later matters: where stores are ordered, one conflict is like another. */
  isWorst(found: WarpConflicts): boolean {
    return found === "loads" || (found !== "none" && this.#group.ordersStores);
  }

  /** Whether the order of two stores shows where they meet. */
  isOrdered(a: Touch): boolean {
    return a.isShared || this.#group.ordersStores;
  }

  mayMeet(a: Touch, b: Touch): boolean {
    if (a.isShared !== b.isShared) return false;
    if (a.objects.size > 0 && b.objects.size > 0 && !haveCommon(a.objects, b.objects)) return false;
    if (a.starts !== null && b.starts !== null) return this.#overlapAt(a, a.starts, b, b.starts);
    if (a.rest !== b.rest) return true;
    // Of two powers of two, of which 0 stands for none, the smaller one divides both.
    const multiple = Math.min(a.multiple || b.multiple, b.multiple || a.multiple);
    const byMultiple = mapIn(this.#known, a.pattern * mostPatterns + b.pattern);
    const byDistance = mapIn(byMultiple, multiple);
    const distance = b.constant - a.constant;
    let known = byDistance.get(distance);
    if (known === undefined) byDistance.set(distance, (known = this.#overlap(a, b, multiple)));
    return known;
  }

  /** The same where the address of each thread is known. */
  #overlapAt(a: Touch, starts: readonly number[], b: Touch, others: readonly number[]): boolean {
    const [x, y, z] = this.#block;
    const count = x * y * z;
    const { lanes } = this.#group;
    for (let first = 0; first < count; first += lanes) {
      const end = Math.min(count, first + lanes);
      for (let t = first; t < end; t++) {
        if (!b.threads.has(t)) continue;
        const at = others[t]!;
        for (let u = first; u < end; u++) {
          const meets = starts[u]! < at + b.bytes && at < starts[u]! + a.bytes;
          if (meets && u !== t && a.threads.has(u)) return true;
        }
      }
    }
    return false;
  }

  #overlap(a: Touch, b: Touch, multiple: number): boolean {
    const [x, y, z] = this.#block;
    const count = x * y * z;
    const perGroup = this.#group.lanes;
    const startOf = ({ steps, constant }: Touch, t: number): number =>
      constant + (t % x) * steps[0]! + (Math.floor(t / x) % y) * steps[1]! + Math.floor(t / (x * y)) * steps[2]!;
    const others: number[] = [];
    const starts: number[] = [];
    for (let first = 0; first < count; first += perGroup) {
      const end = Math.min(count, first + perGroup);
      others.length = starts.length = 0;
      for (let t = first; t < end; t++) {
        if (!b.threads.has(t)) continue;
        others.push(t);
        starts.push(startOf(b, t));
      }
      for (let t = first; t < end; t++) {
        if (!a.threads.has(t)) continue;
        const from = startOf(a, t);
        for (let i = 0; i < others.length; i++) {
          if (others[i] !== t && overlaps(starts[i]! - from, a.bytes, b.bytes, multiple)) return true;
        }
      }
      // All other groups are like the first.
      if (a.threads.isWhole && b.threads.isWhole && (x % perGroup === 0 || perGroup % x === 0)) break;
    }
    return false;
  }
}

/** The map under a key, which is made when it is first asked for. */
function mapIn<K, T>(maps: Map<number, Map<K, T>>, key: number): Map<K, T> {
  let found = maps.get(key);
  if (found === undefined) maps.set(key, (found = new Map()));
  return found;
}

function haveCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const object of a) if (b.has(object)) return true;
  return false;
}

/** Whether bytes meet others that begin at a distance, give or take a multiple of a number. */
function overlaps(distance: number, bytes: number, otherBytes: number, multiple: number): boolean {
  if (multiple === 0) return distance < bytes && distance > -otherBytes;
  const least = ((distance % multiple) + multiple) % multiple;
  return least < bytes || least - multiple > -otherBytes;
}

/** What has been accessed since a barrier, by key. */
type Since = Map<string, Touch>;

function conflictsBetween(
  ir: IrFunction,
  touches: ReadonlyMap<number, readonly Touch[]>,
  meetings: Meetings,
): WarpConflicts {
  const { blocks } = flowGraphOf(ir.instructions);
  const ins: Since[] = blocks.map(() => new Map());
  const todo = new Set(blocks.map(({ index }) => index));
  let worst: WarpConflicts = "none";
  for (const block of todo) {
    todo.delete(block);
    const { start, end, successors } = blocks[block]!;
    const since = new Map(ins[block]!);
    for (let i = start; i < end; i++) {
      if (ir.instructions[i]!.op.kind === "barrier") since.clear();
      for (const touch of touches.get(i) ?? []) {
        const found = conflictWith(since, touch, meetings);
        if (meetings.isWorst(found)) return found;
        worst = heavier(worst, found);
        since.set(touch.key, touch);
      }
    }
    for (const s of successors) if (s < blocks.length && merge(ins[s]!, since)) todo.add(s);
  }
  return worst;
}

/** What an access finds of earlier ones. */
function conflictWith(since: Since, touch: Touch, meetings: Meetings): WarpConflicts {
  let worst: WarpConflicts = "none";
  for (const other of since.values()) {
    if (!touch.writes && !other.writes) continue;
    if (touch.writes && other.writes && !meetings.isOrdered(touch)) continue;
    if (!meetings.mayMeet(touch, other)) continue;
    if (!touch.writes || (touch.isShared && !other.writes)) return "loads";
    worst = heavier(worst, other.writes ? "stores" : "overwrites");
    if (meetings.isWorst(worst)) return worst;
  }
  return worst;
}

const keyOf = ({
  objects,
  writes,
  steps,
  constant,
  multiple,
  bytes,
  rest,
  threads,
  starts,
}: Omit<Touch, "pattern" | "key">): string =>
  `${writes} ${constant} ${multiple} ${bytes} ${steps.join()} ${rest} ${[...objects].join()} ${threads.name} ${starts?.join() ?? ""}`;

/** Adds accesses to those that a block begins with; true if there were others before. */
function merge(into: Since, from: Since): boolean {
  const { size } = into;
  for (const [key, touch] of from) into.set(key, touch);
  return into.size > size;
}
