import type { Expr } from "../semantics/index.ts";

/**
 * A state space that an access names. `shared-cluster`: the shared memory of any block of the cluster; `call-param`:
 * the `.param` variables of a frame, which calls pass.
 */
export type Space =
  | "generic"
  | "global"
  | "shared"
  | "shared-cluster"
  | "local"
  | "const"
  | "kernel-param"
  | "call-param";

/** What an access moves and how the memory model sees it: `count` elements of `bits` bits, adjacent in memory. */
export interface Access {
  /** Of a surface: `global`, whatever memory the launch binds to it. */
  readonly space: Space;
  /**
   * Bits of one element. Loads extend it to the destination's width, stores take the low bits. 128 bits are two of 64.
   */
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
  /** Elements (vector length). */
  readonly count: number;
  /** Bytes: the first element must be aligned to this. */
  readonly align: number;
  readonly volatile: boolean;
  readonly order: "weak" | "relaxed" | "acquire" | "release" | "acq_rel";
  readonly scope: "cta" | "cluster" | "gpu" | "sys" | null;
}

/** An access that orders nothing: of `count` elements of `bits` bits, the first of them aligned to `align` bytes. */
export const plainAccess = (space: Space, bits: Access["bits"], count = 1, align: number = bits / 8): Access => ({
  space,
  bits,
  signed: false,
  count,
  align,
  volatile: false,
  order: "weak",
  scope: null,
});

/**
 * Where each lane's access goes: to an address, or into a surface that the launch has bound. Beyond the end of a
 * surface, loads give 0 and stores do nothing. Textures are not modelled; one would be a third kind.
 */
export type Place =
  | {
      readonly kind: "address";
      /** In the space of the access: `i64`, or `i32` in a 32-bit module. */
      readonly address: Expr;
      /**
       * The surface of which the address is a part: beyond its end loads give 0, and stores do nothing, even if that is
       * in another allocation. Only `asWorkItems` makes such places.
       */
      readonly surface?: AddressedSurface;
    }
  | {
      readonly kind: "surface";
      /** In bytes (`i32`, unsigned). */
      readonly offset: Expr;
      /** An index into the launch's surfaces (`i32`), the same in all lanes. */
      readonly surface: Expr;
    };

/** A surface that is all of an allocation, accessed by addresses. */
export interface AddressedSurface {
  readonly index: number;
  /** The offset of its address among the kernel's parameters. */
  readonly param: number;
}

/** The place at an address. */
export const atAddress = (address: Expr): Place => ({ kind: "address", address });

/** The part of a place that each lane has for itself: its address, or its offset into the surface. */
export const laneAddressOf = (place: Place): Expr => (place.kind === "address" ? place.address : place.offset);

/** Spaces in which other warps may find what a warp has stored. */
const sharedSpaces: ReadonlySet<Space> = new Set(["generic", "global", "shared", "shared-cluster"]);

/** Whether threads of other warps may access the same memory. */
export const isShared = (place: Place, { space }: Access): boolean =>
  place.kind === "surface" || sharedSpaces.has(space);

/**
 * One of the accesses that an instruction makes. The instruction and `ordinal` together identify it: an instruction
 * that copies from memory to memory has two.
 */
export type MemoryAccess = {
  /** Its number among the accesses of the instruction, from 0. */
  readonly ordinal: number;
  readonly access: Access;
  readonly place: Place;
} & (
  | { readonly effect: "load" }
  /** By element; `null` leaves one as it is. */
  | { readonly effect: "store"; readonly values: readonly (Expr | null)[] }
  /** By element, over `old` leaves. */
  | { readonly effect: "atomic"; readonly combine: readonly Expr[] }
);
