import { programsOf } from "../program-file.ts";

/** `call` and `ret`: subroutines of a routine, which share its variables. */
export const subroutines = programsOf("subroutines", {
  "a subroutine is called from two places with different lanes": (id) => (id < 4 ? 2 * (2 * id + 1) : 2 * id),
  "a subroutine that lanes leave early, within divergent code": (id) =>
    (id < 3 ? 1000 : id < 6 ? 2000 : 3000) + 1 + (id & 1) + 100,
  "a subroutine that comes after another calls it, in a divergent loop": (id) => {
    let r = 0;
    for (let x = id & 3; x >= 0; x--) {
      if (x > 1) {
        r += 1;
        if (r < x) r += 10;
      }
      r += 100;
    }
    return r;
  },
  "a scalar call of a subroutine executes in every lane": (id) => id + 11 + (id === 2 ? 1000 : 0),
  "predicates are the routine's: what a subroutine compares, its caller sees": (id) => (id >= 5 ? 1 : 0),
  "a subroutine that no lane calls": () => 1,
  "any of the channels sends all active lanes into a subroutine": (id) => (id < 4 ? 1 : 0) + (id >= 8 ? 1 : 0),
  "subroutines of a function, which is called by some lanes, recursively": (id) => {
    if (id <= 2) return 0;
    let r = 0;
    for (let x = id; x > 0; x >>= 1) r += x % 2 === 1 ? x * x : 0;
    return r;
  },
  "a function called from a subroutine, whose lanes have partly returned": (id) => (id < 6 ? 3 * id : 0) + 1,
});
