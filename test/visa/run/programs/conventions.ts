import { programsOf } from "../program-file.ts";

/** Arguments, return values, and the variables that calls preserve. */
export const conventions = programsOf("conventions", {
  "all of %arg goes in: 32 registers of 8 dwords": (id) => (id * 32 * 33) / 2,
  "all of %retval comes out: 12 registers": (id) =>
    Array.from({ length: 12 }, (_, i) => (id & 3) ** i).reduce((a, b) => a + b, 0),
  "a function hands on the %arg that it got, without touching it": (id) => id + 5,
  "a function that changes its %arg, and its caller's other arguments": (id) => id * id * 256 + id,
  "half of the lanes give their argument, the others one of their own, and all call": (id) =>
    (id < 4 ? id : 10 * id) + 1,
  "words and bytes in %arg, doubles and halves in %retval": (id) => ((id + 200) << 16) | Math.trunc(4.5 * id),
  "a result that is an address, called at once": (id) => id + 3,
  "a lane keeps the result of its call while others call the same function": (id) => id + (id < 5 ? 1 : 100),
  "lanes leave a function one after the other, each with a result of its own": (id) => {
    let steps = 0;
    for (let x = id + 1; x > 1; x = x % 2 === 0 ? x / 2 : 3 * x + 1) steps++;
    return steps;
  },
  "each level of calls has other lanes: what comes back is for those that went": (id) =>
    id <= 2 ? 0 : 1000 + id + ((id & 1) === 0 ? 100 : (id & 2) === 2 ? 400 : 200),
  "a scalar call that its predicate's element 0 forbids": (id) => (3 << 16) | (id + 9),
  "a table of addresses in shared memory, filled by one thread and used by all": (id, width) =>
    id + 1 + ((Math.floor(id / width) * (width / 8)) & 1),
  "objects with tables of functions in memory: each lane calls the method of its object": (id) =>
    [id * id, 2 * id, -id][id % 3]!,
  "a frame in memory with a function's address in it, three deep": (id) => (id === 4 ? 0 : 2 * (2 * (id + 7) + 7)),
  "lanes leave before the function has given back its stack, and the last ones do it": (id) => (id < 4 ? 5 : 6),
  "a barrier in a recursion: all threads go equally deep": (id) => 64 + id,
  "a subroutine that calls functions, from a function that subroutines call": (id) =>
    (id === 1 ? 0 : 1000 + (id + 3 >= 8 ? id + 3 : id + 6)) + 1,
  "what a NoMask write puts into %arg and %retval for lanes that do not call": (id) => 2 * id,
  "a call in a loop of its own for each lane, with a call stack that grows and shrinks": (id) =>
    [0, 1, 1, 2, 3, 5, 8, 13][id & 7]!,
  "results in registers that the caller did not ask for do not come back": (id) => (5 << 8) | id,
});
