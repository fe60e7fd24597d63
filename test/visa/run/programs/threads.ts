import { programsOf } from "../program-file.ts";

const tri = (n: number): number => (n * (n - 1)) / 2;

/** Several threads and groups, partial threads, barriers in functions. */
export const threads = programsOf("threads", {
  "threads keep apart: variables, stacks, call masks": (id) => tri((id >> 3) + 1),
  "a thread with fewer work items than lanes: the others are never active": (id, width) =>
    ((id + 1) << 8) + (Math.floor(id / width) === Math.floor(20 / width) ? 1 : 0),
  "a barrier in a function that all threads reach by different ways": (id) => 3 * (id ^ 31),
  "subroutines of a thread call functions while the others wait": (id) => 23 * id + 1,
});
