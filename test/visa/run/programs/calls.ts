import { programsOf } from "../program-file.ts";

/** Which functions are called, with which lanes, and what they return. */
export const calls = programsOf("calls", {
  "each arm of a branch calls its own function, and the lanes converge again": (id) => (id < 5 ? 2 * id : id * id) + 1,
  "lanes that are predicated off do not call, and keep what they have": (id) => (id % 2 === 1 ? id * id : 1000),
  "an inverted predicate": (id) => (id <= 3 ? id * id : 1000),
  "any and all of the channels decide for every active lane": () => 1 + 4 + 16,
  "any looks at the channels of the execution size alone, active or not": (id) => (id === 12 ? 8 : 1),
  "M3 with 8 channels calls with lanes 8 to 15": (id) => (id >= 8 ? id * id : id),
  "M5 with 16 channels calls with the upper half of 32 lanes": (id) => (id >= 16 && id !== 20 ? id * id + id : id),
  "a scalar call executes in every lane, in divergent code too": (id) => id + 100 + (id === 2 ? 1000 : 0),
  "the predicate of a scalar call is that of channel 0, whether it is active or not": (id) =>
    5 + 1 + (id === 4 ? 10 : 0),
  "a scalar call from within a masked call borrows the other lanes and gives them back": (id) =>
    id % 2 === 0 ? 50 : 2 * id + (id < 6 ? 50 : 550),
  "what a callee does to %arg, to its variables and predicates is not seen by the caller": (id) =>
    (id < 4 ? 1000 : 0) + id + 9 + 77,
  "two values in and two out": (id) => (Math.floor((7 * id) / (id + 1)) << 16) | ((7 * id) % (id + 1)),
  "only return_size registers of %retval come back, and none but arg_size of %arg go in": () => 1,
  "a call that no lane makes changes nothing, not even %retval": (id) => id,
  "values of other types pass through %arg and %retval as bytes": (id) => {
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, id + 0.5);
    return view.getUint8(0);
  },
});
