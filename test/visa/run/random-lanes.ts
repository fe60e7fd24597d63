import type { Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/*
 * Random programs whose lanes read and write each other's elements, and parts of elements, as sub-group operations of
 * compilers do: with regions and without masks, by halves of the thread, at computed places, and in branches that only
 * some lanes take. There is no model of them: engines are compared with each other.
 */

const vectors = ["X", "Y", "Z", "W"] as const;
const scalars = ["S", "T", "U", "V"] as const;
const operations = ["add", "xor", "and", "or", "mul", "max"] as const;

/** What is chosen while a program is written. */
class Writer {
  readonly #random: Random;
  readonly #width: number;
  #labels = 0;

  constructor(random: Random, width: number) {
    this.#random = random;
    this.#width = width;
  }

  lines(count: number, depth: number): readonly string[] {
    return Array.from({ length: count }, () => this.#statement(depth)).flat();
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  get #vector(): string {
    return this.#one(vectors);
  }

  get #scalar(): string {
    return this.#one(scalars);
  }

  /** An element of a vector of dwords. */
  #at(name: string, element: number): string {
    return `${name}(${element >> 3},${element & 7})`;
  }

  #statement(depth: number): readonly string[] {
    const op = this.#one(operations);
    // In branches, what is done for the whole thread is rare: lanes elsewhere would notice it.
    const first = depth > 0 && this.#random(12) > 0 ? 3 : 0;
    switch (first + this.#random((depth < 2 ? 14 : 11) - first)) {
      case 10:
        return [`${op} (E) ${this.#vector}! ${this.#vector}@ ${this.#vector}@`];
      case 0:
        return [`${op} (NM) ${this.#vector}! ${this.#vector}@ ${1 + this.#random(9)}:ud`];
      case 3:
        return [this.#shifted(op)];
      case 4: {
        const half = this.#width / 2;
        const first = this.#random(2) * half;
        const rule = `M${first / 4 + 1}`;
        const size = this.#random(3) === 0 ? `(${rule}_NM, ${half})` : `(${rule}, ${half})`;
        const [to, from] = [this.#at(this.#vector, first), this.#at(this.#vector, first)];
        return [`${op} ${size} ${to}<1> ${from}<1;1,0> ${this.#vector}$`];
      }
      case 1:
        return [`mov (one) ${this.#scalar}! ${this.#at(this.#vector, this.#random(this.#width))}<0;1,0>`];
      case 5:
      case 6:
        return [`${op} (E) ${this.#vector}! ${this.#vector}@ ${this.#scalar}$`];
      case 7:
        return this.#parts();
      case 8:
        return this.#predicated(op);
      case 9:
        return this.#computed();
      case 2:
        return [`${op} (one) ${this.#scalar}! ${this.#scalar}$ ${this.#scalar}$`];
      default:
        return this.#branch(depth);
    }
  }

  /** Elements at some distance from each other, from others. */
  #shifted(op: string): string {
    const count = this.#one([1, 2, 4, 8, 16].filter((n) => n <= this.#width));
    const place = (): string => {
      const stride = this.#one([1, 2, 4].filter((s) => s * (count - 1) < this.#width && s * count <= 16));
      const first = this.#random(this.#width - stride * (count - 1));
      return `${this.#at(this.#vector, first)}<${stride}`;
    };
    const source = (): string => `${place()};1,0>`;
    return `${op} (M1_NM, ${count}) ${place()}> ${source()} ${source()}`;
  }

  /** Bytes and words of elements. */
  #parts(): readonly string[] {
    const [byte, word] = [this.#random(4), this.#random(2)];
    return [
      `mov (E) ${this.#vector}B(0,${byte})<4> ${this.#vector}B(0,${this.#random(4)})<4;1,0>`,
      `add (E) ${this.#vector}! ${this.#vector}@ ${this.#vector}H(0,${word})<2;1,0>`,
    ];
  }

  #predicated(op: string): readonly string[] {
    const limit = this.#random(8);
    const some = [
      `and (E) R! ${this.#vector}@ 7:ud`,
      `cmp.lt (E) P2 R@ ${limit}:ud`,
      `(P2) ${op === "max" ? "add" : op} (E) ${this.#vector}! ${this.#vector}@ ${this.#vector}@`,
    ];
    return this.#random(2) === 0 ? some : [...some.slice(0, 2), ...this.#word()];
  }

  /** Which lanes have a predicate, as a number. */
  #word(): readonly string[] {
    return this.#random(4) === 0 ? [`mov (one) ${this.#scalar}! P2`] : [];
  }

  /** Elements of lanes that are computed. */
  #computed(): readonly string[] {
    if (this.#width > 16) return [];
    return [
      `and (E) R! ${this.#vector}@ ${this.#width - 1}:ud`,
      `shl (E) I! RH(0,0)<${this.#width};${this.#width / 2},2> 2:uw`,
      `addr_add (E) A1(0)<1> &Y I@`,
      `mov (E) ${this.#vector}! r[A1(0),0]<1,0>:ud`,
    ];
  }

  /** Some lanes do this, the others that, or nothing. */
  #branch(depth: number): readonly string[] {
    const label = this.#labels++;
    const lines = (): readonly string[] => this.lines(1 + this.#random(4), depth + 1);
    const test = [`and (E) R! ${this.#vector}@ 7:ud`, `cmp.lt (E) P1 R@ ${1 + this.#random(7)}:ud`];
    const skip = `(!P1) goto (E) else${label}`;
    if (this.#random(2) === 0) return [...test, skip, ...lines(), `else${label}:`];
    return [...test, skip, ...lines(), `goto (E) end${label}`, `else${label}:`, ...lines(), `end${label}:`];
  }
}

/** A program that depends only on the seed. */
export function randomLanes(seed: number): Program {
  const random = generator(seed);
  const width = ([8, 16, 32] as const)[seed % 3]!;
  const body = new Writer(random, width).lines(4 + random(14), 0);
  const begin = vectors.map((v, i) => `mul (E) ${v}! X@ ${2 * i + 3}:ud`).slice(1);
  const results = [...vectors.map((v) => `${v}@`), ...scalars.map((s) => `${s}$`)];
  return {
    title: `lanes ${seed}`,
    widths: [width],
    declarations: [
      ...["X", "Y", "Z", "W", "R"].flatMap((v) => [
        `.decl ${v}B v_type=G type=ub num_elts=${4 * width} align=GRF alias=<${v}, 0>`,
        `.decl ${v}H v_type=G type=uw num_elts=${2 * width} align=GRF alias=<${v}, 0>`,
      ]),
      `.decl I v_type=G type=uw num_elts=${width} align=GRF`,
    ].join("\n"),
    kernel: [
      ...["mov (E) X! ID@", ...begin, ...body, "mov (E) R! 0:ud"],
      ...results.map((from) => `add (E) R! R@ ${from}\nmul (E) R! R@ 5:ud`),
    ].join("\n"),
    expected: () => 0,
  };
}
