import { type Form, instructionSet } from "../../ptx/isa/index.ts";
import type { Modifier } from "../../ptx/isa/template.ts";
import { rootOf } from "../../ptx/isa/resolve.ts";

/** A modifier that can follow, with the forms that have it. */
export interface NextModifier {
  readonly word: string;
  readonly forms: readonly Form[];
}

/** How many combinations of modifiers are tried to see whether one is allowed. */
const tries = 2000;

/** The forms of all instructions that begin with a word. */
const formsOf = (root: string): readonly Form[] =>
  instructionSet.instructions.flatMap(({ forms }) => forms.filter((form) => rootOf(form.text) === root));

/**
 * The modifiers with which an opcode can go on: those that a form has in this place, and after which some complete
 * opcode exists. `written`: the modifiers so far, without dots.
 */
export function nextModifiers(root: string, written: readonly string[]): readonly NextModifier[] {
  const found = new Map<string, Form[]>();
  for (const form of formsOf(root)) {
    for (const word of nextOf(form, written)) {
      const forms = found.get(word);
      if (forms) forms.push(form);
      else found.set(word, [form]);
    }
  }
  return [...found].map(([word, forms]) => ({ word, forms }));
}

const accepts = ({ name, choices }: Modifier, word: string): boolean =>
  choices ? choices.includes(word) : word === name;

/** The words that a form has next. */
function nextOf(form: Form, written: readonly string[]): readonly string[] {
  const slots = form.modifiers;
  const words = new Set<string>();
  for (const chosen of matches(slots, written)) {
    for (let slot = chosen.length; slot < slots.length; slot++) {
      const { name, optional, choices } = slots[slot]!;
      const skipped = [...chosen, ...new Array<null>(slot - chosen.length).fill(null)];
      for (const word of choices ?? [name])
        if (!words.has(word) && completes(form, [...skipped, word])) words.add(word);
      if (!optional) break;
    }
  }
  return [...words];
}

/** The choices, slot by slot up to the last word, with which a form matches all of the words. */
function* matches(slots: readonly Modifier[], written: readonly string[]): Generator<readonly (string | null)[]> {
  function* from(slot: number, at: number, chosen: readonly (string | null)[]): Generator<readonly (string | null)[]> {
    if (at === written.length) {
      yield chosen;
      return;
    }
    const modifier = slots[slot];
    if (modifier === undefined) return;
    if (accepts(modifier, written[at]!)) yield* from(slot + 1, at + 1, [...chosen, written[at]!]);
    if (modifier.optional) yield* from(slot + 1, at, [...chosen, null]);
  }
  yield* from(0, 0, []);
}

/** Whether some complete choice that begins like this is allowed. */
function completes(form: Form, begun: readonly (string | null)[]): boolean {
  const { invalid } = form;
  if (invalid === null) return true;
  let left = tries;
  const from = (chosen: readonly (string | null)[]): boolean => {
    const modifier = form.modifiers[chosen.length];
    if (modifier === undefined) return left-- <= 0 || invalid(chosenOf(form, chosen)) === null;
    if (modifier.optional && from([...chosen, null])) return true;
    return (modifier.choices ?? [modifier.name]).some((word) => from([...chosen, word]));
  };
  return from(begun);
}

function chosenOf(form: Form, chosen: readonly (string | null)[]): Record<string, string | boolean | undefined> {
  const mods: Record<string, string | boolean | undefined> = {};
  form.modifiers.forEach(({ name, optional, choices }, i) => {
    if (choices) mods[name] = chosen[i] ?? undefined;
    else if (optional) mods[name] = chosen[i] != null;
  });
  return mods;
}
