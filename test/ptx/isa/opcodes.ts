import type { Form } from "../../../src/ptx/isa/index.ts";

/**
 * Opcodes of a form: all combinations of choices, or `limit` of them in which each choice of each class occurs. A
 * modifier that the form allows in two positions is written in only one.
 */
export function opcodesOf(form: Form, limit: number): string[] {
  const slots = form.modifiers.map(({ name, choices, optional }) => [
    ...(choices ?? [name]),
    ...(optional ? [""] : []),
  ]);
  const count = slots.reduce((n, slot) => n * slot.length, 1);
  // A stride that is coprime to every number of choices visits all combinations before it repeats one.
  const stride = count > limit ? 7_919 : 1;
  const root = /^[a-z0-9_]+/.exec(form.text)![0];
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
    .map((words) => [root, ...words].filter((word) => word !== "").join("."));
}
