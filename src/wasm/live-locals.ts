import { type CodeEvents, opcodes } from "./code-events.ts";

/** A set of locals: a bit for each. */
type LocalSet = Uint32Array<ArrayBuffer>;

/** Part of a function's code: events from `first` up to, but not including, `end`. */
export interface CodeRange {
  readonly first: number;
  readonly end: number;
}

const add = (to: LocalSet, more: LocalSet): void => {
  for (let i = 0; i < to.length; i++) to[i]! |= more[i]!;
};

const copy = (to: LocalSet, from: LocalSet): void => {
  for (let i = 0; i < to.length; i++) to[i] = from[i]!;
};

/** A block, loop or if around the current event. */
interface Construct {
  /** The locals that are live where a branch to its label goes. */
  readonly label: LocalSet;
  /** Those that are live where its `else` begins. */
  readonly otherwise: LocalSet;
  hasElse: boolean;
}

/**
 * Which of some locals may be read after each of some ranges of a function's code before they are assigned anew,
 * wherever the code goes from there. The ranges are in order, and none overlap.
 */
export function liveAfter(
  events: CodeEvents,
  locals: ReadonlySet<number>,
  ranges: readonly CodeRange[],
): readonly ReadonlySet<number>[] {
  const found = new LiveLocals(events, locals, ranges).find();
  return found.map((set) => new Set([...locals].filter((_, bit) => ((set[bit >>> 5]! >>> (bit & 31)) & 1) !== 0)));
}

class LiveLocals {
  readonly #events: CodeEvents;
  readonly #ranges: readonly CodeRange[];
  readonly #words: number;
  /** By local; -1: it does not matter. */
  readonly #bitOf: Int32Array;
  /** The events that matter: those that direct control, and those of these locals. */
  readonly #kept: Int32Array;
  /** By event that ends a loop, where the loop begins; else -1. */
  readonly #beginOfLoop: Int32Array;
  /** The loops in order, with the ones around them. */
  readonly #loops: { readonly begin: number; readonly around: number | null }[] = [];
  /** By event that begins a loop, the locals that are live there. */
  readonly #atLoops = new Map<number, LocalSet>();
  readonly #results: readonly LocalSet[];

  constructor(events: CodeEvents, locals: ReadonlySet<number>, ranges: readonly CodeRange[]) {
    const { count, opcode, operand } = events;
    this.#events = events;
    this.#ranges = ranges;
    this.#words = Math.ceil(locals.size / 32);
    this.#bitOf = new Int32Array(Math.max(0, ...locals) + 1).fill(-1);
    [...locals].forEach((local, bit) => {
      this.#bitOf[local] = bit;
    });
    this.#results = ranges.map(() => this.#empty());
    this.#beginOfLoop = new Int32Array(count).fill(-1);
    const open: (number | null)[] = [];
    const kept = new Int32Array(count);
    let length = 0;
    for (let i = 0; i < count; i++) {
      const code = opcode[i]!;
      if (code >= opcodes.get && (this.#bitOf[operand[i]!] ?? -1) < 0) continue;
      kept[length++] = i;
      if (code === opcodes.loop) {
        this.#loops.push({ begin: i, around: open.findLast((begin) => begin !== null) ?? null });
        open.push(i);
      } else if (code === opcodes.block || code === opcodes.if) open.push(null);
      else if (code === opcodes.end) this.#beginOfLoop[i] = open.pop() ?? -1;
    }
    this.#kept = kept.subarray(0, length);
  }

  #empty(): LocalSet {
    return new Uint32Array(this.#words);
  }

  find(): readonly LocalSet[] {
    // Whatever is live where a loop begins is read, before it is assigned, without going round it; or further round a
    // loop that is around it. To say that all of the latter's is live where the inner one begins may be too much.
    this.#pass(false);
    for (const { begin, around } of this.#loops) {
      if (around !== null) add(this.#atLoops.get(begin)!, this.#atLoops.get(around)!);
    }
    this.#pass(true);
    return this.#results;
  }

  /** Goes through the code from its end. `isLast`: whether it is known what is live where loops begin. */
  #pass(isLast: boolean): void {
    const { opcode, operand: operands, tables } = this.#events;
    const bitOf = this.#bitOf;
    let nextRange = this.#ranges.length - 1;
    const live = this.#empty();
    const open: Construct[] = [{ label: this.#empty(), otherwise: live, hasElse: false }];
    let depth = 0;
    /** The current range, how many constructs are open around it, and what is live after it. */
    let range: CodeRange | null = null;
    let around = 0;
    let result = live;
    const branch = (i: number, distance: number): LocalSet => {
      const { label } = open[depth - distance]!;
      if (isLast && range !== null && i >= range.first && depth - distance <= around) add(result, label);
      return label;
    };
    for (let k = this.#kept.length - 1; k >= 0; k--) {
      const i = this.#kept[k]!;
      for (; nextRange >= 0 && i < this.#ranges[nextRange]!.end; nextRange--) {
        range = this.#ranges[nextRange]!;
        around = depth;
        result = this.#results[nextRange]!;
        if (isLast) add(result, live);
      }
      const operand = operands[i]!;
      switch (opcode[i]) {
        case opcodes.get: {
          const bit = bitOf[operand]!;
          live[bit >>> 5]! |= 1 << (bit & 31);
          break;
        }
        case opcodes.set:
        case opcodes.tee: {
          const bit = bitOf[operand]!;
          live[bit >>> 5]! &= ~(1 << (bit & 31));
          break;
        }
        case opcodes.end: {
          depth++;
          const construct = (open[depth] ??= { label: this.#empty(), otherwise: this.#empty(), hasElse: false });
          construct.hasElse = false;
          const begin = this.#beginOfLoop[i]!;
          const atLoop = begin < 0 ? live : this.#atLoops.get(begin);
          if (atLoop === undefined) construct.label.fill(0);
          else copy(construct.label, atLoop);
          break;
        }
        case opcodes.else: {
          const construct = open[depth]!;
          construct.hasElse = true;
          copy(construct.otherwise, live);
          copy(live, construct.label);
          break;
        }
        case opcodes.if: {
          const { label, otherwise, hasElse } = open[depth--]!;
          add(live, hasElse ? otherwise : label);
          break;
        }
        case opcodes.loop:
          depth--;
          if (!isLast) this.#atLoops.set(i, live.slice());
          break;
        case opcodes.block:
          depth--;
          break;
        case opcodes.br:
          copy(live, branch(i, operand));
          break;
        case opcodes.brIf:
          add(live, branch(i, operand));
          break;
        case opcodes.brTable:
          live.fill(0);
          for (const distance of tables[operand]!) add(live, branch(i, distance));
          break;
        case opcodes.return:
        case opcodes.unreachable:
          live.fill(0);
      }
    }
  }
}
