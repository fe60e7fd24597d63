/**
 * The window of each state space in the address space: the lowering of modules, `cvta` and `isspacep` assume these
 * ranges and the machine keeps to them. Within its own space, a variable of a window has a 32-bit address; its generic
 * address has the window's upper half on top. A global address is the same in both. The ranges are disjoint, so that a
 * wrong space, a null and a stray pointer can be told apart. Variables begin at `start`; an address in `[from, start)`
 * comes from a negative index rather than from another space.
 *
 * The lower 18 bits of the start of shared memory are 0, so that those of an address are an offset, as in descriptors
 * of matrices; bit 19 is set, by which these show an address that was not cut to 18 bits (`layoutOf`).
 */
export const windows = {
  shared: { from: 0x0200_0000, start: 0x0308_0000, end: 0x1f00_0000 },
  local: { from: 0x1f00_0000, start: 0x2000_0000, end: 0x2f00_0000 },
  const: { from: 0x2f00_0000, start: 0x3000_0000, end: 0x3f00_0000 },
  "kernel-param": { from: 0x3f00_0000, start: 0x4000_0000, end: 0x4f00_0000 },
  function: { from: 0x4f00_0000, start: 0x5000_0000, end: 0x6000_0000 },
} as const;

/**
 * The window of shared memory within a cluster of blocks. A block has its own shared memory at `windows.shared.start`
 * in every launch, which is its `.shared::cta` window and part of its `.shared::cluster` window. The shared memory of
 * the block of rank r, the own one included, is also at `ranks + r * stride`, which is the same address in all blocks
 * of the cluster: `mapa` gives that one. `pair`: the shared memory of the block of even rank in a pair of blocks, which
 * code for pairs finds by clearing bit 24 of an own address (the layout of addresses on hardware).
 *
 * All of these begin a multiple of `stride` away from each other and extend half a stride to both sides, so that a
 * negative index is found in the window that it was meant for. There is one more rank than a cluster can have blocks:
 * `mapa` gives it for ranks beyond those.
 */
export const clusterWindows = {
  pair: 0x0208_0000,
  ranks: 0x0608_0000,
  stride: 0x0100_0000,
  maxRank: 16,
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
