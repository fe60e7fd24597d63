import { evalImport } from "../../semantics/expansion.ts";
import { type PrimName, primOf } from "../../semantics/index.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import {
  barrierImports,
  clockImport,
  externalImport,
  faultImport,
  gatherImports,
  giveUpImport,
  openStackImport,
  stackImport,
  stackOverflowImport,
  surfaceImport,
  threadImport,
} from "../abi/host-imports.ts";
import { GivenUp, tooDeep } from "../abi/refusal.ts";
import type { HostFunction } from "../threads/mailbox.ts";
import type { Host } from "./host.ts";

/** What a compiled kernel imports, by name. `host`: who answers at the time of the call. */
export function hostFunctions({ imports }: CompiledKernel, host: () => Host): ReadonlyMap<string, HostFunction> {
  const prefix = evalImport("");
  // Beyond 2 GiB WebAssembly's addresses come as negative numbers.
  const functions = new Map<string, unknown>([
    ["translate", (context: number, site: number, mask: number) => host().translate(context >>> 0, site, mask)],
    [faultImport, (context: number, site: number, lanes: number) => host().fault(context >>> 0, site, lanes)],
    [externalImport, (context: number, site: number, lanes: number) => host().external(context >>> 0, site, lanes)],
    [stackImport, (context: number, site: number, lanes: number) => host().stack(context >>> 0, site, lanes)],
    [openStackImport, (context: number) => host().openStack(context >>> 0)],
    [stackOverflowImport, (context: number, lanes: number) => host().stackOverflow(context >>> 0, lanes)],
    [
      giveUpImport,
      () => {
        throw new GivenUp(tooDeep);
      },
    ],
    [gatherImports.gather, (context: number, site: number, lanes: number) => host().gather(context >>> 0, site, lanes)],
    [gatherImports.settle, (context: number) => host().settle(context >>> 0)],
    [gatherImports.deadlock, (context: number) => host().deadlock(context >>> 0)],
    [
      barrierImports.arrive,
      (context: number, site: number, id: number, count: number, lanes: number, votes: number) =>
        host().arrive(context >>> 0, site, id, count, lanes, votes),
    ],
    [barrierImports.settle, (context: number, yielded: number) => host().settleBarriers(context >>> 0, yielded !== 0)],
    [clockImport, () => host().clock()],
    [threadImport, (context: number, file: number) => host().startThread(context >>> 0, file >>> 0)],
    [
      surfaceImport,
      (context: number, site: number, index: number, mask: number) =>
        host().findSurface(context >>> 0, site, index, mask),
    ],
  ]);
  for (const name of imports) {
    if (name.startsWith(prefix)) functions.set(name, evaluator(name.slice(prefix.length) as PrimName));
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
