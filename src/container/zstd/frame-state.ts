import type { FseTable } from "./fse.ts";
import type { HuffmanTable } from "./huffman.ts";

/** The most bytes that a block can stand for. */
export const mostOfBlock = 0x2_0000;

/** What one block of a frame leaves to the next, and where its bytes go. */
export interface FrameState {
  readonly output: Uint8Array;
  /** Where the frame's own bytes begin: no copy reaches further back. */
  readonly begin: number;
  /** Where the next byte goes. */
  at: number;
  /** Where the frame's bytes must end. */
  readonly end: number;
  /** How far back copies may reach. */
  readonly window: number;
  readonly maxBlock: number;
  /** The last Huffman code, which a block may use again, as it may the tables. */
  huffman: HuffmanTable | null;
  readonly tables: Record<TableName, FseTable | null>;
  /** The last three distances. */
  readonly recent: [number, number, number];
  /** Room for the literals of a block. */
  readonly literals: Uint8Array;
}

export type TableName = "literals" | "offsets" | "matches";
