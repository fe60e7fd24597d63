import type { OperandRule } from "../../../src/ptx/isa/index.ts";
import { sourcesFor } from "../vectors.ts";
import { type Formula, threadNames } from "./formula.ts";
import type { Layout } from "./layout.ts";
import { type Model, models } from "./models.ts";
import {
  destinationRules,
  directSpaces,
  type Expected,
  type Operand,
  type Space,
  type Statement,
  type Value,
  type WarpVector,
} from "./warp-vectors.ts";

/** How threads that do not execute an instruction are kept from it. */
export type Guarding = "guard" | "branch";

/** What is in a destination that no instruction has written: a pattern that no vector expects. */
const untouched = 0xa5c3_96f1_a5c3_96f1_a5c3_96f1_a5c3_96f1n;

/** Of a value: its size in a register, and the type as which it is declared. */
const sizeOf = (rule: OperandRule | undefined, width: number | null): number => width ?? rule?.type?.bits ?? 32;
const registerType = (size: number): string => (size === 1 ? "pred" : `b${size}`);

/** The instructions of one vector within a kernel, and what they leave to be checked. */
export class Section {
  readonly #lines: string[] = [];
  readonly #named = new Map<string, string>();
  readonly #vector: WarpVector;
  readonly #layout: Layout;
  readonly #guarding: Guarding;
  /** Threads that have exited. */
  readonly #ended = new Set<number>();
  #next = 0;

  constructor(vector: WarpVector, guarding: Guarding, layout: Layout) {
    this.#vector = vector;
    this.#layout = layout;
    this.#guarding = guarding;
  }

  /** The statements with what they need, in one line: a report's line says which vector it is about. */
  text(): string {
    const { before, statement, after } = this.#vector;
    for (const space of this.#usedSpaces()) this.#emit(...this.#layout.enter(space));
    for (const one of before) this.#statement(one, "branch");
    this.#statement(statement, this.#guarding);
    for (const space of this.#usedSpaces()) this.#emit(...this.#layout.passOn(space));
    for (const one of after) this.#statement(one, "branch");
    for (const space of this.#usedSpaces()) this.#emit(...this.#layout.leave(space));
    const mark = this.#declare(32);
    this.#emit(`mov.b32 ${mark}, 1;`);
    this.#store(
      mark,
      32,
      "the mark of a thread that goes on",
      this.#threads(() => 1n),
    );
    return `{ ${this.#lines.join(" ")} }`;
  }

  #emit(...lines: string[]): void {
    this.#lines.push(...lines);
  }

  #declare(size: number, name = `r${this.#next++}`): string {
    this.#emit(`.reg .${registerType(size)} ${name};`);
    return name;
  }

  #threads<T>(value: (thread: number) => T): T[] {
    return Array.from({ length: this.#vector.block }, (_, thread) => value(thread));
  }

  #usedSpaces(): Space[] {
    const { before, statement, after } = this.#vector;
    const used = [...before, statement, ...after].flatMap(({ operands }) =>
      operands.flatMap((o) => (o.kind === "address" && "space" in o.base ? [o.base.space] : [])),
    );
    return [...new Set(used)];
  }

