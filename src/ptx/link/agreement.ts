import { opaqueTypes, shapeText } from "../check/shape.ts";
import type { CallSignature, FormalShape } from "../check/signature.ts";
import type { FunctionSymbol, VariableSymbol } from "../tree/nodes.ts";
import type { LinkCode } from "./codes.ts";
import type { Entry, Linkable, LinkableModule } from "./entries.ts";

/** How two modules disagree about a name. The message reads "'f' `here` here but `there` in b.ptx". */
export interface Disagreement {
  readonly code: LinkCode;
  /** A warning if nvlink accepts it. */
  readonly severity: "error" | "warning";
  readonly here: string;
  readonly there: string;
}

const differs = (
  code: LinkCode,
  here: string,
  there: string,
  severity: Disagreement["severity"] = "error",
): Disagreement => ({ code, severity, here, there });

/** Compares a module's entry with the definition that was chosen for all modules. Null if they agree. */
export function disagreement(entry: Entry<LinkableModule>, kept: Entry<LinkableModule>): Disagreement | null {
  const a = entry.symbol;
  const b = kept.symbol;
  if (kindOf(a) !== kindOf(b)) return differs("symbol-kind-mismatch", `is ${kindOf(a)}`, kindOf(b));
  if (a.kind === "variable" && b.kind === "variable") return variableDisagreement(a, b, entry.binding === "common");
  // A kernel is never called through its declaration in another module.
  if (a.kind !== "function" || b.kind !== "function" || a.entry) return null;
  return prototypeDisagreement(signature(entry, a), signature(kept, b));
}

function kindOf(symbol: Linkable): string {
  if (symbol.kind === "function") return symbol.entry ? "a kernel" : "a function";
  return opaqueTypes.has(symbol.type.name) ? `a .${symbol.type.name}` : `a .${symbol.space} variable`;
}

// ---- Variables -----------------------------------------------------------------------------------------------------

const isManaged = ({ declaration }: VariableSymbol): boolean =>
  declaration.attributes.some((a) => a.name.text === "managed");

const bytes = (n: number): string => `${n} byte${n === 1 ? "" : "s"}`;

function variableDisagreement(a: VariableSymbol, b: VariableSymbol, common: boolean): Disagreement | null {
  // A common variable may be smaller than the one that is chosen.
  const fits = a.size === 0 || b.size === 0 || a.size === b.size || (common && a.size < b.size);
  if (!fits) return differs("variable-mismatch", `has ${bytes(a.size)}`, `${b.size}`);
  if (isManaged(a) !== isManaged(b)) {
    const is = (yes: boolean): string => (yes ? ".managed" : "not .managed");
    return differs("variable-mismatch", `is ${is(isManaged(a))}`, is(isManaged(b)));
  }
  return a.align > b.align
    ? differs("variable-mismatch", `is aligned to ${bytes(a.align)}`, `to ${b.align}`, "warning")
    : null;
}

// ---- Prototypes ----------------------------------------------------------------------------------------------------

const signature = ({ module }: Entry<LinkableModule>, symbol: FunctionSymbol): CallSignature =>
  module.signatures.get(symbol.declaration) ?? { returns: [], params: [] };

function prototypeDisagreement(a: CallSignature, b: CallSignature): Disagreement | null {
  const [code, returns, takes] = ["prototype-mismatch", "returns", "takes"] as const;
  if (!listsAgree(a.returns, b.returns)) return differs(code, `${returns} ${list(a.returns)}`, list(b.returns));
  if (!listsAgree(a.params, b.params)) return differs(code, `${takes} ${list(a.params)}`, list(b.params));
  const formals = [...a.returns, ...a.params];
  const others = [...b.returns, ...b.params];
  // nvlink accepts this; within one module it is an error at every call (9.7.12.5).
  const at = formals.findIndex((formal, i) => formal.align !== others[i]!.align);
  if (at < 0) return null;
  const aligned = `has '${formals[at]!.name}' aligned to ${bytes(formals[at]!.align)}`;
  return differs(code, aligned, `to ${others[at]!.align}`);
}

const listsAgree = (a: readonly FormalShape[], b: readonly FormalShape[]): boolean =>
  a.length === b.length && a.every((formal, i) => formalsAgree(formal, b[i]!));

/**
 * Whether nvlink considers two parameters equal. It tells `.f32` and `.f64` from `.b32` and `.b64`, but not `.u32` and
 * `.s32` from `.b32`, nor `.reg` from `.param`.
 */
const formalsAgree = (a: FormalShape, b: FormalShape): boolean =>
  passedAs(a) === passedAs(b) &&
  a.type.bits === b.type.bits &&
  a.size === b.size &&
  a.unsized === b.unsized &&
  isArray(a) === isArray(b);

const passedAs = ({ type }: FormalShape): "pred" | "f" | "b" =>
  type.kind === "pred" ? "pred" : type.kind === "f" && type.lanes === 1 && type.bits > 16 ? "f" : "b";

const isArray = ({ dimensions }: FormalShape): boolean => dimensions.length > 0;

const list = (formals: readonly FormalShape[]): string =>
  formals.length === 0 ? "nothing" : `(${formals.map(shapeText).join(", ")})`;
