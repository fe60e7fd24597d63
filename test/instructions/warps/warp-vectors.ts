import type { Candidate, OperandRule } from "../../../src/ptx/isa/index.ts";
import { formFor } from "../vectors.ts";
import { type Formula, parseFormula } from "./formula.ts";

/*
 * Vectors of whole warps, for instructions that have an effect: what each of 32 lanes, or each thread of a block of
 * several warps, begins with, and what its registers and memory hold afterwards. A `.warp-vectors` file has groups:
 *
 *     ## manual 9.7.9.8, "d = *a"                origin of the expectations; begins a group and forgets the last one
 *     block 64                                   threads; 32 if nothing is said
 *     cluster 2                                  blocks that form one; threads count through them
 *     memory global,shared u32[32] = i*3         contents of memory spaces before each vector, as a formula over i
 *     with st.shared.u32 [shared+lane*4] lane    executed before each vector,
 *     then ld.shared.u32 [shared+lane*4] = lane  and after it
 *     interpreted REASON                         the compiler leaves the vectors of the group to the interpreter
 *     deviates REASON                            both engines are known to do something else than the manual says
 *     ld{,.weak}.global.{u32,s32} [global+lane*4] = lane*3
 *     @0..15 atom.global.add.u32 [global] 1 = any-order:lane ; global = i==0?16:i*3
 *
 * `interpreted` and `deviates` fail as soon as they are no longer true. Everything else is a vector:
 * `[@THREADS] OPCODE OPERAND... [= RESULT...] [; SPACE = FORMULA]...`
 *
 * - Alternatives: `{x,y}` in an opcode or an address stands for one vector with x and one with y (x may be empty);
 *   `each(x,y)` does so for an operand.
 * - THREADS (`0..3,8`, or `1..31/2` for the odd ones) execute the instruction, once behind a guard and once behind a
 *   branch; the others must keep what is in their registers. `@0..15|16..31`: both parts, each behind its own branch.
 * - Operands: a formula of each lane's value (formula.ts); `{a,b}` for a vector of any length, `{a}` for one element
 *   in braces; `!p`, a negated predicate; `%x`, a named register; `_`, an element that is not stored; `b32:x`, x in a
 *   register of 32 bits where the type has less, or another form has more; `pred:x`, where forms differ in whether the
 *   operand is a predicate; an address, `[global+lane*4]` or `[%x]`. It is made generic unless the opcode names a
 *   space. `[ss]` is an address in the space that the opcode names.
 * - Results: a formula, `{a,b}` or `{a}`; `b32:x`; `_`, a sink; `%x`, which names the register for later statements
 *   instead of
 *   checking it; `any-order:x`: the executing threads have the values that x gives for them, in some order. Alone:
 *   `model:NAME`, a function in models.ts that computes all results.
 * - Instead of results, `= fault CODE` (the launch ends) or `= exits` (the threads end).
 * - Each space holds afterwards what its formula says, or else what it held before.
 *
 * Spaces: `global`, `shared`, `const`, `param` (of the kernel). Each thread has its own `local`, `argument` (a
 * parameter of the function that the instruction is in) and `passed` (an argument of a call that follows it): formulas
 * of their contents may use `thread` and `lane`. Barrier 13 belongs to the kernels around the vectors.
 */

const spaces = ["global", "shared", "local", "const", "param", "argument", "passed"] as const;
export type Space = (typeof spaces)[number];

export interface Contents {
  readonly bits: number;
  readonly count: number;
  readonly formula: Formula;
}

export type Value =
  | { readonly kind: "formula"; readonly formula: Formula; readonly width: number | null }
  | { readonly kind: "register"; readonly name: string }
  /** `_`: an element that is not stored. */
  | { readonly kind: "sink" };

export type Operand =
  | {
      readonly kind: "values";
      readonly elements: readonly Value[];
      readonly isNegated: boolean;
      /** Whether it is written in braces. */
      readonly braced: boolean;
    }
  | {
      readonly kind: "address";
      /** A space, or a named register. */
      readonly base: { readonly space: Space } | { readonly register: string };
      readonly offset: Formula;
    };

export type Expected =
  | { readonly kind: "formula"; readonly formula: Formula; readonly width: number | null; readonly anyOrder: boolean }
  | { readonly kind: "register"; readonly name: string }
  | { readonly kind: "sink" };

type Outcome =
  /** Of each destination, its elements, and whether it is written in braces. */
  | {
      readonly kind: "results";
      readonly results: readonly (readonly Expected[])[];
      readonly braced: readonly boolean[];
    }
  | { readonly kind: "model"; readonly name: string }
  | { readonly kind: "fault"; readonly code: string }
  | { readonly kind: "exits" };

