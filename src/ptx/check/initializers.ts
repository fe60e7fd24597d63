import { opaqueTypes } from "./shape.ts";
import type { Span } from "../../source/index.ts";
import type { Expression, Initializer, NameExpr } from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";
import { evaluateConstant } from "./constant.ts";
import type { ModuleContext } from "./module-context.ts";

/** The variable that is initialized: its type and shape. */
interface Slot {
  readonly type: TypeInfo;
  /** The array bounds, outermost first, then the size of the vector if it is one. */
  readonly levels: readonly (number | null)[];
}

/** Checks that an initial value has the shape and type of its variable; missing elements are zero (5.4.4). */
export function checkInitializer(
  initializer: Initializer,
  type: TypeInfo,
  vector: number,
  dimensions: readonly (number | null)[],
  context: ModuleContext,
): void {
  if (type.kind === "f" && type.bits === 16) {
    context.sink.error("initializer-type", initializer, `a .${type.name} variable cannot have an initial value`, {
      help: "declare it as .b16 and write the bits",
    });
    return;
  }
  check(initializer, { type, levels: vector > 1 ? [...dimensions, vector] : dimensions }, 0, context);
}

function check(node: Initializer, slot: Slot, level: number, context: ModuleContext): void {
  if (node.kind === "initializer-field") return;
  const scalar = level === slot.levels.length;
  if (node.kind !== "initializer-list") {
    if (scalar) checkValue(node, slot.type, context);
    else {
      context.sink.error("initializer-shape", node, "an array or vector needs a list of initial values in braces", {
        help: "write `{ ... }`",
      });
    }
    return;
  }
  // Fields of textures, samplers and surfaces (5.3.2).
  const isOpaque = opaqueTypes.has(slot.type.name) && node.elements.every(({ kind }) => kind === "initializer-field");
  if (scalar && isOpaque) return;
  if (scalar) {
    context.sink.error("initializer-shape", node, "a single value is expected here, not a list in braces");
    return;
  }
  const bound = slot.levels[level] ?? null;
  if (bound !== null && node.elements.length > bound) {
    const extra = node.elements[bound]!;
    context.sink.error(
      "initializer-shape",
      extra,
      `there are ${node.elements.length} initial values for ${bound} elements`,
    );
  }
  for (const element of node.elements) check(element, slot, level + 1, context);
}

/** An address in an initializer: `x`, `x+4`, `generic(x)+4`, `0xff00(x)`. */
interface AddressValue {
  readonly name: NameExpr;
  readonly offset: Expression | null;
  readonly generic: Span | null;
  readonly mask: Expression | null;
}

/** Takes an address in an initializer apart; null for a value that does not name a variable or function. */
export function addressValue(expr: Expression): AddressValue | null {
  switch (expr.kind) {
    case "name":
      return expr.symbol?.kind === "constant" ? null : { name: expr, offset: null, generic: null, mask: null };
    case "parenthesized":
      return addressValue(expr.inner);
    case "binary": {
      if (expr.operator !== "+" || expr.left.kind === "binary") return null;
      const base = addressValue(expr.left);
      return base && base.offset === null && base.mask === null && addressValue(expr.right) === null
        ? { ...base, offset: expr.right }
        : null;
    }
    case "operator-call": {
      const inner = expr.argumentLists.at(-1)?.[0];
      const address = inner ? addressValue(inner) : null;
      if (address === null || address.mask !== null) return null;
      const mask = expr.argumentLists.length > 1 ? (expr.argumentLists[0]?.[0] ?? null) : null;
      if (mask !== null) return { ...address, mask };
      // `generic(x+4)` must be written `generic(x)+4`.
      return expr.operator.text === "generic" && address.offset === null
        ? { ...address, generic: expr.operator }
        : null;
    }
    default:
      return null;
  }
}

