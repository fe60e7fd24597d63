import { translated, Untranslatable } from "../../cc/index.ts";
import type { CCompiler } from "./c-compiler.ts";

/** Bytes of C of which a compiler makes a library in a second: it is not even begun with a text that is too long. */
const bytesInSecond = 100_000;

/** A module as C. */
export interface CText {
  readonly text: string;
}

/** Returns a text if there is no C for a module, or so much that a compiler would need longer: why. */
export function cTextOf(module: Uint8Array, { target }: CCompiler, seconds: number): CText | string {
  try {
    const text = translated(module, target);
    return text.length > seconds * bytesInSecond ? `the C compiler would need more than ${seconds} s` : { text };
  } catch (error) {
    if (error instanceof Untranslatable) return error.message;
    throw error;
  }
}
