import { programsOf } from "../program-file.ts";

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Vectors, arguments, results and memory in parts. */
export const parts = programsOf("parts", {
  "an argument is written in three parts, one of them without a mask": (id) =>
    2 * [0, 1, 2, 3, 4, 77, 6, 7, 0, 1, 2, 3, 6, 6, 8, 8][id]!,
  "a result is written in parts, and the rest is what the caller had": (id) =>
    id === 2 || (id >= 8 && id < 13) ? id : id >= 4 && id < 8 ? 9 : id + 1000,
  "two results, which some lanes swap in a function that takes nothing": (id) =>
    id % 2 === 0 ? 1000 * id + id + 100 : 1000 * (id + 100) + id,
  // X is 0 to 7, then 0 0 1 2 3 5 6 7, then 3 0 3 2 3 5 3 7; Y is its even elements and then its odd ones.
  "a chain of moves between elements of one register, all without a mask": () => 5 * 256 + 3,
  "each lane reads the one opposite by its own address, past the end of the variable in which that address lies": (
    id,
  ) => 1000 * (15 - id) + (id === 0 ? 555 : 16 - id),
  "vector numbers in halves and quarters take their elements from the first": (id) =>
    id < 8 ? -1 - (id % 4) : id < 16 ? 2 * (id - 8) + 8 : 0,
  "sums saturate in the type of their destination": (id) => {
    const value = 37 * id - 80;
    return (clamp(value, -128, 127) & 0xffff) | (clamp(value, 0, 255) << 16);
  },
  "saturated words under a flag, in parts of doublewords that keep the rest": (id) => {
    const word = clamp(9000 * id + (id % 2 === 1 ? 10000 : -40000), -0x8000, 0x7fff) & 0xffff;
    return id % 2 === 1 ? 0xaaaa_0000 | word : (word << 16) | 0x5555;
  },
  "floats saturate to 0 and 1, and become whole numbers towards zero": (id) => {
    const value = (id - 3) * 0.375;
    return Math.trunc(8 * clamp(value, 0, 1)) | ((Math.trunc(value) & 0xff) << 8) | (Math.trunc(-value) << 16);
  },
  "bytes and words of a vector change between its uses as doublewords": (id) => {
    const low = 0xff00 + id;
    const high = (low + 1) & 0xff;
    return ((id < 4 ? id : 0xff) << 24) + (high << 16) + low + 1;
  },
  "an element is written by a lane elsewhere, between two uses of the whole vector": (id) =>
    (id === 1 ? 500 : id + 10) + (id < 3 ? 1 : 0) + 13,
  "atomic additions of some lanes to one place, which all read afterwards": (id) => (id < 8 ? 5 + 1 + 3 + 5 + 7 : 0),
  "a place that several lanes of one store write, and then one lane of another": (id) =>
    id < 8 ? (id % 4 === 2 ? 99 : id % 4) : 0,
  "a block that a thread writes without a mask is read by lanes that another way took past it": () => 41,
  "a choice between two vectors of which each was written by other lanes": (id) =>
    ((id & 4) === 0 ? 1000 : 2000) + 256 * id,
  "smallest and greatest of lanes with and without sign": (id) =>
    clamp(id - 4, -2, 2) + (id < 4 ? 2 ** 32 + id - 4 : Math.max(id - 4, 7)),
  "carries of 64-bit numbers that are put together from halves": (id) => {
    const total = 0xffff_fffc + id + 3;
    return id < 8 ? (total % 2 ** 32) + 1000 * Math.floor(total / 2 ** 32) : 0;
  },
});
