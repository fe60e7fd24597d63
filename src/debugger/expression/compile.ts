import type { Names } from "../view/names.ts";
import { bitsOf, firstBits, isFloat, numberOf, sizeOf, type TypedBits } from "../view/value.ts";
import { arithmetic, comparisons, type Value, whole } from "./arithmetic.ts";
import type { Computation } from "./computation.ts";
import type { Scope } from "./scope.ts";
import { computationOf, typedOf } from "./typed.ts";
import { type Expression, ExpressionError, type ExpressionNode, type ExpressionSpan } from "./tree.ts";

/** The type of memory accesses that do not give one. */
export const defaultType = "b32";

const compiled = new WeakMap<Names, WeakMap<Expression, Computation>>();

/** Resolves the names of an expression, once for each function. Throws an ExpressionError if a name does not exist. */
export function compile(expression: Expression, names: Names): Computation {
  let inFunction = compiled.get(names);
  if (inFunction === undefined) compiled.set(names, (inFunction = new WeakMap()));
  let found = inFunction.get(expression);
  if (found === undefined) {
    found = compileNode(expression.root, expression.text, names);
    inFunction.set(expression, found);
  }
  return found;
}

/** The same for a part of an expression. */
export const compileNode = (node: ExpressionNode, text: string, names: Names): Computation =>
  new Compiler(text, names).node(node);

/** Returns a value as an address or index. Throws an ExpressionError if it is not an integer. */
export function integerOf(value: Value, text: string, span: ExpressionSpan): bigint {
  if (typeof value === "number" && !Number.isInteger(value)) {
    throw new ExpressionError(`${value} is not an integer`, text, span);
  }
  return BigInt(value);
}

/** Stored bits, and the type that they have where they are stored. */
interface Leaf {
  readonly type: string;
  readonly bytes: (scope: Scope) => Uint8Array;
  readonly reader: (type: string) => Computation["number"];
}

const truth = (holds: (scope: Scope) => boolean): Computation => ({
  number: (scope) => (holds(scope) ? 1 : 0),
  bits: (scope) => ({ bytes: Uint8Array.of(holds(scope) ? 1 : 0), type: "pred" }),
  isFloat: false,
});

/** The result of arithmetic: a 64-bit integer or a double. */
const computed = (number: Computation["number"], isDouble: boolean): Computation => ({
  number,
  bits: (scope) => {
    const value = number(scope);
    const type = isDouble ? "f64" : value >= 2n ** 63n ? "u64" : "s64";
    return { bytes: bitsOf(value, type), type };
  },
  isFloat: isDouble,
});

/** A leaf that is computed rather than stored. */
const known = (type: string, value: (scope: Scope) => Value): Leaf => {
  const bytes = (scope: Scope): Uint8Array => bitsOf(value(scope), type);
  return {
    type,
    bytes,
    reader: (as) => (as === type ? value : (scope) => numberOf(firstBits(bytes(scope), as))),
  };
};

/** Names that the debugger defines. */
const ownNames: ReadonlyMap<string, Leaf> = new Map([
  ["lane", known("u32", ({ lane }) => lane)],
  ["warp", known("u32", ({ warp }) => warp?.index ?? 0)],
  ["block", known("u32", ({ warp }) => warp?.cta.ticket ?? 0)],
  ["time", known("b64", ({ now }) => BigInt(now))],
]);

class Compiler {
  readonly #text: string;
  readonly #names: Names;

  constructor(text: string, names: Names) {
    this.#text = text;
    this.#names = names;
  }

