import { accessesOf } from "../../../../ir/op-traits.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import { AddressAges } from "./address-ages.ts";
import { added, AddressSums, commonMultiple, type Sum, sumText, threadNumbers } from "./address-sums.ts";
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
  /** So many of them, one after the other, go together anyhow; absent: each goes alone. */
  readonly together?: number;
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
   * may differ from lane to lane and from one access to the next (0: none), and the other terms, also as a text.
   */
  readonly steps: readonly number[];
  readonly constant: number;
  readonly multiple: number;
  readonly terms: Sum;
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

/** Finds what lanes of a group find of each other's accesses, in blocks of some shape. `solves`: see `AddressSums`. */
export function warpConflictsOf(
  ir: IrFunction,
  block: Dim3,
  bindings: Bindings,
  group = warp,
  solves = false,
): WarpConflicts {
  const { instructions } = ir;
  if (instructions.length > maxInstructions) return "stores";
  const sums = new AddressSums(ir, solves);
  const facts = threadFactsOf(ir, block, bindings);
  const ages = new AddressAges(ir, sums);
  const touches = new Map<number, readonly Touch[]>();
  const seen = { ...facts, ages, patterns: new Map<string, number>() };
  instructions.forEach((instruction, i) => {
    const found = touchesOf(instruction, sums, seen, i, group);
    if (found.length > 0) touches.set(i, found);
  });
  if (![...touches.values()].some((list) => list.some((t) => t.writes))) return "none";
  return conflictsBetween(ir, touches, ages, new Meetings(block, group));
}

/** What is known of threads, of terms, and of the patterns of accesses, which are numbered as they are found. */
interface SeenThreads extends ThreadFacts {
  readonly ages: AddressAges;
  readonly patterns: Map<string, number>;
}

function touchesOf(
  instruction: Instruction,
  sums: AddressSums,
  { at, values, ages, patterns }: SeenThreads,
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
    const isUnknown = ([term, factor]: (typeof terms)[number]): boolean => {
      if (sums.varies(new Map([[term, factor]]))) return true;
      const changing = ages.changingIn(term);
      return changing.length > 0 && (ages.isStale(index) || changing.some((r) => ages.differs(r)));
    };
    const unknown = terms.filter(isUnknown);
    const known: Sum = new Map(terms.filter((term) => !unknown.includes(term)));
    const touch = {
      objects,
      isShared,
      writes: effect === "store",
      steps: threadNumbers.map((name) => low(sum.get(name))),
      constant: low(sum.get("")),
      multiple: commonPower(Number(commonMultiple(unknown.map(([, factor]) => factor))), wrapping),
      terms: known,
      rest: sumText(known),
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

/** Sums of 32 bits may wrap around before they become addresses, in some lanes or all: they are known modulo that. */
const wrapping = 2 ** 32;

const low = (value = 0n): number => Number(BigInt.asIntN(32, value));

/** An access as it is compared once a register that its address may be computed from is written. */
function aged(touch: Touch, register: number, ages: AddressAges): Touch {
  const old = [...touch.terms].filter(([term]) => ages.changingIn(term).includes(register));
  if (old.length === 0) return touch;
  const terms = new Map(touch.terms);
  for (const [term] of old) terms.delete(term);
  const multiple = Number(commonMultiple([BigInt(touch.multiple), ...old.map(([, factor]) => factor)]));
  const older = { ...touch, multiple, terms, rest: sumText(terms) };
  return { ...older, key: keyOf(older) };
}

/** Which accesses of different lanes of a group may have a byte in common. */
class Meetings {
  readonly #block: Dim3;
  readonly #group: LaneGroup;
  readonly #together: number;
  /** By two patterns, and by a multiple: whether accesses meet at a distance. */
  readonly #known = new Map<number, Map<number, Map<number, boolean>>>();
  /** By two rests, what their difference is a multiple of. */
  readonly #rests = new Map<string, Map<string, number>>();

  constructor(block: Dim3, group: LaneGroup) {
    this.#block = block;
    this.#group = group;
    this.#together = group.together ?? 1;
  }

  /** Whether two threads of a group execute each instruction together, whatever the others do. */
  #goTogether(t: number, u: number): boolean {
    return Math.floor(t / this.#together) === Math.floor(u / this.#together);
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
    const multiple = commonPower(commonPower(a.multiple, b.multiple), this.#restBetween(a, b));
    const byMultiple = mapIn(this.#known, a.pattern * mostPatterns + b.pattern);
    const byDistance = mapIn(byMultiple, multiple);
    const distance = b.constant - a.constant;
    let known = byDistance.get(distance);
    if (known === undefined) byDistance.set(distance, (known = this.#overlap(a, b, multiple)));
    return known;
  }

  /** The largest power of two by a multiple of which the terms of two accesses differ; 0 if they are equal. */
  #restBetween(a: Touch, b: Touch): number {
    if (a.rest === b.rest) return 0;
    const byOther = mapIn(this.#rests, a.rest);
    let power = byOther.get(b.rest);
    if (power === undefined)
      byOther.set(b.rest, (power = Number(commonMultiple([...added(a.terms, b.terms, -1n).values()]))));
    return power;
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
          if (meets && a.threads.has(u) && !this.#goTogether(t, u)) return true;
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
          if (overlaps(starts[i]! - from, a.bytes, b.bytes, multiple) && !this.#goTogether(others[i]!, t)) return true;
        }
      }
      // All other groups are like the first.
      if (a.threads.isWhole && b.threads.isWhole && (x % perGroup === 0 || perGroup % x === 0)) break;
    }
    return false;
  }
}

/** Of two powers of two, of which 0 stands for none, the one that divides both. */
const commonPower = (a: number, b: number): number => Math.min(a || b, b || a);

/** The map under a key, which is made when it is first asked for. */
function mapIn<M, K, T>(maps: Map<M, Map<K, T>>, key: M): Map<K, T> {
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
  ages: AddressAges,
  meetings: Meetings,
): WarpConflicts {
  const { blocks } = flowGraphOf(ir.instructions);
  const registers = new Set(
    [...touches.values()].flatMap((list) => list.flatMap(({ terms }) => changingOf(terms, ages))),
  );
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
      if (registers.size > 0) {
        writesOf(ir.instructions[i]!, (r) => {
          if (registers.has(r)) age(since, r, ages);
        });
      }
    }
    for (const s of successors) if (s < blocks.length && merge(ins[s]!, since)) todo.add(s);
  }
  return worst;
}

const changingOf = (terms: Sum, ages: AddressAges): readonly number[] =>
  [...terms.keys()].flatMap((term) => ages.changingIn(term));

/** Changes accesses to what they are once a register is written. */
function age(since: Since, register: number, ages: AddressAges): void {
  for (const [key, touch] of since) {
    const older = aged(touch, register, ages);
    if (older === touch) continue;
    since.delete(key);
    since.set(older.key, older);
  }
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
