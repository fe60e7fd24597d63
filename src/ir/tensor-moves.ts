/** The shapes of `tcgen05.ld` and `tcgen05.st`: lanes of tensor memory, and bits of each in a repetition. */
export type TensorMoveShape = "32x32b" | "16x64b" | "16x128b" | "16x256b" | "16x32bx2";

/** What moves between the registers of a warp and tensor memory (section 9.7.16.8). */
export interface TensorMove {
  readonly shape: TensorMoveShape;
  /** Registers of a lane. */
  readonly registers: number;
  /** A register has the low halves of two columns that are next to each other (`.pack::16b`, `.unpack::16b`). */
  readonly packed: boolean;
  /** The column at which the second part begins, counted from the first (16x32bx2); else 0. */
  readonly split: number;
}

/**
 * The cell of a register, counted from the address: a lane of tensor memory and a column. With `packed` columns are
 * counted in pairs. The manual has pictures of this (section 9.7.16.2.3.1); CUTLASS has it as layouts
 * (cute/atom/copy_traits_sm100.hpp), which are the origin of the cells of 16x64b.
 */
export function tensorCell(shape: TensorMoveShape, register: number, lane: number): readonly [number, number] {
  const row = lane >> 2;
  switch (shape) {
    case "32x32b":
      return [lane, register];
    case "16x64b":
      return [row + 8 * (lane & 1), 2 * register + ((lane >> 1) & 1)];
    case "16x128b":
      return [row + 8 * (register & 1), 4 * (register >> 1) + (lane & 3)];
    case "16x256b":
      return [row + 8 * ((register >> 1) & 1), 8 * (register >> 2) + 2 * (lane & 3) + (register & 1)];
    case "16x32bx2":
      return [lane & 15, register];
  }
}

/** Lanes of tensor memory that a move reaches. */
export const lanesOfMove = (shape: TensorMoveShape): 16 | 32 => (shape === "32x32b" ? 32 : 16);

/** How `tcgen05.ld.red` combines the registers of a lane. */
export interface TensorReduction {
  readonly op: "min" | "max";
  readonly type: "u32" | "s32" | "f32";
  /** Of f32: the signs are left out; a NaN is the result. */
  readonly abs: boolean;
  readonly nan: boolean;
}
