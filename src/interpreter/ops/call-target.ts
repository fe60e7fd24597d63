import { lowestLane } from "../../ir/lane-mask.ts";
import type { CallTarget, Op } from "../../ir/index.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { AddressParts } from "../../machine/memory/address-space.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { fileCallee, functionAt, indirectCallProblem } from "../../program/call-targets.ts";
import type { Decoding } from "../compile/decoding.ts";
import type { DecodedFunction } from "../compile/decoded-function.ts";
import type { Slot } from "../compile/register-file.ts";

/** A function, and the lanes that call it. */
interface Callee {
  readonly callee: DecodedFunction;
  readonly mask: number;
}

export type Resolver = (x: Activation, lanes: number) => readonly Callee[];

/** Finds the functions that the lanes call, in lane order. No lane enters one before all targets have been checked. */
export function makeResolver(d: Decoding, target: CallTarget): Resolver {
  const { site, program, operands } = d;
  if (target.kind === "direct") {
    return (activation, mask) => {
      const callee = program.functionNamed(target.function);
      if (callee !== null) return [{ callee, mask }];
      const message = `\`${target.function}\` is not defined`;
      throw new Fault("not-executable", message, { site, activation, lanes: mask });
    };
  }
  const slot = operands.slot(target.address);

  // A function that a call may enter once, it may always enter.
  const allowed = new Set<DecodedFunction>();
  return (activation, lanes) => {
    const callees = new Map<DecodedFunction, number>();
    let failed: { code: string; text: string; lanes: number } | null = null;
    for (let m = lanes; m !== 0; m &= m - 1) {
      const bit = m & -m;
      const lane = lowestLane(bit);
      const address = addressIn(activation, slot, lane);
      const callee = functionAt(program.functions, address);
      const isAllowed = callee !== null && allowed.has(callee);
      const found = isAllowed ? null : indirectCallProblem(program, target, { activation, lane, address });
      if (found === null) {
        allowed.add(callee!);
        callees.set(callee!, (callees.get(callee!) ?? 0) | bit);
      } else if (failed === null) failed = { code: found[0], text: found[1], lanes: bit };
      else if (failed.code === found[0]) failed.lanes |= bit;
    }
    if (failed !== null) throw new Fault(failed.code, failed.text, { site, activation, lanes: failed.lanes });
    return [...callees].map(([callee, mask]) => ({ callee, mask }));
  };
}

/** Finds the function that all lanes of a vISA call go to; `deciding`: the lanes whose address counts. */
export type FileResolver = (x: Activation, deciding: number, lanes: number) => DecodedFunction;

export function makeFileResolver(d: Decoding, target: Extract<Op, { kind: "file-call" }>["target"]): FileResolver {
  const { site, program, operands } = d;
  if (target.kind === "direct") {
    return (activation, _, lanes) => {
      const callee = program.functionNamed(target.function);
      if (callee?.ir.file !== undefined) return callee;
      const message = `\`${target.function}\` has no body that could be called`;
      throw new Fault("not-executable", message, { site, activation, lanes });
    };
  }
  const slot = operands.slot(target.address);
  return (activation, deciding, lanes) =>
    fileCallee(program, (lane) => addressIn(activation, slot, lane), deciding, { site, activation, lanes });
}

/** The address that a lane holds in a register of 32 or 64 bits. */
function addressIn({ i32 }: Activation, { class: size, base }: Slot, lane: number): AddressParts {
  if (size !== "b64") return { high: 0, low: i32[base + lane]! >>> 0 };
  const at = 2 * (base + lane);
  return { high: i32[at + 1]! >>> 0, low: i32[at]! >>> 0 };
}
