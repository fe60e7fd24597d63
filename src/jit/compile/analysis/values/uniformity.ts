import { Uniformity } from "../../../../ir/uniformity/uniformity.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

/** The uniformity analysis of code that is prepared for the compiler. */
export class UniformityAnalysis extends Uniformity<PreparedCode> {}
