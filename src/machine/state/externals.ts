import type { Site } from "./code.ts";
import type { CallFrame } from "./launch-state.ts";

/** One lane's call of a function that the machine provides. Arguments and result are bit patterns. */
export interface ExternalCall {
  readonly x: CallFrame;
  readonly lane: number;
  readonly site: Site;
  readonly args: readonly bigint[];
}

export type ExternalFunction = (call: ExternalCall) => bigint;
