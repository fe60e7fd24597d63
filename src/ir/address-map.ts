/**
 * Where each state space lies: what the lowering of a module, `cvta` and `isspacep` take for given and the machine keeps.
 * Within its own space a variable of a window has a 32-bit address; its generic address has the window's upper half on
 * top. A global address is the same in both. The ranges are disjoint, so a wrong space, a null and a stray pointer differ.
 * Variables begin at `start`; what lies before it, from `from` on, is a negative index rather than another space.
 */
export const windows = {
  shared: { from: 0x0080_0000, start: 0x0100_0000, end: 0x1f00_0000 },
  local: { from: 0x1f00_0000, start: 0x2000_0000, end: 0x2f00_0000 },
  const: { from: 0x2f00_0000, start: 0x3000_0000, end: 0x3f00_0000 },
  "kernel-param": { from: 0x3f00_0000, start: 0x4000_0000, end: 0x4f00_0000 },
  function: { from: 0x4f00_0000, start: 0x5000_0000, end: 0x6000_0000 },
} as const;

export type WindowName = keyof typeof windows;

/**
 * By the bits of an address: the first address of global memory, and what is added to an address within a window's space
 * to make it generic. In a 32-bit module nothing is, and global memory is the upper 2 GiB of all.
 */
export const genericBases = {
  32: { global: 0x8000_0000n, window: 0n },
  64: { global: 0x7f00_0000_0000n, window: 0x7f10_0000_0000n },
} as const;
