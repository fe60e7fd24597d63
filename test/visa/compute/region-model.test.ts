import { expect, test } from "vitest";
import { type DataType, isSigned, typeBytes } from "../../../src/visa/types.ts";
import { Random, run } from "../memory/machine.ts";

/**
 * Random instructions of any execution size, mask, predicate, region, stride and addressing, against a register file of
 * bytes: channel i of a source `<v;w,h>` is element `(i div w) * v + (i mod w) * h` from its origin, and with `<w,h>`
 * each row has an address (5_operands.md); channel i is lane i + 4 (k - 1) of Mk; a predicate is collapsed over the
 * instruction's channels, then inverted (3_execution_model.md); all sources are read before anything is written.
 */
const fileBytes = 512;

interface Shape {
  readonly width: 8 | 16 | 32;
  /** If less than the width, the last work items of the thread are missing. */
  readonly items: number;
  readonly grfBytes: 32 | 64;
}
const shapes: readonly Shape[] = [
  { width: 32, items: 27, grfBytes: 32 },
  { width: 16, items: 13, grfBytes: 64 },
  { width: 8, items: 8, grfBytes: 32 },
];

const types = ["ub", "b", "uw", "w", "ud", "d", "uq", "q"] as const satisfies readonly DataType[];
type Type = (typeof types)[number];
const bitsOf = (type: Type): number => typeBytes(type) * 8;
const ofType = (type: Type, value: bigint): bigint =>
  isSigned(type) ? BigInt.asIntN(bitsOf(type), value) : BigInt.asUintN(bitsOf(type), value);

/** Three ranges of registers, each with an alias for every type. */
const stretches = ["U", "V", "W"] as const;
type Stretch = (typeof stretches)[number];
const addressed: Stretch = "V";

class Registers {
  readonly bytes: Readonly<Record<Stretch, Uint8Array>>;
  predicate = 0;

  constructor(random: Random) {
    this.bytes = { U: random.bytes(fileBytes), V: random.bytes(fileBytes), W: random.bytes(fileBytes) };
  }

  read(stretch: Stretch, at: number, type: Type): bigint {
    const bytes = this.bytes[stretch].subarray(at, at + typeBytes(type));
    return ofType(
      type,
      bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n),
    );
  }

  write(stretch: Stretch, at: number, type: Type, value: bigint): void {
    for (let i = 0; i < typeBytes(type); i++)
      this.bytes[stretch][at + i] = Number(BigInt.asUintN(8, value >> BigInt(8 * i)));
  }
}

/** A source: its text, the statements that it needs before, and the value of each channel. */
interface Source {
  readonly text: string;
  readonly before: readonly string[];
  readonly value: (registers: Registers, channel: number) => bigint;
}
interface Target {
  readonly type: Type;
  readonly text: string;
  readonly before: readonly string[];
  readonly stretch: Stretch;
  readonly at: (channel: number) => number;
}

interface Operation {
  readonly mnemonic: string;
  readonly sources: 1 | 2 | 3;
  readonly modifiers: "arithmetic" | "logic" | "none";
  /** The types that it is tested with; null for all. Types of 64 bits are left out if a result may need more bits. */
  readonly types: readonly Type[] | null;
  readonly exact: (type: Type, sources: readonly bigint[]) => bigint;
}
const narrow = types.slice(0, 6);
const operations: readonly Operation[] = [
  { mnemonic: "mov", sources: 1, modifiers: "none", types: null, exact: (_, [a]) => a! },
  { mnemonic: "mov", sources: 1, modifiers: "arithmetic", types: narrow, exact: (_, [a]) => a! },
  { mnemonic: "add", sources: 2, modifiers: "arithmetic", types: null, exact: (_, [a, b]) => a! + b! },
  { mnemonic: "mul", sources: 2, modifiers: "none", types: narrow, exact: (_, [a, b]) => a! * b! },
  { mnemonic: "mad", sources: 3, modifiers: "none", types: narrow, exact: (_, [a, b, c]) => a! * b! + c! },
  { mnemonic: "xor", sources: 2, modifiers: "logic", types: null, exact: (_, [a, b]) => a! ^ b! },
  { mnemonic: "and", sources: 2, modifiers: "logic", types: null, exact: (_, [a, b]) => a! & b! },
  { mnemonic: "max", sources: 2, modifiers: "arithmetic", types: narrow, exact: (_, [a, b]) => (a! > b! ? a! : b!) },
  { mnemonic: "avg", sources: 2, modifiers: "none", types: narrow, exact: (_, [a, b]) => (a! + b! + 1n) >> 1n },
  { mnemonic: "cmp.lt", sources: 2, modifiers: "none", types: null, exact: (_, [a, b]) => (a! < b! ? -1n : 0n) },
  { mnemonic: "sel", sources: 2, modifiers: "none", types: null, exact: (_, [a]) => a! },
];

