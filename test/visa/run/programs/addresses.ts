import { programsOf } from "../program-file.ts";

/** `faddr` and `ifcall`: functions by their addresses. */
export const addresses = programsOf("addresses", {
  "one of two functions, by a value that all lanes share": (id) => id + 10 + 100,
  "a table of addresses in registers, read through an address variable": (id) => id + 11110,
  "each lane has its own target: one target after the other, with the lanes that want it": (id) =>
    (id + 10 ** ((id & 3) + 1)) | (4 << 20),
  "addresses kept in memory as qwords, and called as qwords": (id) => id + 10000,
  "a bad address is ignored if no lane calls": () => 3,
  "a function takes a function: it applies it twice": (id) => id + 20 + 2000,
  "addresses of functions differ, and two of one function do not": () => 111,
  "a scalar call by address, in a loop of one lane": (id) => (id === 3 ? 5 << 8 : 0) | 36,
});
