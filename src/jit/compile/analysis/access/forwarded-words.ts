import { writesOf } from "../../../../ir/flow/accesses.ts";
import { dominatorsOf } from "../../../../ir/flow/dominance.ts";
import type { FlowGraph } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import { loopsOf } from "../../../../ir/flow/loops.ts";
import {
  accessesOf,
  type ForwardedWords,
  type Instruction,
  type Op,
  type OpOf,
  type Space,
} from "../../../../ir/index.ts";
import type { Dim3 } from "../../../../machine/reports/report.ts";
import type { Bindings } from "../../../../semantics/bind.ts";
import type { PreparedCode } from "../code/prepared-code.ts";
import { isRun, type LaneWord, type Quad, sourcesOf } from "./forwarded-quads.ts";
import { type ThreadFacts, threadFactsOf } from "./reaching-threads.ts";

/** What a kernel may do in which words are forwarded. */
const kinds: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "warp", "fence", "nothing"] as const),
  ...(["branch", "return", "exit"] as const),
]);

/** The registers that are known to hold a word, at most. */
const maxHolders = 6;

/** Several threads, where one is named. */
const several = -1;

type Load = OpOf<"load">;
type Store = OpOf<"store">;

/** What may be stored between two barriers: by word (a quarter of its address) the thread that does, or `several`. */
interface Writers {
  readonly of: Map<number, number>;
  /** Whether anything may be stored anywhere. */
  isWild: boolean;
}

/**
 * Store-to-load forwarding in blocks that are one chunk, between lanes: where it follows from thread numbers alone who
 * stores which word of shared memory, and when, a load of it can take it from the register that was stored, in the lane
 * that has stored it, or from one into which it has been loaded. So do the threads of a wavefront with the elements of
 * the last diagonal: their addresses lie apart, and each takes an instruction or more, but the lanes of a register are
 * shuffled all at once.
 *
 * Given are barriers to which all threads of the block come together. Those that dominate the last one part the code:
 * what is laid out between two of them, each thread executes between them, if it does. Only code outside of loops is
 * looked at, which threads execute in the order in which it is laid out. A word is known at a load if what has stored
 * it was executed for certain (`certain`), nothing else may have stored to it since, and no other thread may between
 * the same barriers as the load, whether before or after it: in which order such accesses take effect is not decided
 * here. The register must not be written any more after the word was stored from it.
 */
export function withForwardedWords(
  code: PreparedCode,
  isBarrier: (instruction: number) => boolean,
  block: Dim3,
  bindings: Bindings,
): PreparedCode {
  const { instructions, graph, ir } = code;
  if (!instructions.some(({ op }) => op.kind === "load" && isWord(op)) || !instructions.every(isKnown)) return code;
  const facts = threadFactsOf({ ...ir, instructions }, block, bindings);
  const certain = facts.values === null ? null : certainBlocks(code, isBarrier, facts);
  if (certain === null) return code;
  const forwarding = new Forwarding(code, facts, certain);
  for (let start = 0; start < instructions.length; ) {
    let end = start;
    while (end < instructions.length && !(isBarrier(end) && certain.parts.has(graph.blockAt(end)))) end++;
    forwarding.between(start, Math.min(++end, instructions.length));
    start = end;
  }
  const { found } = forwarding;
  if (found.size === 0) return code;
  const replaced = instructions.map((instruction, i) => {
    const forwarded = found.get(i);
    return forwarded === undefined ? instruction : { ...instruction, op: { ...(instruction.op as Load), forwarded } };
  });
  const liveness = livenessOf({ instructions: replaced, registers: ir.registers }, graph, resultsOf(ir));
  return { ...code, instructions: replaced, liveness };
}

/** Whether an instruction leaves shared memory alone, or accesses it by an address there. */
const isKnown = ({ op, lanes }: Instruction): boolean =>
  lanes === undefined &&
  kinds.has(op.kind) &&
  accessesOf(op).every(
    ({ effect, access: { space }, place }) =>
      place.kind === "address" &&
      (effect === "load" || !(effect === "atomic" ? atomicInShared : storedInShared).has(space)),
  );

/** Spaces in which a store may change shared memory by an address that is not one of shared memory. */
const storedInShared: ReadonlySet<Space> = new Set<Space>(["generic", "shared-cluster"]);

/** Spaces in which an atomic operation may change shared memory. */
const atomicInShared: ReadonlySet<Space> = new Set<Space>([...storedInShared, "shared"]);

