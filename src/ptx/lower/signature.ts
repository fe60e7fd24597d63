import type { ParamType, Signature } from "../../ir/index.ts";
import type { ParameterSymbol, RegisterSymbol } from "../symbols.ts";

/** How a formal parameter, or one of a prototype, looks to callers. */
export type FormalShape = Pick<ParameterSymbol, "type" | "vector" | "dimensions" | "size" | "align" | "unsized">;

export function paramType(formal: RegisterSymbol | FormalShape): ParamType {
  const { type, vector } = formal;
  if (!("size" in formal)) {
    const size = Math.max(1, type.bits / 8) * vector;
    return { kind: type.kind, size, align: size, unsized: false };
  }
  const array = formal.dimensions.length > 0 || vector > 1;
  return { kind: array ? "array" : type.kind, size: formal.size, align: formal.align, unsized: formal.unsized };
}

export const signatureOf = (
  returns: readonly (RegisterSymbol | FormalShape)[],
  params: readonly (RegisterSymbol | FormalShape)[],
): Signature => ({ returns: returns.map(paramType), params: params.map(paramType) });
