import type { WasmFunction, WasmInstruction } from "./decode.ts";

/** A statement. Locals stand in its text as `$number$`, offsets from the first parameter as `@bytes@`. */
export interface Line {
  readonly depth: number;
  readonly text: string;
  /** Where its code begins, as `WasmInstruction.at`. */
  readonly at: number;
}

/** A value on the stack. It is written where it is used, or where something changes what it reads. */
interface Operand {
  readonly text: string;
  readonly reads: ReadonlySet<number>;
  readonly readsMemory: boolean;
}

interface Block {
  readonly label: string;
  readonly results: number;
  /** How many values are on the stack below its own. */
  readonly base: number;
}

const infix: Readonly<Record<string, string>> = {
  add: "+",
  sub: "-",
  mul: "*",
  and: "&",
  or: "|",
  xor: "^",
  shl: "<<",
  shr_u: ">>>",
  shr_s: ">>",
  eq: "==",
  ne: "!=",
};

/** Puts a function's instructions together to statements: assignments, stores, calls and branches. */
class Folding {
  readonly lines: Line[] = [];
  readonly #nameOf: (callee: number) => string;
  #stack: Operand[] = [];
  readonly #blocks: Block[] = [];
  #temporaries = 0;
  #labels = 0;
  #at = 0;

  constructor(nameOf: (callee: number) => string) {
    this.#nameOf = nameOf;
  }

  add(instruction: WasmInstruction): void {
    const { name, takes, gives, immediates } = instruction;
    if (this.#stack.length === 0) this.#at = instruction.at;
    switch (name) {
      case "block":
      case "loop":
      case "if":
      case "else":
      case "end":
      case "br":
      case "br_if":
      case "br_table":
      case "return":
      case "unreachable":
        this.#control(instruction);
        return;
      case "get":
        this.#stack.push({ text: local(immediates[0]!), reads: new Set([Number(immediates[0])]), readsMemory: false });
        return;
      case "tee":
      case "set":
        this.#assign(Number(immediates[0]));
        if (name === "tee") this.add({ ...instruction, name: "get" });
        return;
      case "const":
        this.#push(`${immediates[0]}`, []);
        return;
      case "drop":
        this.#pop();
        return;
      case "call":
      case "call_indirect":
        this.#call(name === "call" ? this.#nameOf(Number(immediates[0])) : "call_indirect", takes, gives);
        return;
    }
    const args = this.#popped(takes);
    const text = applied(
      name,
      args.map((a) => a.text),
      immediates,
    );
    if (gives === 0) this.#effect(text);
    else this.#push(text, args, /load|global\.get|atomic/.test(name));
  }

  #control({ name, immediates, expected }: WasmInstruction): void {
    const often = expected === null ? "" : expected ? "likely " : "unlikely ";
    const target = (depth: number | bigint | string): string => this.#blocks.at(-1 - Number(depth))?.label ?? "return";
    switch (name) {
      case "block":
      case "loop": {
        const label = `${name === "loop" ? "again" : "out"}${this.#labels++}`;
        this.#say(`${label}: ${name}`);
        this.#open(label, immediates[0]!);
        return;
      }
      case "if":
        this.#say(`if ${often}${this.#pop().text}`);
        this.#open("if", immediates[0]!);
        return;
      case "else": {
        const { results, base } = this.#blocks.at(-1)!;
        this.#leave(results, base);
        this.lines.push({ depth: this.#blocks.length - 1, text: "else", at: this.#at });
        return;
      }
      case "end":
        this.#end();
        return;
      case "br":
        this.#say(`br ${target(immediates[0]!)}`);
        return;
      case "br_if":
        this.#say(`br ${target(immediates[0]!)} if ${often}${this.#pop().text}`);
        return;
      case "br_table":
        this.#say(`br [${immediates.map(target).join(" ")}] by ${this.#pop().text}`);
        return;
      default:
        this.#say([name, ...this.#stack.map(({ text }) => text)].join(" "));
        this.#stack = [];
    }
  }

  #open(label: string, results: number | bigint | string): void {
    this.#blocks.push({ label, results: Number(results), base: this.#stack.length });
  }

  #end(): void {
    const block = this.#blocks.at(-1);
    if (block === undefined) {
      if (this.#stack.length > 0)
        this.#say(
          `return ${this.#popped(this.#stack.length)
            .map((v) => v.text)
            .join(", ")}`,
        );
      return;
    }
    this.#leave(block.results, block.base);
    this.#blocks.pop();
    this.#say("end");
    if (block.results > 0) this.#push("result", []);
  }