/** Whether an access is one to words of shared memory that orders nothing. */
const isOfWords = ({ access: { space, bits, order, volatile } }: Load | Store): boolean =>
  space === "shared" && bits === 32 && order === "weak" && !volatile;

const isWord = (op: Load): boolean => isOfWords(op) && op.access.count === 1 && op.place.kind === "address";

/** Blocks of which it is known which threads execute them, and that these do so once. */
interface CertainBlocks {
  /** Those that dominate the last barrier: barriers in them part the code. */
  readonly parts: ReadonlySet<number>;
  /** Those and others, to which one way leads from one of them, by conditions of thread numbers, before the next. */
  readonly all: ReadonlySet<number>;
  /** All of these, and what the last barrier dominates: threads there have executed all of them before that they do. */
  readonly after: ReadonlySet<number>;
  readonly inLoops: Uint8Array;
}

function certainBlocks(
  { graph, instructions }: PreparedCode,
  isBarrier: (instruction: number) => boolean,
  { decides }: ThreadFacts,
): CertainBlocks | null {
  const { blocks } = graph;
  const inLoops = blocksInLoops(graph);
  const last = instructions.findLastIndex((_, i) => isBarrier(i) && inLoops[graph.blockAt(i)] === 0);
  if (last < 0) return null;
  const above = dominatorsOf(graph);
  const parts = new Set<number>();
  for (let b = graph.blockAt(last); b >= 0; b = above[b]!) if (inLoops[b] === 0) parts.add(b);
  const all = new Set<number>();
  const dominated = new Set([graph.blockAt(last)]);
  let part = -1;
  for (const { index, predecessors } of blocks) {
    if (dominated.has(above[index]!)) dominated.add(index);
    if (parts.has(index)) {
      all.add((part = index));
      continue;
    }
    const [before] = predecessors;
    const hasOneWay = predecessors.length === 1 && before! >= part && inLoops[index] === 0;
    if (hasOneWay && all.has(before!) && isDecided(before!)) all.add(index);
  }
  const outside = [...dominated].filter((index) => inLoops[index] === 0);
  return { parts, all, after: new Set([...all, ...outside]), inLoops };

  /** Whether thread numbers say where each thread goes at the end of a block. */
  function isDecided(block: number): boolean {
    const { op, guard } = instructions[blocks[block]!.end - 1]!;
    if (op.kind !== "branch" && op.kind !== "return" && op.kind !== "exit") return true;
    return guard === null || decides(guard);
  }
}

/** By block, 1 if it lies in a loop. */
function blocksInLoops(graph: FlowGraph): Uint8Array {
  const found = new Uint8Array(graph.blocks.length);
  for (const { start, end } of loopsOf(graph)) found.fill(1, start, end + 1);
  return found;
}

/** Follows what is stored from barrier to barrier. */
class Forwarding {
  readonly found = new Map<number, ForwardedWords>();
  readonly #code: PreparedCode;
  readonly #facts: ThreadFacts;
  readonly #certain: CertainBlocks;
  /** By word, who holds it: the last ones to learn of it come last. */
  readonly #holders = new Map<number, readonly LaneWord[]>();
  /** The barriers that have been passed, with the beginning; by word, how many they were when it was stored last. */
  #barriers = 0;
  readonly #stored = new Map<number, number>();
  /** By register, the last instruction that writes it. */
  readonly #lastWrites: Int32Array;

  constructor(code: PreparedCode, facts: ThreadFacts, certain: CertainBlocks) {
    this.#code = code;
    this.#facts = facts;
    this.#certain = certain;
    this.#lastWrites = new Int32Array(code.ir.registers.length).fill(-1);
    for (const [i, instruction] of code.instructions.entries()) {
      writesOf(instruction, (r) => {
        this.#lastWrites[r] = i;
      });
    }
  }

  /** Goes through the instructions from one barrier to the next. */
  between(start: number, end: number): void {
    const { instructions } = this.#code;
    const writers = this.#writersIn(start, end);
    this.#barriers++;
    for (const word of writers.of.keys()) this.#stored.set(word, this.#barriers);
    if (!writers.isWild) {
      for (let i = start; i < end; i++) {
        const { op } = instructions[i]!;
        if (op.kind === "load" && isWord(op)) this.#load(i, op, writers);
        else if (op.kind === "store" && op.access.space === "shared") this.#store(i, op, writers);
      }
      for (const [word, thread] of writers.of) if (thread === several) this.#holders.delete(word);
    } else this.#holders.clear();
  }

