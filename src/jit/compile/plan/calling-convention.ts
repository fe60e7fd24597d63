import { isScalar } from "../../../ir/flow/passing.ts";
import type { Param, ParamType, RegisterClass, Signature } from "../../../ir/index.ts";
import { type Wasm, wasm, type WasmTy } from "../../../wasm/index.ts";
import type { Shape } from "../../../ir/uniformity/shape.ts";
import { isWide, type Quad, type Value } from "../lanes/value.ts";
import type { CompiledFunction } from "./compiled-functions.ts";

/** How one value crosses a call. */
export type Slot =
  | { readonly kind: "register"; readonly class: RegisterClass; readonly isUniform: boolean }
  /** In a variable in the lanes' stacks: the call's entry in the shadow stack has the byte where it begins. */
  | { readonly kind: "memory" };

/**
 * How a function is called. Its WebAssembly parameters are the context, the call's entry in the shadow stack, the mask
 * of the lanes, and those of its own parameters that are in registers. It returns the lanes that have returned, where
 * some may exit, and the results that are in registers.
 */
export interface Convention {
  /** For each parameter of the function one slot, or one for each register. */
  readonly params: readonly (readonly Slot[])[];
  readonly returns: readonly (readonly Slot[])[];
  /** Whether lanes may exit in the function. */
  readonly mayExit: boolean;
}

/** The name of a function of the program, or of a subroutine, in the module. */
export const functionName = ({ number, part }: CompiledFunction): string =>
  part === null || part.number === null ? `function:${number}` : `subroutine:${part.number}`;

/** The convention of routines of vISA, which pass everything in their byte files. */
export const routineConvention = (mayExit: boolean): Convention => ({ params: [], returns: [], mayExit });

/** The parameters that all functions have: the context, the entry in the shadow stack, then the mask. */
export const contextParam = 0;
export const entryParam = 1;
export const maskParam = 2;

const memory: readonly Slot[] = [{ kind: "memory" }];

/**
 * The convention of a function that is only called by its name. `shapeOf`: how a register that holds a parameter varies
 * over the lanes, in all calls.
 */
export function directConvention(
  { ir: { params, returns, registers } }: CompiledFunction,
  mayExit: boolean,
  shapeOf: (register: number) => Shape,
): Convention {
  const slots = ({ storage }: Param, isUniform: (register: number) => boolean): readonly Slot[] =>
    storage.kind !== "register"
      ? memory
      : storage.registers.map((r) => ({ kind: "register", class: registers[r]!.class, isUniform: isUniform(r) }));
  return {
    params: params.map((p) => slots(p, (r) => shapeOf(r).kind === "uniform")),
    returns: returns.map((p) => slots(p, () => false)),
    mayExit: mayExit,
  };
}

/** The convention of all functions with a signature that may be called by an address. */
export function conventionOf({ params, returns }: Signature, mayExit: boolean): Convention {
  const slots = (type: ParamType): readonly Slot[] => {
    if (type.kind !== "pred" && !isScalar(type)) return memory;
    const size = type.kind === "pred" ? "pred" : type.size === 8 ? "b64" : "b32";
    return [{ kind: "register", class: size, isUniform: false }];
  };
  return { params: params.map(slots), returns: returns.map(slots), mayExit };
}

/** The bits of a register of a class. */
export const tyOf = (c: RegisterClass): "pred" | "i32" | "i64" => (c === "pred" ? c : c === "b64" ? "i64" : "i32");

export function typesOfSlot(slot: Slot, quads: number): readonly WasmTy[] {
  if (slot.kind === "memory") return [];
  if (slot.isUniform) return [slot.class === "b64" ? "i64" : "i32"];
  return Array.from({ length: slot.class === "b64" ? 2 * quads : quads }, () => "v128");
}

/** The signature of the function in WebAssembly. */
export function wasmSignature({ params, returns, mayExit }: Convention, quads: number) {
  const mask: readonly WasmTy[] = Array.from({ length: quads }, () => "v128");
  const types = (slots: readonly Slot[]): readonly WasmTy[] => slots.flatMap((slot) => typesOfSlot(slot, quads));
  return {
    params: ["i32", "i32", ...mask, ...types(params.flat())] as readonly WasmTy[],
    results: [...(mayExit ? mask : []), ...types(returns.flat())] as readonly WasmTy[],
  };
}

/** The value of a slot whose parts are in locals. */
export function slotValue(slot: Extract<Slot, { kind: "register" }>, locals: readonly number[]): Value {
  const ty = tyOf(slot.class);
  if (slot.isUniform) return { kind: "uniform", ty, scalar: wasm.local(ty === "i64" ? "i64" : "i32", locals[0]!) };
  const parts = locals.map((l): Wasm => wasm.local("v128", l));
  const wide = isWide(ty);
  const quads = Array.from(
    { length: wide ? parts.length / 2 : parts.length },
    (_, q): Quad => (wide ? [parts[2 * q]!, parts[2 * q + 1]!] : [parts[q]!]),
  );
  return { kind: "vector", ty, quads };
}
