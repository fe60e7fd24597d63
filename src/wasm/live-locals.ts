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
export class LiveLocals {
  readonly #events: CodeEvents;
  readonly #ranges: readonly CodeRange[];
  readonly #words: number;
  /** By local; -1: it is none of these. */
  readonly #bitOf: Int32Array;
  /**
   * The events that matter: those that direct control, and the first use of each of these locals in code that control
   * enters and leaves at its ends alone, which says whether the local is live where that begins.
   */
  readonly #kept: Int32Array;
  /** Of these, the bit of the local, or the operand; of an `end`, the event that begins the loop, or -1. */
  readonly #operands: Int32Array;
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
    const bitOf = new Int32Array(Math.max(0, ...locals) + 1).fill(-1);
    [...locals].forEach((local, bit) => {
      bitOf[local] = bit;
    });
    this.#results = ranges.map(() => this.#empty());
    const open: (number | null)[] = [];
    const kept = new Int32Array(count);
    const operands = new Int32Array(count);
    // By bit, the straight code in which it has been used last.
    const usedIn = new Int32Array(locals.size);
    const borders = [...ranges.flatMap(({ first, end }) => [first, end]), count];
    let border = 0;
    let straight = 1;
    let length = 0;
    for (let i = 0; i < count; i++) {
      const code = opcode[i]!;
      while (borders[border]! <= i) {
        straight++;
        border++;
      }
      let value = operand[i]!;
      if (code >= opcodes.get) {
        value = bitOf[value] ?? -1;
        if (value < 0 || usedIn[value] === straight) continue;
        usedIn[value] = straight;
      } else {
        straight++;
        if (code === opcodes.loop) {
          this.#loops.push({ begin: i, around: open.findLast((begin) => begin !== null) ?? null });
          open.push(i);
        } else if (code === opcodes.block || code === opcodes.if) open.push(null);
        else if (code === opcodes.end) value = open.pop() ?? -1;
      }
      kept[length] = i;
      operands[length++] = value;
    }
    this.#bitOf = bitOf;
    this.#kept = kept.subarray(0, length);
    this.#operands = operands;
    this.#find();
  }

  /** Whether one of the locals may be read after a range, which is known by its index. */
  isLiveAfter(range: number, local: number): boolean {
    const bit = this.#bitOf[local]!;
    return ((this.#results[range]![bit >>> 5]! >>> (bit & 31)) & 1) !== 0;
  }

  #empty(): LocalSet {
    return new Uint32Array(this.#words);
  }

  #find(): void {
    // Whatever is live where a loop begins is read, before it is assigned, without going round it; or further round a
    // loop that is around it. To say that all of the latter's is live where the inner one begins may be too much.
    this.#pass(false);
    for (const { begin, around } of this.#loops) {
      if (around !== null) add(this.#atLoops.get(begin)!, this.#atLoops.get(around)!);
    }
    this.#pass(true);
  }

  /** Goes through the code from its end. `isLast`: whether it is known what is live where loops begin. */
  #pass(isLast: boolean): void {
    const { opcode, tables } = this.#events;
    const [kept, operands] = [this.#kept, this.#operands];
    // Nothing is asked about what comes before this.
    const first = (isLast ? this.#ranges[0]?.first : this.#loops[0]?.begin) ?? this.#events.count;
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
    for (let k = kept.length - 1; k >= 0; k--) {
      const i = kept[k]!;
      for (; nextRange >= 0 && i < this.#ranges[nextRange]!.end; nextRange--) {
        range = this.#ranges[nextRange]!;
        around = depth;
        result = this.#results[nextRange]!;
        if (isLast) add(result, live);
      }
      if (i < first) break;
      const operand = operands[k]!;
      switch (opcode[i]) {
        case opcodes.get:
          live[operand >>> 5]! |= 1 << (operand & 31);
          break;
        case opcodes.set:
        case opcodes.tee:
          live[operand >>> 5]! &= ~(1 << (operand & 31));
          break;
        case opcodes.end: {
          depth++;
          const construct = (open[depth] ??= { label: this.#empty(), otherwise: this.#empty(), hasElse: false });
          construct.hasElse = false;
          const atLoop = operand < 0 ? live : this.#atLoops.get(operand);
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
