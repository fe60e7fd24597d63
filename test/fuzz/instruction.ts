import { candidateGateProblem } from "../../src/ptx/check/gates.ts";
import {
  type Candidate,
  elementType,
  type Form,
  type Instruction,
  instructionSet,
  type OperandRule,
  type ResolvedOperand,
} from "../../src/ptx/isa/index.ts";
import type { FunctionText } from "./function-text.ts";
import type { Random } from "./random.ts";
import { type Target, version } from "./target.ts";
import { pattern, type Width } from "./values.ts";

/** How often sections of the manual's chapter 9.7 are chosen: what real programs have much of, often. */
const weights = {
  "9.7.1": 6, // integers
  "9.7.2": 1, // carries
  "9.7.3": 6, // f32 and f64
  "9.7.4": 3, // f16 and bf16
  "9.7.5": 1, // mixed precision
  "9.7.6": 3, // comparison and selection
  "9.7.7": 2, // the same of f16 and bf16
  "9.7.8": 4, // logic and shifts
  "9.7.9": 2, // moves
  "9.7.9.21": 5, // conversions
  "9.7.18": 2, // video
} as const;
type Section = keyof typeof weights;

interface Choice {
  readonly instruction: Instruction;
  readonly forms: readonly Form[];
}

/** Instructions that compute results from registers, by section. */
const sections = ((): Readonly<Partial<Record<Section, readonly Choice[]>>> => {
  const found: Partial<Record<Section, Choice[]>> = {};
  for (const instruction of instructionSet.instructions) {
    const { section: whole } = instruction;
    const section = (whole in weights ? whole : whole.split(".").slice(0, 3).join(".")) as Section;
    const forms = instruction.forms.filter((form) => form.sem !== null);
    if (section in weights && forms.length > 0) (found[section] ??= []).push({ instruction, forms });
  }
  return found;
})();
const present = Object.fromEntries(Object.entries(weights).filter(([s]) => s in sections)) as typeof weights;

/** A random opcode with all its modifiers, and the form that it is of; null where the choices do not go together. */
function randomOpcode(random: Random, form: Form, target: Target): Candidate | null {
  const words = form.modifiers.flatMap(({ name, optional, choices }) =>
    optional && random.chance(0.5) ? [] : [choices === null ? name : random.pick(choices)],
  );
  const root = /^\w+/.exec(form.text)![0];
  const opcode = [root, ...words].join(".");
  // Addresses have 64 bits.
  if (root === "cvta" && words.includes("u32")) return null;
  const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form && c.inOrder === null);
  if (candidate === undefined) return null;
  return candidateGateProblem(candidate, opcode, version.number, target) === null ? candidate : null;
}

const opcodeOf = ({ form, written }: Candidate): string => [/^\w+/.exec(form.text)![0], ...written].join(".");

/** What selectors the table's rows have: bytes, half words, selections and masks of them. */
const digits = (letter: string, count: number, below: number, random: Random): string =>
  letter + Array.from({ length: count }, () => random.below(below)).join("");
function selector(random: Random, allowed: RegExp): string {
  for (;;) {
    const text = random.pick([
      digits("b", random.pick([1, 4]), random.pick([4, 8]), random),
      digits("h", random.pick([1, 2]), random.pick([2, 4]), random),
      random.pick(["b10", "b32", "b210", "b321", "b3210", "b31", "h10"]),
    ]);
    if (allowed.test(text)) return `.${text}`;
  }
}

/** An immediate as the type wants it. */
function immediate(random: Random, { type, range, values, multiple }: OperandRule): string | null {
  if (values) return `${random.pick(values)}`;
  if (multiple) return `${multiple * random.below(9)}`;
  if (range && type?.kind === "f") return (range[0] + (range[1] - range[0]) * random.pick([0.25, 0.5, 1])).toFixed(2);
  if (range) return `${random.between(...range)}`;
  const bits = type?.bits ?? 32;
  if (type?.name === "f32") return `0f${pattern(random, 32).toString(16).padStart(8, "0")}`;
  if (type?.name === "f64") return `0d${pattern(random, 64).toString(16).padStart(16, "0")}`;
  if (type === null || type.lanes > 1 || type.kind === "f" || /^[a-z]+\d+x|bf|tf|e\dm/.test(type.name)) return null;
  if (bits !== 16 && bits !== 32 && bits !== 64) return null;
  const value = random.chance(0.5) ? BigInt(random.between(-3, 70)) : pattern(random, bits);
  return type.kind === "s" ? `${BigInt.asIntN(bits, value)}` : value < 0n ? `${value}` : `${value}U`;
}

/** Where an instruction may read and write. */
interface Reach {
  /** Only registers that begin as uniform. */
  readonly uniform: boolean;
  readonly guarded: boolean;
  /** The address for an operand in brackets; without it instructions that have one are not chosen. */
  readonly address?: (space: string | undefined) => string;
  /** The text of an operand of an opcode that cannot be any value; null for one that can. */
  readonly special?: (name: string, opcode: string) => string | null;
}

