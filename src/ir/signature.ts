/** The type of a parameter as its caller sees it: the unit in which signatures are compared. */
export interface ParamType {
  /** `f` and `b` are the same to a call, but messages name them. `array` is a block of bytes. */
  readonly kind: "u" | "s" | "f" | "b" | "pred" | "array";
  /** Bytes; of an unsized array the minimum, 0. */
  readonly size: number;
  readonly align: number;
  /** `.param .b8 x[]`: any number of bytes, chosen by the call. */
  readonly unsized: boolean;
}

/** The types of a function's results and parameters, in their order. */
export interface Signature {
  readonly returns: readonly ParamType[];
  readonly params: readonly ParamType[];
}

/** The part of a function from which its signature is read. */
export interface Typed {
  readonly returns: readonly { readonly type: ParamType }[];
  readonly params: readonly { readonly type: ParamType }[];
}

/** Returns the signature of a function or of a call's prototype. */
export const signatureOf = ({ returns, params }: Typed): Signature => ({
  returns: returns.map((p) => p.type),
  params: params.map((p) => p.type),
});

/**
 * Whether a function with the signature `callee` can be called as `call` says: kinds, sizes and alignments agree,
 * compared as ptxas does.
 */
export function agrees(call: Signature, callee: Signature): boolean {
  const last = callee.params.at(-1);
  // The argument of an unsized last parameter may be left out.
  const shorter = last?.unsized === true && call.params.length === callee.params.length - 1;
  return (
    call.returns.length === callee.returns.length &&
    call.returns.every((t, i) => typesAgree(t, callee.returns[i]!)) &&
    (call.params.length === callee.params.length || shorter) &&
    call.params.every((t, i) => typesAgree(t, callee.params[i]!))
  );
}

function typesAgree(a: ParamType, b: ParamType): boolean {
  if (a.kind === "array" || b.kind === "array") {
    return a.kind === b.kind && a.align === b.align && (a.size === b.size || a.unsized || b.unsized);
  }
  if (a.size !== b.size || (a.kind === "pred") !== (b.kind === "pred")) return false;
  const float = a.kind === "f" || b.kind === "f";
  return !float || a.kind === b.kind || a.kind === "b" || b.kind === "b";
}

const typeText = (t: ParamType): string => {
  if (t.kind === "pred") return ".pred";
  if (t.kind === "array") return `.align ${t.align} .b8[${t.unsized ? "" : t.size}]`;
  return `.${t.kind}${t.size * 8}`;
};

/** The signature as messages show it, results first: "(.u32) (.u64, .u32)". */
export const signatureText = ({ returns, params }: Signature): string =>
  `${returns.length === 0 ? "" : `(${returns.map(typeText).join(", ")}) `}(${params.map(typeText).join(", ")})`;
