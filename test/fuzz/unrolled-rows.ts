import type { FunctionText } from "./function-text.ts";
import type { Scope } from "./scope.ts";

/** What may be otherwise than in what compilers make of a loop. */
const twists = [
  ...["none", "none", "none", "none", "none", "none", "other load", "other factor", "one more", "fewer", "other limit"],
  ...["other start", "swapped", "pointer after", "count after", "word after", "old sum", "no guard", "index"],
] as const;

/** Words of the input that are read, at most. */
const words = 120;

/**
 * `for (i = a; i < b; i += s) sum = 3 * sum + x[i]`, with limits that each thread has for itself, as nvcc writes it: the
 * rounds that are more than a multiple of some number, one by one, then so many at once. The numbers may be near the
 * greatest there is. Often something differs in one place, so that one of the two loops does not do what the other does.
 */
export function unrolledRow(scope: Scope): void {
  const { text } = scope;
  const { random } = text;
  const twist = random.pick(twists);
  const times = random.pick([2, 4, 4, 4, 8]);
  const step = random.pick(times === 8 ? [1, 1, 2] : [1, 1, 1, 2, 4, 8]);
  const greatest = 2 ** 31 - 1 - words - 5 * times * step;
  const zero = random.pick([0, 0, 1000, -5, -(2 ** 31) + 70, greatest]);
  const [from, to] = [text.register(32), text.register(32)];
  const start = text.computed("add.s32", text.computed("and.b32", from, random.pick([0, 7, 31])), zero);
  const length = text.computed("sub.s32", text.computed("and.b32", to, random.pick([3, 15, 31, 63])), random.below(4));
  const limit = text.computed("add.s32", start, length);
  new UnrolledRow(text, { twist, times, step, zero, start, limit }).write();
}

interface Row {
  readonly twist: (typeof twists)[number];
  readonly times: number;
  readonly step: number;
  /** The number of the input's first word. */
  readonly zero: number;
  readonly start: string;
  readonly limit: string;
}

class UnrolledRow {
  readonly #text: FunctionText;
  readonly #row: Row;
  readonly #sum: string;
  readonly #word: string;

  constructor(text: FunctionText, row: Row) {
    this.#text = text;
    this.#row = row;
    this.#sum = text.computed("mov.u32", text.register(32));
    this.#word = text.computed("mov.u32", 7);
  }

  write(): void {
    const text = this.#text;
    const { random } = text;
    const { twist, times, step, zero, start, limit } = this.#row;
    const [p, q] = [text.temporary(1), text.temporary(1)];
    const [base, single, unrolled, offset] = Array.from({ length: 4 }, () => text.temporary(64)) as string[] as [
      string,
      string,
      string,
      string,
    ];
    const [ones, between, many, after] = Array.from({ length: 4 }, () => text.label()) as [
      string,
      string,
      string,
      string,
    ];
    const i = text.computed("mov.u32", start);
    const shift = Math.log2(step);
    text.add(`ld.param.u64 ${base}, [input];`, `add.s64 ${base}, ${base}, ${-4 * zero};`);
    text.add(`mov.b64 ${single}, ${base};`, `mov.b64 ${unrolled}, ${base};`);
    if (twist !== "no guard") text.add(`setp.ge.s32 ${p}, ${i}, ${limit};`, `@${p} bra ${after};`);
    else text.add(`max.s32 ${limit}, ${limit}, ${text.computed("add.s32", i, 1)};`);
    const most =
      random.chance(0.5) || twist === "no guard"
        ? text.computed("max.s32", limit, text.computed("add.s32", i, step))
        : limit;
    const last = text.computed("add.s32", text.computed("sub.s32", most, i), -1);
    const rounds =
      step === 1 && random.chance(0.5)
        ? text.computed("sub.s32", most, i)
        : text.computed("add.s32", text.computed("shr.u32", last, shift), 1);
    const counted = twist === "one more" ? text.computed("add.s32", rounds, 1) : rounds;
    const left = text.computed("and.b32", counted, times - 1);
    text.add(`setp.eq.s32 ${p}, ${left}, 0;`, `@${p} bra ${between};`);
    text.add(`mul.wide.s32 ${offset}, ${i}, 4;`, `add.s64 ${single}, ${base}, ${offset};`);
    if (twist === "other start") text.add(`add.u32 ${this.#sum}, ${this.#sum}, 1;`);
    text.place(ones);
    this.#round(`${single}`, 3);
    text.add(`add.s32 ${i}, ${i}, ${step};`, `add.s64 ${single}, ${single}, ${4 * step};`);
    text.add(`add.s32 ${left}, ${left}, -1;`, `setp.ne.s32 ${q}, ${left}, 0;`, `@${q} bra ${ones};`);
    text.place(between);
    const fewest = (times - 1) * step + (twist === "fewer" ? 1 : 0);
    text.add(`setp.lt.u32 ${p}, ${last}, ${fewest};`, `@${p} bra ${after};`);
    const old = twist === "old sum" ? text.computed("mov.u32", this.#sum) : null;
    const ahead = random.pick([0, 4 * step, 8 * step]);
    text.add(`mul.wide.s32 ${offset}, ${i}, 4;`, `add.s64 ${offset}, ${offset}, ${ahead};`);
    text.add(`add.s64 ${unrolled}, ${base}, ${offset};`);
    text.place(many);
    this.#rounds(unrolled, ahead, old);
    text.add(`add.s64 ${unrolled}, ${unrolled}, ${4 * step * times};`, `add.s32 ${i}, ${i}, ${step * times};`);
    const bound = twist === "other limit" ? text.computed("add.s32", limit, 2) : limit;
    text.add(`setp.lt.s32 ${q}, ${i}, ${bound};`, `@${q} bra ${many};`);
    text.place(after);
    const more = twist === "count after" ? left : twist === "word after" ? this.#word : twist === "index" ? i : null;
    if (more !== null) text.add(`add.u32 ${this.#sum}, ${this.#sum}, ${more};`);
    if (twist === "pointer after") {
      const low = text.temporary(32);
      text.add(`sub.s64 ${single}, ${single}, ${base};`, `cvt.u32.u64 ${low}, ${single};`);
      // Only lanes that went around have it.
      text.add(`add.u32 ${this.#sum}, ${this.#sum}, ${low};`);
    }
    text.add(`mov.u32 ${text.register(32)}, ${this.#sum};`);
  }

  #rounds(pointer: string, ahead: number, old: string | null): void {
    const { twist, times, step } = this.#row;
    const { random } = this.#text;
    const at = random.below(times);
    const places = Array.from({ length: times }, (_, n) => 4 * step * n - ahead);
    if (twist === "swapped") [places[0], places[at]] = [places[at]!, places[0]!];
    if (twist === "other load") places[at] = places[at]! + (at === 0 ? 4 : -4);
    places.forEach((place, n) => {
      if (old !== null && n === at) this.#text.add(`xor.b32 ${this.#sum}, ${this.#sum}, ${old};`);
      this.#round(place === 0 ? pointer : `${pointer}+${place}`, twist === "other factor" && n === at ? 5 : 3);
    });
  }

  #round(place: string, factor: number): void {
    this.#text.add(`ld.global.u32 ${this.#word}, [${place}];`);
    this.#text.add(`mad.lo.u32 ${this.#sum}, ${this.#sum}, ${factor}, ${this.#word};`);
  }
}
