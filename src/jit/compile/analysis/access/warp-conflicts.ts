import { accessesOf } from "../../../../ir/op-traits.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { withBlockValues } from "../../../../ir/flow/block-values.ts";
import { type FlowGraph, flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import type { Instruction, IrFunction } from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import { inRegionOrder } from "../code/region-order.ts";
import { AddressAges } from "./address-ages.ts";
import { AddressSums, commonMultiple, type Sum, sumText, threadNumbers } from "./address-sums.ts";
import {
  aged,
  changingOf,
  commonPower,
  keyOf,
  type LaneGroup,
  Meetings,
  type Places,
  placesIn,
  type Touch,
  warp,
  type WarpConflicts,
} from "./lane-meetings.ts";
import { foundOnce, mapIn } from "./noted.ts";
import { type ThreadFacts, threadFactsOf, type ThreadSet } from "./reaching-threads.ts";
import { type Besides, type Stage, stagesOf, threadsAt } from "./register-states.ts";

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/** How accesses are examined. */
export interface Thoroughness {
  /** See `AddressSums`. */
  readonly solves?: boolean;
  /** Whether it pays to look again at what has been found with less effort; absent: always. */
  readonly pays?: (found: WarpConflicts) => boolean;
}

/** Finds what lanes of a group find of each other's accesses, in blocks of some shape. */
export function warpConflictsOf(
  ir: IrFunction,
  block: Dim3,
  bindings: Bindings,
  group = warp,
  { solves = false, pays = () => true }: Thoroughness = {},
): WarpConflicts {
  if (ir.instructions.length > maxInstructions) return "overwrites";
  const isEnough = (found: WarpConflicts): boolean => found === "none" || !pays(found);
  let examined = new Examined(ir, { block, bindings, group, solves });
  let found = examined.found();
  for (const rewritten of group.ordersStores ? [withOwnValues] : [withOwnValues, inCompiledOrder]) {
    if (isEnough(found)) return found;
    const other = rewritten(examined.ir);
    if (other === examined.ir) continue;
    examined = new Examined(other, { block, bindings, group, solves });
    found = examined.found();
  }
  for (const besides of ["nothing", "conditions", "decisions"] as const satisfies readonly Besides[]) {
    if (isEnough(found)) return found;
    found = examined.foundByStages(besides) ?? found;
  }
  return found;
}

const withOwnValues = (ir: IrFunction): IrFunction => withBlockValues(ir, flowGraphOf(ir.instructions));

/** In the order in which code is compiled, lanes that come to a barrier on several ways go on together. */
const inCompiledOrder = (ir: IrFunction): IrFunction => inRegionOrder({ ir, origins: null }).ir;

/** How accesses of lanes are compared. */
interface Comparison {
  readonly block: Dim3;
  readonly bindings: Bindings;
  readonly group: LaneGroup;
  readonly solves: boolean;
}

/** The accesses of a function. */
class Examined {
  readonly ir: IrFunction;
  readonly #graph: FlowGraph;
  readonly #sums: AddressSums;
  readonly #ages: AddressAges;
  readonly #seen: SeenThreads;
  /** By instruction; none where nothing is written. */
  readonly #touches = new Map<number, readonly Touch[]>();
  readonly #meetings: Meetings;

  constructor(ir: IrFunction, { block, bindings, group, solves }: Comparison) {
    this.ir = ir;
    this.#graph = flowGraphOf(ir.instructions);
    this.#sums = new AddressSums(ir, solves);
    this.#ages = new AddressAges(ir, this.#sums, mixesRows(block, group));
    this.#meetings = new Meetings(block, group);
    this.#seen = {
      ...threadFactsOf(ir, block, bindings),
      ages: this.#ages,
      placesOf: placesIn(group.lanes),
      lists: new Map(),
      patterns: new Map(),
    };
    ir.instructions.forEach((instruction, i) => {
      const found = touchesOf(instruction, this.#sums, this.#seen, i, group);
      if (found.length > 0) this.#touches.set(i, found);
    });
  }

  found(): WarpConflicts {
    const touches = this.#touches;
    if (![...touches.values()].some((list) => list.some((t) => t.writes))) return "none";
    return this.#between(this.#graph.blocks.map((piece) => ({ ...piece, touchesAt: (i) => touches.get(i) ?? [] })));
  }

  /** What is found where the code is gone through from barrier to barrier; null if that shows no more. */
  foundByStages(besides: Besides): WarpConflicts | null {
    const { values } = this.#seen;
    if (values === null) return null;
    const stages = stagesOf(this.ir, this.#graph, { values, sums: this.#sums, ages: this.#ages }, besides);
    return stages === null ? null : this.#between(piecesOf(stages, this.#touches, this.#seen));
  }

  #between(pieces: readonly Piece[]): WarpConflicts {
    return conflictsBetween(this.ir, pieces, this.#ages, this.#meetings);
  }
}

/** Stages as pieces of code, in which it is known where accesses are. */
function piecesOf(
  stages: readonly Stage[],
  touches: ReadonlyMap<number, readonly Touch[]>,
  seen: SeenThreads,
): readonly Piece[] {
  const { placesOf, all, setOf } = seen;
  const isPlaced = (i: number, touch: Touch): boolean =>
    !touch.isShared ||
    touch.places !== null ||
    stages.every(({ start, end, starts }) => i < start || i >= end || starts.has(i));
  const arePlaced = [...touches].every(([i, list]) => list.every((touch) => isPlaced(i, touch)));
  const placed = (touch: Touch, places: Places | null, threads: ThreadSet): Touch => {
    // Its terms matter beside accesses of which it is not known where they are.
    const sum = arePlaced && places !== null ? { terms: new Map(), rest: "", changing: [] } : {};
    const known = { ...touch, ...sum, places: places ?? touch.places, threads };
    return { ...known, pattern: patternOf(known, seen), key: keyOf(known) };
  };
  const known = new Map<Touch, Map<string, Touch>>();
  const placedAt = (touch: Touch, starts: readonly number[] | undefined, threads: ThreadSet): Touch => {
    const places = starts === undefined ? null : placesOf(starts);
    const there = mapIn(known, touch);
    const text = `${places?.id ?? ""} ${threads.name}`;
    return foundOnce(there, text, () => placed(touch, places, threads));
  };
  const threadsIn = threadsAt(stages, all.bits);
  return stages.map(({ start, end, successors, starts, passing }, stage) => ({
    ...{ start, end, successors },
    touchesAt: (i) =>
      (touches.get(i) ?? []).map((touch) => {
        const threads = touch.threads.bits & threadsIn[stage]! & (passing.get(i) ?? threadsIn[stage]!);
        return placedAt(touch, starts.get(i), setOf(threads));
      }),
  }));
}

/** Whether lanes of a group lie in several rows of a block. */
const mixesRows = ([x]: Dim3, { lanes }: LaneGroup): boolean => x % lanes !== 0;

/** What is known of threads, of terms, and of the patterns of accesses, which are numbered as they are found. */
interface SeenThreads extends ThreadFacts {
  readonly ages: AddressAges;
  readonly placesOf: (starts: readonly number[]) => Places;
  /** Lists of addresses, each once, by their text. */
  readonly lists: Map<string, readonly number[]>;
  readonly patterns: Map<string, number>;
}

function touchesOf(
  instruction: Instruction,
  sums: AddressSums,
  { at, values, ages, placesOf, lists, patterns }: SeenThreads,
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
    const starts = isShared ? (values?.of(place.address) ?? null) : null;
    const touch = {
      objects,
      isShared,
      writes: effect === "store",
      steps: threadNumbers.map((name) => low(sum.get(name))),
      constant: low(sum.get("")),
      multiple: commonPower(Number(commonMultiple(unknown.map(([, factor]) => factor))), wrapping),
      terms: known,
      rest: sumText(known),
      changing: changingOf(known, ages),
      bytes: (bits / 8) * count,
      threads: at(index),
      places: starts === null ? null : placesOf(onceIn(lists, starts)),
    };
    return [{ ...touch, pattern: patternOf(touch, { patterns }), key: keyOf(touch) }];
  });
}

