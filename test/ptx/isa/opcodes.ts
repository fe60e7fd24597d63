import { type ChosenModifiers, type Form, instructionSet } from "../../../src/ptx/isa/index.ts";

/** What may be written for each modifier of a form; "" for one that is left out. */
const slotsOf = (form: Form): string[][] =>
  form.modifiers.map(({ name, choices, optional }) => [...(choices ?? [name]), ...(optional ? [""] : [])]);

const opcodeOf = (form: Form, words: readonly string[]): string => {
  const root = /^[a-z0-9_]+/.exec(form.text)![0];
  return [root, ...words].filter((word) => word !== "").join(".");
};

/**
 * Opcodes of a form: all combinations of choices, or `limit` of them in which each choice of each class occurs. A
 * modifier that the form allows in two positions is written in only one.
 */
export function opcodesOf(form: Form, limit: number): string[] {
  const slots = slotsOf(form);
  const count = slots.reduce((n, slot) => n * slot.length, 1);
  // A stride that is coprime to every number of choices visits all combinations before it repeats one.
  const stride = count > limit ? 7_919 : 1;
  const combination = (i: number): string[] => {
    let rest = (i * stride) % count;
    return slots.map((slot) => {
      const word = slot[rest % slot.length]!;
      rest = Math.floor(rest / slot.length);
      return word;
    });
  };
  const isOnce = (words: readonly string[]): boolean =>
    form.modifiers.every(({ name, choices }) => choices !== null || words.filter((w) => w === name).length < 2);
  return Array.from({ length: Math.min(count, limit) }, (_, i) => combination(i))
    .filter(isOnce)
    .map((words) => opcodeOf(form, words));
}

/** The choices of an opcode, one string each. */
export const choicesIn = (mods: ChosenModifiers): string[] =>
  Object.entries(mods).map(([name, choice]) => `${name}: ${choice ?? false}`);

/** Every choice of every class, and each optional modifier with and without, that some valid opcode of the form has. */
export function choicesOf(form: Form): string[] {
  const found = new Set<string>();
  slotsOf(form).forEach((words, slot) => {
    for (const word of words) {
      for (const opcode of opcodesWith(form, slot, word)) {
        const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
        if (!candidate) continue;
        for (const choice of choicesIn(candidate.mods)) found.add(choice);
        break;
      }
    }
  });
  return [...found];
}

/** Opcodes with one word fixed: all that have no other optional modifier, then all that have one. */
function* opcodesWith(form: Form, fixed: number, word: string): Generator<string> {
  const slots = slotsOf(form);
  const isOptional = (slot: number): boolean => slots[slot]!.includes("");
  for (const extra of [-1, ...slots.keys()]) {
    if (extra === fixed || (extra >= 0 && !isOptional(extra))) continue;
    const free = slots.map((words, slot) => {
      if (slot === fixed) return [word];
      if (slot === extra) return words.filter((w) => w !== "");
      return isOptional(slot) ? [""] : words;
    });
    const count = free.reduce((n, words) => n * words.length, 1);
    for (let i = 0; i < count; i++) {
      let rest = i;
      const chosen = free.map((words) => {
        const one = words[rest % words.length]!;
        rest = Math.floor(rest / words.length);
        return one;
      });
      yield opcodeOf(form, chosen);
    }
  }
}

/** Opcodes in which each pair of choices occurs. */
export function opcodesOfPairs(form: Form): string[] {
  const seen = new Set<string>();
  return opcodesOf(form, 20_000).filter((opcode) => {
    const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
    if (candidate === undefined) return false;
    const choices = choicesIn(candidate.mods);
    const pairs = choices.flatMap((a) => choices.map((b) => `${a} ${b}`));
    const isNew = pairs.some((pair) => !seen.has(pair));
    for (const pair of pairs) seen.add(pair);
    return isNew;
  });
}
