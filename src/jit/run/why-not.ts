import { NotAllowed, TooLarge } from "../../wasm/index.ts";
import { deepCalls } from "../abi/give-up-reasons.ts";
import { compilerMistake, GivenUp, Unsupported } from "../abi/refusal.ts";

/** Returns what is made, or why it cannot be compiled. */
export function orWhyNot<T>(make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    if (error instanceof Unsupported || error instanceof TooLarge || error instanceof NotAllowed) return error.message;
    if (error instanceof RangeError) return "code that nests too deeply";
    // The interpreter does without it: a mistake costs time, and not the answer.
    if (error instanceof Error) return `${compilerMistake}: ${error.message}`;
    throw error;
  }
}

/**
 * Why a launch was given up; null for any other error. Besides what compiled code notices itself, the host's stack may
 * be full, for which engines have errors of their own.
 */
export function whyGivenUp(error: unknown): string | null {
  if (error instanceof GivenUp) return error.message;
  return error instanceof Error && stackErrors.has(error.name) ? deepCalls : null;
}

const stackErrors: ReadonlySet<string> = new Set(["RangeError", "InternalError"]);
