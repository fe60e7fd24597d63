import type { Expression } from "./expression/tree.ts";
import { addressOf } from "./expression/evaluate.ts";
import type { Scope } from "./expression/scope.ts";
import { DebuggerError } from "./location.ts";
import { plainAddress } from "./view/memory-view.ts";
import { RegisterVariable, VisaVariable } from "./view/variables.ts";
import type { LaneId, Watched } from "./watchpoint.ts";

/**
 * What an expression names that can be watched: a register, a variable, or memory (`[address]:type`). Throws a DebuggerError
 * when it is none of these.
 */
export function watchTarget(expression: Expression, scope: Scope, focus: LaneId, launch: number): Watched {
  const { root } = expression;
  const { activation, names } = scope;
  const variable = root.kind === "name" ? names.variable(root.name) : null;
  if (activation !== null && (variable instanceof RegisterVariable || variable instanceof VisaVariable)) {
    const { depth, serial, code } = activation;
    return { kind: "register", register: variable, function: code.ir.name, owner: focus, launch, depth, serial };
  }
  if (root.kind === "number") throw new DebuggerError(`a number cannot be watched; [${expression.text}]:u32 is memory`);
  const { address, size } = addressOf(expression, scope);
  return watchMemory(address, size, scope, focus);
}

/** Bytes at an address, as the lane in focus sees it. */
function watchMemory(address: bigint, bytes: number, { execution }: Scope, focus: LaneId): Watched {
  const place = plainAddress(execution.grid, address);
  if (place === null) throw new DebuggerError(`0x${address.toString(16)} is in no memory`);
  const owner = place.space === "shared" || place.space === "local" ? focus : null;
  return { kind: "memory", address, place, bytes, owner };
}
