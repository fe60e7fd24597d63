import type { IrFunction } from "../../ir/index.ts";
import type { CheckedModule } from "../check/checked-module.ts";
import type { FunctionSymbol, RegisterSymbol } from "../tree/nodes.ts";
import { FunctionLowering } from "./function.ts";
import { ModuleLowering } from "./module-lowering.ts";

/** A function that has been lowered by itself. */
export interface LoweredAlone {
  readonly ir: IrFunction;
  /** The IR registers of a register that the body names, one for each element. */
  readonly registersOf: (symbol: RegisterSymbol) => readonly number[];
}

/**
 * Lowers one function of a module whose names are not linked: to be looked at, not to be run. Its body must be free of
 * errors; null if it has none.
 */
export function lowerAlone(checked: CheckedModule, symbol: FunctionSymbol): LoweredAlone | null {
  const body = checked.bodies.get(symbol.declaration);
  if (body === undefined) return null;
  const scope = new ModuleLowering(checked, { nameOf: ({ name }) => name, defines: () => true });
  const lowering = new FunctionLowering(scope, symbol, body);
  const ir = lowering.lower();
  const known = new Set(body.registers);
  return { ir, registersOf: (register) => (known.has(register) ? lowering.registers.of(register) : []) };
}
