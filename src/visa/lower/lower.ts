import type { IrModule, Variable } from "../../ir/index.ts";
import type { BoundRoutine } from "../symbols.ts";
import { lowerRoutine } from "./routine.ts";
import { type DataSymbols, sectionVariables } from "./symbols.ts";

/** Options of `lowerVisa`. */
export interface LowerOptions {
  /** The program's data, which `faddr` can name besides routines. */
  readonly symbols?: DataSymbols;
}

const noSymbols: DataSymbols = { sections: new Map(), symbols: new Map() };

/** Shared local memory, whose size each launch gives. */
const slm: Variable = {
  name: "%slm",
  space: "shared",
  size: 0,
  align: 64,
  init: [],
  relocations: [],
  dynamicShared: true,
  managed: false,
  span: { start: 0, end: 0 },
};

/**
 * Lowers the routines of a linked program, a kernel first, to one IR module. They must be free of errors from
 * `checkVisa` and `linkVisa`, so lowering reports none: an instruction that is not modelled becomes `unsupported`, and
 * a launch that can reach it is refused. Throws an `Error` if there are no routines.
 */
export function lowerVisa(routines: readonly BoundRoutine[], options: LowerOptions = {}): IrModule {
  const [first] = routines;
  if (first === undefined) throw new Error("there is no routine to lower");
  const data = options.symbols ?? noSymbols;
  const symbols = { routines: new Set(routines.map(({ name }) => name)), data: data.symbols };
  return {
    source: first.file.source,
    addressSize: 64,
    target: first.platform ?? "",
    functions: routines.map((routine) => lowerRoutine(routine, symbols)),
    variables: [slm, ...sectionVariables(data)],
    aliases: new Map(),
  };
}
