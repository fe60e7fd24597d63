import type { AliasDirective } from "../tree/module.ts";
import type { FunctionDeclaration, FunctionSymbol, ParameterSymbol, PtxSymbol, RegisterSymbol } from "../tree/nodes.ts";
import type { Binder } from "./bind.ts";
import type { FormalSymbol } from "./context.ts";
import { duplicate, nounOf } from "./duplicate.ts";
import { checkAttributes, checkDirectives, directiveDifference, isNoreturn } from "./function-directives.ts";
import type { ModuleContext } from "./module-context.ts";
import { type CallSignature, type FormalShape, signatureDifference, signatureOf } from "./signature.ts";

/** Declares functions, kernels and aliases at module scope. */
export class FunctionDeclarations {
  readonly symbols: FunctionSymbol[] = [];
  readonly signatures: Map<object, CallSignature>;
  readonly #context: ModuleContext;
  readonly #binder: Binder;

  constructor(context: ModuleContext, binder: Binder, signatures: Map<object, CallSignature>) {
    this.#context = context;
    this.#binder = binder;
    this.signatures = signatures;
  }

  /** Checks what a header says by itself, whatever else is declared. */
  header(node: FunctionDeclaration): CallSignature {
    const owner = node.entry ? "entry" : "func";
    const { sink } = this.#context;
    const signature = signatureOf(node, owner, this.#binder, this.#context);
    for (const directive of node.directives) for (const arg of directive.args) this.#binder.expression(arg);
    checkDirectives(node.directives, owner, signature.returns.length > 0, this.#context);
    checkAttributes(node, this.#context);
    this.#linkage(node);
    if (node.body === null && node.directives.length > 0 && node.entry) {
      sink.error("function-directive", node.directives[0]!.name, "the declaration of a kernel cannot have directives", {
        help: "put them on the definition",
      });
    }
    return signature;
  }

  /** Declares the name, so that the body may call the function. Null if the name is taken. */
  declare(node: FunctionDeclaration, signature: CallSignature): FunctionSymbol | null {
    this.signatures.set(node, signature);
    const { sink } = this.#context;
    const { scope } = this.#binder;
    const previous = scope.own(node.name.text);
    if (previous?.kind === "function") return this.#again(previous, node, signature);
    if (previous !== undefined) {
      duplicate(node.name, scope, sink);
      return null;
    }
    const symbol: FunctionSymbol = {
      kind: "function",
      name: node.name.text,
      span: node.name,
      entry: node.entry,
      declaration: node,
      declarations: [node],
      aliasOf: null,
    };
    scope.declare(symbol.name, symbol);
    this.symbols.push(symbol);
    return symbol;
  }

  #linkage({ linkage, body }: FunctionDeclaration): void {
    const { sink } = this.#context;
    if (linkage?.value === "weak") this.#context.require({ since: "3.1" }, "'.weak'", linkage.span);
    if (linkage?.value === "common") sink.error("function-linkage", linkage.span, "only variables can be .common");
    if (linkage?.value === "extern" && body !== null) {
      sink.error(
        "function-linkage",
        linkage.span,
        "an .extern function is defined in another module and has no body here",
        {
          help: "write `.visible`, or remove the body",
        },
      );
    }
  }

  /** A further declaration, or the definition after declarations. */
  #again(symbol: FunctionSymbol, node: FunctionDeclaration, signature: CallSignature): FunctionSymbol {
    const { sink } = this.#context;
    const { name } = node;
    const first = symbol.declaration;
    const notes = [{ message: "declared here", source: sink.sourceOf(first.name), span: first.name }];
    const inconsistent = (what: string): void => {
      sink.error("inconsistent-prototype", name, `'${name.text}' was declared differently before: ${what}`, {
        help: "all declarations of a function and its definition must agree, except in the names of parameters",
        notes,
      });
    };
    symbol.declarations.push(node);
    if (symbol.aliasOf !== null) sink.error("duplicate-name", name, `'${name.text}' is already an alias`, { notes });
    else if (first.body !== null) {
      const help = node.body === null ? "a declaration must come before the definition" : undefined;
      sink.error("duplicate-name", name, `the function '${name.text}' is already defined`, { notes, help });
    }
    if (first.entry !== node.entry) {
      inconsistent(node.entry ? "as a function" : "as a kernel");
    } else {
      const difference =
        signatureDifference(this.signatures.get(first)!, signature) ??
        directiveDifference(first, node) ??
        linkageDifference(first, node);
      if (difference !== null) inconsistent(difference);
    }
    if (node.body !== null && first.body === null) symbol.declaration = node;
    return symbol;
  }

  /** `.alias a, f;` (11.2.3) */
  alias(node: AliasDirective): void {
    this.#context.require({ since: "6.3", target: "sm_30" }, "'.alias'", node);
    const alias = this.#aliasName(node.alias);
    const aliasee = this.#aliasName(node.aliasee);
    if (alias === null || aliasee === null) return;
    const { sink } = this.#context;
    if (alias === aliasee) {
      sink.error("alias", node, "a function cannot be an alias of itself");
    } else if (alias.aliasOf !== null) {
      sink.error("alias", node.alias, `'${alias.name}' is already an alias of '${alias.aliasOf.name}'`);
    } else if (alias.declarations.some((d) => d.body !== null)) {
      sink.error("alias", node.alias, `'${alias.name}' has a body and cannot be an alias`, {
        help: "declare it without a body",
      });
    } else if (aliasee.aliasOf !== null) {
      sink.error("alias", node.aliasee, `'${aliasee.name}' is itself an alias`, {
        help: `write \`.alias ${alias.name}, ${aliasee.aliasOf.name};\``,
      });
    } else {
      const { declaration } = aliasee;
      const linkage = aliasee.declarations.map((d) => d.linkage?.value).find((l) => l === "extern" || l === "weak");
      if (linkage !== undefined) {
        sink.error("alias", node.aliasee, `the .${linkage} function '${aliasee.name}' cannot have an alias`);
      }
      const difference = this.#aliasDifference(alias, declaration);
      if (difference !== null) {
        sink.error(
          "alias",
          node.alias,
          `'${alias.name}' and '${aliasee.name}' are declared differently: ${difference}`,
        );
      }
      alias.aliasOf = aliasee;
    }
  }

  #aliasDifference(alias: FunctionSymbol, target: FunctionDeclaration): string | null {
    const difference = signatureDifference(this.signatures.get(alias.declaration)!, this.signatures.get(target)!);
    if (difference !== null) return difference;
    return isNoreturn(alias.declaration.directives) === isNoreturn(target.directives) ? null : "only one is .noreturn";
  }

