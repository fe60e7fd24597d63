/**
 * Values as formulas: of the lanes of an operand, of the elements of memory. In the notation of C, over integers of any
 * size, of which a slot takes the low bits:
 *
 *     7  0xff  lane*3+1  lane<16?5:-1  ~lane  min(lane+1,31)  popc(x)
 *     [0..15,7:8,99]         a list: 0 to 15, eight times 7, then 99; the position of the value selects an element
 *     f32(lane*0.5-1)        the pattern of a float, of what is computed in doubles inside: also f64, f16, bf16
 *     sext(8,x)              the low 8 bits of x, extended as a signed number
 *     sum(l*3) xor(l) all(l<5) any(l==lane)  ballot(l%4==lane%4)    over the lanes l = 0 to 31
 *
 * Names: `lane`, `warp`, `thread` (in its block, or in the cluster), and `i`, the index of an element of memory; in
 * shared memory of a cluster `rank`, that of the block. No blanks inside.
 */
export type Formula = (scope: Scope) => bigint;

interface Scope {
  /** By name: `thread` and what follows from it, `i`. */
  readonly names: Readonly<Record<string, bigint>>;
  /** Which element of a list is meant. */
  readonly position: number;
}

/** The names that belong to a thread of a block. */
export const threadNames = (thread: number): Readonly<Record<string, bigint>> => ({
  thread: BigInt(thread),
  lane: BigInt(thread % 32),
  warp: BigInt(Math.floor(thread / 32)),
});

/** A formula before it is known whether integers or doubles are wanted. */
type Node = <T extends bigint | number>(scope: Scope, arithmetic: Arithmetic<T>) => T;

interface Arithmetic<T> {
  readonly literal: (text: string) => T;
  readonly of: (integer: bigint) => T;
  readonly isTrue: (value: T) => boolean;
  readonly binary: (operator: string, a: T, b: T) => T;
  readonly negate: (value: T) => T;
}

const truth = (value: boolean): bigint => (value ? 1n : 0n);

const comparisons: Readonly<Record<string, (a: bigint | number, b: bigint | number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

const integerOperators: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "&": (a, b) => a & b,
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "<<": (a, b) => a << b,
  ">>": (a, b) => a >> b,
};

const doubleOperators: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

const integers: Arithmetic<bigint> = {
  literal: (text) => {
    if (text.includes(".")) throw new Error(`${text} is not an integer: write f32(${text}) or f64(${text})`);
    return BigInt(text);
  },
  of: (integer) => integer,
  isTrue: (value) => value !== 0n,
  binary: (operator, a, b) => {
    const compare = comparisons[operator];
    return compare ? truth(compare(a, b)) : integerOperators[operator]!(a, b);
  },
  negate: (value) => -value,
};

const doubles: Arithmetic<number> = {
  literal: Number,
  of: Number,
  isTrue: (value) => value !== 0,
  binary: (operator, a, b) => {
    const compare = comparisons[operator];
    if (compare) return Number(compare(a, b));
    const compute = doubleOperators[operator];
    if (!compute) throw new Error(`"${operator}" is for integers, not inside a float`);
    return compute(a, b);
  },
  negate: (value) => -value,
};

const view = new DataView(new ArrayBuffer(8));

function f32Bits(value: number): bigint {
  view.setFloat32(0, value);
  if (view.getFloat32(0) !== value) throw new Error(`${value} is no f32`);
  return BigInt(view.getUint32(0));
}

/** The pattern of a value that is a multiple of the spacing of subnormal f16 numbers and needs no rounding. */
function f16Bits(value: number): bigint {
  const sign = Object.is(value, -0) || value < 0 ? 0x8000n : 0n;
  const magnitude = Math.abs(value);
  const exponent = Math.max(-14, magnitude === 0 ? -14 : Math.floor(Math.log2(magnitude)));
  const significand = magnitude / 2 ** (exponent - 10);
  if (!Number.isInteger(significand) || exponent > 15) throw new Error(`${value} is no f16`);
  // A subnormal number has no leading bit that adds one to the exponent field.
  return sign | (BigInt(exponent + 14) * 1024n + BigInt(significand));
}

function bf16Bits(value: number): bigint {
  const bits = f32Bits(value);
  if ((bits & 0xffffn) !== 0n) throw new Error(`${value} is no bf16`);
  return bits >> 16n;
}

