import type { ProgramFunction, Site } from "./code.ts";
import type { CallFrame } from "./launch-state.ts";

/** One lane's call of a function that the machine provides. Arguments, as `wordBytesOf` says, and result are bits. */
export interface ExternalCall {
  readonly x: CallFrame;
  readonly lane: number;
  readonly site: Site;
  readonly args: readonly bigint[];
  /** The functions of the program, by address. */
  readonly functions: readonly ProgramFunction[];
  /** Tells observers of a range that is about to be written; null if there are none. */
  readonly onStore: ((address: bigint, bytes: number) => void) | null;
}

export type ExternalFunction = (call: ExternalCall) => bigint;
