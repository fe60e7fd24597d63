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
   * Bits of the addresses of PTX that does not say, as none could before version 2.3. Default: 32, as the manual has it
   * (11.1.3). The driver of a program with 64 bits takes 64.
   */
  readonly addressSize?: 32 | 64 | undefined;
  /**
   * The kernels that are wanted of a file with several programs, such as an executable: those that have them are
   * loaded. Default: the program must be the only one with kernels.
   */
  readonly kernels?: readonly string[] | undefined;
  /** The name of the module that is wanted of a file with several. */
  readonly module?: string | undefined;
}
