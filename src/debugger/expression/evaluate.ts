import { bitsOf, numberOf, shapeOf, sizeOf, type TypedBits } from "../view/value.ts";
import type { Scope } from "./scope.ts";
import { type Expression, ExpressionError, type ExpressionNode, type ExpressionSpan } from "./tree.ts";

/** Computes an expression. Throws an ExpressionError where it has no value. */
export const evaluate = (expression: Expression, scope: Scope): TypedBits =>
  new Evaluation(expression.text, scope).node(expression.root);

/** Whether it is other than 0. */
export function holds(expression: Expression, scope: Scope): boolean {
  const value = numberOf(evaluate(expression, scope));
  return typeof value === "bigint" ? value !== 0n : value !== 0;
}

/** Gives what the left side names a value: a register, a variable, an element of one, or memory. */
export function assign(target: Expression, value: Expression, scope: Scope): void {
  const bits = evaluate(value, scope);
  new Evaluation(target.text, scope).assign(target.root, bits);
}

/** The address that an expression means: of the memory that it accesses, or its value. */
export function addressOf(expression: Expression, scope: Scope): { readonly address: bigint; readonly size: number } {
  const { root, text } = expression;
  const evaluation = new Evaluation(text, scope);
  if (root.kind === "memory") {
    return { address: evaluation.whole(root.address), size: sizeOf(root.type ?? defaultType) ?? 4 };
  }
  const variable = root.kind === "name" ? scope.variable(root.name) : null;
  if (variable !== null && variable.address !== null) return { address: variable.address, size: variable.bytes.length };
  return { address: evaluation.whole(root), size: 4 };
}

/** What memory is read as when nothing is said. */
const defaultType = "b32";

class Evaluation {
  readonly #text: string;
  readonly #scope: Scope;

  constructor(text: string, scope: Scope) {
    this.#text = text;
    this.#scope = scope;
  }

  node(node: ExpressionNode): TypedBits {
    switch (node.kind) {
      case "number":
        return result(node.value);
      case "name":
        return this.#name(node);
      case "element":
        return this.#element(node);
      case "memory": {
        const address = BigInt.asUintN(64, this.whole(node.address));
        const found = this.#scope.memory(address, node.type ?? defaultType);
        if (found === null) throw this.#error(`nothing that can be read is at 0x${address.toString(16)}`, node.span);
        return found;
      }
      case "unary": {
        const value = this.#number(node.operand);
        if (node.operator === "!") return truth(!value);
        if (node.operator === "-") return result(-value);
        return result(~BigInt(this.#integer(value, node.operand)));
      }
      case "binary":
        return this.#binary(node);
    }
  }

  /** The value of a part as an address or an index. */
  whole(node: ExpressionNode): bigint {
    return this.#integer(this.#number(node), node);
  }

  assign(target: ExpressionNode, value: TypedBits): void {
    const number = numberOf(value);
    const as = (type: string): Uint8Array => bitsOf(number, type === "pred" ? "u8" : type);
    const { type = null } = "type" in target ? target : {};
    if (target.kind === "name") {
      if (this.#scope.write(target.name, (own) => as(type ?? own))) return;
    } else if (target.kind === "element") {
      const { type: own } = this.#variable(target);
      const element = type ?? own;
      const at = Number(this.whole(target.index)) * (sizeOf(element) ?? 1);
      if (at >= 0 && this.#scope.write(target.name, () => as(element), at)) return;
    } else if (target.kind === "memory") {
      if (this.#scope.writeMemory(this.whole(target.address), as(type ?? defaultType))) return;
    }
    throw this.#error("this cannot be given a value", target.span);
  }

  #number(node: ExpressionNode): number | bigint {
    return numberOf(this.node(node));
  }

  #name({ name, type, span }: Extract<ExpressionNode, { kind: "name" }>): TypedBits {
    const found = this.#scope.read(name);
    if (found === null) throw this.#unknown(name, span);
    return type === null ? found : this.#read(found, type, 0, span);
  }

  #element(node: Extract<ExpressionNode, { kind: "element" }>): TypedBits {
    const found = this.#variable(node);
    const type = node.type ?? found.type;
    const index = Number(this.whole(node.index));
    return this.#read(found, type, index * (sizeOf(type) ?? 1), node.span);
  }

  #variable({ name, span }: Extract<ExpressionNode, { kind: "element" }>): TypedBits {
    const found = this.#scope.read(name);
    if (found === null) throw this.#unknown(name, span);
    return found;
  }

  /** The bits from a byte on, as a type: fewer bits than that are filled up with zeros. */
  #read({ bytes }: TypedBits, type: string, at: number, span: ExpressionSpan): TypedBits {
    const size = type === "pred" ? 1 : (sizeOf(type) ?? 1);
    if (at < 0 || at >= bytes.length) throw this.#error(`there are only ${bytes.length} bytes`, span);
    const read = new Uint8Array(size);
    read.set(bytes.subarray(at, at + size));
    return { bytes: read, type };
  }