const modify: Readonly<Record<string, (a: bigint) => bigint>> = {
  "": (a) => a,
  "(-)": (a) => -a,
  "(abs)": (a) => (a < 0n ? -a : a),
  "(-abs)": (a) => (a < 0n ? a : -a),
  "(~)": (a) => ~a,
};
const modifiersOf = { none: [""], arithmetic: ["", "(-)", "(abs)", "(-abs)"], logic: ["", "(~)"] } as const;

class Program {
  readonly registers: Registers;
  readonly given: Readonly<Record<Stretch, Uint8Array>>;
  readonly #random: Random;
  readonly #shape: Shape;
  readonly #lines: string[] = [];

  constructor(seed: number, shape: Shape) {
    this.#random = new Random(seed);
    this.#shape = shape;
    this.registers = new Registers(this.#random);
    const { U, V, W } = this.registers.bytes;
    this.given = { U: U.slice(), V: V.slice(), W: W.slice() };
    for (let i = 0; i < 40; i++) this.#instruction();
  }

  get text(): string {
    return this.#lines.map((line) => `    ${line}`).join("\n");
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.next(list.length)]!;
  }

  #instruction(): void {
    const operation = this.#pick(operations);
    const { width, items } = this.#shape;
    const size = this.#pick([1, 2, 4, 8, 8, 16, 16, 32].filter((n) => n <= width));
    const offset = this.#random.next(width / Math.max(size, 4)) * Math.max(size, 4);
    const noMask = this.#pick([true, false]);
    const to = this.#target(this.#pick(operation.types ?? types), size);
    const sources = Array.from({ length: operation.sources }, (_, i) => this.#source(operation, size, i));
    if (this.#random.next(4) === 0) this.#setPredicate();
    const unguarded = operation.mnemonic.startsWith("cmp") || operation.mnemonic === "max";
    const guard = unguarded ? "" : this.#pick(operation.mnemonic === "sel" ? guards.slice(1) : guards);
    const saturates = ["mov", "add", "mad", "avg"].includes(operation.mnemonic) && this.#random.next(4) === 0;
    const exec = `(M${offset / 4 + 1}${noMask ? "_NM" : ""}, ${size})`;
    const mnemonic = `${operation.mnemonic}${saturates ? ".sat" : ""}`;
    this.#lines.push(
      ...[to, ...sources].flatMap(({ before }) => before),
      [guard, mnemonic, exec, to.text, ...sources.map(({ text }) => text)].filter((word) => word !== "").join(" "),
    );
    const holds = (channel: number): boolean => this.#holds(guard, channel, size, offset);
    const results = Array.from({ length: size }, (_, channel) => {
      const values = sources.map(({ value }) => value(this.registers, channel));
      if (operation.mnemonic === "sel") return holds(channel) ? values[0]! : values[1]!;
      return operation.exact(to.type, values);
    });
    results.forEach((result, channel) => {
      const enabled = noMask || channel + offset < items;
      if (!enabled || (operation.mnemonic !== "sel" && !holds(channel))) return;
      const clamped = saturates ? clamp(result, to.type) : result;
      this.registers.write(to.stretch, to.at(channel), to.type, clamped);
    });
  }

