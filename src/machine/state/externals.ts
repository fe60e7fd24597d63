import type { Activation } from "./activation.ts";
import type { Site } from "./code.ts";

/** One lane's call of a function that the machine provides. Arguments and result are bit patterns. */
export interface ExternalCall {
  readonly x: Activation;
  readonly lane: number;
  readonly site: Site;
  readonly args: readonly bigint[];
}

export type ExternalFunction = (call: ExternalCall) => bigint;