class OperandWriter {
  readonly #text: FunctionText;
  readonly #random: Random;
  readonly #candidate: Candidate;
  readonly #uniform: boolean;

  constructor(text: FunctionText, candidate: Candidate, uniform: boolean) {
    this.#text = text;
    this.#random = text.random;
    this.#candidate = candidate;
    this.#uniform = uniform;
  }

  /** Null where the operand is nothing that a register or an immediate can be. */
  operand(slot: ResolvedOperand): string | null {
    const first = this.#element(slot, slot.rule);
    if (first === null || slot.second === null || slot.secondRule === null) return first;
    if (slot.second.optional && this.#random.chance(0.4)) return first;
    const second = this.#element(slot, slot.secondRule);
    return second === null ? null : second === first ? null : `${first}|${second}`;
  }

  #element(slot: ResolvedOperand, rule: OperandRule): string | null {
    const random = this.#random;
    if (rule.shape !== "value" || rule.type === null) return null;
    if (rule.sink) return "_";
    const count = random.pick(rule.counts);
    if (rule.immediate === "only") return immediate(random, rule);
    if (rule.immediate === "allowed" && count === 1 && random.chance(0.2)) {
      const text = immediate(random, rule);
      if (text !== null && rule.braces !== "required") return text;
    }
    // A barrier's number and the like: a register could hold anything.
    if (rule.range || rule.values) return immediate(random, rule);
    const type = elementType(rule, count);
    if (type === null) return null;
    const names: string[] = [];
    for (let tries = 0; names.length < count && tries < 50; tries++) {
      const name = this.#register(type.bits as Width);
      if (!slot.destination || !names.includes(name)) names.push(name);
    }
    if (names.length < count) return null;
    const text = count > 1 || rule.braces === "required" ? `{${names.join(", ")}}` : names[0]!;
    const allowed = this.#candidate.form.selectors[slot.name];
    const part = allowed && random.chance(0.6) ? selector(random, allowed) : "";
    const sign = slot.negatable && random.chance(0.3) ? "!" : slot.signed && random.chance(0.3) ? "-" : "";
    return `${sign}${text}${part}`;
  }

  #register(width: Width): string {
    // A uniform instruction stays uniform; any other reads uniform values now and then.
    return this.#text.register(width, this.#uniform);
  }
}

/** One line of a random instruction over the pool, whose result is a function of what it reads. */
export function randomInstruction(text: FunctionText, reach: Reach): string {
  const { random } = text;
  for (;;) {
    const { forms } = random.pick(sections[random.weighted(present)]!);
    const line = instructionOf(text, random.pick(forms), reach);
    if (line !== null) return line;
  }
}

/** A line with random modifiers and operands of a form; null where the choices do not go together. */
export function instructionOf(
  text: FunctionText,
  form: Form,
  { uniform, guarded, address, special }: Reach,
): string | null {
  const { random } = text;
  const candidate = randomOpcode(random, form, text.target);
  if (candidate === null) return null;
  const operands: string[] = [];
  for (const slot of candidate.operands) {
    if (slot.optional && random.chance(0.5)) break;
    if (slot.rule.shape === "address" && address !== undefined) {
      const { space = candidate.mods.ss } = candidate.mods;
      operands.push(address(typeof space === "string" ? space : undefined));
      continue;
    }
    const given = special?.(slot.name, opcodeOf(candidate)) ?? null;
    if (given !== null) {
      operands.push(given);
      continue;
    }
    const reads = !slot.destination && !uniform && random.chance(0.15);
    const operand = new OperandWriter(text, candidate, uniform || reads).operand(slot);
    if (operand === null) return null;
    operands.push(operand);
  }
  // A vector is packed into a scalar or unpacked from one.
  const packed = candidate.operands.filter(({ rule }, i) => rule.split && operands[i]?.startsWith("{"));
  if (packed.length > 1) return null;
  const guard = guarded && random.chance(0.15) ? `@${random.chance(0.5) ? "!" : ""}${text.register(1, uniform)} ` : "";
  return `${guard}${opcodeOf(candidate)} ${operands.join(", ")};`;
}

const atomicForms = instructionSet.instructions
  .filter(({ name }) => name === "atom" || name === "red")
  .flatMap(({ forms }) => forms)
  .filter(({ effect }) => effect !== null);

/** An atomic operation on 32 bytes, aligned to as many: in global or shared memory, or by a generic address. */
export function atomicInstruction(
  text: FunctionText,
  place: { readonly global: string; readonly shared: string; readonly generic: string },
): string {
  const address = (space: string | undefined): string =>
    space === undefined ? place.generic : space === "global" ? place.global : place.shared;
  for (;;) {
    const line = instructionOf(text, text.random.pick(atomicForms), { uniform: false, guarded: true, address });
    if (line !== null) return line;
  }
}
