/**
 * The window of each state space in the address space: the lowering of modules, `cvta` and `isspacep` assume these
 * ranges and the machine keeps to them. Within its own space, a variable of a window has a 32-bit address; its generic
 * address has the window's upper half on top. A global address is the same in both. The ranges are disjoint, so that a
 * wrong space, a null and a stray pointer can be told apart. Variables begin at `start`; an address in `[from, start)`
 * comes from a negative index rather than from another space.
 *
 * The lower 18 bits of the start of shared memory are 0, so that those of an address are an offset, as in descriptors of
 * matrices; bit 19 is set, by which these show an address that was not cut to 18 bits (`layoutOf`).
 */
export const windows = {
  shared: { from: 0x0080_0000, start: 0x0108_0000, end: 0x1f00_0000 },
  local: { from: 0x1f00_0000, start: 0x2000_0000, end: 0x2f00_0000 },
  const: { from: 0x2f00_0000, start: 0x3000_0000, end: 0x3f00_0000 },
  "kernel-param": { from: 0x3f00_0000, start: 0x4000_0000, end: 0x4f00_0000 },
  function: { from: 0x4f00_0000, start: 0x5000_0000, end: 0x6000_0000 },
} as const;

/** A state space that has a window. Global memory has none: its generic and its own addresses are the same. */
export type WindowName = keyof typeof windows;

/**
 * For each address size, in bits: the first address of global memory, and what is added to an address within a window's
 * space to make it generic. In a 32-bit module that is 0, and global memory is the upper 2 GiB of the address space.
 */
export const genericBases = {
  32: { global: 0x8000_0000n, window: 0n },
  64: { global: 0x7f00_0000_0000n, window: 0x7f10_0000_0000n },
} as const;
