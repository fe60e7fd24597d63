import type { FileCallOp } from "../ir/calls.ts";
import { type CallTarget, windows } from "../ir/index.ts";
import { lowestLane } from "../ir/lane-mask.ts";
import { agrees, signatureOf, signatureText } from "../ir/signature.ts";
import { Fault, type FaultPlace } from "../machine/faults/fault.ts";
import { nearestVariable } from "../machine/faults/locate.ts";
import { type AddressParts, type AddressSpace, functionStride, hex } from "../machine/memory/address-space.ts";
import { distance } from "../machine/memory/extent.ts";
import type { ProgramFunction } from "../machine/state/code.ts";
import type { CallFrame } from "../machine/state/launch-state.ts";
import type { FunctionTable } from "./functions.ts";

/** The functions that calls may reach, and the address space that they lie in. */
export interface CallTable<F extends ProgramFunction = ProgramFunction> extends FunctionTable<F> {
  readonly addresses: AddressSpace;
}

/**
 * Returns the function that a vISA call reaches: the one at the address that all lanes of `deciding` hold. Throws a
 * fault if their addresses differ, or if there is no function at that address.
 */
export function fileCallee<F extends ProgramFunction>(
  program: CallTable<F>,
  addressIn: (lane: number) => AddressParts,
  deciding: number,
  at: FaultPlace,
): F {
  const first = lowestLane(deciding);
  const address = addressIn(first);
  for (let m = deciding; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const other = addressIn(lane);
    if (other.low === address.low && other.high === address.high) continue;
    const message = `lane ${first} calls ${hex(address)}, and lane ${lane} calls ${hex(other)}`;
    throw new Fault("divergent-call-address", message, at);
  }
  const callee = functionAt(program.functions, address);
  const problem = addressProblem(program, callee, { activation: at.activation, lane: first, address });
  if (problem !== null) throw new Fault(...problem, at);
  return callee!;
}

type Problem = readonly [code: string, text: string];

/** An address, and the lane that holds it. */
interface Held {
  readonly activation: CallFrame;
  readonly lane: number;
  readonly address: AddressParts;
}

/** Checks the address that a lane calls. Returns the code and the message of a report, or null. */
export function indirectCallProblem(
  program: CallTable,
  target: Extract<CallTarget, { kind: "indirect" }>,
  held: Held,
): Problem | null {
  const callee = functionAt(program.functions, held.address);
  const wrong = addressProblem(program, callee, held);
  if (wrong !== null || callee === null) return wrong;
  if (target.targets !== null && !target.targets.some((name) => program.functionNamed(name) === callee)) {
    const list = target.targets.map((name) => `\`${name}\``).join(", ");
    return ["indirect-call-not-in-calltargets", `\`${callee.ir.name}\` is not in \`${target.via}\`: ${list}`];
  }
  const has = signatureOf(callee.ir);
  if (agrees(target.signature, has)) return null;
  const [is, wants] = [signatureText(has), signatureText(target.signature)];
  const text = `\`${callee.ir.name}\` is ${is}, and \`${target.via}\` says ${wants}`;
  return ["indirect-call-prototype-mismatch", text];
}

/** Checks the address of a call, but not the signature of the function there. */
function addressProblem(program: CallTable, callee: ProgramFunction | null, held: Held): Problem | null {
  const { address } = held;
  if (address.high === 0 && address.low === 0) return ["indirect-call-null", "the address of the function is null"];
  if (callee === null) return ["indirect-call-bad-address", `${hex(address)} is ${whatIs(program, held)}`];
  if (callee.ir.kind !== "kernel") return null;
  return ["indirect-call-bad-address", `${hex(address)} is the kernel \`${callee.ir.name}\`, not a function`];
}

/** The function at an address, or null. */
export function functionAt<F extends ProgramFunction>(functions: readonly F[], { high, low }: AddressParts): F | null {
  const offset = low - windows.function.start;
  return high === 0 && offset % functionStride === 0 ? (functions[offset / functionStride] ?? null) : null;
}

function whatIs(program: CallTable, { activation, lane, address }: Held): string {
  const { kind } = program.addresses.classify(address);
  if (kind === "function") {
    const offset = address.low - windows.function.start;
    const inside = program.functions[Math.floor(offset / functionStride)];
    if (inside !== undefined) return `${offset % functionStride} bytes inside the function \`${inside.ir.name}\``;
  }
  if (kind === "null" || kind === "unknown" || kind === "function") return "the address of no function";
  const near = nearestVariable(activation, lane, address);
  const where = near === null ? "" : ` (${distance(near, address.low, 0)})`;
  return `an address of ${kind} memory, not of a function${where}`;
}

/**
 * Throws a fault if the sizes that an indirect call passes differ from those that its callee declares. A direct call is
 * made all the same: IGC itself writes some that differ in registers which nobody reads, and the callee cannot tell.
 */
export function checkSizes(op: FileCallOp, { ir }: ProgramFunction, at: FaultPlace): void {
  const { argSize, retvalSize } = ir.file!;
  if (op.target.kind === "direct") return;
  if ((argSize ?? op.argSize) === op.argSize && (retvalSize ?? op.retvalSize) === op.retvalSize) return;
  const passed = `passes ${op.argSize} registers and takes ${op.retvalSize} back`;
  const declared = `ArgSize ${argSize ?? "as it likes"} and RetValSize ${retvalSize ?? "as it likes"}`;
  const message = `the call ${passed}, and \`${ir.name}\` declares ${declared}`;
  throw new Fault("call-size-mismatch", message, at);
}
