import { programsOf } from "../program-file.ts";

const factorial = (n: number): number => (n === 0 ? 1 : n * factorial(n - 1));

/** Calls, branches and masks that cross one another. */
export const crossings = programsOf("crossings", {
  "lanes that wait at a label take part in a scalar call, and wait on": (id) => (id < 6 ? id + 1 : id),
  "a scalar call parts all lanes in its function, which calls with some of them": (id) =>
    id % 2 === 0 ? id : id + 7 + (id < 5 ? 1000 : 0) + 50,
  // Lane 0 keeps its 5: the function begins without it.
  "lanes that have ended take no part in a scalar call": (id) => (id < 3 ? 0 : 15),
  // RET of lane 2, which has ended, stays 0.
  "a scalar call within a masked call revives no lane that has left the kernel, and those that wait in the caller run":
    (id) => (id === 2 ? 0 : id % 2 === 0 ? 111 : 10),
  "nested subroutines with early returns, called from both arms of a branch": (id) =>
    id + (id < 2 ? 1010 : id < 6 ? 6010 : 0) + (id % 2 === 1 ? 200 : 100),
  "a scalar return of a subroutine takes along lanes that wait in it, and those alone": (id) =>
    7 + (id < 4 ? 100 : id < 6 ? 101 : 0),
  "a loop calls for one address after the other, and the function at one of them does the same": (id) =>
    [id + 1100, 3 * id, 3 * id + 1000, 3 * id][id % 4]!,
  "any and all of a predicate that only waiting lanes have": (id) => 100 + (id < 4 ? 7 : id + 2),
  "halves of a thread call the same function one after the other, which has code for both": (id) =>
    id < 16 ? id + 1 + (id >= 8 ? 1000 : 0) : id + 2002 + (id >= 24 ? 100 : 0),
  "results that are written without a mask after some lanes have returned": (id) => (id % 2 === 1 ? id : 5) + 1000,
  // Each of the 8 levels adds 100 to all lanes, whatever lanes it has.
  "a recursion in which lanes wait at the end of each level, where something is done without a mask": (id) =>
    800 + ((id & 7) * ((id & 7) + 1)) / 2,
  "predicates of each level of a recursion are its own": (id) =>
    Math.ceil((id & 7) / 2) + 16 * (Math.floor((id & 7) / 2) + 1),
  "a function calls itself by the address that it was given": (id) => factorial(id & 7),
  "the address is an element that a lane elsewhere wrote": (id) => 10000 + (id % 2 === 0 ? 3 * id : id + 100),
  "lanes enter a loop in the middle, and both parts of it call by address": (id) => {
    let [x, rounds] = [id, 0];
    do {
      if (id % 2 === 0 || rounds > 0) x++;
      x >>= 1;
      rounds++;
    } while (x > 2);
    return x * 256 + rounds;
  },
  "a uniform jump in divergent code reads a channel that is elsewhere": (id) => (id < 4 ? 10 : 11),
  "a jump table leads past lanes that wait": (id) => (id < 4 ? 12 : 8),
  "a function has address variables of its own, a subroutine has those of its kernel": () => 100 + 6 + 9,
  "the execution mask of each path, in a function too": (id, width) => {
    const all = 2 ** width - 1;
    const called = all & ~0b11111;
    const stay = called & 0x5555_5555;
    return id < 5 ? all : (id % 2 === 1 ? called : called + stay) ^ all;
  },
  "a scalar call in the last thread of a group has only the lanes that are there": (id) => (id < 16 ? 1 : 0),
  "two threads call different functions at the same place": (id) => (id < 16 ? id + 100 : 3 * id),
  // RET keeps the first call's results in lanes that do not make the second.
  "lanes of the upper half call by the bits of the upper half": (id) => {
    const first = id >= 16 && id % 4 === 2 ? id + 100 : 0;
    const second = id >= 16 && id < 24 && id % 4 !== 2 ? id + 100 : first;
    return first + second;
  },
  "a scalar call of a subroutine from another one, while lanes wait in that and in the kernel": (id) =>
    id % 2 === 0 ? 111 : 110,
  "a scalar return of a function by some of its lanes, which a scalar call from some lanes began": (id) =>
    id < 2 ? 1 : 6,
  "the rounds of a loop in a function, for one set of lanes after the other": (id, width) =>
    id < 3 ? 2 : Math.log2(width),
  // Lane 7 - id, of which the upper four have changed theirs when the lower four read it.
  "an address for each lane: lanes read what lanes elsewhere have": (id) => (id < 4 ? 1000 : 2 * 3 * (7 - id) + 100),
});