  #binary(node: Extract<ExpressionNode, { kind: "binary" }>): TypedBits {
    const { operator, left, right } = node;
    if (operator === "&&") return truth(Boolean(this.#number(left)) && Boolean(this.#number(right)));
    if (operator === "||") return truth(Boolean(this.#number(left)) || Boolean(this.#number(right)));
    const a = this.#number(left);
    const b = this.#number(right);
    const isFloat = this.#isFloat(left) || this.#isFloat(right);
    switch (operator) {
      case "==":
        // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint are equal when their values are
        return truth(a == b);
      case "!=":
        // biome-ignore lint/suspicious/noDoubleEquals: as above
        return truth(a != b);
      case "<":
        return truth(a < b);
      case "<=":
        return truth(a <= b);
      case ">":
        return truth(a > b);
      case ">=":
        return truth(a >= b);
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        if (isFloat) return result(inFloat[operator](Number(a), Number(b)));
        if ((operator === "/" || operator === "%") && BigInt(b) === 0n)
          throw this.#error("division by zero", right.span);
        return result(inIntegers[operator](BigInt(a), BigInt(b)));
      default:
        return result(inIntegers[operator](this.#integer(a, left), this.#integer(b, right)));
    }
  }

  #isFloat(node: ExpressionNode): boolean {
    if (node.kind === "unary") return this.#isFloat(node.operand);
    if (node.kind === "number") return typeof node.value === "number";
    return /^(b?f16|f32|f64)$/.test(shapeOf(this.node(node).type)?.element ?? "");
  }

  #integer(value: number | bigint, { span }: ExpressionNode): bigint {
    if (typeof value === "bigint") return value;
    if (!Number.isInteger(value)) throw this.#error(`${value} is no integer`, span);
    return BigInt(value);
  }

  #unknown(name: string, span: ExpressionSpan): ExpressionError {
    const meant = this.#scope.nearest(name);
    return this.#error(`there is no ${name} here${meant === null ? "" : `; did you mean ${meant}?`}`, span);
  }

  #error(message: string, span: ExpressionSpan): ExpressionError {
    return new ExpressionError(message, this.#text, span);
  }
}

const inFloat = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
};

const farthestShift = 128n;

const inIntegers = {
  "+": (a: bigint, b: bigint) => a + b,
  "-": (a: bigint, b: bigint) => a - b,
  "*": (a: bigint, b: bigint) => a * b,
  "/": (a: bigint, b: bigint) => a / b,
  "%": (a: bigint, b: bigint) => a % b,
  "&": (a: bigint, b: bigint) => a & b,
  "|": (a: bigint, b: bigint) => a | b,
  "^": (a: bigint, b: bigint) => a ^ b,
  "<<": (a: bigint, b: bigint) => (b < 0n || b > farthestShift ? 0n : a << b),
  ">>": (a: bigint, b: bigint) => a >> (b < 0n || b > farthestShift ? farthestShift : b),
};

const truth = (value: boolean): TypedBits => ({ bytes: Uint8Array.of(value ? 1 : 0), type: "pred" });

/** What comes out of a computation: of 64 bits, or a double. */
function result(value: number | bigint): TypedBits {
  const type = typeof value === "number" ? "f64" : value >= 2n ** 63n ? "u64" : "s64";
  return { bytes: bitsOf(value, type), type };
}