export interface Statement {
  readonly opcode: string;
  readonly candidate: Candidate;
  /** Parts of the block that execute it, each in a place of its own; null: all threads in one. */
  readonly parts: readonly (readonly number[])[] | null;
  readonly operands: readonly Operand[];
  readonly outcome: Outcome;
}

export interface WarpVector {
  readonly file: string;
  readonly line: number;
  /** With one choice of all alternatives. */
  readonly text: string;
  readonly origin: string;
  /** Threads of a block, blocks of the cluster, and threads of all of these. */
  readonly blockSize: number;
  readonly cluster: number;
  readonly block: number;
  /** What is known of the engines and these vectors. */
  readonly known: Known | null;
  readonly memory: ReadonlyMap<Space, Contents>;
  readonly before: readonly Statement[];
  readonly statement: Statement;
  readonly after: readonly Statement[];
  /** What spaces hold afterwards, where it is not what they held before. */
  readonly memoryAfter: ReadonlyMap<Space, Formula>;
}

export type Known = "interpreted" | "deviates";

/** What the lines of a group have said so far. */
interface Group {
  readonly origin: string;
  block: number;
  cluster: number;
  known: Known | null;
  readonly memory: Map<Space, Contents>;
  readonly before: Statement[];
  readonly after: Statement[];
}

const start = { block: 32, cluster: 1, known: null } as const;

/** Parses the vectors of a file. Throws on the first line that is not well formed, with `FILE:LINE:` in front. */
export function parseWarpVectors(file: string, text: string): WarpVector[] {
  let group: Group | null = null;
  return text.split("\n").flatMap((raw, index) => {
    try {
      if (raw.startsWith("## ")) {
        group = { origin: raw.slice(3).trim(), ...start, memory: new Map(), before: [], after: [] };
        return [];
      }
      const line = raw.replace(/#.*$/, "").trim();
      if (line === "") return [];
      if (group === null) throw new Error('a line needs an origin before it (a line that starts with "## ")');
      if (setUp(group, line)) return [];
      return alternatives(line).map((one) => ({ file, line: index + 1, ...vectorOf(group!, one) }));
    } catch (error) {
      throw new Error(`${file}:${index + 1}: ${(error as Error).message}`);
    }
  });
}

/** Takes a line that sets something up; false: it is a vector. */
function setUp(group: Group, line: string): boolean {
  const [word = "", rest = ""] = line.split(/ (.*)/);
  switch (word) {
    case "block":
      group.block = Number(rest);
      if (!/^\d+$/.test(rest) || group.block % 32 !== 0 || group.block > 1024)
        throw new Error(`a block has up to 1024 threads in whole warps, not "${rest}"`);
      return true;
    case "cluster":
      group.cluster = Number(rest);
      if (!/^([2-9]|1[0-6])$/.test(rest)) throw new Error(`a cluster has 2 to 16 blocks, not "${rest}"`);
      return true;
    case "interpreted":
    case "deviates":
      group.known = word;
      if (rest === "") throw new Error(`"${word}" needs a reason`);
      return true;
    case "memory":
      setMemory(group, rest);
      return true;
    case "with":
      group.before.push(statementOf(rest));
      return true;
    case "then":
      group.after.push(statementOf(rest));
      return true;
    default:
      return false;
  }
}

function setMemory(group: Group, text: string): void {
  const [, names, size, count, formula] = /^(\S+) [busf](8|16|32|64|128)\[(\d+)\] = (\S+)$/.exec(text) ?? [];
  if (formula === undefined) throw new Error('expected "memory SPACES TYPE[COUNT] = FORMULA"');
  for (const name of names!.split(","))
    group.memory.set(spaceNamed(name), { bits: Number(size), count: Number(count), formula: parseFormula(formula) });
}

function spaceNamed(name: string): Space {
  const space = spaces.find((s) => s === name);
  if (!space) throw new Error(`there is no space "${name}": there is ${spaces.join(", ")}`);
  return space;
}

/** The words of a line; brackets, braces and parentheses keep theirs together. */
const words = (text: string): string[] => text.match(/(?:\{[^}]*\}|\[[^\]]*\]|\S)+/g) ?? [];

/** The line with each choice of its `{x,y}`, other than those of operands and results. */
function alternatives(line: string): string[] {
  const [head = "", ...tail] = line.split(/( = | ; )/);
  let list = [""];
  for (const word of words(head)) {
    const isOperand = word.startsWith("{");
    const choices = isOperand ? [word] : expanded(word);
    list = list.flatMap((start) => choices.map((choice) => `${start} ${choice}`));
  }
  return list.map((start) => start.trim() + tail.join(""));
}

