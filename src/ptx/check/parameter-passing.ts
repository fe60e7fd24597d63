import type { Span } from "../../source/index.ts";
import type { ParameterSymbol, VariableSymbol } from "../symbols.ts";
import type { Instruction, NameExpr, Operand } from "../tree.ts";
import type { BodyInfo } from "./context.ts";
import type { ModuleContext } from "./module-context.ts";

/** What a body does with one of its `.param` variables or return parameters. */
interface Use {
  /** By st.param or as the result of a call. */
  written: boolean;
  /** The first time it is loaded or passed. */
  loaded: NameExpr | null;
  passed: NameExpr | null;
  /** Its address is taken, so that nothing more is known. */
  escapes: boolean;
}

/**
 * Follows `.param` variables through one body (5.1.6.4). Passing or loading what was never written, or returning without a
 * value, is undefined; it is reported only where it is certain, whatever way control takes.
 */
export class ParameterPassing {
  readonly #context: ModuleContext;
  readonly #uses = new Map<VariableSymbol | ParameterSymbol, Use>();
  #returns = false;

  constructor(context: ModuleContext) {
    this.#context = context;
  }

  return(): void {
    this.#returns = true;
  }

  /** `ld.param` or `st.param`. */
  access(node: Instruction, store: boolean): void {
    const name = baseOf(node.operands[store ? 0 : 1]);
    const use = name && this.#useOf(name);
    if (!name || !use) return;
    if (name.symbol?.kind === "variable" && node.guard !== null) {
      const what = store ? "argument" : "result";
      this.#context.sink.error(
        "predicated-parameter",
        node.guard,
        `an access to the ${what} '${name.text}' cannot have a guard`,
        {
          help: store ? "select the value first, and store it without a guard" : "load the value without a guard",
        },
      );
    }
    if (store) use.written = true;
    else use.loaded ??= name;
  }

  /** After the call's operands have been checked. */
  call(results: readonly Operand[], args: readonly Operand[]): void {
    for (const argument of args) {
      const use = argument.kind === "name" && this.#useOf(argument);
      if (use) use.passed ??= argument;
    }
    for (const result of results) {
      const use = result.kind === "name" && this.#useOf(result);
      if (use) use.written = true;
    }
  }

  /** Any other mention: the address is taken. */
  mention(operands: readonly Operand[]): void {
    for (const operand of operands) {
      const name = baseOf(operand);
      const use = name && this.#useOf(name);
      if (use) use.escapes = true;
    }
  }

  /** At the end of the body. `fallsOff`: the end can be reached. */
  finish(body: BodyInfo, fallsOff: boolean, end: Span): void {
    const { sink } = this.#context;
    for (const [symbol, { written, loaded, passed, escapes }] of this.#uses) {
      if (written || escapes || symbol.kind === "parameter") continue;
      // Arrays are passed unwritten by compilers, for empty structures.
      if (passed !== null && symbol.dimensions.length === 0) {
        sink.warning("argument-never-stored", passed, `nothing is stored to the argument '${passed.text}'`, {
          help: `write \`st.param.${symbol.type.name} [${passed.text}], ...;\` before the call`,
        });
      } else if (loaded !== null) {
        sink.warning("result-never-returned", loaded, `nothing is stored to '${loaded.text}', and no call returns it`, {
          help: `write \`call (${loaded.text}), ...;\` before`,
        });
      }
    }
    if (!this.#returns && !fallsOff) return;
    for (const symbol of body.returns) {
      if (symbol.kind !== "parameter" || symbol.dimensions.length > 0) continue;
      const use = this.#uses.get(symbol);
      if (use !== undefined && (use.written || use.escapes)) continue;
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

  /** Of the `.param` variables and return parameters; null for anything else. */
  #useOf({ symbol }: NameExpr): Use | null {
    const followed =
      symbol?.kind === "variable" ? symbol.space === "param" : symbol?.kind === "parameter" && symbol.role === "return";
    if (!followed) return null;
    const key = symbol as VariableSymbol | ParameterSymbol;
    let use = this.#uses.get(key);
    if (use === undefined) {
      use = { written: false, loaded: null, passed: null, escapes: false };
      this.#uses.set(key, use);
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
