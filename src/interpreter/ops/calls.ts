import { eachLane } from "../../ir/lane-mask.ts";
import { emit } from "../../machine/events.ts";
import { type Op, plainAccess } from "../../ir/index.ts";
import { wordBytesOf } from "../../ir/calls.ts";
import { FailedLanes } from "../../machine/faults/failed-lanes.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { ExternalCall } from "../../machine/state/externals.ts";
import { enterFunction } from "../../machine/state/activation.ts";
import type { Activation, Group, Terminator, Warp } from "../../machine/state/launch-state.ts";
import { checkStack, costWith, frameEnd, frameStart } from "../../program/stack.ts";
import type { Decoding, Flow } from "../compile/decoding.ts";
import type { DecodedFunction } from "../compile/decoded-function.ts";
import { makeResolver } from "./call-target.ts";
import { enter } from "./control.ts";
import {
  type Location,
  locationOfArgument,
  locationOfParam,
  locationOfResult,
  readLocation,
  type Transfer,
  transfer,
  writeLocation,
} from "./transfer.ts";

/** The transfers between one call instruction and one function. */
interface Link {
  readonly unsizedBytes: number;
  readonly pass: readonly Transfer[];
  readonly onReturn: (callee: Activation, mask: number) => void;
}

/** A call of PTX (section 9.7.12.5). */
export function makeCall(d: Decoding, { next }: Flow, op: Extract<Op, { kind: "call" }>): Terminator {
  const { site, guard, operands, program, code } = d;
  const args = op.args.map((arg) => locationOfArgument(code, arg, operands));
  /** The arguments as the machine takes them. */
  const words = args.flatMap((location, i): readonly Location[] => {
    if (location.kind !== "frame") return [location];
    return wordBytesOf(op.args[i]!).map((size, k) => ({ ...location, offset: location.offset + size * k, size }));
  });
  const results = op.results.map((result) => locationOfResult(code, result));
  const resolve = makeResolver(d, op.target);
  const { prepare } = operands;
  const links = new Map<DecodedFunction, Link>();

  const callInto = (warp: Warp, group: Group, callee: DecodedFunction, mask: number): void => {
    let link = links.get(callee);
    if (link === undefined) links.set(callee, (link = makeLink(callee, args, results)));
    const caller = group.activation;
    const base = frameStart(caller, callee);
    const top = frameEnd(base, callee, link.unsizedBytes);
    const cost = costWith(caller, callee, link.unsizedBytes);
    checkStack(caller, site, mask, cost);
    warp.stack.reserve(top);
    warp.stack.clear(base, top, mask);
    const y = enterFunction(callee, warp, mask);
    y.base = base;
    y.top = top;
    y.cost = cost;
    y.unsizedBytes = link.unsizedBytes;
    y.onReturn = link.onReturn;
    for (const pass of link.pass) pass(caller, y, mask);
    warp.call(group, y, callee.entry, mask, site, next);
    const { observers } = warp.cta.grid;
    if (observers !== null) emit(observers, "enter", { warp, activation: y, mask });
  };

  const callExternal = (warp: Warp, group: Group, callee: DecodedFunction, mask: number): void => {
    const run = program.externals.get(callee.ir.name);
    const x = group.activation;
    const { observers } = warp.cta.grid;
    const noteStores = (lane: number): ExternalCall["onStore"] => {
      if (observers === null) return null;
      const about = { warp, activation: x, site, mask: 1 << lane, lane, effect: "store", contents: null } as const;
      return (address, count) =>
        emit(observers, "range", { ...about, access: plainAccess("generic", 8, count), address: parts(address) });
    };
    if (run === undefined) {
      const message = `\`${callee.ir.name}\` has no body, and the machine does not provide it`;
      throw new Fault("not-executable", message, { site, activation: x, lanes: mask });
    }
    const [to] = results;
    // When one lane fails, others may fail in the same way: an assertion, for example.
    const failed = new FailedLanes();
    eachLane(mask, (lane) => {
      failed.try(() => {
        const values = words.map((a) => readLocation(x, a, lane));
        const value = run({ x, lane, site, args: values, functions: program.functions, onStore: noteStores(lane) });
        if (to) writeLocation(x, to, lane, value);
      });
    });
    failed.end();
    if (mask === group.mask) group.at = next;
    else warp.fork(group, mask, next);
  };

  return {
    site,
    guard,
    run: (warp, group) => {
      const { activation } = group;
      const whole = group.mask;
      const lanes = enter(guard, next, warp, group);
      if (lanes === 0) return;
      prepare(activation, lanes);
      for (const { callee, mask } of resolve(activation, lanes)) {
        const { observers } = warp.cta.grid;
        if (observers !== null)
          emit(observers, "call", { warp, activation, site, mask, group: whole, callee, uniform: op.uniform });
        (callee.ir.external ? callExternal : callInto)(warp, group, callee, mask);
      }
    },
  };
}

function makeLink(callee: DecodedFunction, args: readonly Location[], results: readonly (Location | null)[]): Link {
  const { params, returns } = callee.ir;
  const sizeOf = (location: Location | undefined): number => (location?.kind === "frame" ? location.size : 0);
  const unsized = params.findIndex((p) => p.type.unsized);
  const pass = args.flatMap((arg, i) => {
    const param = params[i];
    if (param === undefined) return [];
    return [transfer(arg, locationOfParam(callee, param, param.type.unsized ? sizeOf(arg) : param.type.size))];
  });
  const back = returns.flatMap((param, i) => {
    const to = results[i];
    return to ? [transfer(locationOfParam(callee, param, param.type.size), to)] : [];
  });
  return {
    unsizedBytes: unsized < 0 ? 0 : sizeOf(args[unsized]),
    pass,
    onReturn: (y, mask) => {
      for (const move of back) move(y, y.caller!, mask);
    },
  };
}
