/** Factors of blocks of A and B (section 9.7.14.3): D = (A * scaleA) * (B * scaleB) + C. */
export interface BlockScales {
  readonly format: "ue8m0" | "ue4m3";
  /** Blocks of a row of A and of a column of B. */
  readonly blocks: 1 | 2 | 4;
  readonly a: ScaleSelector;
  readonly b: ScaleSelector;
}

/** Which lanes of a quad, and which bytes of their registers, have scales; null: the operand says it. */
export interface ScaleSelector {
  readonly byte: number | null;
  readonly thread: number | null;
}

/**
 * The lane that has the scales of a row of A: lane 2 * thread of the row's quad for the first eight rows, the next lane
 * for the others (figure 43).
 */
export const scaleLaneOfRow = (row: number, thread: number): number =>
  4 * (row % 8) + 2 * (thread & 1) + (row < 8 ? 0 : 1);

/** The lane that has the scales of a column of B (figure 44). */
export const scaleLaneOfColumn = (column: number, thread: number): number => 4 * column + (thread & 3);
