import type { Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/*
 * Random straight-line code: instructions that compute, in all types, with regions, source modifiers, saturation,
 * masks and predicates. There is no model of it: engines are compared with each other, and each instruction has vectors
 * of its own (test/visa/compute/).
 */

const sizes = { b: 1, ub: 1, w: 2, uw: 2, d: 4, ud: 4, q: 8, uq: 8, hf: 2, f: 4, df: 8 } as const;
type Type = keyof typeof sizes;
const types = Object.keys(sizes) as Type[];
const narrow = ["b", "ub", "w", "uw", "d", "ud"] as const;
const integers = [...narrow, "q", "uq"] as const;
const floats = ["hf", "f", "df"] as const;

const isFloat = (type: Type): boolean => type === "hf" || type === "f" || type === "df";
const isSigned = (type: Type): boolean => isFloat(type) || (!type.startsWith("u") && type !== "ub");

/** What is chosen while a program is written. */
class Writer {
  readonly #random: Random;
  readonly #width: number;

  constructor(random: Random, width: number) {
    this.#random = random;
    this.#width = width;
  }

  lines(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.#statement());
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  /** The size of an instruction, and the predicate before it. */
  #lanes(): { readonly guard: string; readonly size: string; readonly first: number } {
    const guard = this.#random(4) === 0 ? this.#one(["(P1) ", "(!P1) ", "(P2) "]) : "";
    if (this.#width === 8 || this.#random(4) > 0) {
      const mask = this.#random(4) === 0 ? "M1_NM" : "M1";
      return { guard, size: `(${mask}, ${this.#width})`, first: 0 };
    }
    const half = this.#width / 2;
    const first = this.#random(2) * half;
    return { guard, size: `(M${first / 4 + 1}, ${half})`, first };
  }

  #var(type: Type): string {
    return `V${type}${this.#random(2)}`;
  }

  #at(type: Type, element: number): string {
    const byte = element * sizes[type];
    return `${this.#var(type)}(${byte >> 5},${(byte & 31) / sizes[type]})`;
  }

  #to(type: Type, first: number): string {
    return `${this.#at(type, first)}<1>`;
  }

  /** A source: adjacent elements, one of them, or a number. */
  #from(type: Type, first: number, modifiers: readonly string[] = [""]): string {
    const modifier = this.#one(modifiers);
    if (this.#random(5) === 0) return `${modifier}${this.#at(type, this.#random(this.#width))}<0;1,0>`;
    return `${modifier}${this.#at(type, first)}<1;1,0>`;
  }

  #number(type: Type): string {
    if (type === "f") return `${this.#one(["1.5", "-0.25", "30000000000.0", "0.0000001"])}:f`;
    return `${this.#one([1, 3, 0x55, 0x7f])}:${type === "b" || type === "ub" ? "w" : type}`;
  }

  #statement(): string {
    const { guard, size, first } = this.#lanes();
    const line = (text: string): string => `${guard}${text.replace("*", size)}`;
    const signs = ["", "", "(-)", "(abs)", "(-abs)"];
    const sat = this.#random(3) === 0 ? ".sat" : "";
    switch (this.#random(this.#width === 8 ? 14 : 13)) {
      case 0:
      case 1: {
        const [to, from] = [this.#one(types), this.#one(types)];
        return line(`mov${sat} * ${this.#to(to, first)} ${this.#from(from, first, isSigned(from) ? signs : [""])}`);
      }
      case 2: {
        const [a, b, to] = [this.#one(narrow), this.#one(narrow), this.#one(narrow)];
        const op = this.#one(["add", "mul", "avg"]);
        const saturates = op === "mul" ? "" : sat;
        return line(`${op}${saturates} * ${this.#to(to, first)} ${this.#from(a, first)} ${this.#from(b, first)}`);
      }
      case 3: {
        const type = this.#one(floats);
        const op = this.#one(["add", "mul"]);
        const b = type === "f" && this.#random(3) === 0 ? this.#number("f") : this.#from(type, first, signs);
        return line(`${op}${sat} * ${this.#to(type, first)} ${this.#from(type, first, signs)} ${b}`);
      }
      case 4: {
        const type = this.#one(["f", "df"] as const);
        const [a, b, c] = [1, 2, 3].map(() => this.#from(type, first, ["", "(-)"]));
        return line(`mad${sat} * ${this.#to(type, first)} ${a} ${b} ${c}`);
      }
      case 5: {
        const type = this.#one(integers);
        const op = this.#one(["and", "or", "xor"]);
        return line(`${op} * ${this.#to(type, first)} ${this.#from(type, first)} ${this.#from(type, first)}`);
      }
      case 6: {
        const type = this.#one(["w", "uw", "d", "ud"] as const);
        const op = this.#one(["shl", "shr", "asr"]);
        const [to, from] = op === "asr" ? (["d", "d"] as const) : op === "shr" ? (["ud", "ud"] as const) : [type, type];
        return line(`${op} * ${this.#to(to, first)} ${this.#from(from, first)} ${this.#random(16)}:uw`);
      }
      case 7: {
        const type = this.#one(types);
        const op = this.#one(["max", "min"]);
        return `${op} ${size} ${this.#to(type, first)} ${this.#from(type, first)} ${this.#from(type, first)}`;
      }
      case 8: {
        const type = this.#one(types);
        const relation = this.#one(["eq", "ne", "lt", "le", "gt", "ge"]);
        const p = this.#one(["P1", "P2"]);
        return `cmp.${relation} ${size} ${p} ${this.#from(type, first)} ${this.#from(type, first)}`;
      }
      case 9: {
        const type = this.#one(types);
        return `(${this.#one(["P1", "!P2"])}) sel ${size} ${this.#to(type, first)} ${this.#from(type, first)} ${this.#from(type, first)}`;
      }
      case 10: {
        const op = this.#one(["bfrev", "cbit", "fbl", "not"]);
        return line(`${op} * ${this.#to("ud", first)} ${this.#from("ud", first)}`);
      }
      case 11:
        return `madw (M1, ${Math.min(16, this.#width)}) M! ${[1, 2, 3].map(() => this.#from("ud", 0)).join(" ")}`;
      case 13: {
        // The sums of eight channels: from one row of them to eight.
        const [a, b] = [this.#one(["s8", "u8", "s4", "u4", "u2"]), this.#one(["s8", "u8", "s4", "u4", "u2"])];
        const from = this.#one(["E0.0", "E1.0", "%null.0"]);
        return `dpas.${a}.${b}.8.${1 + this.#random(8)} (M1, 8) ${this.#one(["E0", "E1"])}.0 ${from} B.0 E0(0,0)`;
      }
      default: {
        const op = this.#one(["frc", "rndd", "rnde", "rndz", "rndu"]);
        const saturates = op === "frc" ? "" : sat;
        return line(`${op}${saturates} * ${this.#to("f", first)} ${this.#from("f", first, ["", "(-)"])}`);
      }
    }
  }
}

const variables = types.flatMap((type) => [0, 1].map((i) => ({ name: `V${type}${i}`, type })));

/** A program that depends only on the seed. */
export function randomCompute(seed: number): Program {
  const random = generator(seed);
  const width = ([8, 16, 32] as const)[seed % 3]!;
  const body = new Writer(random, width).lines(6 + random(20));
  // Doublewords over each variable, of which a row is added to the result for every doubleword of its elements.
  const results = variables.flatMap(({ name, type }) => {
    const words = Math.max(1, sizes[type] / 4);
    if (sizes[type] < 4)
      return [`mov (E) Y! ${name}B(0,0)<${sizes[type]};1,0>`, "add (E) R! R@ Y@", "mul (E) R! R@ 5:ud"];
    return Array.from({ length: words }, (_, i) => [
      `add (E) R! R@ ${name}D(0,${i})<${words};1,0>`,
      "mul (E) R! R@ 5:ud",
    ]).flat();
  });
  return {
    title: `compute ${seed}`,
    widths: [width],
    declarations: [
      ...["E0", "E1", "B"].map((name) => `.decl ${name} v_type=G type=d num_elts=64 align=GRF`),
      `.decl M v_type=G type=ud num_elts=${2 * width} align=GRF`,
      ...variables.flatMap(({ name, type }) => [
        `.decl ${name} v_type=G type=${type} num_elts=${width} align=GRF`,
        sizes[type] < 4
          ? `.decl ${name}B v_type=G type=ub num_elts=${width * sizes[type]} align=GRF alias=<${name}, 0>`
          : `.decl ${name}D v_type=G type=ud num_elts=${(width * sizes[type]) / 4} align=GRF alias=<${name}, 0>`,
      ]),
    ].join("\n"),
    kernel: [
      random(2) === 0 ? "or (one) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud" : "",
      "mov (E) X! ID@",
      ...variables.map(({ name, type }, i) =>
        isFloat(type) ? `mov (E) ${name}! X@` : `add (E) ${name}! X@ ${17 * i}:ud`,
      ),
      "cmp.lt (E) P1 X@ 5:ud",
      "cmp.ge (E) P2 X@ 3:ud",
      ...["E0", "E1", "B"].flatMap((name, i) =>
        [0, 1, 2, 3, 4, 5, 6, 7].map(
          (row) => `mul (M1, 8) ${name}(${row},0)<1> ID(0,0)<1;1,0> ${1001 * (i + 8 * row + 1)}:d`,
        ),
      ),
      ...body,
      "mov (E) R! 0:ud",
      ...results,
      `xor (E) R! R@ M@\nadd (E) R! R@ M(${width / 8},0)<1;1,0>`,
      ...["E0", "E1"].flatMap((name) => [0, 3, 7].map((row) => `add (M1, 8) R! R@ ${name}(${row},0)<1;1,0>`)),
    ].join("\n"),
    expected: () => 0,
  };
}
