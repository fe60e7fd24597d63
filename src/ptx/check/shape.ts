import type { Span } from "../../source/index.ts";
import type { Expression } from "../tree/nodes.ts";
import type { Name } from "../tree/leaves.ts";
import { declarableTypes, type TypeInfo, typeInfo } from "../types.ts";
import { evaluateConstant } from "./constant.ts";
import type { ModuleContext } from "./module-context.ts";

/** The type and memory layout of a variable or parameter. */
export interface Shape {
  readonly type: TypeInfo;
  readonly vector: number;
  /** Array bounds, outermost first; null for a bound left open. */
  readonly dimensions: readonly (number | null)[];
  /** In bytes; 0 if the outermost bound is open. */
  readonly size: number;
  /** In bytes; the natural alignment unless declared. */
  readonly align: number;
}

/** The part of a declaration that determines a shape. */
interface Shaped {
  readonly type: Name;
  readonly vector: number;
  readonly align: { readonly value: number; readonly span: Span } | null;
}

/** The types of textures, samplers and surfaces (5.3). */
export const opaqueTypes: ReadonlySet<string> = new Set(["texref", "samplerref", "surfref"]);

/** The size of one element in bytes. A predicate counts as one byte, although it is never in memory. */
export const elementSize = (type: TypeInfo, vector: number): number => Math.max(1, type.bits / 8) * vector;

/** A shape's type and bounds as messages show them, as in ".v2 .f32" or ".b8[4]". */
export function shapeText({ type, dimensions, vector }: Pick<Shape, "type" | "dimensions" | "vector">): string {
  const bounds = dimensions.map((bound) => `[${bound ?? ""}]`).join("");
  return `${vector > 1 ? `.v${vector} ` : ""}.${type.name}${bounds}`;
}

/** The type of a declaration (5.2.1), or null after a diagnostic. */
export function declaredType(name: Name, context: ModuleContext): TypeInfo | null {
  const type = typeInfo(name.text);
  if (type !== null && declarableTypes.has(name.text)) return type;
  if (type === null) context.sink.error("variable-type", name, `there is no type '.${name.text}'`);
  else {
    context.sink.error("variable-type", name, `'.${name.text}' can only be the type of an instruction`, {
      help: `declare the variable with \`.b${type.bits}\``,
    });
  }
  return null;
}

/** Checks that an alignment is a power of two (5.4.5). */
function checkAlign(align: { readonly value: number; readonly span: Span } | null, context: ModuleContext): void {
  if (align === null || isPowerOfTwo(align.value)) return;
  context.sink.error("alignment", align.span, `an alignment of ${align.value} is not a power of two`);
}

export const isPowerOfTwo = (n: number): boolean => n >= 1 && Number.isInteger(Math.log2(n));

/** Checks that a vector has at most 128 bits and no predicates (5.4.2). */
function checkVector(node: Shaped, type: TypeInfo, context: ModuleContext): void {
  if (node.vector === 1) return;
  if (type.kind === "pred") {
    context.sink.error("vector-type", node.type, "a predicate cannot be in a vector");
  } else if (type.bits * node.vector > 128) {
    context.sink.error("vector-type", node.type, `a vector of ${node.vector} .${type.name} exceeds 128 bits`, {
      help: "use an array, or a shorter vector",
    });
  } else if (node.vector !== 2 && node.vector !== 4) {
    context.sink.error("vector-type", node.type, "a variable can only be a vector of 2 or 4 elements");
  }
}

/**
 * The shape of a declaration, with its array bounds evaluated (5.4.3). `implied`: the outermost bound that an
 * initializer implies if it is left open.
 */
export function shapeOf(
  node: Shaped,
  type: TypeInfo,
  bounds: readonly (Expression | null)[],
  span: Span,
  implied: number | null,
  context: ModuleContext,
): Shape {
  checkAlign(node.align, context);
  checkVector(node, type, context);
  const element = elementSize(type, node.vector);
  const dimensions = bounds.map((bound, i) => {
    if (bound !== null) return arrayBound(bound, context);
    if (i > 0) {
      context.sink.error("array-bound", span, "only the first bound of an array can be left open");
      return 1;
    }
    return implied;
  });
  const size = dimensions.reduce<number>((bytes, bound) => bytes * (bound ?? 0), element);
  if (size > Number.MAX_SAFE_INTEGER) {
    context.sink.error("array-bound", span, "the array is larger than any memory");
    return { type, vector: node.vector, dimensions: dimensions.map(() => 1), size: element, align: element };
  }
  const align = node.align !== null && isPowerOfTwo(node.align.value) ? node.align.value : element;
  return { type, vector: node.vector, dimensions, size, align };
}

/** The value of an array bound, a positive integer constant; 1 after a diagnostic. */
function arrayBound(bound: Expression, context: ModuleContext): number {
  const value = evaluateConstant(bound, context.reportConstant);
  if (value === null) return 1;
  if (value.kind === "float") context.sink.error("array-bound", bound, "an array bound must be an integer");
  else if (value.value <= 0n) {
    context.sink.error("array-bound", bound, `an array bound must be positive, but this is ${value.value}`);
  } else return Number(value.value);
  return 1;
}