function expanded(word: string): string[] {
  const [, values] = /^each\((.*)\)$/.exec(word) ?? [];
  if (values !== undefined) return values.split(",");
  const match = /^([^{]*)\{([^}]*)\}(.*)$/.exec(word);
  if (!match) return [word];
  const [, start = "", choices = "", rest = ""] = match;
  return choices.split(",").flatMap((choice) => expanded(rest).map((end) => start + choice + end));
}

function vectorOf(group: Group, text: string): Omit<WarpVector, "file" | "line"> {
  const [instruction = "", ...changes] = text.split(" ; ");
  const statement = statementOf(instruction);
  const memoryAfter = new Map<Space, Formula>();
  for (const change of changes) {
    const [, name, formula] = /^(\S+) = (\S+)$/.exec(change.trim()) ?? [];
    if (formula === undefined) throw new Error(`expected "SPACE = FORMULA" after ";", not "${change.trim()}"`);
    const space = name === "ss" ? opcodeSpace(statement.candidate) : spaceNamed(name!);
    if (!group.memory.has(space)) throw new Error(`nothing says what ${space} memory holds before`);
    memoryAfter.set(space, parseFormula(formula));
  }
  for (const { operands } of [...group.before, statement, ...group.after])
    for (const operand of operands) {
      if (operand.kind === "address" && "space" in operand.base && !group.memory.has(operand.base.space))
        throw new Error(`nothing says what ${operand.base.space} memory holds before`);
    }
  const { origin, block: blockSize, cluster, known } = group;
  const block = blockSize * cluster;
  const [memory, before, after] = [new Map(group.memory), [...group.before], [...group.after]];
  for (const thread of statement.parts?.flat() ?? [])
    if (thread >= block) throw new Error(`there is no thread ${thread} in a block of ${block}`);
  return { text, origin, blockSize, cluster, block, known, memory, before, statement, after, memoryAfter };
}

function statementOf(text: string): Statement {
  const [left = "", right = ""] = text.trim().split(" = ");
  const list = words(left);
  const parts = list[0]?.startsWith("@") ? list.shift()!.slice(1).split("|").map(threadsOf) : null;
  const [opcode = "", ...written] = list;
  const candidate = formFor(
    opcode,
    written.map((word) => ({
      count: elementsOf(word).length,
      fits: ({ shape, type }) =>
        isAddress(word) === (shape === "address") &&
        (!word.startsWith("pred:") || type?.kind === "pred") &&
        (widthOf(word) ?? Infinity) >= (type?.bits ?? 0),
    })),
  );
  if (typeof candidate === "string") throw new Error(`${opcode}: ${candidate}`);
  const operands = written.map((word) => operandOf(word, candidate));
  const outcome = outcomeOf(right);
  if (outcome.kind === "results") checkResults(candidate, outcome.results);
  return { opcode, candidate, parts, operands, outcome };
}

/** `0..6/2,8`: 0, 2, 4, 6 and 8. */
function threadsOf(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [, first, last = first, step = "1"] = /^(\d+)(?:\.\.(\d+)(?:\/([1-9]\d*))?)?$/.exec(range) ?? [];
    if (first === undefined || Number(last) < Number(first)) throw new Error(`"${text}" is no list of threads`);
    const count = Math.floor((Number(last) - Number(first)) / Number(step)) + 1;
    return Array.from({ length: count }, (_, i) => Number(first) + i * Number(step));
  });
}

/** `{a,[b,c],f(d,e)}`: a, [b,c] and f(d,e). */
function elementsOf(word: string): string[] {
  if (!word.startsWith("{")) return [word];
  let depth = 0;
  const elements = [""];
  for (const character of word.slice(1, -1)) {
    if ("([".includes(character)) depth++;
    if (")]".includes(character)) depth--;
    if (character === "," && depth === 0) elements.push("");
    else if (character !== " ") elements[elements.length - 1] += character;
  }
  return elements;
}

/** The bits of the register that `b32:x` asks for. */
function widthOf(text: string): number | null {
  const [, size] = /^b(16|32|64):/.exec(text) ?? [];
  return size === undefined ? null : Number(size);
}

function widthAndFormula(text: string): { readonly formula: Formula; readonly width: number | null } {
  return { formula: parseFormula(text.replace(/^b\d+:/, "")), width: widthOf(text) };
}

const registerName = (text: string): string | null => /^%(\w+)$/.exec(text)?.[1] ?? null;

