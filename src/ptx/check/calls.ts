import type { Span } from "../../source/index.ts";
import type {
  FunctionDeclaration,
  FunctionSymbol,
  Initializer,
  Instruction,
  NameExpr,
  Operand,
  PtxSymbol,
  VariableSymbol,
} from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";
import { nounOf } from "./duplicate.ts";
import { constantClass } from "./immediate.ts";
import { addressValue } from "./initializers.ts";
import type { ModuleContext } from "./module-context.ts";
import { elementSize, shapeText } from "./shape.ts";
import type { CallSignature, FormalShape } from "./signature.ts";
import type { TargetDeclarations } from "./targets.ts";

/** A call that has been checked (9.7.12.5): all that the lowering needs. */
export interface CallInfo {
  readonly caller: FunctionDeclaration;
  readonly results: readonly Operand[];
  readonly args: readonly Operand[];
  readonly signature: CallSignature;
  readonly target:
    | { readonly kind: "direct"; readonly function: FunctionSymbol }
    | {
        readonly kind: "indirect";
        /** The register that holds the address. */
        readonly address: NameExpr;
        /** The functions in the list or call table; null for a prototype. */
        readonly targets: readonly FunctionSymbol[] | null;
        /** The name of the list, call table or prototype. */
        readonly via: string;
      };
}

/** The parts of `call (results), target, (args), list` (9.7.12.5). */
interface CallParts {
  readonly caller: FunctionDeclaration;
  readonly results: readonly Operand[];
  readonly target: NameExpr;
  readonly args: readonly Operand[];
  readonly list: NameExpr | null;
}

/** Checks call instructions against the signatures of what they call. */
export class CallChecker {
  info = new Map<Instruction, CallInfo>();
  /** How often a call table was asked for. What is wrong with one is reported once in a module. */
  tableUses = 0;
  readonly #context: ModuleContext;
  readonly #targets: TargetDeclarations;
  /** The functions of each call table; empty after a diagnostic. */
  readonly #tables = new Map<VariableSymbol, readonly FunctionSymbol[]>();
  /** One function per signature of each list, so that many calls through long lists stay cheap. */
  readonly #distinct = new Map<readonly FunctionSymbol[], readonly FunctionSymbol[]>();

  constructor(context: ModuleContext, targets: TargetDeclarations) {
    this.#context = context;
    this.#targets = targets;
  }

  check(node: Instruction, caller: FunctionDeclaration): void {
    const parts = this.#parts(node, caller);
    if (parts === null) return;
    const symbol = parts.target.symbol;
    if (symbol === null || (parts.list !== null && parts.list.symbol === null)) return;
    if (symbol.kind === "function") this.#direct(node, parts, symbol);
    else if (symbol.kind === "register") this.#indirect(node, parts, parts.target, symbol.type);
    else this.#wrongTarget(parts.target, symbol);
  }

