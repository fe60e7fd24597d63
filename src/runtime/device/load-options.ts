import type { Isa } from "../data/isa.ts";
import type { VisaOptions } from "../visa/compile.ts";

/** Options for loading a program. All but these apply to vISA only. */
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
  /**
   * The kernels that are wanted of a file with several programs, such as an executable: those that have them are
   * loaded. Default: the program must be the only one with kernels.
   */
  readonly kernels?: readonly string[] | undefined;
  /** The name of the module that is wanted of a file with several. */
  readonly module?: string | undefined;
}