function elementValue(text: string): Value {
  if (text === "_") return { kind: "sink" };
  const name = registerName(text);
  return name === null ? { kind: "formula", ...widthAndFormula(text) } : { kind: "register", name };
}

/** `[global+4]` and `[%x]`, but not the lists of values `[1,2]` and `[lane+1,2]`. */
const isAddress = (word: string): boolean => /^\[(?!lane|thread|warp)%?[a-z]\w*[+\]]/i.test(word);

function operandOf(word: string, candidate: Candidate): Operand {
  if (isAddress(word)) return addressOf(word, candidate);
  if (word.startsWith("pred:")) return operandOf(word.slice(5), candidate);
  const isNegated = word.startsWith("!");
  const text = isNegated ? word.slice(1) : word;
  return { kind: "values", isNegated, braced: text.startsWith("{"), elements: elementsOf(text).map(elementValue) };
}

function addressOf(word: string, candidate: Candidate): Operand {
  const [, base, offset = "0"] = /^\[(%?\w+)(?:\+(.+))?\]$/.exec(word) ?? [];
  if (base === undefined) throw new Error(`"${word}" is no address: expected [SPACE+FORMULA] or [%REGISTER+FORMULA]`);
  const register = registerName(base);
  if (register !== null) return { kind: "address", base: { register }, offset: parseFormula(offset) };
  const space = base === "ss" ? opcodeSpace(candidate) : spaceNamed(base);
  const direct = directSpaces(candidate);
  if (direct !== null && !direct.includes(space)) throw new Error(`${word} is not in the space that the opcode names`);
  return { kind: "address", base: { space }, offset: parseFormula(offset) };
}

/** The spaces that each word of an opcode means, the usual one first. */
const spacesOf: Readonly<Record<string, readonly Space[]>> = {
  global: ["global"],
  shared: ["shared"],
  "shared::cta": ["shared"],
  "shared::cluster": ["shared"],
  local: ["local"],
  const: ["const"],
  param: ["param", "argument", "passed"],
  "param::entry": ["param"],
  "param::func": ["argument", "passed"],
};

/** The spaces that an opcode may address, which are two for copies; null: it takes generic addresses. */
export const directSpaces = ({ written }: Candidate): readonly Space[] | null => {
  const words = written.filter((w) => w in spacesOf);
  return words.length === 0 ? null : words.flatMap((word) => spacesOf[word]!);
};

function opcodeSpace(candidate: Candidate): Space {
  const [space] = directSpaces(candidate) ?? [];
  if (!space) throw new Error("[ss] is an address in the space that the opcode names, and it names none");
  return space;
}

function outcomeOf(text: string): Outcome {
  const list = words(text);
  const [, model] = /^model:(\w+)$/.exec(text.trim()) ?? [];
  if (model !== undefined) return { kind: "model", name: model };
  if (list[0] === "fault" && list.length === 2) return { kind: "fault", code: list[1]! };
  if (text.trim() === "exits") return { kind: "exits" };
  return {
    kind: "results",
    results: list.map((word) => elementsOf(word).map(expectedOf)),
    braced: list.map((word) => word.startsWith("{")),
  };
}

function expectedOf(word: string): Expected {
  if (word === "_") return { kind: "sink" };
  const name = registerName(word);
  if (name !== null) return { kind: "register", name };
  const anyOrder = word.startsWith("any-order:");
  return { kind: "formula", anyOrder, ...widthAndFormula(word.replace(/^any-order:/, "")) };
}

/** The rules of an instruction's destinations: those that it must have, and all that it may have. */
export function destinationRules({ operands }: Candidate): {
  readonly rules: readonly OperandRule[];
  readonly least: number;
} {
  const destinations = operands.filter((o) => o.destination);
  return {
    rules: destinations.flatMap((o) => (o.secondRule ? [o.rule, o.secondRule] : [o.rule])),
    least: destinations.reduce((n, o) => n + (o.second && !o.second.optional ? 2 : 1), 0),
  };
}

function checkResults(candidate: Candidate, results: readonly (readonly Expected[])[]): void {
  const { rules, least } = destinationRules(candidate);
  if (results.length < least || results.length > rules.length) {
    const wanted = least === rules.length ? `${least}` : `${least} to ${rules.length}`;
    throw new Error(`${results.length} results, and the instruction has ${wanted}`);
  }
  results.forEach((elements, i) => {
    if (!rules[i]!.counts.includes(elements.length))
      throw new Error(
        `result ${i + 1} has ${elements.length} elements, and the destination ${rules[i]!.counts.join(" or ")}`,
      );
  });
}
