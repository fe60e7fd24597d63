import { programsOf } from "../program-file.ts";

/** The lanes `from` and above of a thread, as bits. */
const lanesFrom = (from: number, width: number): number => 2 ** width - 2 ** from;

const sum = (from: number, to: number, of: (n: number) => number): number =>
  Array.from({ length: to - from + 1 }, (_, i) => of(from + i)).reduce((a, b) => a + b, 0);

/** Active lanes, and the bits that they give to flags. */
export const masks = programsOf("masks", {
  "the execution mask of each round of a loop that lanes leave one after the other": (id, width) =>
    sum(0, id, (round) => lanesFrom(round, width)),
  "the execution mask where three ways meet one after the other": (id, width) =>
    lanesFrom(0, width) ^ (id < 2 ? 0 : lanesFrom(2, width)) ^ (id < 5 ? 0 : lanesFrom(5, width)),
  "what has no mask is done once where ways meet": () => 111,
  "the execution mask in a subroutine, before and after some of its lanes have returned": (id, width) =>
    lanesFrom(0, width) ^ (id < 6 ? 0b111111 : 0) ^ (id >= 3 && id < 6 ? 0b111000 << 8 : 0),
  // All lanes, without those from 3 on, and 1.
  "the execution mask in a function that a scalar call began with all lanes": (id) => (id < 3 ? 1 : 0b111 + 1),
  "the execution mask on both ways of a branch, and the lanes of the thread in %sr0": (id) => {
    const lanes = id < 16 ? 0xffff : 0b1111;
    return (id % 2 === 1 ? lanes : lanes & 0x5555) | (lanes << 16);
  },
  // Lanes 15 and 14, and how many are above 111. The second thread has work items in four lanes.
  "what is computed without a mask in lanes that have no work item": (id) =>
    id < 16 ? 115 + 2 * 114 + 4 : 131 + 2 * 130 + 16,
  // One round for all lanes up to 16, two to four for those after it, none for the twelve without a work item.
  "a sum over the lanes of a thread, by halves without a mask, from a loop that some lanes have left": (id) =>
    id < 16 ? 16 * 2 : 2 + 3 + 4 + 5 + 12,
  "a wide branch of the upper half moves its lanes alone": (id) => (id < 16 ? 111 : id % 2 === 0 ? 122 : 120),
  "the lower half loops while the upper one waits, then the other way round": (id) =>
    id < 16 ? id + 1 + 1000 : 3 * (id - 16 + 1),
  "both halves test with one flag, each its own bits, and a branch takes both": (id) =>
    id < 5 || id >= 27 ? 0xf800_001f + 2 : 1,
  "a comparison of some lanes leaves the flag's other bits, which any and all count": (id) => (id < 3 ? 4 : 2) + 8 + 16,
  "any and all of the channels of quarters": (id) => (id < 8 ? 4 : id < 12 ? 2 + 8 + 16 : id < 16 ? 2 + 8 : 0),
  "bits of a number become a flag for all channels, and those of a vector for the active ones": (id, width) => {
    const flag = 0b11 + (0xaaaa_aaa0 % 2 ** width);
    return (id < 4 ? Number(id < 2) : id % 2) + flag;
  },
  "logic of flags under a mask": (id) => {
    if (id < 6) return (id % 8 < 4 ? 1 : 0) + 2;
    return id % 4 === 1 || id % 4 === 2 ? 1 : 2;
  },
  "calls within a loop that lanes leave at different times, by a function with a loop of its own": (id) =>
    sum(0, id % 4, (x) => (x % 2 === 1 ? 7 * x : 100)),
  "four sets of lanes call by address one after the other, and each function calls with half of its own": (id) => {
    const given = [id, id, id + 16, id + 32][id % 4]!;
    const [bit, more] = id % 2 === 0 ? [4, 1] : [8, 2];
    return ((given & bit) === 0 ? given : 3 * given) + more;
  },
  "a jump table in a loop takes each set of lanes by the number of the round": (id) => 3000 + (id % 2 === 0 ? 111 : 0),
  // The function's own scalar is 1000 when its odd lanes come, and 3000 when all of them go on.
  "a scalar that is counted without a mask on both ways of a branch and in a function of each": () => 3000 + 111,
  "lanes return from a loop in a function, and the rest goes on without a mask": (_, width) => width,
  "the address of a subset's function is in an element that the subset wrote": (id) => (id % 2 === 0 ? id + 5 : 5 * id),
  "what an inactive lane had is still there after the others' loop": (id) =>
    id === 0 ? 0 : id + 3 + (id > 4 ? 300 : 0),
});
