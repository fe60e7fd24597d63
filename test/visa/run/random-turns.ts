import type { FunctionText, Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/*
 * Random programs of loops in which lanes take turns to call functions through addresses, as compilers write them: the
 * first lane that is left is found, all lanes with its address call, and are left no more. Some loops have something
 * more in them, which may make them something else than one call; some are in functions that are called so, in other
 * loops, or for some lanes only. There is no model of them: engines are compared with each other.
 */

const vectors = ["X", "Y", "Z", "W"] as const;

/** Variables of the loops, in every routine. */
const declarations = (width: number, functions: number): string =>
  [
    ...["OWN", "LOW", "N"].map((name) => `.decl ${name} v_type=G type=ud num_elts=${width} align=GRF`),
    ...["LEFT", "NOW"].map(
      (name) => `.decl ${name} v_type=G type=${width === 32 ? "ud" : "uw"} num_elts=1 align=dword`,
    ),
    ".decl FIRST v_type=G type=ud num_elts=1 align=dword",
    ".decl AT v_type=G type=uw num_elts=2 align=dword alias=<FIRST, 0>",
    ".decl TURN v_type=G type=ud num_elts=1 align=dword",
    ...Array.from({ length: functions }, (_, i) => `.decl F${i} v_type=G type=ud num_elts=1 align=dword`),
    ...["P5", "P6", "P7", "P8"].map((name) => `.decl ${name} v_type=P num_elts=${width}`),
  ].join("\n");

class Writer {
  readonly #random: Random;
  readonly #width: number;
  readonly #functions: number;
  /** The routine calls the functions from this one on. */
  readonly #first: number;
  readonly #name: string;
  #labels = 0;

  constructor(random: Random, width: number, functions: number, first: number, name: string) {
    this.#random = random;
    this.#width = width;
    this.#functions = functions;
    this.#first = first;
    this.#name = name;
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  #maybe(times: number, ...lines: readonly string[]): readonly string[] {
    return this.#random(times) === 0 ? lines : [];
  }

  #vector(): string {
    return this.#one(vectors);
  }

  /** The function of each lane, in OWN. */
  #choice(): readonly string[] {
    const choices = Array.from({ length: this.#functions - this.#first }, (_, i) => this.#first + i);
    const mask = this.#one([1, 3, 7]);
    return [
      ...choices.map((f) => `faddr f${f} F${f}!`),
      `mov (E) OWN! F${choices[0]}$`,
      `and (E) N! ${this.#vector()}@ ${mask}:ud`,
      ...choices.slice(1).flatMap((f, i) => [`cmp.eq (E) P5 N@ ${i + 1}:ud`, `(P5) mov (E) OWN! F${f}$`]),
    ];
  }

  /** A loop of turns: what is around it, and what is in it, is chosen. */
  turns(): readonly string[] {
    if (this.#first >= this.#functions) return this.arithmetic(2);
    const label = `${this.#name}_${this.#labels++}`;
    const vector = Math.max(1, (4 * this.#width) / 32);
    const some = this.#random(3) === 0 ? `cmp.lt (E) P5 ${this.#vector()}@ ${1 << (4 + this.#random(28))}:ud` : null;
    const loop = [
      "setp (NM) P5 0x0:ud",
      some ?? `cmp.eq (E) P5 OWN@ OWN@`,
      "mov (one) LEFT! P5",
      ...(some === null ? [] : [`(!P5) goto (E) out${label}`]),
      `again${label}:`,
      "mov (E) LOW! OWN@",
      "fbl (one) FIRST! LEFT$",
      "shl (one) FIRST! FIRST$ 0x2:w",
      "addr_add (M1_NM, 1) A1(0)<1> &LOW AT(0,0)<0;1,0>",
      "mov (one) TURN! r[A1(0),0]<0;1,0>:ud",
      "setp (NM) P6 0x0:ud",
      "cmp.eq (E) P6 TURN$ LOW@",
      `(!P6) goto (E) others${label}`,
      `mov (E) ARG! ${this.#vector()}@`,
      `ifcall (E) TURN$ ${vector} ${vector}`,
      `${this.#one(["mov", "mov", "add"])} (E) ${this.#vector()}! RET@`.replace(/^(add.*!) /, `$1 ${this.#vector()}@ `),
      ...this.#maybe(6, `add (E) ${this.#vector()}! ${this.#vector()}@ TURN$`),
      `others${label}:`,
      ...this.#maybe(6, "add (E) W! W@ 1:ud"),
      "mov (one) NOW! P6",
      "not (one) NOW! NOW$",
      "and (one) LEFT! LEFT$ NOW$",
      "setp (NM) P7 LEFT$",
      `(P7) goto (E) again${label}`,
      ...(some === null ? [] : [`out${label}:`]),
      ...this.#maybe(4, "add (E) Z! Z@ LEFT$"),
    ];
    return [...this.#choice(), ...this.#around(loop)];
  }

  #around(loop: readonly string[]): readonly string[] {
    const label = `${this.#name}_${this.#labels++}`;
    switch (this.#random(4)) {
      case 0:
        return [
          `and (E) N! ${this.#vector()}@ 7:ud`,
          `cmp.lt (E) P8 N@ ${1 + this.#random(7)}:ud`,
          `(!P8) goto (E) past${label}`,
          ...loop,
          `past${label}:`,
        ];
      case 1:
        // Each lane has its own number of rounds.
        return [
          `and (E) N! ${this.#vector()}@ 3:ud`,
          `round${label}:`,
          ...loop,
          "cmp.gt (E) P8 N@ 0:ud",
          "(P8) add (E) N! N@ -1:d",
          `(P8) goto (E) round${label}`,
        ];
      default:
        return loop;
    }
  }

  arithmetic(count: number): readonly string[] {
    return Array.from({ length: count }, () => {
      const op = this.#one(["add", "xor", "or", "mul"]);
      return `${op} (E) ${this.#vector()}! ${this.#vector()}@ ${this.#vector()}@`;
    });
  }
}

/** A program that depends only on the seed. */
export function randomTurns(seed: number): Program {
  const random = generator(seed);
  const width = ([8, 16, 32] as const)[seed % 3]!;
  const functions = 2 + random(4);
  const texts = Array.from({ length: functions }, (_, i): FunctionText => {
    const writer = new Writer(random, width, functions, i + 1, `f${i}`);
    const inner = random(4) === 0 ? writer.turns() : [];
    const early = random(4) === 0 ? ["and (E) R! X@ 3:ud", "cmp.eq (E) P4 R@ 1:ud", "(P4) fret (E)"] : [];
    return {
      name: `f${i}`,
      takes: 1,
      returns: 1,
      body: [
        "mov (E) X! ARG@",
        ...vectors.slice(1).map((v, row) => `add (E) ${v}! X@ ${7 * i + row}:ud`),
        `mul (E) RET! X@ ${3 + 2 * i}:ud`,
        ...early,
        ...writer.arithmetic(1 + random(3)),
        ...inner,
        `xor (E) RET! ${vectors[random(4)]}@ X@`,
        "fret (E)",
      ].join("\n"),
    };
  });
  const writer = new Writer(random, width, functions, 0, "k");
  const body = Array.from({ length: 1 + random(3) }, () => [...writer.arithmetic(random(3)), ...writer.turns()]).flat();
  return {
    title: `turns ${seed}`,
    widths: [width],
    declarations: declarations(width, functions),
    kernel: [
      "mov (E) X! ID@",
      ...vectors.slice(1).map((v, i) => `mul (E) ${v}! X@ ${2 * i + 3}:ud`),
      ...body,
      "mov (E) R! 0:ud",
      ...vectors.map((v) => `add (E) R! R@ ${v}@\nmul (E) R! R@ 5:ud`),
    ].join("\n"),
    functions: texts,
    expected: () => 0,
  };
}
