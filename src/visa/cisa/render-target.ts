/** Parts of a render-target write's mode and their bits, in the order in which IGC prints them. */
const flags: readonly (readonly [name: string, bit: number])[] = [
  ["RTI", 2],
  ["A", 3],
  ["O", 4],
  ["Z", 5],
  ["ST", 6],
  ["LRTW", 7],
  ["CPS", 8],
  ["PS", 9],
  ["CM", 10],
  ["SI", 11],
  ["NULLRT", 12],
];

/** The mode as text, such as "<A><Z>"; null if bits without a meaning are set. */
export function modeText(bits: number): string | null {
  const known = flags.filter(([, bit]) => (bits >> bit) & 1);
  const sum = known.reduce((all, [, bit]) => all | (1 << bit), 0);
  return sum === bits ? known.map(([name]) => `<${name}>`).join("") : null;
}

/** The bits of a mode; null if a part of it is unknown. */
export function modeBits(text: string): number | null {
  const parts = text.match(/<\w+>/g) ?? [];
  if (parts.join("") !== text) return null;
  const bits = parts.map((part) => flags.find(([name]) => `<${name}>` === part)?.[1]);
  return bits.includes(undefined) ? null : bits.reduce<number>((all, bit) => all | (1 << bit!), 0);
}

/**
 * The values that follow, in order: the header, those that the mode adds before the colours, four colours, and those
 * that it adds after them.
 */
export function valuesOf(bits: number): readonly ("raw" | "vector")[] {
  const some = (kind: "raw" | "vector", ...names: readonly string[]) =>
    names.filter((name) => (bits >> flags.find(([known]) => known === name)![1]) & 1).map(() => kind);
  const colours = ["raw", "raw", "raw", "raw"] as const;
  return [
    "raw",
    ...some("vector", "SI", "CPS", "RTI"),
    ...some("raw", "A", "O"),
    ...colours,
    ...some("raw", "Z", "ST"),
  ];
}