function checkValue(expr: Expression, type: TypeInfo, context: ModuleContext): void {
  const address = addressValue(expr);
  if (address !== null) {
    checkAddress(expr, address, type, context);
    return;
  }
  if (expr.kind === "operator-call" && expr.operator.text !== "generic" && expr.operator.text !== "mask") {
    context.sink.error("initializer-address", expr.operator, `there is no operator '${expr.operator.text}'`, {
      help: "initializers can use generic(x) and masks such as 0xff00(x)",
    });
    return;
  }
  if (expr.kind === "operator-call" || namesSomething(expr)) {
    context.sink.error(
      "initializer-address",
      expr,
      "an address must be a variable or generic(variable), with an optional constant offset",
    );
    return;
  }
  const value = evaluateConstant(expr, context.reportConstant);
  if (value === null) return;
  if (type.lanes > 1 || type.kind === "pred") {
    context.sink.error("initializer-type", expr, `a .${type.name} variable cannot have an initial value`);
  } else if (value.kind === "integer") {
    if (type.kind === "f") {
      context.sink.error(
        "initializer-type",
        expr,
        `an integer cannot be the initial value of a .${type.name} variable`,
        {
          help: "write it as a floating-point constant, as in `1.0`",
        },
      );
    } else if (!fitsIn(value.value, type.bits)) {
      context.sink.warning("initializer-truncated", expr, `${value.value} does not fit in ${type.bits} bits`, {
        help: "the upper bits are dropped",
      });
    }
  } else if (type.kind === "s" || type.kind === "u") {
    context.sink.error(
      "initializer-type",
      expr,
      `a floating-point value cannot be the initial value of a .${type.name} variable`,
    );
  }
}

const fitsIn = (value: bigint, bits: number): boolean =>
  bits >= 64 || (value >= -(1n << BigInt(bits - 1)) && value < 1n << BigInt(bits));

/** Whether the expression names anything but constants. */
function namesSomething(expr: Expression): boolean {
  switch (expr.kind) {
    case "name":
      return expr.symbol !== null && expr.symbol.kind !== "constant";
    case "unary":
      return namesSomething(expr.operand);
    case "binary":
      return namesSomething(expr.left) || namesSomething(expr.right);
    case "parenthesized":
      return namesSomething(expr.inner);
    case "conditional":
      return namesSomething(expr.condition) || namesSomething(expr.then) || namesSomething(expr.otherwise);
    case "operator-call":
      return true;
    default:
      return false;
  }
}

function checkAddress(expr: Expression, address: AddressValue, type: TypeInfo, context: ModuleContext): void {
  const { sink } = context;
  const { name, mask, generic } = address;
  const symbol = name.symbol;
  if (symbol === null) return;
  if (generic) context.require({ since: "3.1" }, "'generic()'", generic);
  if (mask !== null) context.require({ since: "7.1" }, "a mask", mask);
  if (symbol.kind === "function") {
    context.require({ since: "2.1" }, "the address of a function", name);
    if (generic || address.offset !== null) {
      sink.error("initializer-address", expr, "only the plain address of a function can be an initial value");
      return;
    }
  } else if (symbol.kind !== "variable") {
    sink.error("initializer-address", name, `the address of '${name.text}' is not known before the launch`, {
      help: "addresses of .global and .const variables and of functions can be initial values",
    });
    return;
  } else if (symbol.space !== "global" && symbol.space !== "const") {
    sink.error(
      "initializer-address",
      name,
      `'${name.text}' is in the .${symbol.space} state space, where addresses differ from launch to launch`,
      {
        help: "addresses of .global and .const variables and of functions can be initial values",
      },
    );
    return;
  }
  if (address.offset !== null) evaluateConstant(address.offset, context.reportConstant);
  if (mask !== null) {
    checkMask(mask, type, context);
    return;
  }
  if (type.kind !== "u" || type.lanes > 1 || type.bits < 32) {
    sink.error("initializer-type", expr, `an address cannot be the initial value of a .${type.name} variable`, {
      help: `declare it as .u${context.addressSize}`,
    });
  } else if (type.bits < context.addressSize && symbol.kind === "variable") {
    sink.warning("narrow-initializer", expr, `a 64-bit address does not fit in a .${type.name} variable`, {
      help: "declare it as .u64",
    });
  }
}

/** Checks that a mask selects one byte (0xff, 0xff00 and so on) of an unsigned variable. */
function checkMask(mask: Expression, type: TypeInfo, context: ModuleContext): void {
  const value = evaluateConstant(mask, context.reportConstant);
  if (value === null) return;
  const bits = value.kind === "integer" ? BigInt.asUintN(64, value.value) : 0n;
  const isByte = [0n, 8n, 16n, 24n, 32n, 40n, 48n, 56n].some((shift) => bits === 0xffn << shift);
  if (!isByte) {
    context.sink.error("initializer-mask", mask, "a mask must select one byte of the address", {
      help: "write 0xff, 0xff00, 0xff0000 and so on",
    });
  }
  if (type.kind !== "u" || type.bits === 16) {
    context.sink.error(
      "initializer-mask",
      mask,
      `a masked address cannot be the initial value of a .${type.name} variable`,
      {
        help: "declare the bytes as .u8",
      },
    );
  }
}