function f64Bits(value: number): bigint {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

const floats: Readonly<Record<string, (value: number) => bigint>> = {
  f32: f32Bits,
  f64: f64Bits,
  f16: f16Bits,
  bf16: bf16Bits,
};

const bitCount = (value: bigint): bigint =>
  BigInt([...BigInt.asUintN(128, value).toString(2)].filter((c) => c === "1").length);

/** Functions of values, with how many they take. */
const functions: Readonly<Record<string, readonly [count: number, compute: (...values: bigint[]) => bigint]>> = {
  min: [2, (a, b) => (a! < b! ? a! : b!)],
  max: [2, (a, b) => (a! > b! ? a! : b!)],
  popc: [1, (a) => bitCount(a!)],
  sext: [2, (bits, a) => BigInt.asIntN(Number(bits), a!)],
};

/** Functions of the values that a formula over `l` has in the lanes. */
const reductions: Readonly<Record<string, (values: readonly bigint[]) => bigint>> = {
  sum: (values) => values.reduce((a, b) => a + b),
  xor: (values) => values.reduce((a, b) => a ^ b),
  all: (values) => truth(values.every((v) => v !== 0n)),
  any: (values) => truth(values.some((v) => v !== 0n)),
  ballot: (values) => values.reduce((mask, v, l) => mask | (v === 0n ? 0n : 1n << BigInt(l)), 0n),
};

/** Binary operators, those that bind least first. */
const levels: readonly (readonly string[])[] = [
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<=", ">=", "<", ">"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

const tokenPattern = /0x[0-9a-f]+|\d+(?:\.(?!\.)\d*)?(?:e-?\d+)?|[a-z]\w*|\.\.|<<|>>|[<>=!]=|[-+*/%&|^~<>?:,()[\]]/giy;

class Parser {
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    tokenPattern.lastIndex = 0;
    let end = 0;
    for (let match = tokenPattern.exec(text); match; match = tokenPattern.exec(text)) {
      this.#tokens.push(match[0]);
      end = tokenPattern.lastIndex;
    }
    if (end < text.length) throw new Error(`"${text.slice(end)}" in the formula "${text}" is not understood`);
    if (end === 0) throw new Error("a formula is missing");
  }

  whole(): Node {
    const node = this.#ternary();
    if (this.#at < this.#tokens.length) throw new Error(`"${this.#tokens[this.#at]}" follows a complete formula`);
    return node;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new Error(`a formula has ${this.#shown()} where "${token}" is expected`);
  }

  #shown(): string {
    const token = this.#tokens[this.#at];
    return token === undefined ? "its end" : `"${token}"`;
  }

  #ternary(): Node {
    const condition = this.#binary(0);
    if (!this.#take("?")) return condition;
    const yes = this.#ternary();
    this.#expect(":");
    const no = this.#ternary();
    return (scope, a) => (a.isTrue(condition(scope, a)) ? yes : no)(scope, a);
  }

  #binary(level: number): Node {
    const operators = levels[level];
    if (!operators) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((o) => this.#take(o));
      if (operator === undefined) return left;
      const [a, b] = [left, this.#binary(level + 1)];
      left = (scope, arithmetic) => arithmetic.binary(operator, a(scope, arithmetic), b(scope, arithmetic));
    }
  }

  #unary(): Node {
    if (this.#take("-")) {
      const operand = this.#unary();
      return (scope, a) => a.negate(operand(scope, a));
    }
    if (this.#take("~")) {
      const operand = this.#unary();
      return (scope, a) => a.of(~operand(scope, integers));
    }
    return this.#primary();
  }

  #primary(): Node {
    if (this.#take("(")) {
      const inner = this.#ternary();
      this.#expect(")");
      return inner;
    }
    if (this.#take("[")) return this.#list();
    const token = this.#tokens[this.#at];
    if (token === undefined || !/^[\da-z]/i.test(token))
      throw new Error(`a formula has ${this.#shown()} where a value is expected`);
    this.#at++;
    if (/^\d/.test(token)) return literalNode(token);
    return this.#take("(") ? this.#call(token) : nameNode(token);
  }

  #call(name: string): Node {
    const args = [this.#ternary()];
    while (this.#take(",")) args.push(this.#ternary());
    this.#expect(")");
    const [count, compute] = functions[name] ?? [1];
    if (!(name in functions || name in floats || name in reductions)) throw new Error(`there is no function "${name}"`);
    if (args.length !== count)
      throw new Error(`${name} takes ${count} value${count === 1 ? "" : "s"}, not ${args.length}`);
    const [first] = args as [Node];
    if (compute) return (scope, a) => a.of(compute(...args.map((arg) => arg(scope, integers))));
    const pattern = floats[name];
    if (pattern) return (scope, a) => a.of(pattern(first(scope, doubles)));
    const reduce = reductions[name]!;
    return (scope, a) =>
      a.of(
        reduce(
          Array.from({ length: 32 }, (_, l) =>
            first({ ...scope, names: { ...scope.names, l: BigInt(l) }, position: l }, integers),
          ),
        ),
      );
  }

  #list(): Node {
    type Item = { readonly node: Node; readonly last: Node | null; readonly times: Node | null };
    const items: Item[] = [];
    do {
      const node = this.#ternary();
      const last = this.#take("..") ? this.#ternary() : null;
      items.push({ node, last, times: last === null && this.#take(":") ? this.#ternary() : null });
    } while (this.#take(","));
    this.#expect("]");
    return <T extends bigint | number>(scope: Scope, a: Arithmetic<T>): T => {
      let rest = BigInt(scope.position);
      for (const { node, last, times } of items) {
        const first = last ? node(scope, integers) : 0n;
        const length = last ? last(scope, integers) - first + 1n : (times?.(scope, integers) ?? 1n);
        if (rest < length) return last ? a.of(first + rest) : node(scope, a);
        rest -= length;
      }
      throw new Error(`a list has no element ${scope.position}`);
    };
  }
}

/** A literal, which is read once as long as the same arithmetic asks for it. */
const literalNode = (text: string): Node => {
  let reader: unknown = null;
  let value: unknown;
  return <T extends bigint | number>(_: Scope, a: Arithmetic<T>): T => {
    if (reader !== a) {
      value = a.literal(text);
      reader = a;
    }
    return value as T;
  };
};

const nameNode =
  (name: string): Node =>
  ({ names }, a) => {
    const value = names[name];
    if (value === undefined) throw new Error(`there is no "${name}" here: there is ${Object.keys(names).join(", ")}`);
    return a.of(value);
  };

/** Throws on a formula that is not well formed; evaluating it throws on a name or an element that there is not. */
export function parseFormula(text: string): Formula {
  const node = new Parser(text).whole();
  return (scope) => node(scope, integers);
}
