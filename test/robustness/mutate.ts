import type { Random } from "./seeds.ts";

/** Takes a text and others to borrow from, and returns it damaged in one place. */
type Mutation = (text: string, random: Random, others: readonly string[]) => string;

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)]!;

const flipBit: Mutation = (text, random) => {
  const at = random(text.length);
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << random(8))) + text.slice(at + 1);
};

const tokens = (text: string): string[] => text.match(/[\w$%.]+|\s+|[^\w\s]/g) ?? [];
const lines = (text: string): string[] => text.split(/(?<=\n)/);

/** Changes a list of pieces in place. */
type Edit = (pieces: string[], random: Random) => void;

const drop: Edit = (pieces, random) => void pieces.splice(random(pieces.length), 1);
const double: Edit = (pieces, random) => void pieces.splice(random(pieces.length), 0, pick(pieces, random));
const swap: Edit = (pieces, random) => {
  const [a, b] = [random(pieces.length), random(pieces.length)];
  [pieces[a], pieces[b]] = [pieces[b]!, pieces[a]!];
};
/** Puts one word of the text in the place of another that begins alike, which often keeps it valid. */
const rename: Edit = (pieces, random) => {
  const at = random(pieces.length);
  const alike = pieces.filter((piece) => piece[0] === pieces[at]![0] && piece[1] === pieces[at]![1]);
  pieces[at] = pick(alike, random);
};
/** Puts an extreme number in the place of a number. */
const renumber: Edit = (pieces, random) => {
  const numbers = pieces.flatMap((piece, at) => (/^\d/.test(piece) ? [at] : []));
  if (numbers.length > 0) pieces[pick(numbers, random)] = pick(extremes, random);
};
const extremes = [
  "0",
  "1",
  "3",
  "255",
  "65536",
  "2147483648",
  "4294967295",
  "0xffffffffffffffff",
  "1e308",
  "0f7fc00000",
];

const shuffle: Edit = (pieces, random) => {
  const from = random(pieces.length);
  const some = pieces.splice(from, 2 + random(8));
  while (some.length > 0) pieces.splice(from, 0, some.splice(random(some.length), 1)[0]!);
};

const edit =
  (cut: (text: string) => string[], change: Edit): Mutation =>
  (text, random) => {
    const pieces = cut(text);
    change(pieces, random);
    return pieces.join("");
  };

const splice: Mutation = (text, random, others) => {
  const other = pick(others, random);
  const [a, b] = [lines(text), lines(other)];
  return a.slice(0, random(a.length)).join("") + b.slice(random(b.length)).join("");
};

const mutations: readonly Mutation[] = [
  flipBit,
  ...[drop, double, swap, rename, renumber].map((change) => edit(tokens, change)),
  ...[drop, double, swap, shuffle].map((change) => edit(lines, change)),
  splice,
];

/** A text with one to three places damaged. */
export function mutate(text: string, random: Random, others: readonly string[]): string {
  let result = text;
  for (let times = 1 + random(3); times > 0; times--) {
    if (result.length > 0) result = pick(mutations, random)(result, random, others);
  }
  return result;
}
