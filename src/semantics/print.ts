import { type Expr, type IndirectLeaf, isConst, type RegionLeaf } from "./expr.ts";

/**
 * Returns the name of a leaf: of an operand, a register, ... Constants and reads of a byte file are printed without it.
 */
export type LeafName = (leaf: Exclude<Expr, { kind: "prim" | "const" | "region" | "indirect" }>) => string;

/** Binary primitives with an operator, and how strongly it binds (a larger number binds tighter). */
const signs: Readonly<Record<string, readonly [sign: string, strength: number]>> = {
  mul: ["*", 9],
  add: ["+", 8],
  sub: ["-", 8],
  shl: ["<<", 7],
  shr_s: [">>", 7],
  shr_u: [">>>", 7],
  lt_s: ["<", 6],
  lt_u: ["<u", 6],
  lt: ["<", 6],
  le_s: ["<=", 6],
  le_u: ["<=u", 6],
  le: ["<=", 6],
  eq: ["==", 5],
  ne: ["!=", 5],
  and: ["&", 4],
  xor: ["^", 3],
  or: ["|", 2],
};
const unaryStrength = 10;
const selectStrength = 1;
const callStrength = 11;

/** Prints small integers in decimal and others, which may be bit patterns, in hexadecimal. */
function printInteger(value: number | bigint, bits: 32 | 64): string {
  if (value > -1024 && value < 1024) return String(value);
  // A minus sign is easier to read than a long row of f.
  if (bits === 64 && value < 0 && value >= -(2 ** 32)) return `-0x${(-value).toString(16)}`;
  return `0x${BigInt.asUintN(bits, BigInt(value)).toString(16)}`;
}

function printConst(expr: Extract<Expr, { kind: "const" }>): string {
  const { value, ty } = expr;
  if (typeof value === "boolean") return String(value);
  if (ty === "i32" || ty === "i64") return printInteger(value, ty === "i32" ? 32 : 64);
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Conversions between sizes and types, by shorter names than those of the primitives. */
const passages: Readonly<Record<string, string>> = {
  extend8_s: "sext8",
  extend16_s: "sext16",
  extend_i32_s: "sext",
  extend_i32_u: "zext",
  wrap_i64: "low",
  high_i64: "high",
  from_halves: "pair",
  from_pred: "int",
};

/** Returns `fma_rz.f32`: the primitive's name before its type. Conversions keep their name: `f64.from_f32`. */
function callName(prim: string): string {
  const dot = prim.indexOf(".");
  const [type, name] = [prim.slice(0, dot), prim.slice(dot + 1)];
  if (name.startsWith("reinterpret_")) return `bits_as_${type}`;
  return passages[name] ?? (/^from_|_from_/.test(name) ? prim : `${name}.${type}`);
}

/** Returns "s16" and the like: how an element of the byte file is read. */
const elementType = ({ bits, signed, ty }: RegionLeaf | IndirectLeaf): string =>
  `${ty.startsWith("f") ? "f" : signed ? "s" : "u"}${bits}`;

/** Returns "<8;8,1>:u32", followed by the first lane if that is not lane 0. */
function printElements(leaf: RegionLeaf): string {
  const { first, vertical, width, horizontal } = leaf.region;
  return `<${vertical};${width},${horizontal}>:${elementType(leaf)}${first === 0 ? "" : ` from lane ${first}`}`;
}

class Printer {
  readonly leaf: LeafName;
  readonly names = new Map<Expr, string>();

  constructor(leaf: LeafName) {
    this.leaf = leaf;
  }

  print(expr: Expr, outer = 0): string {
    const name = this.names.get(expr);
    if (name !== undefined) return name;
    if (expr.kind === "const") return printConst(expr);
    if (expr.kind === "region") return `file[${expr.region.at}]${printElements(expr)}`;
    if (expr.kind === "indirect") return `file[${this.print(expr.address)}]:${elementType(expr)}`;
    if (expr.kind !== "prim") return this.leaf(expr);
    const [text, strength] = this.compound(expr);
    return strength < outer ? `(${text})` : text;
  }

  compound({ prim, args }: Extract<Expr, { kind: "prim" }>): readonly [text: string, strength: number] {
    const word = prim.slice(prim.indexOf(".") + 1);
    const [a, b, c] = args;
    if (word === "select") {
      const [p, yes] = [this.print(a!, selectStrength + 1), this.print(b!, selectStrength + 1)];
      return [`${p} ? ${yes} : ${this.print(c!, selectStrength)}`, selectStrength];
    }
    if (prim === "pred.not") return [`!${this.print(a!, unaryStrength)}`, unaryStrength];
    if (word === "neg" || (word === "sub" && prim.startsWith("i") && isConst(a, 0))) {
      return [`-${this.print((word === "neg" ? a : b)!, unaryStrength)}`, unaryStrength];
    }
    if (word === "xor" && isConst(b, -1)) return [`~${this.print(a!, unaryStrength)}`, unaryStrength];
    const sign = args.length === 2 ? signs[word] : undefined;
    if (sign) {
      const [text, strength] = sign;
      if (strength === signs["shl"]![1] && isConst(b, 0)) return [this.print(a!, strength), strength];
      return [`${this.print(a!, strength)} ${text} ${this.print(b!, strength + 1)}`, strength];
    }
    return [`${callName(prim)}(${args.map((arg) => this.print(arg)).join(", ")})`, callStrength];
  }
}

/** Returns the compound expressions that occur more than once in `roots`, each after the ones that it contains. */
function sharedParts(roots: readonly Expr[]): Expr[] {
  const uses = new Map<Expr, number>();
  const order: Expr[] = [];
  const visit = (expr: Expr): void => {
    const count = uses.get(expr) ?? 0;
    uses.set(expr, count + 1);
    if (count > 0 || expr.kind !== "prim") return;
    expr.args.forEach(visit);
    order.push(expr);
  };
  roots.forEach(visit);
  return order.filter((expr) => uses.get(expr)! > 1);
}

/**
 * Prints expressions as equations in the usual notation: `d = a * b + c`. A part that occurs more than once gets a name
 * of its own (`t1`, `t2`, ...) on an earlier line. `<u` and `<=u` compare as unsigned, `>>>` shifts in zeros; all other
 * operations are printed as calls.
 */
export function printEquations(
  results: readonly { readonly name: string; readonly value: Expr }[],
  leaf: LeafName,
): string[] {
  const printer = new Printer(leaf);
  const lines = sharedParts(results.map((r) => r.value)).map((part, i) => {
    const line = `t${i + 1} = ${printer.print(part)}`;
    printer.names.set(part, `t${i + 1}`);
    return line;
  });
  return [...lines, ...results.map(({ name, value }) => `${name} = ${printer.print(value)}`)];
}

/** Prints one expression on one line; see `printEquations`. */
export const printExpr = (expr: Expr, leaf: LeafName): string => new Printer(leaf).print(expr);