/** A number for the steps of an access, its bytes, and its threads. */
function patternOf(
  { steps, bytes, threads }: Omit<Touch, "pattern" | "key">,
  { patterns }: Pick<SeenThreads, "patterns">,
): number {
  const text = `${steps.join()} ${bytes} ${threads.name}`;
  const pattern = patterns.get(text) ?? patterns.size;
  patterns.set(text, pattern);
  return pattern;
}

/** The list among some that is equal to one. */
function onceIn(lists: Map<string, readonly number[]>, list: readonly number[]): readonly number[] {
  const text = list.join();
  const known = lists.get(text) ?? list;
  lists.set(text, known);
  return known;
}

/** Sums of 32 bits may wrap around before they become addresses, in some lanes or all: they are known modulo that. */
const wrapping = 2 ** 32;

const low = (value = 0n): number => Number(BigInt.asIntN(32, value));

/** What has been accessed since a barrier, by key. */
type Since = Map<string, Touch>;

/** Code without a branch but for its last instruction, and what it accesses. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** The pieces that may follow, by their places in the list of all. */
  readonly successors: readonly number[];
  readonly touchesAt: (instruction: number) => readonly Touch[];
}

function conflictsBetween(
  { instructions }: IrFunction,
  pieces: readonly Piece[],
  ages: AddressAges,
  meetings: Meetings,
): WarpConflicts {
  const touches = pieces.map(({ start, end, touchesAt }) =>
    Array.from({ length: end - start }, (_, i) => touchesAt(start + i)),
  );
  const registers = new Set(touches.flat(2).flatMap(({ changing }) => changing));
  const ins: Since[] = pieces.map(() => new Map());
  const todo = new Set(pieces.keys());
  let worst: WarpConflicts = "none";
  for (const piece of todo) {
    todo.delete(piece);
    const { start, successors } = pieces[piece]!;
    const since = new Map(ins[piece]!);
    for (const [i, found] of touches[piece]!.entries()) {
      const instruction = instructions[start + i]!;
      if (instruction.op.kind === "barrier") since.clear();
      for (const touch of found) {
        const conflict = conflictWith(since, touch, meetings);
        if (conflict === "order") return conflict;
        if (conflict !== "none") worst = conflict;
        since.set(touch.key, touch);
      }
      if (registers.size > 0) {
        writesOf(instruction, (r) => {
          if (registers.has(r)) age(since, r, ages);
        });
      }
    }
    for (const s of successors) if (s < pieces.length && merge(ins[s]!, since)) todo.add(s);
  }
  return worst;
}

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
    const conflict = meetings.between(other, touch);
    if (conflict === "none" || conflict === worst || !meetings.mayMeet(touch, other)) continue;
    if (conflict === "order") return conflict;
    worst = conflict;
  }
  return worst;
}

/** Adds accesses to those that a piece of code begins with; true if there were others before. */
function merge(into: Since, from: Since): boolean {
  const { size } = into;
  for (const [key, touch] of from) into.set(key, touch);
  return into.size > size;
}
