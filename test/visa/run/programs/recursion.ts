import { programsOf } from "../program-file.ts";

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
const ackermann = (m: number, n: number): number =>
  m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
const female = (n: number): number => (n === 0 ? 1 : n - male(female(n - 1)));
const male = (n: number): number => (n === 0 ? 0 : n - female(male(n - 1)));
const binomial = (n: number, k: number): number =>
  k === 0 || k === n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);

/** Recursion: several activations of one function. */
export const recursion = programsOf("recursion", {
  "a factorial: lanes leave the recursion at different depths": (id) => factorial(id & 7),
  "Ackermann's function: recursion in an argument, and calls whose result is returned as it is": (id) =>
    ackermann((id & 1) + 1, (id >> 1) & 3),
  "mutual recursion decides whether a number is even": (id) => (id % 2 === 0 ? 1 : 0),
  "Hofstadter's female and male sequences, through addresses": (id) => (female(id) << 8) | male(id),
  "binomial coefficients: two recursive calls with a value held across the first": (id) =>
    binomial(((id >> 1) & 7) + (id & 3), id & 3),
  "scalar recursion, sixty deep": (id) => id + (60 * 61) / 2,
  "lanes go on alone while the others wait: the depth is each lane's own number": (id) => 2 ** (id & 15) - 1,
  "frames on the stack that %sp points to: each activation keeps a vector in memory": (id) =>
    ((id & 7) * ((id & 7) + 1)) / 2,
  "a sum of thousands of numbers, an activation for each": (id) => ((id + 5000) * (id + 5001)) / 2,
});
