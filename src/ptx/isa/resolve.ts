import { typeInfo } from "../types.ts";
import type { ControlKind, Form, Instruction } from "./define.ts";
import { inOrder, matchUnordered } from "./modifier-order.ts";
import { type OperandRule, parseOperandSpec } from "./operand-spec.ts";
import type { OperandSlot } from "./template.ts";

/** The choice of each class of modifiers by name, and for each optional modifier whether it is written. */
export type ChosenModifiers = Readonly<Record<string, string | boolean | undefined>>;

/** An operand of a form, once the modifiers have been chosen. */
export interface ResolvedOperand extends OperandSlot {
  readonly rule: OperandRule;
  /** The rule of the name after the bar in `p|q`, or null. */
  readonly secondRule: OperandRule | null;
}

interface TableRow {
  readonly instruction: Instruction;
  readonly form: Form;
}

/** A form that an opcode's modifiers fit. The operands decide between several. */
export interface Candidate extends TableRow {
  readonly mods: ChosenModifiers;
  /** The modifiers as written, in order, without dots. */
  readonly written: readonly string[];
  readonly operands: readonly ResolvedOperand[];
  /** The opcode in the manual's order, if it is written in another, which ptxas mostly accepts; else null. */
  readonly inOrder: string | null;
}

interface Choice {
  readonly candidates: readonly Candidate[];
  /** What is wrong if there is no candidate, else null. */
  readonly problem: OpcodeProblem | null;
}

/** The result of looking up an opcode. */
export interface OpcodeResolution extends Choice {
  readonly opcode: string;
  /** How instructions with this root move control, whether or not the rest of the opcode is right; null for most. */
  readonly control: ControlKind | null;
}

/** Why an opcode fits no form. `forms` are those that it comes closest to. */
export type OpcodeProblem =
  | { readonly kind: "unknown-opcode"; readonly root: string }
  /**
   * `modifier`, at index `at`, is the first modifier that no form accepts in its place. `inOrder`: the opcode with the
   * same modifiers in the order of a form, or null.
   */
  | {
      readonly kind: "modifier";
      readonly modifier: string;
      readonly at: number;
      readonly forms: readonly Form[];
      readonly inOrder: string | null;
    }
  /** All modifiers fit, but `missing` is left out. `choices`: its choices if it is a class, else null. */
  | {
      readonly kind: "missing-modifier";
      readonly missing: string;
      readonly choices: readonly string[] | null;
      readonly forms: readonly Form[];
    }
  | { readonly kind: "invalid-combination"; readonly reason: string; readonly forms: readonly Form[] };

/** The modifiers that the forms of a problem have. */
export const modifiersOf = (forms: readonly Form[]): readonly string[] =>
  forms.flatMap((form) => form.modifiers.flatMap(({ name, choices }) => choices ?? [name]));

