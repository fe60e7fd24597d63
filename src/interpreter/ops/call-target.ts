import { lowestLane } from "../../ir/lane-mask.ts";
import { type CallTarget, type Op, windows } from "../../ir/index.ts";
import { agrees, signatureOf, signatureText } from "../../ir/signature.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { nearestVariable } from "../../machine/faults/locate.ts";
import { type AddressParts, functionStride, hex } from "../../machine/memory/address-space.ts";
import { distance } from "../../machine/memory/extent.ts";
import type { Activation, CallFrame } from "../../machine/state/launch-state.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { LoadedFunction } from "../compile/loaded-function.ts";
import type { ProgramContext } from "../compile/program-context.ts";
import type { Slot } from "../compile/register-file.ts";

/** A function, and the lanes that call it. */
interface Callee {
  readonly callee: LoadedFunction;
  readonly mask: number;
}

export type Resolver = (x: Activation, lanes: number) => readonly Callee[];

/** Finds the functions that the lanes call, in lane order. No lane enters one before all targets are known to be good. */
export function makeResolver(d: Decoding, target: CallTarget): Resolver {
  const { site, engine, operands } = d;
  if (target.kind === "direct") {
    return (activation, mask) => {
      const callee = engine.functionNamed(target.function);
      if (callee !== null) return [{ callee, mask }];
      const message = `\`${target.function}\` is not defined`;
      throw new Fault("not-executable", message, { site, activation, lanes: mask });
    };
  }
  const slot = operands.slot(target.address);

  // What a call got past once it gets past again.
  const good = new Set<LoadedFunction>();
  return (activation, lanes) => {
    const callees = new Map<LoadedFunction, number>();
    let failed: { code: string; text: string; lanes: number } | null = null;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const bit = m & -m;
      const lane = lowestLane(bit);
      const address = addressIn(activation, slot, lane);
      const callee = functionAt(engine.functions, address);
      const isGood = callee !== null && good.has(callee);
      const found = isGood ? null : indirectCallProblem(engine, target, { activation, lane, address });
      if (found === null) {
        good.add(callee!);
        callees.set(callee!, (callees.get(callee!) ?? 0) | bit);
      } else if (failed === null) failed = { code: found[0], text: found[1], lanes: bit };
      else if (failed.code === found[0]) failed.lanes |= bit;
    }
    if (failed !== null) throw new Fault(failed.code, failed.text, { site, activation, lanes: failed.lanes });
    return [...callees].map(([callee, mask]) => ({ callee, mask }));
  };
}

/** The function that all lanes of a vISA call go to; `asked` are the lanes that say which. */
export type FileResolver = (x: Activation, asked: number, lanes: number) => LoadedFunction;

export function makeFileResolver(d: Decoding, target: Extract<Op, { kind: "file-call" }>["target"]): FileResolver {
  const { site, engine, operands } = d;
  if (target.kind === "direct") {
    return (activation, _, lanes) => {
      const callee = engine.functionNamed(target.function);
      if (callee?.ir.file !== undefined) return callee;
      const message = `\`${target.function}\` has no body that could be called`;
      throw new Fault("not-executable", message, { site, activation, lanes });
    };
  }
  const slot = operands.slot(target.address);
  return (activation, asked, lanes) =>
    fileCallee(engine, (lane) => addressIn(activation, slot, lane), asked, { site, activation, lanes });
}

/** The function at the address that some lanes have; throws where they have several, or it is none. */
export function fileCallee(
  engine: ProgramContext,
  addressIn: (lane: number) => AddressParts,
  asked: number,
  at: ConstructorParameters<typeof Fault>[2],
): LoadedFunction {
  const first = lowestLane(asked);
  const address = addressIn(first);
  for (let m = asked; m !== 0; m &= m - 1) {
    const lane = lowestLane(m);
    const other = addressIn(lane);
    if (other.low === address.low && other.high === address.high) continue;
    const message = `lane ${first} calls ${hex(address)}, and lane ${lane} calls ${hex(other)}`;
    throw new Fault("divergent-call-address", message, at);
  }
  const callee = functionAt(engine.functions, address);
  const problem = addressProblem(engine, callee, { activation: at.activation, lane: first, address });
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

/** What is wrong with an indirect call of what a lane holds, or null. */
export function indirectCallProblem(
  engine: ProgramContext,
  target: Extract<CallTarget, { kind: "indirect" }>,
  held: Held,
): Problem | null {
  const callee = functionAt(engine.functions, held.address);
  const wrong = addressProblem(engine, callee, held);
  if (wrong !== null || callee === null) return wrong;
  if (target.targets !== null && !target.targets.some((name) => engine.functionNamed(name) === callee)) {
    const list = target.targets.map((name) => `\`${name}\``).join(", ");
    return ["indirect-call-not-in-calltargets", `\`${callee.ir.name}\` is not in \`${target.via}\`: ${list}`];
  }
  const has = signatureOf(callee.ir);
  if (agrees(target.signature, has)) return null;
  const text = `\`${callee.ir.name}\` is ${signatureText(has)}, and \`${target.via}\` says ${signatureText(target.signature)}`;
  return ["indirect-call-prototype-mismatch", text];
}

/** What is wrong with the address of a call, whatever the signature. */
function addressProblem(engine: ProgramContext, callee: LoadedFunction | null, held: Held): Problem | null {
  const { address } = held;
  if (address.high === 0 && address.low === 0) return ["indirect-call-null", "the address of the function is null"];
  if (callee === null) return ["indirect-call-bad-address", `${hex(address)} is ${whatIs(engine, held)}`];
  if (callee.ir.kind !== "kernel") return null;
  return ["indirect-call-bad-address", `${hex(address)} is the kernel \`${callee.ir.name}\`, not a function`];
}

/** The address that a lane holds in a register of 32 or 64 bits. */
function addressIn({ i32 }: Activation, { class: size, base }: Slot, lane: number): AddressParts {
  if (size !== "b64") return { high: 0, low: i32[base + lane]! >>> 0 };
  const at = 2 * (base + lane);
  return { high: i32[at + 1]! >>> 0, low: i32[at]! >>> 0 };
}

function functionAt(functions: readonly LoadedFunction[], { high, low }: AddressParts): LoadedFunction | null {
  const offset = low - windows.function.start;
  return high === 0 && offset % functionStride === 0 ? (functions[offset / functionStride] ?? null) : null;
}

function whatIs(engine: ProgramContext, { activation, lane, address }: Held): string {
  const { kind } = engine.addresses.classify(address);
  if (kind === "function") {
    const offset = address.low - windows.function.start;
    const inside = engine.functions[Math.floor(offset / functionStride)];
    if (inside !== undefined) return `${offset % functionStride} bytes inside the function \`${inside.ir.name}\``;
  }
  if (kind === "null" || kind === "unknown" || kind === "function") return "the address of no function";
  const near = nearestVariable(activation, lane, address);
  const where = near === null ? "" : ` (${distance(near, address.low, 0)})`;
  return `an address of ${kind} memory, not of a function${where}`;
}