  #setPredicate(): void {
    this.registers.predicate = this.#pick([0, -1, this.#random.next(2 ** 32), 0xffff, -0x10000]);
    this.#lines.push(`setp (M1_NM, ${this.#shape.width}) P1 ${this.registers.predicate >>> 0}:ud`);
  }

  #holds(guard: string, channel: number, size: number, offset: number): boolean {
    if (guard === "") return true;
    const channels = Array.from({ length: size }, (_, i) => ((this.registers.predicate >> (i + offset)) & 1) === 1);
    const value = guard.includes("any")
      ? channels.includes(true)
      : guard.includes("all")
        ? !channels.includes(false)
        : channels[channel]!;
    return value !== guard.includes("!");
  }

  /**
   * The byte of the first of several elements of a type, the last of which is `last` elements further on; null if they
   * do not fit.
   */
  #origin(type: Type, last: number): number | null {
    const room = fileBytes - (last + 1) * typeBytes(type);
    return room < 0 ? null : this.#random.next(room / typeBytes(type) + 1) * typeBytes(type);
  }

  #named(stretch: Stretch, type: Type, at: number): string {
    const { grfBytes } = this.#shape;
    return `${stretch}_${type}(${Math.floor(at / grfBytes)},${(at % grfBytes) / typeBytes(type)})`;
  }

  #target(type: Type, size: number): Target {
    const stride = this.#pick([1, 1, 2, 4].filter((s) => ((size - 1) * s + 1) * typeBytes(type) <= fileBytes));
    const origin = this.#origin(type, (size - 1) * stride)!;
    const at = (channel: number): number => origin + channel * stride * typeBytes(type);
    const stretch = this.#pick(stretches);
    if (stretch === addressed && this.#random.next(3) === 0) {
      const rest = this.#random.next(Math.min(origin, 500) + 1);
      const before = [`addr_add (M1_NM, 1) A0(12)<1> &${addressed} ${rest}:uw`];
      return { type, text: `r[A0(12),${origin - rest}]<${stride}>:${type}`, before, stretch, at };
    }
    return { type, text: `${this.#named(stretch, type, origin)}<${stride}>`, before: [], stretch, at };
  }

  #source({ modifiers, types: allowed }: Operation, size: number, index: number): Source {
    const type = this.#pick(allowed ?? types);
    const kind = this.#random.next(8);
    const modifier = this.#pick(modifiersOf[modifiers]);
    if (kind === 0) return this.#immediate();
    const w = this.#pick([1, 2, 4, 8, 16].filter((n) => n <= size));
    const h = this.#pick([0, 1, 2, 4]);
    if (kind === 1 && size / w <= 4) return this.#rows(type, size, w, h, modifier, 4 * index);
    const v = this.#pick([0, 1, 2, 4, 8, 16, 32]);
    const element = (i: number): number => Math.floor(i / w) * v + (i % w) * h;
    const origin = this.#origin(type, Math.max(...Array.from({ length: size }, (_, i) => element(i))));
    if (origin === null) return this.#immediate();
    const region = `<${v};${w},${h}>`;
    const stretch = kind < 3 ? addressed : this.#pick(stretches);
    const value = (registers: Registers, i: number): bigint =>
      modify[modifier]!(registers.read(stretch, origin + element(i) * typeBytes(type), type));
    if (kind < 3) {
      const rest = this.#random.next(origin + 1);
      const before = [`addr_add (M1_NM, 1) A0(${13 + index})<1> &${addressed} ${rest}:uw`];
      return { text: `${modifier}r[A0(${13 + index}),${origin - rest}]${region}:${type}`, before, value };
    }
    return { text: `${modifier}${this.#named(stretch, type, origin)}${region}`, before: [], value };
  }

  /** Each row has an address of its own. */
  #rows(type: Type, size: number, w: number, h: number, modifier: string, first: number): Source {
    const last = (w - 1) * h;
    const origins = Array.from({ length: size / w }, () => this.#origin(type, last)!);
    const before = origins.map((at, row) => `addr_add (M1_NM, 1) A0(${first + row})<1> &${addressed} ${at}:uw`);
    return {
      text: `${modifier}r[A0(${first}),0]<${w},${h}>:${type}`,
      before,
      value: (registers, i) =>
        modify[modifier]!(registers.read(addressed, origins[Math.floor(i / w)]! + (i % w) * h * typeBytes(type), type)),
    };
  }

  #immediate(): Source {
    const type = this.#pick(["ud", "d", "uw", "w", "v", "uv"] as const);
    const any = BigInt(this.#random.next(2 ** 32));
    if (type === "v" || type === "uv") {
      const nibble = (i: number): bigint => (any >> BigInt((i % 8) * 4)) & 15n;
      const value = (_: Registers, i: number): bigint => (type === "v" ? BigInt.asIntN(4, nibble(i)) : nibble(i));
      return { text: `0x${any.toString(16)}:${type}`, before: [], value };
    }
    const value = ofType(type, any >> BigInt(this.#random.next(33)));
    return { text: `${value}:${type}`, before: [], value: () => value };
  }
}

const guards = ["", "(P1)", "(!P1)", "(P1.any)", "(P1.all)", "(!P1.any)", "(!P1.all)"] as const;

function clamp(value: bigint, type: Type): bigint {
  const least = isSigned(type) ? -(1n << BigInt(bitsOf(type) - 1)) : 0n;
  const most = least + (1n << BigInt(bitsOf(type))) - 1n;
  return value < least ? least : value > most ? most : value;
}

const declarations = [
  ...stretches.flatMap((stretch) =>
    types.map(
      (type) =>
        `    .decl ${stretch}_${type} v_type=G type=${type} num_elts=${fileBytes / typeBytes(type)} alias=<${stretch},0>`,
    ),
  ),
  "    .decl A0 v_type=A num_elts=16",
  "    setp (M1_NM, 32) P1 0x0:ud",
];

const seeds = Array.from({ length: 20 }, (_, i) => i + 1);

test.each(shapes.flatMap((shape) => [true, false].map((generate) => ({ ...shape, generate }))))(
  "$width lanes, registers of $grfBytes bytes (generated loops: $generate)",
  ({ generate, ...shape }) => {
    const wrong = seeds.flatMap((seed) => {
      const program = new Program(seed, shape);
      const { given, registers } = program;
      const outcome = run({
        ...shape,
        generate,
        text: [...declarations, program.text].join("\n"),
        registers: () => Object.fromEntries(stretches.map((name) => [name, { type: "ud", bytes: given[name] }])),
      });
      if (outcome.reports.length > 0) return [`${seed}: ${outcome.reports.join("\n")}`];
      const differ = stretches.filter((name) => !Buffer.from(outcome.registers[name]!).equals(registers.bytes[name]));
      return differ.length === 0 ? [] : [`${seed}: ${differ.join(" ")} after\n${program.text}`];
    });
    expect(wrong.slice(0, 1)).toEqual([]);
  },
);
