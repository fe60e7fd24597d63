import type { Span } from "../../source/index.ts";
import type { Expression, Name } from "../tree.ts";
import { declarableTypes, type TypeInfo, typeInfo } from "../types.ts";
import { evaluateConstant } from "./constant.ts";
import type { ModuleContext } from "./module-context.ts";

/** How a variable or parameter lies in memory. */
export interface Shape {
  readonly type: TypeInfo;
  readonly vector: number;
  /** Outermost first; null where left open. */
  readonly dimensions: readonly (number | null)[];
  /** Bytes; 0 where the outermost bound is open. */
  readonly size: number;
  /** Bytes; natural where the declaration says nothing. */
  readonly align: number;
}

interface Shaped {
  readonly type: Name;
  readonly vector: number;
  readonly align: { readonly value: number; readonly span: Span } | null;
}

/** Types of textures, samplers and surfaces (5.3). */
export const opaqueTypes: ReadonlySet<string> = new Set(["texref", "samplerref", "surfref"]);

/** Bytes of one element. A predicate counts as one byte, although no memory holds one. */
export const elementSize = (type: TypeInfo, vector: number): number => Math.max(1, type.bits / 8) * vector;

/** The type that a declaration names, or null after a diagnostic (5.2.1). */
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

/** Alignments are powers of two (5.4.5). */
function checkAlign(align: { readonly value: number; readonly span: Span } | null, context: ModuleContext): void {
  if (align === null || isPowerOfTwo(align.value)) return;
  context.sink.error("alignment", align.span, `an alignment of ${align.value} is not a power of two`);
}

export const isPowerOfTwo = (n: number): boolean => n >= 1 && Number.isInteger(Math.log2(n));

/** Vectors have at most 128 bits, and elements of any type but predicates (5.4.2). */
function checkVector(node: Shaped, type: TypeInfo, context: ModuleContext): void {
  if (node.vector === 1) return;
  if (type.kind === "pred") {
    context.sink.error("vector-type", node.type, "there are no vectors of predicates");
  } else if (type.bits * node.vector > 128) {
    context.sink.error("vector-type", node.type, `a vector of ${node.vector} .${type.name} exceeds 128 bits`, {
      help: "use an array, or a shorter vector",
    });
  } else if (node.vector !== 2 && node.vector !== 4) {
    context.sink.error("vector-type", node.type, "a variable can only be a vector of 2 or 4 elements");
  }
}

/** Evaluates array bounds. `implied`: the outermost bound that an initializer implies where it is left open. */
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

/** A bound is a positive integer constant; 1 after a diagnostic. */
function arrayBound(bound: Expression, context: ModuleContext): number {
  const value = evaluateConstant(bound, context.reportConstant);
  if (value === null) return 1;
  if (value.kind === "float") context.sink.error("array-bound", bound, "an array bound is an integer");
  else if (value.value <= 0n) {
    context.sink.error("array-bound", bound, `an array bound must be positive, and this is ${value.value}`);
  } else return Number(value.value);
  return 1;
}
