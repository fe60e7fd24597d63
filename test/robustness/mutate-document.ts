import type { Random } from "./seeds.ts";

const odd: readonly unknown[] = [
  ...[null, "", "x", "0", true, [], {}, [[]]],
  ...[-1, 0, 0.5, 1, 3, 65_536, 2 ** 32 - 1, 2 ** 53, 1e308, Number.NaN],
];

/** Plain objects with one value dropped, doubled, exchanged or replaced by an odd one. */
export function mutateDocument(value: unknown, random: Random): unknown {
  const stranger = odd[random(odd.length)];
  if (typeof value !== "object" || value === null || random(8) === 0) return stranger;
  const keys = Object.keys(value);
  if (keys.length === 0) return stranger;
  const key = keys[random(keys.length)]!;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  const how = random(6);
  if (how === 0) delete copy[key];
  else if (how === 1) copy[key] = stranger;
  else if (how === 2) copy[key] = copy[keys[random(keys.length)]!];
  else copy[key] = mutateDocument(copy[key], random);
  return copy;
}
