import { typeInfo } from "../types.ts";
import type { Modifier } from "./template.ts";

/**
 * Words of an instruction's name that are written like modifiers, by the first word of the opcode, as `bulk` is in
 * `cp.async.bulk`: ptxas takes them only before all modifiers, and in the order of the form.
 */
const nameWords: Readonly<Record<string, readonly string[]>> = {
  bar: ["cta", "warp", "arrive", "red"],
  barrier: ["cta", "cluster", "arrive", "wait", "red"],
  clusterlaunchcontrol: ["try_cancel", "query_cancel", "async"],
  cp: [
    ...["async", "reduce", "bulk", "tensor", "prefetch", "mbarrier", "arrive"],
    ...["commit_group", "wait_group", "wait_all"],
  ],
  createpolicy: ["fractional", "range", "cvt"],
  cvt: ["pack"],
  fence: ["proxy"],
  mbarrier: [
    ...["init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx"],
    ...["test_wait", "try_wait", "parity", "pending_count"],
  ],
  membar: ["proxy"],
  multimem: ["cp", "async", "reduce", "bulk", "ld_reduce", "st", "red"],
  red: ["async"],
  setmaxnreg: ["inc", "dec"],
  st: ["async", "bulk"],
  suld: ["b"],
  sured: ["b", "p"],
  sust: ["b", "p"],
  tcgen05: [
    ...["alloc", "dealloc", "relinquish_alloc_permit", "ld", "red", "st", "wait::ld", "wait::st", "cp", "shift"],
    ...["mma", "ws", "commit"],
  ],
  tensormap: ["replace", "cp_fenceproxy"],
  tex: ["base", "level", "grad"],
  txq: ["level"],
  wgmma: ["fence", "mma_async", "commit_group", "wait_group"],
  wmma: ["load", "store", "mma", "a", "b", "c", "d"],
};

/** Words that ptxas takes only directly after the first word of an opcode, but for the component `r` of a texel. */
const firstWords: ReadonlySet<string> = new Set(["lo", "hi", "wide", "l", "r"]);

/** Modifiers that several places of a form may take: their order says which of them is meant. */
const ordered: ReadonlyMap<string, string> = new Map(
  Object.entries({
    type: ["b1", "s4", "u4", "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue8m0", "ue4m3", "tf32", "bf16"],
    space: ["global", "shared", "shared::cta", "shared::cluster"],
    layout: ["row", "col"],
    operation: ["and", "xor", "popc"],
    format: ["b8x16", "b4x16_p64", "b6x16_p32"],
  }).flatMap(([kind, words]) => words.map((word): [string, string] => [word, kind])),
);

const orderOf = (word: string): string | undefined =>
  ordered.get(word) ?? (typeInfo(word) === null ? undefined : "type");

const accepts = ({ name, choices }: Modifier, word: string): boolean =>
  choices ? choices.includes(word) : word === name;

/** The first place of a form, from one on, that takes a word and has none yet; -1 if there is none. */
const freeSlot = (slots: readonly Modifier[], chosen: readonly (string | null)[], word: string, from: number): number =>
  slots.findIndex((slot, i) => i >= from && chosen[i] === null && accepts(slot, word));

/** How many of the modifiers of a form belong to the name of the instruction. */
function nameLength(root: string, slots: readonly Modifier[]): number {
  const words = nameWords[root];
  if (words === undefined) return 0;
  const isName = ({ name, choices }: Modifier): boolean => (choices ?? [name]).some((word) => words.includes(word));
  let length = 0;
  while (length < slots.length && isName(slots[length]!)) length++;
  return length;
}

/** The written modifiers by the places of a form, as far as they can be matched. */
export interface UnorderedMatch {
  /** By place the word there, or null; null if there is a word that no place takes. */
  readonly chosen: readonly (string | null)[] | null;
  /** The number of written modifiers that have found a place. */
  readonly reached: number;
}

/**
 * Matches written modifiers that may not be in the order of the form, as ptxas does: those of the instruction's name
 * come first, and modifiers of one kind, such as the types of a conversion, keep their order.
 */
export function matchUnordered(root: string, slots: readonly Modifier[], written: readonly string[]): UnorderedMatch {
  if (root !== "tld4" && written.some((word, i) => i > 0 && firstWords.has(word))) return { chosen: null, reached: 0 };
  const chosen: (string | null)[] = new Array(slots.length).fill(null);
  const start = nameLength(root, slots);
  let reached = 0;
  for (let slot = 0; slot < start; slot++) {
    const word = written[reached];
    if (word !== undefined && accepts(slots[slot]!, word)) {
      chosen[slot] = word;
      reached++;
    } else if (!slots[slot]!.optional) return { chosen: null, reached };
  }
  const last = new Map<string, number>();
  for (; reached < written.length; reached++) {
    const word = written[reached]!;
    const kind = orderOf(word);
    const from = kind === undefined ? start : (last.get(kind) ?? start);
    const slot = freeSlot(slots, chosen, word, from);
    if (slot < 0) return { chosen: null, reached };
    chosen[slot] = word;
    if (kind !== undefined) last.set(kind, slot);
  }
  return { chosen, reached };
}

/** The written modifiers in the order of a form, or null if it does not take just these. */
export function inOrder(slots: readonly Modifier[], written: readonly string[]): readonly string[] | null {
  const chosen: (string | null)[] = new Array(slots.length).fill(null);
  for (const word of written) {
    const slot = freeSlot(slots, chosen, word, 0);
    if (slot < 0) return null;
    chosen[slot] = word;
  }
  return slots.every(({ optional }, i) => optional || chosen[i] !== null)
    ? chosen.filter((word) => word !== null)
    : null;
}
