import type { Span } from "../../source/index.ts";
import type { ParameterSymbol, VariableSymbol } from "../symbols.ts";
import type { Instruction, NameExpr, Operand } from "../tree.ts";
import type { BodyInfo } from "./context.ts";
import type { ModuleContext } from "./module-context.ts";

/** What a body does with one of its `.param` variables or return parameters. */
interface Use {
  /** The straight stretch of code in which it was last stored to; -1: never. */
  stored: number;
  /** The stretch that began with the call that last returned into it; -1: none. */
  returned: number;
  /** The first time it is an argument. */
  passed: NameExpr | null;
  /** Its address is taken, so that nothing more is known. */
  escapes: boolean;
}

/**
 * Follows `.param` variables through one body: arguments are stored, passed and results loaded in one straight stretch of
 * code, without a predicate (5.1.6.4). What breaks this, or passes what was never stored, is undefined: reported only
 * where it is certain.
 */
export class ParameterPassing {
  readonly #context: ModuleContext;
  readonly #uses = new Map<VariableSymbol | ParameterSymbol, Use>();
  /** Grows wherever control may come from or go elsewhere. */
  #stretch = 0;
  #returns = false;

  constructor(context: ModuleContext) {
    this.#context = context;
  }

  label(): void {
    this.#stretch++;
  }

  branch(): void {
    this.#stretch++;
  }

  return(): void {
    this.#returns = true;
    this.#stretch++;
  }

  /** `ld.param` or `st.param`. */
  access(node: Instruction, store: boolean): void {
    const name = baseOf(node.operands[store ? 0 : 1]);
    const symbol = name?.symbol;
    if (!name || !symbol) return;
    if (symbol.kind === "parameter") {
      if (store && symbol.role === "return") this.#use(symbol).stored = this.#stretch;
      return;
    }
    if (symbol.kind !== "variable" || symbol.space !== "param") return;
    const { sink } = this.#context;
    if (node.guard !== null) {
      sink.error(
        "predicated-parameter",
        node.guard,
        `an access to the ${store ? "argument" : "result"} '${name.text}' cannot have a guard`,
        {
          help: store ? "select the value first, and store it without a guard" : "load the value without a guard",
        },
      );
    }
    const use = this.#use(symbol);
    if (store) use.stored = this.#stretch;
    else if (use.returned >= 0 && use.returned !== this.#stretch && use.stored < 0) {
      sink.warning("parameter-order", name, `the result '${name.text}' is loaded away from its call`, {
        help: "load results right behind the call, before any label or branch",
      });
    }
  }

  /** After the call's operands have been checked. */
  call(results: readonly Operand[], args: readonly Operand[]): void {
    for (const argument of args) {
      const use = this.#useOf(argument);
      if (use === null || argument.kind !== "name") continue;
      use.passed ??= argument;
      if (use.stored >= 0 && use.stored !== this.#stretch && use.returned < 0 && !use.escapes) {
        this.#context.sink.warning(
          "parameter-order",
          argument,
          `the argument '${argument.text}' is stored away from this call`,
          {
            help: "store arguments right before the call, behind any label or branch",
          },
        );
      }
    }
    this.#stretch++;
    for (const result of results) {
      const use = this.#useOf(result);
      if (use !== null) use.returned = this.#stretch;
    }
  }

  /** Any other mention: the address is taken. */
  mention(operands: readonly Operand[]): void {
    for (const operand of operands) {
      const name = baseOf(operand);
      const symbol = name?.symbol;
      if (symbol?.kind === "parameter" || (symbol?.kind === "variable" && symbol.space === "param")) {
        this.#use(symbol).escapes = true;
      }
    }
  }

  /** At the end of the body. `fallsOff`: the end can be reached. */
  finish(body: BodyInfo, fallsOff: boolean, end: Span): void {
    const { sink } = this.#context;
    for (const [symbol, { passed, stored, returned, escapes }] of this.#uses) {
      // Arrays are left out: compilers pass empty structures that way.
      if (passed === null || stored >= 0 || returned >= 0 || escapes || symbol.dimensions.length > 0) continue;
      sink.warning("argument-never-stored", passed, `nothing is stored to the argument '${passed.text}'`, {
        help: `write \`st.param.${symbol.type.name} [${passed.text}], ...;\` before the call`,
      });
    }
    if (!this.#returns && !fallsOff) return;
    for (const symbol of body.returns) {
      if (symbol.kind !== "parameter" || symbol.dimensions.length > 0) continue;
      const use = this.#uses.get(symbol);
      if (use !== undefined && (use.stored >= 0 || use.escapes)) continue;
      sink.warning(
        "return-never-stored",
        symbol.span,
        `the function returns, but nothing is stored to '${symbol.name}'`,
        {
          help: `write \`st.param.${symbol.type.name} [${symbol.name}], ...;\` before it returns`,
          notes: [
            { message: "the function ends here", source: sink.source, span: { start: end.end - 1, end: end.end } },
          ],
        },
      );
    }
  }

  #useOf(operand: Operand): Use | null {
    const symbol = operand.kind === "name" ? operand.symbol : null;
    return symbol?.kind === "variable" && symbol.space === "param" ? this.#use(symbol) : null;
  }

  #use(symbol: VariableSymbol | ParameterSymbol): Use {
    let use = this.#uses.get(symbol);
    if (use === undefined) {
      use = { stored: -1, returned: -1, passed: null, escapes: false };
      this.#uses.set(symbol, use);
    }
    return use;
  }
}

/** The variable of `x`, `[x]`, `[x+4]`. */
function baseOf(operand: Operand | undefined): NameExpr | null {
  let inner = operand?.kind === "address" ? operand.parts[0] : operand;
  while (inner?.kind === "binary") inner = inner.left;
  return inner?.kind === "name" ? inner : null;
}
