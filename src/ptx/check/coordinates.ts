import type { Candidate } from "../isa/resolve.ts";
import { typeInfo } from "../types.ts";
import { isExpression } from "../tree/is-expression.ts";
import type { AddressOperand, Operand } from "../tree/nodes.ts";
import { constantClass } from "./immediate.ts";
import { opaqueTypes } from "./shape.ts";

/** An error in a part of an address. */
export interface AddressProblem {
  readonly part: Operand;
  readonly message: string;
}

/** How many coordinates each geometry needs (9.7.10.3, 9.7.11.1); any further ones are ignored. */
const needed: Readonly<Record<string, number>> = {
  "1d": 1,
  a1d: 2,
  "2d": 2,
  a2d: 4,
  "3d": 4,
  cube: 4,
  acube: 4,
  "2dms": 4,
  a2dms: 4,
};

/**
 * Checks `[texture, {x, y}]`, `[texture, sampler, {x, y}]` and `[surface, {x, y}]`. Instructions without a geometry,
 * such as those on tensor maps, are not checked here.
 */
export function textureAddressProblem({ parts }: AddressOperand, { mods, written }: Candidate): AddressProblem | null {
  const { geom } = mods;
  if (typeof geom !== "string" || !(geom in needed)) return null;
  const handles = parts.slice(0, -1);
  const coordinates = parts.at(-1)!;
  for (const part of handles) if (!isHandle(part)) return { part, message: handleMessage };
  // A scalar or a vector register is not checked.
  if (coordinates.kind !== "vector") return null;
  const { elements } = coordinates;
  const count = elements.length;
  if (count < needed[geom]! || (count !== 1 && count !== 2 && count !== 4)) {
    const wanted = [1, 2, 4].filter((n) => n >= needed[geom]!).join(" or ");
    return { part: coordinates, message: `'.${geom}' takes a vector of ${wanted} coordinates, but this has ${count}` };
  }
  // The last type of a texture instruction is that of the coordinates.
  const ofFloats = written.findLast((word) => typeInfo(word) !== null) === "f32";
  for (const [i, element] of elements.entries()) {
    // The index into a texture array comes first and is an integer.
    const wantsFloat = ofFloats && !(i === 0 && geom.startsWith("a"));
    if (!isCoordinate(element, wantsFloat)) {
      return { part: element, message: `a coordinate here must be a 32-bit ${wantsFloat ? "float" : "integer"}` };
    }
  }
  return null;
}

/** Checks `[tensorMap, {c0, c1}]` (9.7.9.27.1.2): as many 32-bit integers as dimensions, or a column and four rows. */
export function tensorAddressProblem({ parts }: AddressOperand, { mods }: Candidate): AddressProblem | null {
  const { dim, load_mode: mode } = mods;
  const [map, coordinates] = parts;
  if (typeof dim !== "string" || map === undefined || coordinates === undefined) return null;
  if (coordinates.kind === "bad") return null;
  const count = mode === "tile::gather4" || mode === "tile::scatter4" ? 5 : Number(dim[0]);
  const found = coordinates.kind === "vector" ? coordinates.elements.length : 0;
  if (coordinates.kind !== "vector" || found !== count) {
    const what = found === 0 ? "none" : `one of ${found}`;
    return {
      part: coordinates,
      message: `this instruction takes a vector of ${count} coordinates, but this is ${what}`,
    };
  }
  if (isExpression(map) && constantClass(map) === "integer") {
    return { part: map, message: "a tensor map must be a variable or a register" };
  }
  const wrong = coordinates.elements.find((element) => !isCoordinate(element, false));
  return wrong === undefined ? null : { part: wrong, message: "a coordinate here must be a 32-bit integer" };
}

/** What must be written where an instruction takes a handle. */
export const handleMessage = "a texture, sampler or surface must be a variable of its type or a 64-bit register";

function isHandle(part: Operand): boolean {
  if (part.kind === "bad") return true;
  if (part.kind !== "name") return false;
  const { symbol } = part;
  switch (symbol?.kind) {
    case "register":
      return symbol.type.bits === 64 && symbol.type.kind !== "f";
    case "variable":
      return symbol.space === "tex" || opaqueTypes.has(symbol.type.name);
    default:
      return true;
  }
}

function isCoordinate(element: Operand, wantsFloat: boolean): boolean {
  if (element.kind === "negated" || element.kind === "sink") return false;
  if (isExpression(element) && constantClass(element) === "integer") return !wantsFloat;
  if (element.kind !== "name" || element.symbol?.kind !== "register") return true;
  const { type } = element.symbol;
  return type.bits === 32 && (type.kind === "b" || (type.kind === "f") === wantsFloat);
}