  /** The value of a block. */
  #leave(results: number, base: number): void {
    if (results > 0 && this.#stack.length > base) this.#say(`result = ${this.#pop().text}`);
    this.#stack.length = base;
  }

  #call(callee: string, takes: number, gives: number): void {
    const text = `${callee}(${this.#popped(takes)
      .map((arg) => arg.text)
      .join(", ")})`;
    this.#settle(({ readsMemory }) => readsMemory);
    if (gives === 0) this.#say(text);
    for (let i = 0; i < gives; i++) {
      const name = `t${this.#temporaries++}`;
      if (i === gives - 1) this.#say(`${name} = ${text}`);
      this.#push(name, []);
    }
  }

  #assign(to: number): void {
    const { text } = this.#pop();
    this.#settle(({ reads }) => reads.has(to));
    this.#say(`${local(to)} = ${text}`);
  }

  #effect(text: string): void {
    this.#settle(({ readsMemory }) => readsMemory);
    this.#say(text);
  }

  /** Gives names to the values that are about to change. */
  #settle(isStale: (operand: Operand) => boolean): void {
    this.#stack = this.#stack.map((operand) => {
      if (!isStale(operand)) return operand;
      const name = `t${this.#temporaries++}`;
      this.#say(`${name} = ${operand.text}`);
      return { text: name, reads: new Set(), readsMemory: false };
    });
  }

  #push(text: string, from: readonly Operand[], readsMemory = false): void {
    this.#stack.push({
      text,
      reads: new Set(from.flatMap(({ reads }) => [...reads])),
      readsMemory: readsMemory || from.some((operand) => operand.readsMemory),
    });
  }

  #pop(): Operand {
    return this.#stack.pop() ?? { text: "?", reads: new Set(), readsMemory: false };
  }

  #popped(count: number): Operand[] {
    return Array.from({ length: count }, () => this.#pop()).reverse();
  }

  #say(text: string): void {
    this.lines.push({ depth: this.#blocks.length, text, at: this.#at });
  }
}

const local = (index: number | bigint | string): string => `$${index}$`;

/** An operation in functional notation; those of integers that everybody knows in the usual one. */
function applied(name: string, args: readonly string[], immediates: readonly (number | bigint | string)[]): string {
  const [type, kind] = name.split(".", 2) as [string, string];
  const sign = infix[kind];
  if ((type === "i32" || type === "i64") && args.length === 2 && sign !== undefined)
    return `(${args.join(` ${sign} `)})`;
  if (/load|store|rmw/.test(name)) {
    const [address, ...rest] = args;
    const [offset, lane] = immediates;
    const at = offset === 0 ? address : address === "$0$" ? `$0$ + @${offset}@` : `${address} + ${offset}`;
    return `${name}[${at}]${lane === undefined ? "" : `{${lane}}`}${rest.length === 0 ? "" : ` ${rest.join(", ")}`}`;
  }
  return `${name}${immediates.length === 0 ? "" : `{${immediates.join(" ")}}`}(${args.join(", ")})`;
}

/** A function as statements. `nameOf`: of a called function, by its number in the module. */
export function statementsOf({ instructions }: WasmFunction, nameOf: (callee: number) => string): readonly Line[] {
  const folding = new Folding(nameOf);
  for (const instruction of instructions) folding.add(instruction);
  return folding.lines;
}
