import { type PrimName, primOf } from "../../semantics/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import type { HostFunction } from "../abi/host-function.ts";
import { giveUpReasons } from "../abi/give-up-reasons.ts";
import { evaluatedPrim, type HostFunctions } from "../abi/host-imports.ts";
import { GivenUp } from "../abi/refusal.ts";
import type { Host } from "./host.ts";

/** Answers to all that compiled code may ask. `host`: who answers at the time of the call. */
const answersOf = (host: () => Host): HostFunctions => ({
  // Beyond 2 GiB WebAssembly's addresses arrive as negative numbers.
  translate: (context, site, lanes) => host().translate(context >>> 0, site, lanes),
  fault: (context, site, lanes) => host().fault(context >>> 0, site, lanes),
  external: (context, site, lanes) => host().external(context >>> 0, site, lanes),
  stack: (context, site, lanes) => host().stack(context >>> 0, site, lanes),
  openStack: (context) => host().openStack(context >>> 0),
  stackOverflow: (context, lanes) => host().stackOverflow(context >>> 0, lanes),
  giveUp: (reason) => {
    throw new GivenUp(giveUpReasons[reason]);
  },
  arriveAtWarpWait: (context, site, lanes) => host().arriveAtWarpWait(context >>> 0, site, lanes),
  multiply: (context, site) => host().multiply(context >>> 0, site),
  unit: (context, site, lanes) => host().performUnit(context >>> 0, site, lanes),
  image: (context, high, low, fetch, level) =>
    host().findImage(context >>> 0, { high: high >>> 0, low: low >>> 0 }, fetch, level),
  chooseLevels: (context, site, lanes) => host().levels.choose(context >>> 0, site, lanes),
  nextLevel: (context) => host().levels.next(context >>> 0),
  endUnits: (context) => host().endUnits(context >>> 0),
  cluster: (context, site, question, lanes) => host().askCluster(context >>> 0, site, question, lanes),
  settle: (context) => host().settle(context >>> 0),
  deadlock: (context) => host().deadlock(context >>> 0),
  arriveAtBarrier: (context, site, id, count, lanes, votes) =>
    host().arrive(context >>> 0, site, id, count, lanes, votes),
  settleBarriers: (context, yielded) => host().settleBarriers(context >>> 0, yielded !== 0),
  clock: () => host().clock(),
  startThread: (context, file) => host().startThread(context >>> 0, file >>> 0),
  surface: (context, site, index, lanes) => host().findSurface(context >>> 0, site, index, lanes),
});

/** The functions of the host that a compiled kernel may call, by the names under which it imports them. */
export function hostFunctions({ imports }: CompiledKernel, host: () => Host): ReadonlyMap<string, HostFunction> {
  const functions = new Map<string, unknown>(Object.entries(answersOf(host)));
  for (const name of imports) {
    const prim = evaluatedPrim(name);
    if (prim !== null) functions.set(name, evaluator(prim));
  }
  return functions as ReadonlyMap<string, HostFunction>;
}

/** A primitive as a function of WebAssembly's numbers: a predicate is 0 or 1. */
function evaluator(name: PrimName): (...args: never[]) => unknown {
  const { params, result, eval: evaluate } = primOf(name);
  const call = evaluate as (...args: unknown[]) => unknown;
  if (!params.includes("pred") && result !== "pred") return evaluate;
  return (...args: unknown[]) => {
    const value = call(...args.map((a, i) => (params[i] === "pred" ? a !== 0 : a)));
    return result === "pred" ? Number(value) : value;
  };
}
