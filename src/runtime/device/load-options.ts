import type { Isa } from "../data/isa.ts";
import type { VisaOptions } from "../visa/compile.ts";

/** Options for loading a program. All but `isa` and `target` apply to vISA only. */
export interface LoadOptions extends VisaOptions {
  /**
   * The instruction set of the program. Default: as the ending of the first file's name says; PTX for text without a
   * name.
   */
  readonly isa?: Isa;
  /**
   * The target to check for instead of the one that the program names: a target of PTX ("sm_90") or a platform of vISA
   * ("skl").
   */
  readonly target?: string | undefined;
}