  #writersIn(start: number, end: number): Writers {
    const { instructions, graph } = this.#code;
    const writers: Writers = { of: new Map(), isWild: false };
    for (let i = start; i < end && !writers.isWild; i++) {
      const { op } = instructions[i]!;
      if (op.kind !== "store" || op.access.space !== "shared") continue;
      const starts = this.#certain.inLoops[graph.blockAt(i)] === 1 ? null : this.#addressesIn(op);
      if (starts === null) writers.isWild = true;
      else
        this.#eachWord(i, op, starts, (word, t) =>
          writers.of.set(word, (writers.of.get(word) ?? t) === t ? t : several),
        );
    }
    return writers;
  }

  #addressesIn({ place }: Load | Store): readonly number[] | null {
    return place.kind === "address" ? this.#facts.values!.of(place.address) : null;
  }

  /** Shows each word of which a thread may access a part, and which element of the access begins there. */
  #eachWord(
    instruction: number,
    { access: { bits, count } }: Load | Store,
    starts: readonly number[],
    visit: (word: number, thread: number, element: number | null) => void,
  ): void {
    const threads = this.#facts.at(instruction);
    const bytes = (bits / 8) * count;
    starts.forEach((start, thread) => {
      if (!threads.has(thread)) return;
      const isAligned = start % 4 === 0;
      for (let word = start >>> 2; 4 * word < start + bytes; word++) {
        visit(word, thread, isAligned ? word - (start >>> 2) : null);
      }
    });
  }

  /** Whether the threads that may execute an instruction do. */
  #isCertain(instruction: number): boolean {
    const { instructions, graph } = this.#code;
    const { guard } = instructions[instruction]!;
    if (!this.#certain.all.has(graph.blockAt(instruction))) return false;
    return guard === null || this.#facts.decides(guard);
  }

  /** Whether what a register has when an instruction has been executed stays there: a word that is kept as it is. */
  #isKept(register: number, instruction: number): boolean {
    const { class: c, bits, home } = this.#code.ir.registers[register]!;
    return c === "b32" && bits === 32 && home === undefined && this.#lastWrites[register]! <= instruction;
  }

  #store(instruction: number, op: Store, writers: Writers): void {
    const isSource = isOfWords(op) && this.#isCertain(instruction);
    this.#eachWord(instruction, op, this.#addressesIn(op)!, (word, thread, element) => {
      const value = element === null || !isSource ? null : op.values[element];
      const isHeld = value?.kind === "reg" && this.#isKept(value.reg, instruction) && writers.of.get(word) === thread;
      if (isHeld) this.#holders.set(word, [{ register: value.reg, lane: thread }]);
      else this.#holders.delete(word);
    });
  }

  #load(instruction: number, op: Load, { of }: Writers): void {
    const { instructions, graph } = this.#code;
    const starts = this.#addressesIn(op);
    if (starts === null || !this.#certain.after.has(graph.blockAt(instruction))) return;
    const threads = this.#facts.at(instruction);
    /** Whether no other thread may store to what a thread loads. */
    const isOwn = (thread: number): boolean =>
      starts[thread]! % 4 === 0 && (of.get(starts[thread]! / 4) ?? thread) === thread;
    const quads: Quad[] = [];
    for (let first = 0; first < starts.length; first += 4) {
      const lanes = [0, 1, 2, 3].filter((l) => threads.has(first + l));
      const holders = lanes.map((l) => (isOwn(first + l) ? (this.#holders.get(starts[first + l]! / 4) ?? []) : []));
      quads.push({ first, lanes, holders, addresses: lanes.map((l) => starts[first + l]!) });
    }
    const forwarded = sourcesOf(quads);
    const isOld = (start: number): boolean => this.#barriers - (this.#stored.get(start >>> 2) ?? 0) > 1;
    const isSettled = quads.every(({ addresses }) => addresses.every(isOld));
    if (forwarded.sources.length > 0 || (isSettled && !quads.every(isRun)))
      this.found.set(instruction, { ...forwarded, isSettled });
    const [to] = instructions[instruction]!.dst;
    if (typeof to !== "number" || !this.#isCertain(instruction) || !this.#isKept(to, instruction)) return;
    for (let thread = 0; thread < starts.length; thread++) {
      if (!threads.has(thread) || !isOwn(thread)) continue;
      const word = starts[thread]! / 4;
      const holders = [...(this.#holders.get(word) ?? []), { register: to, lane: thread }];
      this.#holders.set(word, holders.slice(-maxHolders));
    }
  }
}
