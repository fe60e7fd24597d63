import { plainType, type SourceType } from "../../dwarf/index.ts";
import { builtinType, builtinValue } from "../source/builtins.ts";
import { candidates } from "../source/function-debug.ts";
import { type SourceValue, valueAt, variableNamed } from "../source/source-value.ts";
import type { Names } from "../view/names.ts";
import { bitsOf, firstBits, numberOf, type TypedBits } from "../view/value.ts";
import type { Value } from "./arithmetic.ts";
import type { Computation, Typed } from "./computation.ts";
import type { Scope } from "./scope.ts";
import { ExpressionError, type ExpressionNode, type ExpressionSpan } from "./tree.ts";

/** The texts and the other parts of a compiler that typed expressions need. */
interface TypedContext {
  readonly text: string;
  readonly names: Names;
  readonly integer: (node: ExpressionNode) => (scope: Scope) => Value;
}

/** Returns an expression with a type of the source, or null if it has none. */
export function typedOf(node: ExpressionNode, context: TypedContext): Typed | null {
  const fail = (message: string, span: ExpressionSpan = node.span): ExpressionError =>
    new ExpressionError(message, context.text, span);
  const inner = (of: ExpressionNode): Typed | null => typedOf(of, context);
  switch (node.kind) {
    case "name":
      return named(node.name, context, fail);
    case "element": {
      const base = named(node.name, context, fail);
      return base && elementOf(base, context.integer(node.index), fail);
    }
    case "index": {
      const base = inner(node.base);
      if (base === null) throw fail("only variables of the source have elements; [ADDRESS]:type reads memory");
      return elementOf(base, context.integer(node.index), fail);
    }
    case "member": {
      const base = inner(node.base);
      if (base === null) throw fail("only variables of the source have members");
      return memberOf(base, node.name, fail);
    }
    case "deref": {
      const base = inner(node.operand);
      if (base === null) throw fail("a number cannot be followed: [ADDRESS]:type reads memory");
      return elementOf(base, () => 0, fail);
    }
    case "address": {
      const base = inner(node.operand);
      if (base === null) throw fail("this has no address");
      const type: SourceType = { kind: "pointer", target: () => base.type, size: 8 };
      return { type, value: (scope) => base.value(scope).referred.pointer ?? raise(fail("this is not in memory")) };
    }
    case "binary": {
      const base = node.operator === "+" || node.operator === "-" ? inner(node.left) : null;
      if (base === null || !isPointer(base.type) || inner(node.right) !== null) return null;
      const by = context.integer(node.right);
      const sign = node.operator === "-" ? -1n : 1n;
      const moved = (scope: Scope) => base.value(scope).referred.moved(sign * BigInt(by(scope)));
      return { type: base.type, value: (scope) => moved(scope) ?? raise(fail("this pointer has no value here")) };
    }
    default:
      return null;
  }
}

type Fail = (message: string, span?: ExpressionSpan) => ExpressionError;

function raise(error: ExpressionError): never {
  throw error;
}

const isPointer = (type: SourceType): boolean => ["pointer", "array"].includes(withoutReference(type).kind);

function withoutReference(type: SourceType): SourceType {
  const plain = plainType(type);
  return plain.kind === "reference" || plain.kind === "rvalue-reference" ? plainType(plain.target()) : plain;
}

/** A variable, and members of it: "p.at.x" is read as one name, as "tid.x" is. */
function named(name: string, { names }: TypedContext, fail: Fail): Typed | null {
  const [first = "", ...members] = name.split(".");
  if (first.startsWith("%") || names.special(name) !== null) return null;
  const builtin = builtinType(first);
  const [variable] = candidates(names.ir, first);
  if ((builtin === null || names.ir === null) && variable === undefined) return null;
  let typed: Typed = {
    type: variable?.type ?? builtin!,
    value: (scope) => {
      const found = variableNamed(first, scope);
      const value = found === null ? builtinValue(first, scope) : valueAt(found, scope);
      return value ?? raise(fail(`${first} cannot be seen here: it belongs to another block`));
    },
  };
  for (const member of members) typed = memberOf(typed, member, fail);
  return typed;
}

