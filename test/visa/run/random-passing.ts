import type { FunctionText, Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/*
 * Random programs about what calls pass: functions of several sizes, called directly, through addresses and by
 * themselves, that read and write any registers of %arg and %retval and the stack pointer, whole, in some lanes or by
 * single elements, whether or not anybody has written them. There is no model of them: engines are compared with each
 * other.
 */

const vectors = ["X", "Y", "Z", "W"] as const;
const operations = ["add", "xor", "or", "mul"] as const;

/** Vectors that a function takes and returns. */
interface Sizes {
  readonly takes: number;
  readonly returns: number;
}

/** What is chosen while a routine is written. */
class Writer {
  readonly #random: Random;
  readonly #width: number;
  /** By function; a routine calls those from `first` on. */
  readonly #functions: readonly Sizes[];
  readonly #first: number;
  #labels = 0;

  constructor(random: Random, width: number, functions: readonly Sizes[], first: number) {
    this.#random = random;
    this.#width = width;
    this.#functions = functions;
    this.#first = first;
  }

  lines(count: number, depth: number): readonly string[] {
    return Array.from({ length: count }, () => this.#statement(depth)).flat();
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  /** The element of a vector over %arg or %retval. */
  #passed(): string {
    const row = this.#random(3);
    const name = row < 2 && this.#random(2) === 0 ? "RET" : "ARG";
    return this.#at(name, row * this.#width);
  }

  #at(name: string, element: number): string {
    return `${name}(${element >> 3},${element & 7})`;
  }

  #statement(depth: number): readonly string[] {
    const op = this.#one(operations);
    const [to, a, b] = [this.#one(vectors), this.#one(vectors), this.#one(vectors)];
    switch (this.#random(depth < 2 ? 12 : 10)) {
      case 0:
      case 1:
        return [`${op} (E) ${to}! ${a}@ ${b}@`];
      case 2:
        return [`mov (E) ${this.#passed()}<1> ${a}@`];
      case 3:
        return [`${op} (E) ${to}! ${a}@ ${this.#passed()}<1;1,0>`];
      case 4:
        return [`${op} (NM) ${this.#passed()}<1> ${this.#passed()}<1;1,0> ${a}@`];
      case 5: {
        const [from, into] = [this.#random(2 * this.#width), this.#random(2 * this.#width)];
        return [
          `mov (one) ${this.#at(this.#one(["ARG", "RET"]), into)}<1> ${this.#at(this.#one(["ARG", "RET"]), from)}<0;1,0>`,
        ];
      }
      case 6:
        return this.#random(3) > 0 ? [] : ["add (one) SP! SP$ 8:ud", `add (E) ${to}! ${to}@ LOW$`];
      case 7:
      case 8:
      case 9:
        return this.#call();
      default:
        return this.#branch(depth);
    }
  }

  #call(): readonly string[] {
    const left = this.#functions.length - this.#first;
    if (left === 0) return [];
    const callee = this.#first + this.#random(left);
    const { takes, returns } = this.#functions[callee]!;
    const when = [`and (E) R! ${this.#one(vectors)}@ 7:ud`, `cmp.lt (E) P2 R@ ${1 + this.#random(7)}:ud`];
    const guard = this.#random(3) === 0 ? "(P2) " : "";
    const args = Array.from({ length: takes }, (_, i) =>
      this.#random(5) === 0 ? [] : [`mov (E) ${this.#at("ARG", i * this.#width)}<1> ${this.#one(vectors)}@`],
    ).flat();
    const sizes = `${(takes * this.#width) / 8} ${(returns * this.#width) / 8}`;
    const isByAddress = this.#random(2) === 0;
    return [
      ...(guard === "" ? [] : when),
      ...args,
      ...(isByAddress ? [`faddr f${callee} F!`] : []),
      `${guard}${isByAddress ? "ifcall" : "fcall"} (E) ${isByAddress ? "F$" : `f${callee}`} ${sizes}`,
      ...(returns > 0 ? [`add (E) ${this.#one(vectors)}! ${this.#one(vectors)}@ RET@`] : []),
    ];
  }

  #branch(depth: number): readonly string[] {
    const label = this.#labels++;
    const test = [`and (E) R! ${this.#one(vectors)}@ 7:ud`, `cmp.lt (E) P1 R@ ${1 + this.#random(7)}:ud`];
    return [...test, `(!P1) goto (E) on${label}`, ...this.lines(1 + this.#random(4), depth + 1), `on${label}:`];
  }
}

/** Sums of all that a routine has, in R. */
const sum = (width: number): readonly string[] => [
  "mov (E) R! 0:ud",
  ...[...vectors.map((v) => `${v}@`), "ARG@", "RET@", `RET(${width / 8},0)<1;1,0>`].map(
    (from) => `add (E) R! R@ ${from}\nmul (E) R! R@ 5:ud`,
  ),
];

/** A program that depends only on the seed. */
export function randomPassing(seed: number): Program {
  const random = generator(seed);
  const width = ([8, 16, 32] as const)[seed % 3]!;
  const functions = Array.from({ length: 1 + random(4) }, (): Sizes => ({ takes: random(3), returns: random(3) }));
  const texts = functions.map(({ takes, returns }, i): FunctionText => {
    const writer = new Writer(random, width, functions, i + 1);
    const begin = [
      "mov (E) X! 3:ud",
      ...Array.from({ length: takes }, (_, row) => `add (E) ${vectors[row]}! X@ ARG(${(row * width) / 8},0)<1;1,0>`),
    ];
    // Some functions call themselves, fewer and fewer lanes each time.
    const again =
      takes > 0 && random(3) === 0
        ? [
            "and (E) Z! ARG@ 15:ud\ncmp.gt (E) P3 Z@ 0:ud\nadd (E) ARG! Z@ -1:d",
            `(P3) fcall (E) f${i} ${(takes * width) / 8} ${(returns * width) / 8}`,
          ]
        : [];
    const body = writer.lines(2 + random(7), 0);
    const early = random(3) === 0 ? ["and (E) R! X@ 3:ud", "cmp.eq (E) P4 R@ 1:ud", "(P4) fret (E)"] : [];
    return { name: `f${i}`, takes, returns, body: [...begin, ...again, ...early, ...body, "fret (E)"].join("\n") };
  });
  const body = new Writer(random, width, functions, 0).lines(4 + random(8), 0);
  return {
    title: `passing ${seed}`,
    widths: [width],
    declarations: [
      ".decl SP v_type=G type=uq num_elts=1 align=qword alias=<%sp, 0>",
      ".decl LOW v_type=G type=ud num_elts=1 align=dword alias=<%sp, 0>",
    ].join("\n"),
    kernel: [
      "mov (E) X! ID@",
      ...vectors.slice(1).map((v, i) => `mul (E) ${v}! X@ ${2 * i + 3}:ud`),
      ...body,
      ...sum(width),
    ].join("\n"),
    functions: texts,
    expected: () => 0,
  };
}
