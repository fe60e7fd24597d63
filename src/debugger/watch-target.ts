import type { Expression } from "./expression/tree.ts";
import { addressOf, evaluateTyped } from "./expression/evaluate.ts";
import type { Scope } from "./expression/scope.ts";
import { DebuggerError } from "./location.ts";
import { plainAddress } from "./view/memory-view.ts";
import { RegisterVariable, VisaVariable } from "./view/variables.ts";
import type { WatchOwner, Watched } from "./watchpoint.ts";

/**
 * Returns what an expression names that can be watched: a register, a variable, or memory (`[address]:type`). Throws a
 * DebuggerError if it is none of these.
 */
export function watchTarget(expression: Expression, scope: Scope, owner: WatchOwner): Watched {
  const { root } = expression;
  const { activation, names } = scope;
  const typed = evaluateTyped(expression, scope)?.referred ?? null;
  const name = typed === null ? (root.kind === "name" ? root.name : null) : typed.register;
  const variable = name === null ? null : names.variable(name);
  if (activation !== null && (variable instanceof RegisterVariable || variable instanceof VisaVariable)) {
    const { depth, serial, code } = activation;
    return { kind: "register", register: variable, function: code.ir.name, owner, depth, serial };
  }
  if (root.kind === "number") throw new DebuggerError(`a number cannot be watched; [${expression.text}]:u32 is memory`);
  const { address, size } = addressOf(expression, scope, { own: true });
  return watchMemory(address, size, scope, owner);
}

/** Watches bytes at an address, as the lane in focus sees it. */
function watchMemory(address: bigint, bytes: number, { execution }: Scope, owner: WatchOwner): Watched {
  const place = plainAddress(execution.grid, address);
  if (place === null) throw new DebuggerError(`0x${address.toString(16)} is not an address of memory`);
  const isOfAll = place.space === "global" || place.space === "const";
  return { kind: "memory", address, place, bytes, owner: isOfAll ? null : owner };
}