function elementOf(base: Typed, index: (scope: Scope) => Value, fail: Fail): Typed {
  const plain = withoutReference(base.type);
  if (plain.kind !== "array" && plain.kind !== "pointer") throw fail("this is neither an array nor a pointer");
  const type = plain.kind === "array" ? plain.element : plain.target();
  return {
    type,
    value: (scope) => base.value(scope).referred.target(BigInt(index(scope))) ?? raise(fail("this has no value here")),
  };
}

function memberOf(base: Typed, name: string, fail: Fail): Typed {
  const through = (type: SourceType): SourceType => {
    const plain = withoutReference(type);
    return plain.kind === "pointer" ? plainType(plain.target()) : plain;
  };
  const struct = through(base.type);
  if (struct.kind !== "struct") throw fail(`this has no members: no ${name}`);
  const type = memberType(struct, name);
  if (type === null) {
    const known = struct.members().flatMap((m) => (m.name === "" ? [] : [m.name]));
    throw fail(`there is no member ${name}${known.length > 0 && known.length <= 12 ? `: ${known.join(", ")}` : ""}`);
  }
  return {
    type,
    value: (scope) => {
      const value = base.value(scope).referred;
      const whole = value.plain.kind === "pointer" ? value.target() : value;
      return whole?.find(name) ?? raise(fail("this has no value here"));
    },
  };
}

function memberType(type: SourceType, name: string, depth = 0): SourceType | null {
  const plain = plainType(type);
  if (plain.kind !== "struct" || depth > 20) return null;
  const own = plain.members().find((m) => m.name === name && !m.isBase);
  if (own !== undefined) return own.type;
  for (const m of plain.members()) {
    const found = m.isBase || m.name === "" ? memberType(m.type, name, depth + 1) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The type under which the debugger's own expressions know the bits of a scalar; null for structs and arrays. */
function bitsType(type: SourceType, size: number): string | null {
  if (type.kind === "pointer") return "b64";
  if (type.kind === "enum") return `s${8 * size}`;
  if (type.kind !== "base" || ![1, 2, 4, 8].includes(size)) return null;
  if (type.encoding === "float") return size === 1 ? null : `f${8 * size}`;
  return `${type.encoding.startsWith("signed") ? "s" : "u"}${8 * size}`;
}

/** Returns the value of a typed expression as bits of a type that arithmetic knows. */
function typedBits(found: SourceValue, fail: Fail): TypedBits {
  const value = found.referred;
  const { plain } = value;
  if (plain.kind === "array") {
    const { address } = value;
    if (address === null) throw fail("this array is not in memory");
    return { bytes: bitsOf(address, "b64"), type: "b64" };
  }
  const bytes = value.read();
  if (typeof bytes === "string") throw fail(bytes);
  const type = bitsType(plain, bytes.length);
  if (type === null || plain.kind === "struct") throw fail("this has several values: name one of them");
  const { bits, width } = value;
  if (bits === null || width === 8 * bytes.length) return { bytes, type };
  const signed = type.startsWith("s") ? BigInt.asIntN(width, bits) : bits;
  return { bytes: bitsOf(signed, type), type };
}

/** Makes a typed expression one that others can compute with. `as`: the bits are read as this type. */
export function computationOf(typed: Typed, as: string | null, text: string, span: ExpressionSpan): Computation {
  const fail: Fail = (message) => new ExpressionError(message, text, span);
  const bits = (scope: Scope): TypedBits => {
    const found = typed.value(scope);
    if (as === null) return typedBits(found, fail);
    const bytes = found.referred.read();
    return typeof bytes === "string" ? raise(fail(bytes)) : firstBits(bytes, as);
  };
  const plain = withoutReference(typed.type);
  const isDouble = as === null ? plain.kind === "base" && plain.encoding === "float" : /^(b?f16|f32|f64)/.test(as);
  return {
    number: (scope) => numberOf(bits(scope)),
    bits,
    isFloat: isDouble,
    ...(as === null ? { typed } : {}),
  };
}
