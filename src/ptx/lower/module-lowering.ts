import type { DeclaredShape, IrFunction, IrModule, Param, Variable } from "../../ir/index.ts";
import type { CheckedModule } from "../check/check.ts";
import { isNoreturn } from "../check/function-directives.ts";
import { elementSize } from "../check/shape.ts";
import type { FileDirective } from "../tree/leaves.ts";
import type { FunctionSymbol, Initializer, SectionDirective, VariableSymbol } from "../tree/nodes.ts";
import { constantOf } from "./constants.ts";
import { ModuleSections } from "./debug-sections.ts";
import { FunctionLowering } from "./function.ts";
import { lowerInitializer } from "./initializer.ts";
import type { LinkNames } from "./link-names.ts";
import type { ModuleScope } from "./module-scope.ts";
import { paramType } from "./signature.ts";
import { reservedVariables } from "./special.ts";

/**
 * The variables that functions declare but that exist once per module: those of all spaces but `.local` and `.param`.
 */
export function* staticLocals(checked: CheckedModule): Generator<readonly [owner: FunctionSymbol, VariableSymbol]> {
  for (const owner of checked.functions) {
    for (const local of checked.bodies.get(owner.declaration)?.locals ?? []) {
      if (local.space !== "local" && local.space !== "param") yield [owner, local];
    }
  }
}

/** Lowers one module. */
export class ModuleLowering implements ModuleScope {
  readonly checked: CheckedModule;
  readonly names: LinkNames;
  readonly files: ReadonlyMap<number, string>;
  readonly sections: ModuleSections;
  readonly locals: readonly VariableSymbol[];
  readonly sharesRegisters: boolean;

  constructor(checked: CheckedModule, names: LinkNames) {
    this.checked = checked;
    this.names = names;
    const files = checked.module.items.filter((item): item is FileDirective => item.kind === "file");
    this.files = new Map(files.map((f) => [f.index, f.name.text]));
    this.sections = new ModuleSections(
      checked.module.items.filter((item): item is SectionDirective => item.kind === "section"),
    );
    this.locals = checked.variables.filter(({ space }) => space === "local");
    this.sharesRegisters = checked.module.items.some((item) => item.kind === "variable" && item.space === "reg");
  }

  lower(): IrModule {
    const { checked } = this;
    const defined = checked.functions.filter((symbol) => this.names.defines(symbol));
    const bodies = defined.filter((symbol) => symbol.aliasOf === null);
    const indices = new Map(bodies.map((symbol, index) => [symbol, index]));
    const aliases = new Map<string, number>();
    for (const symbol of defined) {
      // The target of an alias is never an alias itself.
      const index = symbol.aliasOf ? indices.get(symbol.aliasOf) : undefined;
      if (index !== undefined) aliases.set(this.names.nameOf(symbol), index);
    }
    return {
      source: checked.module.source,
      addressSize: checked.addressSize,
      target: checked.target.name,
      functions: bodies.map((symbol) => this.#function(symbol)),
      variables: [...this.#variables(), ...reservedVariables(checked.module.source)],
      aliases,
    };
  }

  #variables(): readonly Variable[] {
    const { checked } = this;
    return [...checked.variables, ...[...staticLocals(checked)].map(([, local]) => local)]
      .filter((symbol) => this.names.defines(symbol))
      .map((symbol) => this.#variable(symbol))
      .filter((v) => v !== null);
  }

  #function(symbol: FunctionSymbol): IrFunction {
    const declaration = symbol.declaration;
    const body = declaration.body ? this.checked.bodies.get(declaration) : undefined;
    if (body) return new FunctionLowering(this, symbol, body).lower();
    const formal = (shape: Parameters<typeof paramType>[0]): Param => ({
      name: "_",
      type: paramType(shape),
      storage: { kind: "register", registers: [] },
    });
    const shapes = this.checked.signatures.get(declaration) ?? { returns: [], params: [] };
    return {
      name: this.names.nameOf(symbol),
      kind: declaration.entry ? "kernel" : "function",
      params: shapes.params.map(formal),
      returns: shapes.returns.map(formal),
      registers: [],
      frame: [],
      instructions: [],
      noreturn: isNoreturn(declaration.directives),
      bounds: {},
      source: this.checked.module.source,
      span: symbol.span,
      files: this.files,
      external: true,
    };
  }

  #variable(symbol: VariableSymbol): Variable | null {
    const { space } = symbol;
    if (space !== "global" && space !== "const" && space !== "shared") return null;
    const { initializer } = symbol.declarator;
    const initial = initializer ? lowerInitializer(symbol, initializer, this.names) : null;
    return {
      name: this.names.nameOf(symbol),
      space,
      size: symbol.size,
      align: symbol.align,
      declared: shapeOf(symbol),
      init: initial?.pieces ?? [],
      ...(symbol.type.name === "samplerref" && initializer ? { sampler: fieldsOf(initializer) } : {}),
      relocations: initial?.relocations ?? [],
      dynamicShared: space === "shared" && symbol.linkage === "extern",
      managed: symbol.declaration.attributes.some((a) => a.name.text.endsWith("managed")),
      span: symbol.span,
    };
  }
}

/** The fields of an opaque variable's initializer: names of modes, or numbers. */
function fieldsOf(initializer: Initializer): ReadonlyMap<string, string> {
  const elements = initializer.kind === "initializer-list" ? initializer.elements : [initializer];
  return new Map(
    elements.flatMap((element): [string, string][] => {
      if (element.kind !== "initializer-field") return [];
      const { name, value } = element;
      return [[name.text, value.kind === "name" ? value.text : String(constantOf(value)?.value ?? 0)]];
    }),
  );
}

/** The shape of a variable. A bound that the declaration leaves open follows from its size. */
function shapeOf({ type, vector, dimensions, size }: VariableSymbol): DeclaredShape {
  const inner = dimensions.slice(1).reduce<number>((product, n) => product * (n ?? 1), elementSize(type, vector));
  const bounds = dimensions.map((n) => n ?? Math.floor(size / inner));
  return { type: type.name, dimensions: vector > 1 ? [...bounds, vector] : bounds };
}
