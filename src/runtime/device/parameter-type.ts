import { elementInfo } from "../data/element.ts";
import { cName, type ParameterType } from "../data/parameter-type.ts";
import type { Parameter } from "../visa/arguments.ts";

/** A parameter of a vISA kernel as a type of C. */
export function typeOfParameter(parameter: Parameter): ParameterType {
  if (parameter.kind !== "pointer" || parameter.pointsTo === undefined) {
    return { text: parameter.name, kind: "other", element: null };
  }
  const { pointsTo } = parameter;
  return { text: `${cName(pointsTo)}*`, kind: "pointer", element: elementInfo[pointsTo].size > 1 ? pointsTo : null };
}
