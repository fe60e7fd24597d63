import type { IrFunction } from "../../ir/index.ts";
import type { Dim3 } from "../../machine/reports/report.ts";
import { type GivenParameter, givenIn, type KnownParameter, valuesIn } from "../abi/known-parameter.ts";
import { roundParameters, withParameters } from "../compile/analysis/access/known-parameters.ts";
import { withKnownRounds } from "../compile/analysis/versions/known-rounds.ts";
import { noted } from "../compile/analysis/access/noted.ts";

/** Values of its parameters for which a kernel has code of its own, at most. */
const maxValues = 2;

/** What is known of a kernel in blocks of one size. */
interface Findings {
  /** The parameters that say how often loops repeat; none where that is of no use. */
  parameters: readonly KnownParameter[];
  /** By their values, what code is for: nothing where that is of no use, or for one more. */
  readonly given: Map<string, KnownKernel>;
}

/** A kernel as the code for some launches knows it. */
export interface KnownKernel {
  readonly given: readonly GivenParameter[];
  /** With these values. */
  readonly ir: IrFunction;
}

/** Finds which kernels have code for what launches give to some of their parameters. */
export class GivenParameters {
  readonly #findings = new Map<IrFunction, Map<string, Findings>>();

  /** What the code for a launch knows of its parameters. */
  of(kernel: IrFunction, block: Dim3, params: Uint8Array): KnownKernel {
    const findings = noted(this.#findings, kernel, block.join(), () => ({
      parameters: roundParameters(kernel),
      given: new Map<string, KnownKernel>(),
    }));
    const { parameters, given } = findings;
    const none = { given: [], ir: kernel };
    if (parameters.length === 0 || given.size > maxValues) return none;
    const values = valuesIn(params, parameters);
    let found = given.get(values);
    if (found === undefined) {
      const all = givenIn(params, parameters);
      const ir = withParameters(kernel, all);
      found = given.size < maxValues && isUseful(kernel, ir, block) ? { given: all, ir } : none;
      given.set(values, found);
      // A kernel of which the first launch knows no more is like most.
      if (given.size === 1 && found === none) findings.parameters = [];
    }
    return found;
  }

  /** The parameters by which launches of a kernel that has been looked at are told apart. */
  parametersFor(kernel: IrFunction, block: Dim3): readonly KnownParameter[] {
    return this.hasManyValues(kernel, block) ? [] : (this.#of(kernel, block)?.parameters ?? []);
  }

  /** Whether a kernel has had so many values that no code is for any of them any more. */
  hasManyValues(kernel: IrFunction, block: Dim3): boolean {
    return (this.#of(kernel, block)?.given.size ?? 0) > maxValues;
  }

  #of(kernel: IrFunction, block: Dim3): Findings | undefined {
    return this.#findings.get(kernel)?.get(block.join());
  }
}

/** Whether more loops of a kernel are written round by round where some of its parameters are known. */
function isUseful(kernel: IrFunction, known: IrFunction, block: Dim3): boolean {
  const lengthOf = (ir: IrFunction): number => withKnownRounds({ ir, origins: null }, block).ir.instructions.length;
  return lengthOf(known) > lengthOf(kernel);
}
