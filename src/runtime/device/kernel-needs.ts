import {
  type IrFunction,
  type IrModule,
  signatureOf as typesOf,
  signatureText,
  symbolsOf,
  type Variable,
} from "../../ir/index.ts";
import { demangle } from "../../names/index.ts";
import type { Expr } from "../../semantics/index.ts";

/**
 * A kernel with the types of its parameters, as lists show it: "reduce(float const*, int)" of C++, and
 * "reduce(.u64, .u32)" where the name does not say the types.
 */
export function kernelSignature(kernel: IrFunction): string {
  const demangled = demangle(kernel.name);
  return demangled === null ? `${kernel.name}${signatureText(typesOf(kernel))}` : demangled.signature;
}

/** The shared memory that a kernel declares. */
export interface SharedNeeds {
  /**
   * The variables of known size that the kernel or a function that it may call names, in bytes with their alignment.
   */
  readonly bytes: number;
  /** Whether a launch gives the size of more (`extern __shared__`). */
  readonly isDynamic: boolean;
}

/** The functions that no module defines and that a kernel, or what it calls by name, calls. */
export function externalCalls(module: IrModule, kernel: IrFunction): ReadonlySet<string> {
  const functions = new Map(module.functions.map((f) => [f.name, f]));
  const found = new Set<string>();
  if (!module.functions.some(({ external }) => external)) return found;
  // A set may grow while it is iterated.
  const todo = new Set([kernel]);
  for (const { instructions } of todo) {
    for (const { op } of instructions) {
      if (op.kind !== "call" || op.target.kind !== "direct") continue;
      const callee = functions.get(op.target.function);
      if (callee?.external === true) found.add(callee.name);
      else if (callee !== undefined) todo.add(callee);
    }
  }
  return found;
}

const ownShared = ({ variables }: IrModule): readonly Variable[] =>
  variables.filter(({ space, reserved }) => space === "shared" && reserved !== true);

export function sharedNeeds(module: IrModule, kernel: IrFunction): SharedNeeds {
  const functions = new Map(module.functions.map((f) => [f.name, f]));
  const shared = new Map(ownShared(module).map((v) => [v.name, v]));
  if (shared.size === 0) return { bytes: 0, isDynamic: false };
  const used = new Set<string>();
  const todo = new Set([kernel]);
  const looked = new Set<Expr>();
  const use = (name: string): void => {
    if (shared.has(name)) used.add(name);
    const callee = functions.get(name);
    if (callee !== undefined) todo.add(callee);
  };
  // A set may grow while it is iterated.
  for (const { instructions } of todo) {
    for (const { op } of instructions) {
      symbolsOf(op, use, looked);
      if (op.kind === "call" && op.target.kind === "direct") use(op.target.function);
    }
  }
  let bytes = 0;
  for (const name of used) {
    const { size, align } = shared.get(name)!;
    bytes = Math.ceil(bytes / align) * align + size;
  }
  return { bytes, isDynamic: [...used].some((name) => shared.get(name)!.dynamicShared) };
}