  node(node: ExpressionNode): Computation {
    const typed = typedOf(node, { text: this.#text, names: this.#names, integer: (of) => this.#integer(of) });
    if (typed === null) return this.#untyped(node);
    const as = node.kind === "name" || node.kind === "element" ? node.type : null;
    return computationOf(typed, as, this.#text, node.span);
  }

  #untyped(node: ExpressionNode): Computation {
    switch (node.kind) {
      case "number": {
        const value = whole(node.value);
        return computed(() => value, typeof node.value === "number");
      }
      case "name": {
        const { type, bytes, reader } = this.#leaf(node);
        const as = node.type ?? type;
        const bits = (scope: Scope): TypedBits =>
          node.type === null ? { bytes: bytes(scope), type } : firstBits(bytes(scope), as);
        return { number: reader(as), bits, isFloat: isFloat(as) };
      }
      case "element":
        return this.#element(node);
      case "memory":
        return this.#memory(node);
      case "unary":
        return this.#unary(node);
      case "binary":
        return this.#binary(node);
      default:
        throw this.#error("this is not a variable of the source", node.span);
    }
  }

  #leaf({ name, span }: Extract<ExpressionNode, { kind: "name" | "element" }>): Leaf {
    const names = this.#names;
    const special = names.special(name);
    if (special !== null) return known("u32", special);
    const variable = names.variable(name);
    if (variable !== null) {
      const bytes = (scope: Scope): Uint8Array => variable.read(scope);
      return { type: variable.type, bytes, reader: (type) => variable.reader(type) };
    }
    const own = ownNames.get(name);
    if (own !== undefined) return own;
    const address = names.address(name);
    if (address !== null) return known("b64", () => address);
    const meant = names.nearest(name);
    throw this.#error(`there is no ${name} here${meant === null ? "" : `; did you mean ${meant}?`}`, span);
  }

  #element(node: Extract<ExpressionNode, { kind: "element" }>): Computation {
    const { type: own, bytes } = this.#leaf(node);
    const type = node.type ?? own;
    const index = this.#integer(node.index);
    const size = sizeOf(type) ?? 1;
    const bits = (scope: Scope): TypedBits => {
      const all = bytes(scope);
      const at = Number(index(scope)) * size;
      if (at < 0 || at >= all.length) throw this.#error(`there are only ${all.length} bytes`, node.span);
      return firstBits(all.subarray(at), type);
    };
    return { number: (scope) => numberOf(bits(scope)), bits, isFloat: isFloat(type) };
  }

  #memory(node: Extract<ExpressionNode, { kind: "memory" }>): Computation {
    const type = node.type ?? defaultType;
    const address = this.#integer(node.address);
    const bits = (scope: Scope): TypedBits => {
      const at = BigInt.asUintN(64, BigInt(address(scope)));
      const found = scope.memory(at, type);
      if (found === null) throw this.#error(`there is no readable memory at 0x${at.toString(16)}`, node.span);
      return found;
    };
    return { number: (scope) => numberOf(bits(scope)), bits, isFloat: isFloat(type) };
  }

  #unary({ operator, operand }: Extract<ExpressionNode, { kind: "unary" }>): Computation {
    if (operator === "~") {
      const number = this.#integer(operand);
      return computed((scope) => arithmetic["-"](-1, number(scope)), false);
    }
    const { number, isFloat: isDouble } = this.node(operand);
    if (operator === "!") return truth((scope) => !number(scope));
    return computed((scope) => (isDouble ? -number(scope) : arithmetic["-"](0, number(scope))), isDouble);
  }

  #binary({ operator, left, right }: Extract<ExpressionNode, { kind: "binary" }>): Computation {
    const { number: a, isFloat: aIsFloat } = this.node(left);
    const { number: b, isFloat: bIsFloat } = this.node(right);
    switch (operator) {
      case "&&":
        return truth((scope) => Boolean(a(scope)) && Boolean(b(scope)));
      case "||":
        return truth((scope) => Boolean(a(scope)) || Boolean(b(scope)));
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=": {
        const compare = comparisons[operator];
        return truth((scope) => compare(a(scope), b(scope)));
      }
      case "+":
      case "-":
      case "*":
      case "/":
      case "%": {
        if (aIsFloat || bIsFloat) {
          const compute = inDoubles[operator];
          return computed((scope) => compute(Number(a(scope)), Number(b(scope))), true);
        }
        const compute = arithmetic[operator];
        if (operator !== "/" && operator !== "%") return computed((scope) => compute(a(scope), b(scope)), false);
        return computed((scope) => {
          const divisor = b(scope);
          // biome-ignore lint/suspicious/noDoubleEquals: 0 and 0n
          if (divisor == 0) throw this.#error("division by zero", right.span);
          return compute(a(scope), divisor);
        }, false);
      }
      default: {
        const compute = arithmetic[operator];
        const [x, y] = [this.#integer(left), this.#integer(right)];
        return computed((scope) => compute(x(scope), y(scope)), false);
      }
    }
  }

  /** Returns a function that computes an integer, and throws an ExpressionError if the value is not one. */
  #integer(node: ExpressionNode): (scope: Scope) => Value {
    const { number } = this.node(node);
    return (scope) => {
      const value = number(scope);
      return typeof value === "number" && !Number.isInteger(value) ? integerOf(value, this.#text, node.span) : value;
    };
  }

  #error(message: string, span: ExpressionSpan): ExpressionError {
    return new ExpressionError(message, this.#text, span);
  }
}

const inDoubles = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
};
