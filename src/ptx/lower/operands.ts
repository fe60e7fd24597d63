import { windows } from "../../ir/index.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import { elementSize } from "../check/shape.ts";
import { elementType, type OperandRule } from "../isa/operand-spec.ts";
import type {
  Expression,
  FunctionSymbol,
  IndexedOperand,
  NameExpr,
  Operand,
  ParameterSymbol,
  VariableSymbol,
} from "../tree/nodes.ts";
import { isExpression } from "../tree/is-expression.ts";
import { type TypeInfo, typeInfo } from "../types.ts";
import { addressParts, constantOf } from "./constants.ts";
import type { Frame } from "./frame.ts";
import type { RegisterFile } from "./registers.ts";
import { specialValue } from "./special.ts";
import { constantExpr, fitRegister, readRegister } from "./values.ts";

/** The registers, variables and names that the operands in one function refer to. */
export interface Places {
  readonly registers: RegisterFile;
  readonly frame: Frame;
  /** Byte offsets of a kernel's parameters in its parameter block. */
  readonly kernelParams: ReadonlyMap<ParameterSymbol, number>;
  /** The program-wide name of a variable or function. */
  nameOf(symbol: VariableSymbol | FunctionSymbol): string;
  readonly addressSize: 32 | 64;
  /** The number of the module's target. */
  readonly sm: number;
}

/** The variable or parameter that an address operand names; null if the address is in a register or constant. */
export type AddressBase = VariableSymbol | ParameterSymbol | null;

const componentIndex: Readonly<Record<string, number>> = { x: 0, y: 1, z: 2, w: 3, r: 0, g: 1, b: 2, a: 3 };

/** The symbol's address within its state space, plus `offset` bytes, as a value of type `ty`. */
function addressOf(symbol: VariableSymbol | ParameterSymbol, offset: number, ty: "i32" | "i64", places: Places): Expr {
  if (symbol.kind === "parameter" && symbol.role === "kernel") {
    const at = windows["kernel-param"].start + (places.kernelParams.get(symbol) ?? 0) + offset;
    return ty === "i32" ? kit.i32(at) : kit.i64(BigInt(at));
  }
  const variable = places.frame.indexOf(symbol);
  if (variable !== undefined) return { kind: "frame", ty, variable, offset, generic: false };
  return { kind: "symbol", ty, symbol: places.nameOf(symbol as VariableSymbol), offset, generic: false };
}

/**
 * The number of elements of an operand without braces: more than one for a vector register, which stands for its
 * elements.
 */
const elementCount = (operand: Operand): number =>
  operand.kind === "name" && operand.component === null && operand.symbol?.kind === "register"
    ? operand.symbol.vector
    : 1;

/** The values of a source operand's elements: one for a scalar, two `i64` for each 128-bit element. */
export function sourceElements(operand: Operand, rule: OperandRule, places: Places): readonly Expr[] {
  if (operand.kind === "vector") {
    const type = elementType(rule, operand.elements.length)!;
    return operand.elements.flatMap((element) => scalarSource(element, type, places));
  }
  return scalarSource(operand, elementType(rule, elementCount(operand))!, places);
}

function scalarSource(operand: Operand, type: TypeInfo, places: Places): readonly Expr[] {
  if (operand.kind === "negated") return scalarSource(operand.operand, type, places).map((e) => kit.not(e));
  if (operand.kind === "name") return nameSource(operand, type, places);
  if (operand.kind === "indexed") return [elementAddress(operand, type, places)];
  return [isExpression(operand) ? immediateSource(operand, type, places) : zero(type)];
}

function nameSource(operand: NameExpr, type: TypeInfo, places: Places): readonly Expr[] {
  const { symbol, component } = operand;
  switch (symbol?.kind) {
    case "register": {
      const registers = places.registers.of(symbol);
      const element = component === null ? undefined : componentIndex[component];
      if (symbol.type.bits === 128) return registers.map((reg) => ({ kind: "reg", ty: "i64", reg }));
      const chosen = symbol.vector > 1 && element !== undefined ? [registers[element]!] : registers;
      return chosen.map((reg) => readRegister(reg, symbol.type.bits, type));
    }
    case "special": {
      const components =
        component === null && symbol.vector > 1 ? ["x", "y", "z", "w"].slice(0, symbol.vector) : [component];
      return components.map((c) => specialValue(symbol, c, type));
    }
    case "constant":
      return [constantExpr({ kind: "integer", value: symbol.value, unsigned: false }, type)];
    case "variable":
    case "parameter":
      return [addressValue(symbol, 0, type, places)];
    case "function":
      return [functionAddress(places.nameOf(symbol), type)];
    default:
      return [immediateSource(operand, type, places)];
  }
}

const functionAddress = (name: string, type: TypeInfo): Expr => ({
  kind: "symbol",
  ty: type.bits > 32 ? "i64" : "i32",
  symbol: name,
  offset: 0,
  generic: false,
});

const addressValue = (symbol: VariableSymbol | ParameterSymbol, offset: number, type: TypeInfo, places: Places): Expr =>
  addressOf(symbol, offset, type.bits > 32 ? "i64" : "i32", places);

