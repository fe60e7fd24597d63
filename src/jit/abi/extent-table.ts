import { type Space, type WindowName, windows } from "../../ir/index.ts";

/**
 * The table of extents in a context, in which compiled code finds the objects of addresses by itself: a header, then an
 * entry for each shared variable, constant and parameter, by address. The header says where the table of all
 * allocations is, which contexts share, and how many entries both have.
 */
export const extentHeader = {
  allocations: 0,
  allocationCount: 4,
  ownCount: 8,
  granules: 12,
  granuleCount: 16,
} as const;

export const extentHeaderBytes = 32;

/**
 * The map of allocated granules, for accesses whose lanes may each be in another allocation: a byte for each granule of
 * the device's memory, which says how many of its words are allocated. No granule has parts of two allocations, and
 * what is allocated of one is at its beginning. The header says where the map is, and how many bytes it has: none,
 * unless the kernel asks for it.
 */
export const granule = { bits: 8, words: 64 } as const;

/** What code may find in the tables: bits that say which spaces an access may touch. */
export const findable = { global: 1, shared: 2, const: 4, "kernel-param": 8, generic: 16 } as const;

/** The spaces with a window whose variables are in a context's own table, in the order of their addresses. */
export const ownSpaces = ["shared", "const", "kernel-param"] as const satisfies readonly WindowName[];

/** The spaces in which accesses of a space are searched for; none (0) where only the launcher finds them. */
export function findableFor(space: Space, writes: boolean): number {
  switch (space) {
    case "global":
      return findable.global;
    case "shared":
      return findable.shared;
    case "const":
    case "kernel-param":
      return writes ? 0 : findable[space];
    case "generic": {
      const written = findable.generic | findable.global | findable.shared;
      return writes ? written : written | findable.const | findable["kernel-param"];
    }
    case "local":
    case "call-param":
    case "shared-cluster":
      return 0;
  }
}

/** The addresses before which those of a space in a context's own table are. */
export const endOfSpace = (space: (typeof ownSpaces)[number]): number => windows[space].end;