  #parts({ operands, opcode }: Instruction, caller: FunctionDeclaration): CallParts | null {
    if (operands.some((o) => o.kind === "bad")) return null;
    let at = 0;
    const takeList = (): readonly Operand[] => {
      const operand = operands[at];
      if (operand?.kind !== "list") return [];
      at++;
      return operand.elements;
    };
    const results = takeList();
    const target = operands[at++];
    if (target?.kind !== "name") {
      this.#context.sink.error(
        "call-target",
        target ?? opcode,
        "a call needs a function, or a register that holds the address of one",
      );
      return null;
    }
    const args = takeList();
    const list = operands[at++] ?? null;
    const extra = operands[at];
    if ((list !== null && list.kind !== "name") || extra !== undefined) {
      this.#context.sink.error("call-form", extra ?? list ?? opcode, "this call is malformed", {
        help: "write `call (result), function, (arguments);`, and for a register a prototype or list of targets after that",
      });
      return null;
    }
    return { caller, results, target, args, list };
  }

  #wrongTarget(target: NameExpr, symbol: PtxSymbol): void {
    this.#context.sink.error(
      "call-target",
      target,
      `a function is expected here, but '${target.text}' is a ${nounOf(symbol)}`,
      {
        help: symbol.kind === "variable" ? "load the function's address into a register first" : undefined,
      },
    );
  }

  // ---- Targets -----------------------------------------------------------------------------------------------------

  #direct(node: Instruction, parts: CallParts, symbol: FunctionSymbol): void {
    const { sink } = this.#context;
    const { caller, results, args } = parts;
    if (symbol.entry) {
      sink.error("call-target", parts.target, `'${symbol.name}' is a kernel, which only a launch can start`);
      return;
    }
    if (parts.list !== null) {
      sink.error("call-form", parts.list, "a direct call cannot have a list of targets", {
        help: "lists and prototypes are for calls through a register",
      });
      return;
    }
    const signature = this.#signature(symbol);
    this.#match(parts, signature, parts.target, null);
    this.info.set(node, { caller, results, args, signature, target: { kind: "direct", function: symbol } });
  }

  #indirect(node: Instruction, parts: CallParts, address: NameExpr, type: TypeInfo): void {
    const { sink } = this.#context;
    const { caller, results, args, list } = parts;
    this.#context.require({ since: "2.1", target: "sm_20" }, "a call through a register", address);
    if (list === null) {
      sink.error("call-form", address, "a call through a register needs a prototype or a list of targets", {
        help: "write the label of a .callprototype or .calltargets, or a call table, after the arguments",
      });
      return;
    }
    if (type.kind === "f" || type.kind === "pred" || (type.bits !== 32 && type.bits !== 64)) {
      sink.error("call-target", address, `a .${type.name} register cannot hold the address of a function`, {
        help: `use a .u${this.#context.addressSize} register`,
      });
    } else if (type.bits < this.#context.addressSize) {
      sink.warning("narrow-call-target", address, "a 32-bit register cannot hold a function's 64-bit address", {
        help: "use a .u64 or .b64 register",
      });
    }
    const symbol = list.symbol!;
    if (symbol.kind === "prototype") {
      const signature = this.#targets.signatures.get(symbol.prototype)!;
      this.#match(parts, signature, list, null);
      this.info.set(node, {
        caller,
        results,
        args,
        signature,
        target: { kind: "indirect", address, targets: null, via: list.text },
      });
      return;
    }
    const targets = this.#targetsOf(list, symbol);
    const [first] = targets ?? [];
    if (targets === null || first === undefined) return;
    for (const target of this.#distinctOf(targets))
      if (!this.#match(parts, this.#signature(target), list, target)) break;
    this.info.set(node, {
      caller,
      results,
      args,
      signature: this.#signature(first),
      target: { kind: "indirect", address, targets, via: list.text },
    });
  }

  #signature(symbol: FunctionSymbol): CallSignature {
    return this.#targets.signatures.get(symbol.declaration)!;
  }

  #distinctOf(targets: readonly FunctionSymbol[]): readonly FunctionSymbol[] {
    let distinct = this.#distinct.get(targets);
    if (distinct === undefined) {
      distinct = [...new Map(targets.map((target) => [keyOf(this.#signature(target)), target])).values()];
      this.#distinct.set(targets, distinct);
    }
    return distinct;
  }

  #targetsOf(list: NameExpr, symbol: PtxSymbol): readonly FunctionSymbol[] | null {
    if (symbol.kind === "target-list" && symbol.list.kind === "calltargets") {
      return this.#targets.callTargets.get(symbol.list) ?? null;
    }
    if (symbol.kind === "variable") {
      this.tableUses++;
      const table = this.#tables.get(symbol) ?? this.#table(list, symbol) ?? [];
      this.#tables.set(symbol, table);
      return table;
    }
    this.#context.sink.error(
      "call-list",
      list,
      `'${list.text}' is a ${nounOf(symbol)}, not a list of functions or a prototype`,
      {
        help: "write the label of a .callprototype or .calltargets, or a call table",
      },
    );
    return null;
  }

  /** The functions of a call table: an array in constant or global memory, initialized with the names of functions. */
  #table(
    list: NameExpr,
    { space, dimensions, type, vector, declarator, span }: VariableSymbol,
  ): FunctionSymbol[] | null {
    const { sink } = this.#context;
    const notes = [{ message: "declared here", source: sink.sourceOf(span), span }];
    const wrong = (message: string): null => {
      sink.error("call-list", list, message, { notes });
      return null;
    };
    if (space !== "global" && space !== "const")
      return wrong("a call table must be in the .global or .const state space");
    if (dimensions.length !== 1 || vector > 1 || type.kind !== "u" || type.bits === 16) {
      return wrong("a call table must be a one-dimensional array of .u64 or .u32 (or masked .u8)");
    }
    const { initializer } = declarator;
    if (initializer?.kind !== "initializer-list")
      return wrong(`the call table '${list.text}' is not initialized in this module`);
    const functions = new Set<FunctionSymbol>();
    for (const element of initializer.elements) {
      const symbol = functionOf(element);
      if (symbol === null) {
        sink.error("call-list", list, `the call table '${list.text}' holds something that is not a function`, {
          notes: [{ message: "this element", source: sink.sourceOf(element), span: element }],
        });
        return null;
      }
      functions.add(symbol);
    }
    return functions.size > 0 ? [...functions] : wrong(`the call table '${list.text}' is empty`);
  }

  // ---- Arguments ---------------------------------------------------------------------------------------------------

  /** Checks a call against a signature. `target`: the function, if it is one of several. False after a diagnostic. */
  #match(
    parts: CallParts,
    { returns, params }: CallSignature,
    named: NameExpr,
    target: FunctionSymbol | null,
  ): boolean {
    const { sink } = this.#context;
    const who = target?.name ?? named.text;
    const counts = (
      found: readonly Operand[],
      wanted: readonly FormalShape[],
      what: string,
      min = wanted.length,
    ): boolean => {
      if (found.length >= min && found.length <= wanted.length) return true;
      const span = found[wanted.length] ?? found.at(-1) ?? named;
      const number = min === wanted.length ? `${min}` : `${min} or ${wanted.length}`;
      sink.error(
        "call-count",
        span,
        `'${who}' has ${number} ${what}${wanted.length === 1 ? "" : "s"}, but this call has ${found.length}`,
        {
          help: what === "return parameter" && found.length < min ? "write `_` to discard a result" : undefined,
          notes: this.#notes(wanted[0] ?? null),
        },
      );
      return false;
    };
    // An argument for a parameter without a size may be left out (11.2.2).
    const unsized = params.at(-1)?.unsized === true;
    if (!counts(parts.results, returns, "return parameter")) return false;
    if (!counts(parts.args, params, "parameter", unsized ? params.length - 1 : params.length)) return false;
    const results = parts.results.map(
      (operand, i) => operand.kind === "sink" || this.#operand(operand, returns[i]!, true),
    );
    const args = parts.args.map((operand, i) => this.#operand(operand, params[i]!, false));
    return [...results, ...args].every((fits) => fits);
  }

  #notes(formal: FormalShape | null) {
    if (formal === null) return [];
    const { span } = formal;
    return [{ message: "the parameter is declared here", source: this.#context.sink.sourceOf(span), span }];
  }

  /** Checks one argument or result against its formal parameter: kind, size, array bounds and alignment. */
  #operand(operand: Operand, formal: FormalShape, result: boolean): boolean {
    const code = result ? "call-result" : "call-argument";
    const wrong = (span: Span, message: string, help?: string): false => {
      this.#context.sink.error(code, span, message, { help, notes: this.#notes(formal) });
      return false;
    };
    const mismatch = (what: string): false =>
      wrong(operand, `${what} does not fit the parameter '${formal.name}', ${shapeText(formal)}`);
    switch (operand.kind) {
      case "name":
        break;
      case "integer":
      case "float":
      case "unary":
      case "binary":
      case "conditional":
      case "parenthesized":
        if (result) return wrong(operand, "a result needs a register or a .param variable");
        return immediateFits(constantClass(operand), formal) || mismatch("this constant");
      case "sink":
        return wrong(operand, "'_' can only stand for a result");
      default:
        return wrong(operand, "an argument must be a register, a constant or a .param variable");
    }
    const { symbol } = operand;
    if (symbol === null) return true;
    switch (symbol.kind) {
      case "register": {
        if (formal.dimensions.length > 0) return mismatch(`the register '${operand.text}'`);
        const vector = operand.component === null ? symbol.vector : 1;
        const fits = vector === formal.vector && typeFits(symbol.type, vector, formal);
        return fits || mismatch(`the .${symbol.type.name} register '${operand.text}'`);
      }
      case "constant":
        return (!result && immediateFits("integer", formal)) || mismatch("this constant");
      case "parameter":
        return wrong(
          operand,
          `the formal parameter '${operand.text}' cannot be an argument`,
          "copy it to a .param variable",
        );
      case "variable":
        if (symbol.space !== "param") {
          return wrong(
            operand,
            `'${operand.text}' is in the .${symbol.space} state space`,
            "pass its address in a register, or a .param variable",
          );
        }
        if (!variableFits(symbol, formal)) return mismatch(`'${operand.text}', ${shapeText(symbol)},`);
        if (symbol.align !== formal.align) {
          return wrong(
            operand,
            `'${operand.text}' is aligned to ${symbol.align} bytes, but the parameter '${formal.name}' to ${formal.align}`,
          );
        }
        return true;
      default:
        return wrong(operand, `a ${nounOf(symbol)} cannot be passed to a function`, "copy it to a register first");
    }
  }
}

