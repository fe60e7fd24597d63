import { programsOf } from "../program-file.ts";

const collatz = (n: number): number => (n === 1 ? 0 : 1 + collatz(n % 2 === 0 ? n / 2 : 3 * n + 1));
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Lanes diverge and converge again; unmasked instructions run once per path. */
export const branches = programsOf("branches", {
  "a predicate is moved as a whole, though channel 0 is elsewhere: IGC drops the mask": (id, width) =>
    id === 0 ? 0 : 2 ** width - 8,
  "a loop that lanes leave at different times": (id) => collatz(id + 1),
  "nested loops: triangular numbers of triangular numbers": (id) =>
    sum(range((id & 7) + 1).map((n) => sum(range(n + 1)))),
  "break, continue and an early way out of both loops": (id) => {
    let count = 0;
    for (let x = 0; x < 6; x++) {
      for (let y = 0; ; ) {
        if (x * y === id) return count + 100;
        if (++y > x) break;
        if (y % 2 === 0) count++;
      }
    }
    return count + 1000;
  },
  "a switch by a chain of branches: each lane executes its own case, and falls into the next one": (id) =>
    [10001, 11000, 11100, 11110][id & 3]!,
  "two loops with two entries each: lanes enter in the middle": (id) => {
    let [x, r] = [id, 0];
    for (let second = id % 2 === 1; ; second = !second) {
      r += second ? 100 : 1;
      const step = second ? 3 : 2;
      if (x < step) return r;
      x -= step;
    }
  },
  "a scalar counter without mask counts the paths that any lane takes, and those alone": () => 1011,
  "a scalar counter without mask counts the rounds of the lane that stays longest": () => 6,
  "unmasked instructions write to lanes that wait elsewhere": (id) => (id === 3 ? 3 : 2),
  "a branch of execution size 1 moves all active lanes, and no lane that waits elsewhere": (id) =>
    id % 2 === 1 ? 110 : 100,
  "a uniform loop, by jmp and by goto of execution size 1": (id) => 5 * id + 3000,
  "a uniform branch reads the predicate of its own channel": () => 10,
  "a branch of 8 channels in a thread of 16 leaves the others where they are": (id) =>
    (id < 8 ? 0 : 1) + (id < 8 || id === 12 ? 10 : 0) + 100,
  "a loop that goes on for all while any lane has not finished": () => 8,
  "a loop that goes on while all have not finished": (id) => 3 | ((id & 7) << 8),
  "Euclid's algorithm, with a function in the loop": (id) => gcd(60, id + 1),
  "a jump table interprets a program of bytes": (id) => (2 * (id + 1)) ** 2 + 1,
  "lanes that return from the kernel early are gone": (id) => (id < 5 ? 1 : 3),
  "a return of execution size 1 ends the thread, with lanes that wait elsewhere": () => 1,
});