  #executing({ parts }: Statement): readonly number[] {
    return parts?.flat() ?? this.#threads((thread) => thread);
  }

  #statement(statement: Statement, guarding: Guarding): void {
    const { candidate, opcode, parts, operands } = statement;
    const sources = sourcesFor(candidate, operands.length)!;
    const written = operands.map((operand, i) => this.#operand(operand, sources[i]!.rule, statement));
    const { results, stores } = this.#results(statement);
    const destinations: string[] = [];
    let next = 0;
    for (const slot of candidate.operands.filter((o) => o.destination)) {
      const first = results[next++]!;
      destinations.push(slot.second && next < results.length ? `${first}|${results[next++]}` : first);
    }
    // Destinations come before sources in all forms that have both.
    const instruction = `${[opcode, [...destinations, ...written].join(", ")].join(" ").trim()};`;
    for (const part of parts ?? [null]) {
      if (part === null) this.#emit(instruction);
      else this.#emitFor(part, instruction, guarding);
    }
    if (statement.outcome.kind === "exits") for (const thread of this.#executing(statement)) this.#ended.add(thread);
    for (const store of stores) store();
  }

  /** The instruction for some of the threads. */
  #emitFor(part: readonly number[], instruction: string, guarding: Guarding): void {
    const executes = this.#load(
      this.#threads((thread) => (part.includes(thread) ? 1n : 0n)),
      1,
      "vector",
    );
    if (guarding === "guard") {
      this.#emit(`@${executes} ${instruction}`);
      return;
    }
    const label = this.#layout.label();
    this.#emit(`@!${executes} bra ${label};`, instruction, `${label}:`);
  }

  #operand(operand: Operand, rule: OperandRule, statement: Statement): string {
    if (operand.kind === "address") {
      const address = this.#address(operand, statement);
      return rule.space === "tensor" ? `[${this.#narrow(address.slice(1, -1))}]` : address;
    }
    const registers = operand.elements.map((value) => {
      if (rule.immediate === "only") return `${this.#values(value, statement)[0]}`;
      return this.#value(value, rule, statement);
    });
    const bare = registers.length === 1 && rule.braces !== "required" && !operand.braced;
    const text = bare ? registers[0]! : `{${registers.join(", ")}}`;
    return operand.isNegated ? `!${text}` : text;
  }

  #values(value: Value, statement: Statement): bigint[] {
    if (value.kind !== "formula") throw new Error("a value is needed that is known before");
    return this.#evaluated(value.formula, statement);
  }

  /** The values of a formula. Threads that do not execute the statement have junk, unless all others agree. */
  #evaluated(formula: Formula, statement: Statement): bigint[] {
    const executing = this.#executing(statement);
    const known = new Map(executing.map((t) => [t, formula({ names: threadNames(t), position: t })]));
    const first = known.get(executing[0]!)!;
    const agree = [...known.values()].every((v) => v === first);
    return this.#threads((thread) => known.get(thread) ?? (agree ? first : untouched));
  }

  #value(value: Value, rule: OperandRule, statement: Statement): string {
    if (value.kind === "sink") return "_";
    if (value.kind === "register") return this.#register(value.name);
    return this.#load(this.#values(value, statement), sizeOf(rule, value.width));
  }

  #register(name: string): string {
    const found = this.#named.get(name);
    if (!found) throw new Error(`no statement before names a register %${name}`);
    return found;
  }

  /** The low half of an address: those of tensor memory have 32 bits. */
  #narrow(address: string): string {
    if (this.#layout.pointer === 32) return address;
    const low = this.#declare(32);
    this.#emit(`cvt.u32.u64 ${low}, ${address};`);
    return low;
  }

  #address(operand: Extract<Operand, { kind: "address" }>, statement: Statement): string {
    const offsets = this.#evaluated(operand.offset, statement);
    const { pointer } = this.#layout;
    const add = (base: string): string => {
      if (offsets.every((offset) => offset === 0n)) return `[${base}]`;
      const sum = this.#declare(pointer);
      this.#emit(`add.u${pointer} ${sum}, ${base}, ${this.#load(offsets, pointer)};`);
      return `[${sum}]`;
    };
    if ("register" in operand.base) return add(this.#register(operand.base.register));
    const { space } = operand.base;
    if (space === "argument" || space === "passed") {
      if (offsets.some((offset) => offset !== offsets[0]))
        throw new Error(`an offset into ${space} memory is a constant`);
      return `[${space}+${offsets[0]}]`;
    }
    const base = this.#declare(pointer);
    this.#emit(...this.#layout.address(space, base, directSpaces(statement.candidate) === null));
    return add(base);
  }

  /** A register with a value for each thread: a constant where all are equal, and no `vector` is asked for. */
  #load(values: readonly bigint[], size: number, wanted: "any" | "vector" = "any"): string {
    const bits = values.map((v) => BigInt.asUintN(size, v));
    const isConstant = wanted === "any" && bits.every((v) => v === bits[0]);
    if (size === 1) {
      const word = this.#load(bits, 32, wanted);
      const predicate = this.#declare(1);
      this.#emit(`setp.ne.u32 ${predicate}, ${word}, 0;`);
      return predicate;
    }
    const name = this.#declare(size);
    if (isConstant) this.#constant(name, bits[0]!, size);
    else if (size === 128) {
      const [low, high] = [
        this.#load(bits, 64, wanted),
        this.#load(
          bits.map((v) => v >> 64n),
          64,
          wanted,
        ),
      ];
      this.#emit(`mov.b128 ${name}, {${low}, ${high}};`);
    } else this.#emit(`ld.global.b${size} ${name}, [%in+${this.#layout.input(bits)}];`);
    return name;
  }

  #constant(name: string, bits: bigint, size: number): void {
    if (size === 128) {
      const [low, high] = [this.#declare(64), this.#declare(64)];
      this.#emit(`mov.b64 ${low}, ${BigInt.asUintN(64, bits)}U;`, `mov.b64 ${high}, ${bits >> 64n}U;`);
      this.#emit(`mov.b128 ${name}, {${low}, ${high}};`);
    } else if (size === 8) {
      const word = this.#declare(32);
      this.#emit(`mov.b32 ${word}, ${bits};`, `cvt.u8.u32 ${name}, ${word};`);
    } else if (size === 1) this.#emit(`setp.eq.u32 ${name}, ${bits & 1n}, 1;`);
    else this.#emit(`mov.b${size} ${name}, ${bits}U;`);
  }

  /** The destinations as text, and what stores those that are checked. */
  #results(statement: Statement): { readonly results: readonly string[]; readonly stores: readonly (() => void)[] } {
    const destinations = statement.candidate.operands.filter((o) => o.destination);
    const names = destinations.flatMap((o) => (o.second ? [o.name, o.second.name] : [o.name]));
    const { rules } = destinationRules(statement.candidate);
    const { outcome } = statement;
    const stores: (() => void)[] = [];
    const element = (expected: Expected, rule: OperandRule, what: string): string => {
      if (expected.kind === "sink") return "_";
      const size = sizeOf(rule, expected.kind === "formula" ? expected.width : null);
      const register = this.#declare(size, expected.kind === "register" ? `named_${expected.name}` : undefined);
      this.#constant(register, BigInt.asUintN(size, untouched), size);
      if (expected.kind === "register") this.#named.set(expected.name, register);
      else {
        const values = this.#left(statement, expected.formula, size);
        const inAnyOrder = expected.anyOrder ? this.#executing(statement) : [];
        stores.push(() => this.#store(register, size, what, values, inAnyOrder));
      }
      return register;
    };
    const results = this.#expected(statement).map((elements, i) => {
      const what = (j: number) => (elements.length === 1 ? names[i]! : `${names[i]}[${j}]`);
      const texts = elements.map((expected, j) => element(expected, rules[i]!, what(j)));
      const isBraced = outcome.kind === "results" && outcome.braced[i] === true;
      return texts.length === 1 && rules[i]!.braces !== "required" && !isBraced ? texts[0]! : `{${texts.join(", ")}}`;
    });
    return { results, stores };
  }

  /** What is expected of the elements of each destination. */
  #expected(statement: Statement): readonly (readonly Expected[])[] {
    const { candidate, outcome } = statement;
    if (outcome.kind === "results") return outcome.results;
    if (outcome.kind === "model") {
      return this.#modelled(statement, outcome.name).map((elements) =>
        elements.map((values) => {
          const formula: Formula = ({ position }) => values[position]!;
          return { kind: "formula", formula, width: null, anyOrder: false };
        }),
      );
    }
    // Faults and ends leave nothing to check in destinations.
    const { rules, least } = destinationRules(candidate);
    return rules
      .slice(0, least)
      .map(({ counts }, i) =>
        Array.from({ length: counts[0]! }, (_, j): Expected => ({ kind: "register", name: `unused${i}_${j}` })),
      );
  }

  /** What a destination holds afterwards in each thread: in those that do not execute the statement, what it held. */
  #left(statement: Statement, formula: Formula, size: number): bigint[] {
    const executing = new Set(this.#executing(statement));
    return this.#threads((thread) => {
      const value = executing.has(thread) ? formula({ names: threadNames(thread), position: thread }) : untouched;
      return BigInt.asUintN(size, value);
    });
  }

  #modelled(statement: Statement, name: string): ReturnType<Model> {
    const model = models[name];
    if (!model) throw new Error(`there is no model "${name}"`);
    const operands = statement.operands.flatMap((o) =>
      o.kind === "values" ? [o.elements.map((v) => this.#values(v, statement))] : [],
    );
    const { opcode, candidate } = statement;
    return model({ mods: candidate.mods, opcode, operands, executing: new Set(this.#executing(statement)) });
  }

  /** Threads that have exited do not come to the store. */
  #store(
    register: string,
    size: number,
    what: string,
    all: readonly bigint[],
    inAnyOrder: readonly number[] = [],
  ): void {
    const values = all.map((value, thread) => (this.#ended.has(thread) ? null : value));
    const at = this.#layout.output({ what, size: Math.max(size, 8), values, inAnyOrder });
    if (size === 1) {
      const word = this.#declare(32);
      this.#emit(`selp.b32 ${word}, 1, 0, ${register};`, `st.global.b32 [%out+${at}], ${word};`);
    } else if (size === 128) {
      const [low, high] = [this.#declare(64), this.#declare(64)];
      this.#emit(`mov.b128 {${low}, ${high}}, ${register};`);
      this.#emit(`st.global.b64 [%out+${at}], ${low};`, `st.global.b64 [%out+${at + 8}], ${high};`);
    } else this.#emit(`st.global.b${size} [%out+${at}], ${register};`);
  }
}
