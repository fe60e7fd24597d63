import type { ParamType, Signature } from "../../ir/index.ts";
import type { FormalSymbol } from "../check/context.ts";
import { elementSize } from "../check/shape.ts";
import type { CallSignature, FormalShape } from "../check/signature.ts";

/** The type of a formal parameter as callers see it. A vector in `.param` counts as an array. */
export function paramType(formal: FormalShape | FormalSymbol): ParamType {
  const { type, vector } = formal;
  if (!("size" in formal)) {
    const size = elementSize(type, vector);
    return { kind: type.kind, size, align: size, unsized: false };
  }
  const array = formal.dimensions.length > 0 || vector > 1;
  return { kind: array ? "array" : type.kind, size: formal.size, align: formal.align, unsized: formal.unsized };
}

export const lowerSignature = ({ returns, params }: CallSignature): Signature => ({
  returns: returns.map(paramType),
  params: params.map(paramType),
});