/** A key that is the same for signatures that match the same calls. */
const keyOf = ({ returns, params }: CallSignature): string =>
  [returns, params].map((list) => list.map((f) => `${shapeText(f)}@${f.align}`).join()).join("->");

const isFloat = (type: TypeInfo): boolean => type.kind === "f" && type.lanes === 1;

function typeFits(type: TypeInfo, vector: number, formal: FormalShape): boolean {
  if (elementSize(type, vector) !== elementSize(formal.type, formal.vector)) return false;
  if ((type.kind === "pred") !== (formal.type.kind === "pred")) return false;
  return type.kind === "b" || formal.type.kind === "b" || type.lanes > 1 || isFloat(type) === isFloat(formal.type);
}

function variableFits(symbol: VariableSymbol, formal: FormalShape): boolean {
  if (formal.unsized) return symbol.dimensions.length === 1;
  if (symbol.dimensions.length !== formal.dimensions.length) return false;
  if (symbol.dimensions.length === 0) return typeFits(symbol.type, symbol.vector, formal);
  return symbol.size === formal.size;
}

function immediateFits(kind: ReturnType<typeof constantClass>, formal: FormalShape): boolean {
  if (formal.dimensions.length > 0 || formal.type.kind === "pred") return false;
  if (kind === "float") return formal.type.kind === "f" || formal.type.kind === "b";
  return kind === "integer" && formal.type.kind !== "f";
}

/** The function that an element of a call table names, or null. */
function functionOf(element: Initializer): FunctionSymbol | null {
  if (element.kind === "initializer-list" || element.kind === "initializer-field") return null;
  const symbol = addressValue(element)?.name.symbol;
  return symbol?.kind === "function" ? symbol : null;
}
