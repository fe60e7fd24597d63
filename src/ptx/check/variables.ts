import type { Linkage } from "../tree/leaves.ts";
import type {
  Declarator,
  FunctionDeclaration,
  RegisterSymbol,
  VariableDeclaration,
  VariableSymbol,
} from "../tree/nodes.ts";
import type { TypeInfo } from "../types.ts";
import type { Binder } from "./bind.ts";
import type { Writable } from "./context.ts";
import { duplicate } from "./duplicate.ts";
import { checkInitializer } from "./initializers.ts";
import type { ModuleContext } from "./module-context.ts";
import { declaredType, opaqueTypes, type Shape, shapeOf } from "./shape.ts";

/** Declares variables and registers in the binder's scope. */
export class VariableDeclarations {
  readonly #context: ModuleContext;
  readonly #binder: Binder;

  constructor(context: ModuleContext, binder: Binder) {
    this.#context = context;
    this.#binder = binder;
  }

  /** `owner`: the function whose body has the declaration, or null. Variables in memory are added to `list`. */
  declare(node: VariableDeclaration, owner: FunctionDeclaration | null, list: VariableSymbol[]): void {
    this.#linkage(node, owner);
    this.#attributes(node);
    const type = declaredType(node.type, this.#context);
    const placed = this.#space(node, owner) && (type === null || this.#typeInSpace(node, type, owner));
    for (const declarator of node.declarators) {
      for (const bound of declarator.dimensions) if (bound !== null) this.#binder.expression(bound);
      if (declarator.initializer !== null) this.#binder.initializer(declarator.initializer);
      if (type === null) continue;
      if (node.space === "reg") this.#register(node, declarator, type);
      else this.#memory(node, declarator, type, owner, list, placed);
    }
  }

  // ---- Rules of declarations (5.1) ---------------------------------------------------------------------------------

  #linkage({ linkage, space }: VariableDeclaration, owner: FunctionDeclaration | null): void {
    if (linkage === null) return;
    const { sink } = this.#context;
    if (owner !== null) {
      sink.error("variable-linkage", linkage.span, `a variable in a function cannot be .${linkage.value}`, {
        help: "declare it outside functions",
      });
      return;
    }
    if (linkage.value === "weak") this.#context.require({ since: "3.1" }, "'.weak'", linkage.span);
    if (linkage.value === "common") {
      this.#context.require({ since: "5.0", target: "sm_20" }, "'.common'", linkage.span);
      if (space !== "global") sink.error("variable-linkage", linkage.span, "only .global variables can be .common");
    }
  }

