import type { Isa } from "../data/isa.ts";
import type { VisaOptions } from "../visa/compile.ts";

/** How a program is understood. All but `isa` and `target` are for vISA. */
export interface LoadOptions extends VisaOptions {
  /** Default: what the first file's name says, and PTX for a text without a name. */
  readonly isa?: Isa;
  /** Check for this target of PTX ("sm_90") instead of the module's own, or for this platform of vISA ("skl"). */
  readonly target?: string | undefined;
}