/** The first part of an opcode, or of the text of a form: what comes before the modifiers. */
export const rootOf = (text: string): string => /^[^.{ ]*/.exec(text)![0];

/** The instruction table, indexed by opcode. Look-ups are cached, because a program uses few distinct opcodes. */
export class InstructionSet {
  readonly instructions: readonly Instruction[];
  readonly #byRoot = new Map<string, TableRow[]>();
  readonly #cache = new Map<string, OpcodeResolution>();

  constructor(instructions: readonly Instruction[]) {
    this.instructions = instructions;
    for (const instruction of instructions) {
      for (const form of instruction.forms) {
        const root = rootOf(form.text);
        const rows = this.#byRoot.get(root);
        if (rows) rows.push({ instruction, form });
        else this.#byRoot.set(root, [{ instruction, form }]);
      }
    }
  }

  /** The first words of all opcodes, such as "ld". */
  get roots(): Iterable<string> {
    return this.#byRoot.keys();
  }

  /**
   * The forms that fit an opcode, or what is wrong with it. `opcode` is the whole dotted text, such as
   * "ld.global.v4.f32". The order of its modifiers matters unless a form allows any; if no form fits, any order is
   * tried.
   */
  resolve(opcode: string): OpcodeResolution {
    const known = this.#cache.get(opcode);
    if (known) return known;
    const [root = "", ...written] = opcode.split(".");
    const rows = this.#byRoot.get(root) ?? [];
    // All forms of a root do the same.
    const control = rows[0]?.form.control ?? null;
    const resolution = { opcode, control, ...this.#resolve(root, written, rows) };
    // Bounded, because hostile input may have any number of distinct opcodes.
    if (this.#cache.size < 20_000) this.#cache.set(opcode, resolution);
    return resolution;
  }

  #resolve(root: string, written: readonly string[], rows: readonly TableRow[]): Choice {
    if (rows.length === 0) return { candidates: [], problem: { kind: "unknown-opcode", root } };
    const candidates: Candidate[] = [];
    let furthest = -1;
    let forms: Form[] = [];
    let missing: { name: string; choices: readonly string[] | null } | null = null;
    let invalid: { reason: string; form: Form } | null = null;
    for (const { instruction, form } of rows) {
      const match = matchModifiers(form, written);
      if (match.mods) {
        const reason = form.invalid?.(match.mods) ?? null;
        if (reason === null) candidates.push(candidateOf(instruction, form, match.mods, written, null));
        else invalid ??= { reason, form };
        continue;
      }
      if (match.reached > furthest) {
        furthest = match.reached;
        forms = [];
        missing = null;
      }
      if (match.reached === furthest) {
        forms.push(form);
        if (match.missing && !missing) missing = match.missing;
      }
    }
    if (candidates.length === 0 && !invalid) {
      for (const { instruction, form } of rows) {
        const { mods } = matchInAnyOrder(form, written);
        if (!mods || form.invalid?.(mods)) continue;
        candidates.push(candidateOf(instruction, form, mods, written, [root, ...wordsOf(form, mods)].join(".")));
      }
    }
    if (candidates.length > 0) return { candidates, problem: null };
    if (invalid) {
      return { candidates, problem: { kind: "invalid-combination", reason: invalid.reason, forms: [invalid.form] } };
    }
    if (furthest >= written.length && missing) {
      return {
        candidates,
        problem: { kind: "missing-modifier", missing: missing.name, choices: missing.choices, forms },
      };
    }
    return {
      candidates,
      problem: {
        kind: "modifier",
        modifier: written[furthest] ?? "",
        at: furthest,
        forms,
        inOrder: opcodeInOrder(root, written, rows),
      },
    };
  }
}

/** An opcode with the same modifiers in the order of a form, or null if no form takes just these. */
function opcodeInOrder(root: string, written: readonly string[], rows: readonly TableRow[]): string | null {
  for (const { form } of rows) {
    const modifiers = inOrder(form.modifiers, written);
    if (modifiers === null) continue;
    const { mods } = matchModifiers(form, modifiers);
    if (mods && !form.invalid?.(mods)) return [root, ...modifiers].join(".");
  }
  return null;
}

const candidateOf = (
  instruction: Instruction,
  form: Form,
  mods: ChosenModifiers,
  written: readonly string[],
  inOrder: string | null,
): Candidate => ({ instruction, form, mods, written, operands: operandsOf(form, mods), inOrder });

/** Chosen modifiers in the order of their form, without dots. */
const wordsOf = (form: Form, mods: ChosenModifiers): readonly string[] =>
  form.modifiers.flatMap(({ name, choices, optional }) => {
    const chosen = mods[name];
    if (choices) return typeof chosen === "string" ? [chosen] : [];
    return !optional || chosen === true ? [name] : [];
  });

interface Match {
  readonly mods: Record<string, string | boolean | undefined> | null;
  /** The largest number of written modifiers that the form can match. */
  readonly reached: number;
  readonly missing: { readonly name: string; readonly choices: readonly string[] | null } | null;
}

function matchModifiers(form: Form, written: readonly string[]): Match {
  const slots = form.modifiers;
  let reached = 0;
  let missing: Match["missing"] = null;
  const chosen: (string | null)[] = new Array(slots.length).fill(null);
  const matchFrom = (slot: number, at: number): boolean => {
    if (at > reached) {
      reached = at;
      missing = null;
    }
    if (slot === slots.length) return at === written.length;
    const { name, optional, choices } = slots[slot]!;
    const word = written[at];
    if (word !== undefined && (choices ? choices.includes(word) : word === name)) {
      chosen[slot] = word;
      if (matchFrom(slot + 1, at + 1)) return true;
      chosen[slot] = null;
    }
    if (optional) return matchFrom(slot + 1, at);
    if (at === written.length && at === reached) missing ??= { name, choices };
    return false;
  };
  if (!matchFrom(0, 0)) {
    if (form.anyOrder) return matchInAnyOrder(form, written);
    return { mods: null, reached, missing };
  }
  return { mods: modsOf(form, chosen), reached, missing: null };
}

/** Matches the written modifiers in any order that ptxas accepts. */
function matchInAnyOrder(form: Form, written: readonly string[]): Match {
  const slots = form.modifiers;
  const { chosen, reached } = matchUnordered(rootOf(form.text), slots, written);
  if (chosen === null) return { mods: null, reached, missing: null };
  const missing = slots.find(({ optional }, i) => !optional && chosen[i] === null);
  return missing ? { mods: null, reached, missing } : { mods: modsOf(form, chosen), reached, missing: null };
}

function modsOf(form: Form, chosen: readonly (string | null)[]): Record<string, string | boolean | undefined> {
  const mods: Record<string, string | boolean | undefined> = {};
  form.modifiers.forEach(({ name, optional, choices }, i) => {
    if (choices) mods[name] = chosen[i] ?? undefined;
    else if (optional) mods[name] = chosen[i] !== null;
  });
  return mods;
}

/** The spec of operands that a row does not describe: the class `type`, or else the last modifier that is a type. */
function defaultSpec(form: Form): string | null {
  if (form.modifiers.some((m) => m.name === "type")) return "type";
  for (let i = form.modifiers.length - 1; i >= 0; i--) {
    const m = form.modifiers[i]!;
    if (!m.choices && typeInfo(m.name)) return m.name;
  }
  return null;
}

function operandsOf(form: Form, mods: ChosenModifiers): ResolvedOperand[] {
  const choice = (name: string): string | undefined => {
    const chosen = mods[name];
    return typeof chosen === "string" ? chosen : undefined;
  };
  const ruleOf = (name: string, address: boolean, destination: boolean): OperandRule => {
    const spec = form.specs[name];
    const text =
      typeof spec === "function" ? spec(mods) : (spec ?? (address ? "address" : (defaultSpec(form) ?? "any")));
    const rule = parseOperandSpec(text, choice);
    return destination && rule.immediate === "allowed" ? { ...rule, immediate: "never" } : rule;
  };
  const { paired } = form;
  const isThere = (slot: OperandSlot): boolean => slot.name in paired && Boolean(mods[paired[slot.name]!]);
  return form.operands
    .filter((slot) => !(slot.name in paired) || isThere(slot))
    .map((slot) => ({
      ...slot,
      optional: slot.optional && !isThere(slot),
      rule: ruleOf(slot.name, slot.address, slot.destination),
      secondRule: slot.second ? ruleOf(slot.second.name, false, slot.destination) : null,
    }));
}