  #aliasName(name: AliasDirective["alias"]): FunctionSymbol | null {
    this.#binder.name(name);
    const symbol: PtxSymbol | null = name.symbol;
    if (symbol === null) return null;
    if (symbol.kind === "function" && !symbol.entry) return symbol;
    const what = symbol.kind === "function" ? "kernel" : nounOf(symbol);
    this.#context.sink.error("alias", name, `'${name.text}' is a ${what}, but only functions can have aliases`);
    return null;
  }

  /** Declares the formal parameters in the current scope and returns their symbols. */
  formals(node: FunctionDeclaration): { returns: FormalSymbol[]; params: FormalSymbol[] } {
    const { returns, params } = this.signatures.get(node)!;
    const declare = (shape: FormalShape, role: ParameterSymbol["role"]): FormalSymbol => {
      const symbol = formalSymbol(shape, role);
      if (!duplicate(shape.parameter.name, this.#binder.scope, this.#context.sink)) {
        this.#binder.scope.declare(shape.name, symbol);
      }
      if (symbol.kind === "register") this.#binder.count(symbol);
      return symbol;
    };
    return {
      returns: returns.map((shape) => declare(shape, "return")),
      params: params.map((shape) => declare(shape, node.entry ? "kernel" : "input")),
    };
  }
}

function formalSymbol(shape: FormalShape, role: ParameterSymbol["role"]): FormalSymbol {
  const { name, span, type, vector, dimensions, size, align, unsized, parameter } = shape;
  if (shape.space === "param") {
    return { kind: "parameter", name, span, type, vector, dimensions, size, align, role, unsized, parameter };
  }
  const register: RegisterSymbol = { kind: "register", name, span, type, vector, parameter, index: -1 };
  return register;
}

/**
 * How a declaration's linkage differs from an earlier one, or null. A .visible or .weak definition need not repeat the
 * word.
 */
function linkageDifference(first: FunctionDeclaration, node: FunctionDeclaration): string | null {
  const before = first.linkage?.value ?? null;
  const now = node.linkage?.value ?? null;
  if (before === now || (now === null && before !== "extern")) return null;
  return before === null ? "without a linkage" : `as .${before}`;
}
