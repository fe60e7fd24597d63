import type { IrFunction, ParamType, Signature } from "./index.ts";

export const signatureOf = ({ returns, params }: IrFunction): Signature => ({
  returns: returns.map((p) => p.type),
  params: params.map((p) => p.type),
});

/** Whether a function can be called as the signature says: by kind, size and alignment, as ptxas compares them. */
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

/** "(.u32) (.u64, .u32)": results, then parameters. */
export const signatureText = ({ returns, params }: Signature): string =>
  `${returns.length === 0 ? "" : `(${returns.map(typeText).join(", ")}) `}(${params.map(typeText).join(", ")})`;