/** `a[2]`, `a[r]` (6.4.2): the address of an element of a variable. */
function elementAddress(operand: IndexedOperand, type: TypeInfo, places: Places): Expr {
  const symbol = operand.base.kind === "name" ? operand.base.symbol : null;
  if (symbol?.kind !== "variable" && symbol?.kind !== "parameter")
    return kit.int(type.bits > 32 ? kit.i64(0n) : kit.i32(0), 0);
  const size = elementSize(symbol.type, symbol.vector);
  const constant = isExpression(operand.index) ? constantOf(operand.index) : null;
  if (constant?.kind === "integer") return addressValue(symbol, Number(constant.value) * size, type, places);
  const base = addressValue(symbol, 0, type, places);
  const index = indexValue(operand.index, places);
  return kit.add(base, kit.mul(base.ty === "i64" ? index : kit.wrap(index), kit.int(base, size)));
}

/** The index of an element, an `i64`: a register of any integer type with an offset, as in `a[r+1]`. */
function indexValue(operand: Operand, places: Places): Expr {
  const parts = isExpression(operand) ? addressParts(operand) : null;
  const symbol = parts?.base?.symbol;
  if (!parts || symbol?.kind !== "register") return kit.i64(0n);
  const { type } = symbol;
  const value = readRegister(places.registers.of(symbol)[0]!, type.bits, type);
  const index = type.bits === 64 ? value : kit.widen(value, type.kind === "s");
  return parts.offset === 0n ? index : kit.add(index, kit.i64(parts.offset));
}

/** A placeholder for an operand that the checker rejects. */
const zero = (type: TypeInfo): Expr => constantExpr({ kind: "integer", value: 0n, unsigned: false }, type);

/** The value of a constant, `variable+4`, or `register+4` (which ptxas accepts). */
function immediateSource(operand: Expression, type: TypeInfo, places: Places): Expr {
  const constant = constantOf(operand);
  if (constant) return constantExpr(constant, type);
  const parts = addressParts(operand);
  const symbol = parts?.base?.symbol;
  if (!parts || !symbol) return zero(type);
  if (symbol.kind === "variable" || symbol.kind === "parameter")
    return addressValue(symbol, Number(parts.offset), type, places);
  const base = nameSource(parts.base!, type, places)[0]!;
  const sum = kit.add(base, kit.int(base, parts.offset));
  return type.bits < 32 ? kit.narrow(sum, type.bits, type.kind === "s") : sum;
}

const addressType = typeInfo("b64")!;

/** The address in `[...]` or of an element, and the variable or parameter that it names. */
export function addressOperand(
  operand: Operand,
  places: Places,
): { readonly address: Expr; readonly base: AddressBase } {
  if (operand.kind === "indexed") {
    const symbol = operand.base.kind === "name" ? operand.base.symbol : null;
    const base = symbol?.kind === "variable" || symbol?.kind === "parameter" ? symbol : null;
    return { address: elementAddress(operand, addressType, places), base };
  }
  const inner = operand.kind === "address" ? operand.parts[0] : operand;
  const parts = inner && isExpression(inner) ? addressParts(inner) : null;
  if (!parts) return { address: kit.i64(0n), base: null };
  const symbol = parts.base?.symbol ?? null;
  if (symbol === null) return { address: kit.i64(parts.offset), base: null };
  if (symbol.kind === "variable" || (symbol.kind === "parameter" && symbol.parameter.space === "param")) {
    return { address: addressOf(symbol, Number(parts.offset), "i64", places), base: symbol };
  }
  if (symbol.kind !== "register") return { address: kit.i64(parts.offset), base: null };
  const [register = 0] = places.registers.of(symbol);
  const element = parts.base?.component ? (componentIndex[parts.base.component] ?? 0) : 0;
  const ty = symbol.type.bits === 64 ? "i64" : "i32";
  const base: Expr = { kind: "reg", ty, reg: register + element };
  return { address: parts.offset === 0n ? base : kit.add(base, kit.int(base, parts.offset)), base: null };
}

/** The register that receives one element of a destination; `type` is the type of the element. */
export interface Destination {
  /** Null for `_`. */
  readonly register: number | null;
  /** The register's declared width in bits. */
  readonly width: number;
  readonly type: TypeInfo;
}

/** The destinations of an operand's elements, two for a 128-bit register. */
export function destinations(operand: Operand, rule: OperandRule, places: Places): readonly Destination[] {
  if (operand.kind === "vector") {
    const type = elementType(rule, operand.elements.length)!;
    return operand.elements.flatMap((element) => scalarDestination(element, type, places));
  }
  return scalarDestination(operand, elementType(rule, elementCount(operand))!, places);
}

function scalarDestination(operand: Operand, type: TypeInfo, places: Places): readonly Destination[] {
  const sink: Destination = { register: null, width: type.bits, type };
  if (operand.kind !== "name") return type.bits === 128 ? [sink, sink] : [sink];
  const symbol = operand.symbol;
  if (symbol?.kind !== "register") return [sink];
  const registers = places.registers.of(symbol);
  const width = symbol.type.bits === 128 ? 64 : symbol.type.bits;
  const element = operand.component === null ? undefined : componentIndex[operand.component];
  const chosen = symbol.vector > 1 && element !== undefined ? [registers[element]!] : registers;
  return chosen.map((register) => ({ register, width, type }));
}

/** The value extended to the width of the destination's register. */
export const fitDestination = (value: Expr, { type, width }: Destination): Expr => fitRegister(value, type, width);
