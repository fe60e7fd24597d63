import type { Span } from "../../source/index.ts";
import type {
  FunctionDeclaration,
  FunctionSymbol,
  Instruction,
  NameExpr,
  Operand,
  ParameterSymbol,
  VariableSymbol,
} from "../tree/nodes.ts";
import type { CallInfo } from "./calls.ts";
import type { BodyInfo } from "./context.ts";
import type { ModuleContext } from "./module-context.ts";

/** An argument that nothing is stored to: its value is undefined if the callee reads it. */
export interface UnwrittenArgument {
  readonly argument: NameExpr;
  readonly symbol: VariableSymbol;
  readonly callee: FunctionSymbol;
  readonly index: number;
}

/** What is known about parameters from all bodies of a module. */
export class PassedParameters {
  /** The input parameters of functions that their bodies read. */
  readonly read = new Set<ParameterSymbol>();
  unwritten: UnwrittenArgument[] = [];

  /** Reports unwritten arguments, after all bodies: compilers do not store those that the callee never reads. */
  report(bodies: ReadonlyMap<FunctionDeclaration, BodyInfo>, { sink }: ModuleContext): void {
    for (const { argument, symbol, callee, index } of this.unwritten) {
      const formal = bodies.get(callee.declaration)?.params[index];
      if (formal?.kind !== "parameter" || !this.read.has(formal)) continue;
      sink.warning("argument-never-stored", argument, `nothing is stored to the argument '${argument.text}'`, {
        help: `write \`st.param.${symbol.type.name} [${argument.text}], ...;\` before the call`,
        notes: [{ message: `'${callee.name}' reads it`, source: sink.sourceOf(formal.span), span: formal.span }],
      });
    }
  }
}

/** How a body uses one of its `.param` variables or return parameters. */
interface Use {
  /** Whether st.param or a call's result writes it. */
  written: boolean;
  /** The first load. */
  loaded: NameExpr | null;
  /** The first call of a known function that it is passed to. */
  passed: Omit<UnwrittenArgument, "symbol"> | null;
  /** Whether its address is taken, after which nothing is known about it. */
  escapes: boolean;
}

/**
 * Tracks the `.param` variables of one body (5.1.6.4). Passing or loading a variable that is never written, or
 * returning without a value, is undefined; it is reported only if it is certain on every path.
 */
export class ParameterPassing {
  readonly #context: ModuleContext;
  readonly #module: PassedParameters;
  readonly #uses = new Map<VariableSymbol | ParameterSymbol, Use>();

  constructor(context: ModuleContext, module: PassedParameters) {
    this.#context = context;
    this.#module = module;
  }

  /** Records an `ld.param` or `st.param`. */
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

  /** Records a call, after its operands have been checked. */
  call({ results, args, target }: CallInfo): void {
    const callee = target.kind === "direct" ? target.function : null;
    for (const [index, argument] of args.entries()) {
      const use = argument.kind === "name" && this.#useOf(argument);
      if (!use || argument.kind !== "name") continue;
      if (callee === null) use.escapes = true;
      else use.passed ??= { argument, callee, index };
    }
    for (const result of results) {
      const use = result.kind === "name" && this.#useOf(result);
      if (use) use.written = true;
    }
  }

  /** Records any other use, which takes the address. */
  mention(operands: readonly Operand[]): void {
    for (const operand of operands) {
      const name = baseOf(operand);
      const use = name && this.#useOf(name);
      if (use) use.escapes = true;
    }
  }

  /** Reports what is certain at the end of the body. `returns`: the reachable returns, computed only on demand. */
  finish(body: BodyInfo, returns: () => readonly Span[]): void {
    const { sink } = this.#context;
    for (const [symbol, { written, loaded, passed, escapes }] of this.#uses) {
      if (symbol.kind === "parameter") {
        if (symbol.role === "input" && (loaded !== null || escapes)) this.#module.read.add(symbol);
        continue;
      }
      if (written || escapes) continue;
      // Compilers pass unwritten arrays for empty structures.
      if (passed !== null && symbol.dimensions.length === 0) this.#module.unwritten.push({ ...passed, symbol });
      else if (loaded !== null) {
        sink.warning(
          "result-never-returned",
          loaded,
          `nothing is stored to '${loaded.text}', and it is not the result of a call`,
          {
            help: `write \`call (${loaded.text}), ...;\` before`,
          },
        );
      }
    }
    for (const symbol of body.returns) {
      if (symbol.kind !== "parameter" || symbol.dimensions.length > 0) continue;
      const use = this.#uses.get(symbol);
      if (use !== undefined && (use.written || use.escapes)) continue;
      const [first] = returns();
      if (first === undefined) continue;
      sink.warning(
        "return-never-stored",
        symbol.span,
        `the function returns, but nothing is stored to '${symbol.name}'`,
        {
          help: `write \`st.param.${symbol.type.name} [${symbol.name}], ...;\` before it returns`,
          notes: [{ message: "it returns here", source: sink.source, span: first }],
        },
      );
    }
  }

  /** The use of a `.param` variable or a function's parameter; null for anything else. */
  #useOf({ symbol }: NameExpr): Use | null {
    const followed =
      symbol?.kind === "variable" ? symbol.space === "param" : symbol?.kind === "parameter" && symbol.role !== "kernel";
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
