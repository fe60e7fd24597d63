import type { Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/*
 * Random programs that compute vectors by halves, as compilers do where a register has half as many elements as the
 * thread has lanes: `(M1, 16)` and `(M5, 16)`, each with a variable of its own, or with a part of one. Halves are
 * exchanged, left out, or computed after something else, too. There is no model of them: engines are compared.
 */

const wholes = ["X", "Y", "Z"] as const;
/** Vectors in two variables each, K0 and K1, ... */
const splits = ["K", "L", "M", "N"] as const;
const scalars = ["S", "T", "U"] as const;
const operations = ["add", "xor", "and", "or", "mul", "max"] as const;

/** An operand of an instruction for half of the lanes: of the lower (0) or the upper half (1). */
type Half = (half: 0 | 1) => string;

class Writer {
  readonly #random: Random;
  readonly #half: number;
  #labels = 0;

  constructor(random: Random, width: number) {
    this.#random = random;
    this.#half = width / 2;
  }

  lines(count: number, depth: number): readonly string[] {
    return Array.from({ length: count }, () => this.#statement(depth)).flat();
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  /** The elements of a half, without a region. */
  #vector(): Half {
    if (this.#random(4) === 0) {
      const whole = this.#one(wholes);
      return (half) => `${whole}(${(half * this.#half) >> 3},0)`;
    }
    const name = this.#one(splits);
    const isSwapped = this.#random(10) === 0;
    return (half) => `${name}${isSwapped ? 1 - half : half}(0,0)`;
  }

  get #target(): Half {
    const vector = this.#vector();
    return (half) => `${vector(half)}<1>`;
  }

  get #source(): Half {
    const choice = this.#random(6);
    if (choice === 0) {
      const scalar = this.#one(scalars);
      return () => `${scalar}(0,0)<0;1,0>`;
    }
    if (choice === 1) {
      const value = this.#random(9);
      return () => `${value}:ud`;
    }
    const vector = this.#vector();
    return (half) => `${vector(half)}<1;1,0>`;
  }

  /** The execution size of a half. */
  #size(half: 0 | 1, rule = ""): string {
    return `(M${(half * this.#half) / 4 + 1}${rule}, ${this.#half})`;
  }

  #statement(depth: number): readonly string[] {
    switch (this.#random(depth < 2 ? 10 : 8)) {
      case 0:
        return this.#scalar();
      case 1:
        return [`add (E) ${this.#one(wholes)}! ${this.#one(wholes)}@ ${this.#one(scalars)}$`];
      case 2:
        return this.#predicated();
      case 3:
        return [this.#pair()[this.#random(2)]!];
      case 4: {
        const [low, high] = this.#pair();
        return [low, ...this.#scalar(), high];
      }
      case 5: {
        // Two pairs, the lower halves first.
        const [first, second] = [this.#pair(), this.#pair()];
        return [first[0], second[0], first[1], second[1]];
      }
      case 6:
      case 7:
        return this.#pair();
      default:
        return this.#branch(depth);
    }
  }

  #pair(guard = ""): readonly [string, string] {
    const op = this.#one(guard === "" ? operations : operations.filter((name) => name !== "max"));
    const rule = guard === "" && this.#random(12) === 0 ? "_NM" : "";
    const [to, a, b] = [this.#target, this.#vector(), this.#source];
    const text = (half: 0 | 1): string =>
      `${guard}${op} ${this.#size(half, rule)} ${to(half)} ${a(half)}<1;1,0> ${b(half)}`;
    return [text(0), text(1)];
  }

  #scalar(): readonly string[] {
    const to = this.#one(scalars);
    // The same constant again and again, as compilers write it.
    if (this.#random(2) === 0) return [`mov (one) ${to}! ${this.#random(3)}:ud`];
    return [`add (one) ${to}! ${this.#one(scalars)}$ ${this.#random(9)}:ud`];
  }

  #predicated(): readonly string[] {
    const [vector, limit] = [this.#vector(), this.#random(100)];
    const test = (half: 0 | 1): string => `cmp.lt ${this.#size(half)} P2 ${vector(half)}<1;1,0> ${limit}:ud`;
    return [test(0), test(1), ...this.#pair("(P2) ")];
  }

  /** Some lanes do this, the others that, or nothing. */
  #branch(depth: number): readonly string[] {
    const label = this.#labels++;
    const lines = (): readonly string[] => this.lines(1 + this.#random(4), depth + 1);
    const vector = this.#vector();
    const test = ([0, 1] as const).flatMap((half) => [
      `and ${this.#size(half)} R${half}(0,0)<1> ${vector(half)}<1;1,0> 7:ud`,
      `cmp.lt ${this.#size(half)} P1 R${half}(0,0)<1;1,0> ${1 + this.#random(7)}:ud`,
    ]);
    const skip = `(!P1) goto (E) else${label}`;
    if (this.#random(2) === 0) return [...test, skip, ...lines(), `else${label}:`];
    return [...test, skip, ...lines(), `goto (E) end${label}`, `else${label}:`, ...lines(), `end${label}:`];
  }
}

/** A program that depends only on the seed. */
export function randomHalves(seed: number): Program {
  const random = generator(seed);
  const width = ([32, 16] as const)[seed % 2]!;
  const half = width / 2;
  const writer = new Writer(random, width);
  const each = (line: (half: 0 | 1, rule: string, at: string) => string): readonly string[] =>
    ([0, 1] as const).map((i) => line(i, `(M${(i * half) / 4 + 1}, ${half})`, `(${(i * half) >> 3},0)`));
  const begin = [
    ...["X", "Y", "Z"].map((v, i) => `mul (E) ${v}! ID@ ${2 * i + 3}:ud`),
    ...splits.flatMap((v, n) => each((i, rule, at) => `add ${rule} ${v}${i}(0,0)<1> X${at}<1;1,0> ${n}:ud`)),
    ...scalars.map((s, i) => `mov (one) ${s}! ${i}:ud`),
  ];
  const end = [
    "mov (E) R! 0:ud",
    ...[...wholes.map((v) => `${v}@`), ...scalars.map((s) => `${s}$`)].map(
      (from) => `add (E) R! R@ ${from}\nmul (E) R! R@ 5:ud`,
    ),
    ...splits.flatMap((v) => each((i, rule, at) => `add ${rule} R${at}<1> R${at}<1;1,0> ${v}${i}(0,0)<1;1,0>`)),
  ];
  return {
    title: `halves ${seed}`,
    widths: [width],
    declarations: [...splits, "R"]
      .flatMap((v) => [0, 1].map((i) => `.decl ${v}${i} v_type=G type=ud num_elts=${half} align=GRF`))
      .join("\n"),
    kernel: [...begin, ...writer.lines(6 + random(16), 0), ...end].join("\n"),
    expected: () => 0,
  };
}