  #attributes(node: VariableDeclaration): void {
    const { sink } = this.#context;
    for (const { name, args } of node.attributes) {
      if (name.text === "managed") this.#context.require({ since: "4.0", target: "sm_30" }, "'.managed'", name);
      else if (name.text === "unified") {
        this.#context.require({ since: "8.0", target: "sm_90" }, "'.unified'", name);
        if (args.length !== 2)
          sink.error("attribute", name, "'.unified' takes two numbers, the halves of an identifier");
      } else {
        sink.error("attribute", name, `variables have no attribute '.${name.text}'`);
        continue;
      }
      if (node.space !== "global") sink.error("attribute", name, `only .global variables can be .${name.text}`);
    }
  }

  /** Checks the state space. Before PTX ISA 3.0 `.reg` and `.local` variables are allowed at module scope (7.1.1). */
  #space(node: VariableDeclaration, owner: FunctionDeclaration | null): boolean {
    const { sink, version } = this.#context;
    const { space, spaceSpan } = node;
    if (space === "sreg") {
      sink.error("variable-space", spaceSpan, "special registers are predefined");
    } else if (space === "tex" && (owner !== null || version >= 105)) {
      sink.error("variable-space", spaceSpan, "the .tex state space was removed in PTX ISA 1.5", {
        help: "declare a `.global .texref` at module scope",
      });
    } else if (owner === null && space === "reg" && version >= 300) {
      sink.error("variable-space", spaceSpan, "registers must be declared in functions", {
        help: "each function has registers of its own: declare it there",
      });
    } else if (owner === null && (space === "param" || (space === "local" && version >= 300))) {
      sink.error("variable-space", spaceSpan, `a .${space} variable must be declared in a function`);
    } else return this.#bank(node);
    return false;
  }

  /** Checks the bank of `.const[3]`: PTX has eleven constant banks up to version 2.1 (5.1.3.1). */
  #bank({ bank, spaceSpan, linkage, declarators }: VariableDeclaration): boolean {
    if (bank === null) return true;
    const { sink, version } = this.#context;
    if (version >= 202) {
      sink.error("variable-space", spaceSpan, "constant banks were removed in PTX ISA 2.2", { help: "write `.const`" });
      return false;
    }
    const open = linkage?.value === "extern" && declarators.every((d) => d.dimensions[0] === null);
    if (bank > 10 || (bank > 0 && !open)) {
      sink.error(
        "variable-space",
        spaceSpan,
        "only .extern arrays without a size can be in banks 1 to 10, and there are no further banks",
      );
      return false;
    }
    return true;
  }

  #typeInSpace(node: VariableDeclaration, type: TypeInfo, owner: FunctionDeclaration | null): boolean {
    const { sink, target } = this.#context;
    const { space } = node;
    if (type.kind === "pred" && space !== "reg") {
      sink.error("variable-type", node.type, "a predicate can only be in a register");
    } else if (opaqueTypes.has(type.name) && (space !== "global" || owner !== null)) {
      sink.error(
        "variable-type",
        node.type,
        `a .${type.name} must be a .global variable at module scope, or a kernel's parameter`,
      );
    } else if (type.name === "samplerref" && target.texturing !== "independent") {
      sink.error("variable-type", node.type, "a sampler of its own needs the independent texturing mode", {
        help: `write \`.target ${target.name}, texmode_independent\`, or fetch with the texture's own sampler`,
      });
    } else if (space === "param" && (type.lanes > 1 || node.vector > 1)) {
      sink.error("variable-type", node.type, "vectors and packed types cannot be in the .param state space", {
        help: "use an array of bytes, as in `.param .align 8 .b8 a[8]`",
      });
    } else return true;
    return false;
  }

  // ---- Registers ---------------------------------------------------------------------------------------------------

  #register(node: VariableDeclaration, declarator: Declarator, type: TypeInfo): void {
    const { sink } = this.#context;
    const { name, range } = declarator;
    if (declarator.dimensions.length > 0) {
      sink.error("variable-type", declarator, `'${name.text}' is an array, which cannot be in registers`, {
        help: `\`${name.text}<8>\` declares eight registers; arrays are for memory`,
      });
      return;
    }
    if (declarator.initializer !== null) this.#noInitializer(declarator, "registers");
    shapeOf(node, type, [], name, null, this.#context);
    const create = (text: string): RegisterSymbol => ({
      kind: "register",
      name: text,
      span: name,
      type,
      vector: node.vector,
      parameter: null,
      index: -1,
    });
    if (range) this.#range(declarator, create);
    else if (!duplicate(name, this.#binder.scope, sink)) this.#binder.scope.declare(name.text, create(name.text));
  }

  #range({ name, range }: Declarator, create: (text: string) => RegisterSymbol | VariableSymbol): void {
    const { scope } = this.#binder;
    const { count } = range!;
    const clash = scope.clash(name.text, count);
    if (scope.ownRange(name.text) || clash !== null) {
      this.#context.sink.error(
        "duplicate-name",
        name,
        `'${clash ?? `${name.text}<${count}>`}' is already declared in this scope`,
      );
      return;
    }
    scope.declareRange({ base: name.text, count, create });
  }

  #noInitializer(declarator: Declarator, where: string): void {
    this.#context.sink.error(
      "initializer-not-allowed",
      declarator.initializer!,
      `${where} cannot have initial values`,
      {
        help: "only .global and .const variables can; write others with mov or st",
      },
    );
  }

  // ---- Variables in memory -----------------------------------------------------------------------------------------

  #memory(
    node: VariableDeclaration,
    declarator: Declarator,
    type: TypeInfo,
    owner: FunctionDeclaration | null,
    list: VariableSymbol[],
    placed: boolean,
  ): void {
    const { sink } = this.#context;
    const { name, initializer, range } = declarator;
    const linkage = node.linkage?.value ?? null;
    const shape = this.#shape(node, declarator, type);
    if (initializer !== null) {
      if (node.space !== "global" && node.space !== "const")
        this.#noInitializer(declarator, `.${node.space} variables`);
      else if (linkage === "extern") this.#noInitializer(declarator, ".extern variables");
      else checkInitializer(initializer, type, node.vector, shape.dimensions, this.#context);
    } else if (shape.dimensions[0] === null && linkage !== "extern" && placed) {
      sink.error("incomplete-type", name, `the array '${name.text}' has no size`, {
        help:
          node.space === "shared"
            ? "write a size, or `.extern .shared` outside functions if the launch gives the size"
            : "write a size or an initializer",
      });
    }
    const create = (text: string): VariableSymbol => {
      const symbol = variableSymbol(text, node, declarator, shape, linkage, owner);
      list.push(symbol);
      return symbol;
    };
    if (range) this.#range(declarator, create);
    else if (owner !== null || !this.#redeclare(node, declarator, shape, linkage)) {
      if (!duplicate(name, this.#binder.scope, sink)) this.#binder.scope.declare(name.text, create(name.text));
    }
  }

  #shape(node: VariableDeclaration, declarator: Declarator, type: TypeInfo): Shape {
    const { initializer, dimensions } = declarator;
    const open = dimensions[0] === null;
    const implied = open && initializer?.kind === "initializer-list" ? initializer.elements.length : null;
    return shapeOf(node, type, dimensions, declarator, implied, this.#context);
  }

  /** Merges an `.extern` declaration with the definition. True if this is not the first declaration of the variable. */
  #redeclare(node: VariableDeclaration, declarator: Declarator, shape: Shape, linkage: Linkage | null): boolean {
    const { name } = declarator;
    const previous = this.#binder.scope.own(name.text);
    if (previous?.kind !== "variable" || previous.owner !== null) return false;
    if (previous.linkage !== "extern" && linkage !== "extern") return false;
    const { sink } = this.#context;
    const notes = [{ message: "declared here", source: sink.sourceOf(previous.span), span: previous.span }];
    if (!sameShape(previous, shape) || previous.space !== node.space) {
      sink.error(
        "inconsistent-declaration",
        name,
        `'${name.text}' is declared with a different type, size or state space`,
        { notes },
      );
    } else if (previous.linkage === "extern" && linkage === null) {
      sink.error(
        "inconsistent-declaration",
        name,
        `'${name.text}' is declared .extern, but this definition is visible in this module only`,
        {
          help: "write `.visible`",
          notes,
        },
      );
    }
    if (previous.linkage === "extern" && linkage !== "extern") {
      Object.assign(
        previous as Writable<VariableSymbol>,
        variableSymbol(name.text, node, declarator, shape, linkage, null),
      );
    }
    return true;
  }
}

const sameShape = (a: Shape, b: Shape): boolean =>
  a.type === b.type &&
  a.vector === b.vector &&
  a.dimensions.length === b.dimensions.length &&
  a.dimensions.every((bound, i) => bound === b.dimensions[i] || bound === null || b.dimensions[i] === null);

const variableSymbol = (
  name: string,
  declaration: VariableDeclaration,
  declarator: Declarator,
  shape: Shape,
  linkage: Linkage | null,
  owner: FunctionDeclaration | null,
): VariableSymbol => ({
  kind: "variable",
  name,
  span: declarator.name,
  // Never "reg": registers have their own symbols.
  space: declaration.space as VariableSymbol["space"],
  ...shape,
  linkage,
  owner,
  declaration,
  declarator,
});
