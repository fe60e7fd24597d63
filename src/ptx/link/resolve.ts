import { type Diagnostic, DiagnosticSink, type Span } from "../../source/index.ts";
import type { CheckedModule } from "../check/check.ts";
import { type LinkNames, staticLocals } from "../lower/lower.ts";
import { lowerSignature } from "../lower/signature.ts";
import type { ParamType, Signature } from "../../ir/index.ts";
import type { FunctionSymbol, VariableSymbol } from "../symbols.ts";
import type { LinkCode } from "./codes.ts";

type Linked = FunctionSymbol | VariableSymbol;

/** How a module holds a name: needs it, defines it for all with some strength, or keeps it to itself. */
type Binding = "extern" | "common" | "weak" | "strong" | "static";
const strength: Readonly<Record<Binding, number>> = { static: 0, extern: 0, common: 1, weak: 2, strong: 3 };

interface Entry {
  readonly module: CheckedModule;
  readonly symbol: Linked;
  readonly binding: Binding;
}

export interface LinkedProgram {
  readonly modules: readonly CheckedModule[];
  readonly names: LinkNames;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Resolves the names of several checked modules as nvlink does (11.6): a visible definition wins over weak ones, and these
 * over common ones; what a module keeps to itself gets a name of its own. `isProvided`: functions that the runtime has.
 * Diagnostics lie in the module that they are about; with errors among them the program cannot run.
 */
export function linkPtx(modules: readonly CheckedModule[], isProvided: (name: string) => boolean): LinkedProgram {
  return new Linker(modules, isProvided).link();
}

class Linker {
  readonly #modules: readonly CheckedModule[];
  readonly #isProvided: (name: string) => boolean;
  readonly #sinks = new Map<CheckedModule, DiagnosticSink<LinkCode>>();
  readonly #names = new Map<Linked, string>();
  readonly #dropped = new Set<Linked>();

  constructor(modules: readonly CheckedModule[], isProvided: (name: string) => boolean) {
    this.#modules = modules;
    this.#isProvided = isProvided;
    for (const module of modules) this.#sinks.set(module, new DiagnosticSink(module.module.source));
  }

  link(): LinkedProgram {
    this.#checkAddressSizes();
    const shared = new Map<string, Entry[]>();
    const own: Entry[] = [];
    for (const entry of this.#modules.flatMap(entriesOf)) {
      if (entry.binding === "static") own.push(entry);
      else if (!shared.get(entry.symbol.name)?.push(entry)) shared.set(entry.symbol.name, [entry]);
    }
    for (const [name, entries] of shared) this.#resolve(name, entries);
    this.#nameStatics(own, new Set(shared.keys()));
    return {
      modules: this.#modules,
      names: {
        nameOf: (symbol) => this.#names.get(symbol) ?? symbol.name,
        defines: (symbol) => !this.#dropped.has(symbol),
      },
      diagnostics: [...this.#sinks.values()].flatMap((sink) => sink.diagnostics),
    };
  }

  #error(entry: Entry, code: LinkCode, message: string, other?: Entry): void {
    this.#sinks.get(entry.module)!.error(code, entry.symbol.span, message, {
      notes: other
        ? [
            {
              message: `'${other.symbol.name}' is also here`,
              source: other.module.module.source,
              span: other.symbol.span,
            },
          ]
        : [],
    });
  }

  #checkAddressSizes(): void {
    const [first, ...rest] = this.#modules;
    for (const module of rest) {
      if (!first || module.addressSize === first.addressSize) continue;
      const span: Span = module.module.items.find((item) => item.kind === "address-size") ?? { start: 0, end: 0 };
      this.#sinks
        .get(module)!
        .error(
          "link-address-size",
          span,
          `this module has ${module.addressSize}-bit addresses, and ${first.module.source.path} has ${first.addressSize}-bit ones`,
        );
    }
  }

  #resolve(name: string, entries: readonly Entry[]): void {
    let winner: Entry | null = null;
    for (const entry of entries) {
      if (entry.binding === "extern") continue;
      if (winner === null) winner = entry;
      else if (entry.binding === "strong" && winner.binding === "strong") {
        this.#error(
          entry,
          "duplicate-symbol",
          `'${name}' is already defined in ${winner.module.module.source.path}`,
          winner,
        );
      } else if (outranks(entry, winner)) winner = entry;
    }
    const kept = winner ?? entries[0]!;
    if (winner === null && !(kept.symbol.kind === "function" && this.#isProvided(name))) {
      this.#error(kept, "unresolved-symbol", `no module defines the ${kept.symbol.kind} '${name}'`);
    }
    for (const entry of entries) {
      this.#names.set(entry.symbol, name);
      if (entry === kept) continue;
      this.#dropped.add(entry.symbol);
      this.#compare(entry, kept);
    }
  }

  #compare(entry: Entry, kept: Entry): void {
    const { symbol: a } = entry;
    const { symbol: b } = kept;
    const name = a.name;
    if (a.kind === "function" && b.kind === "function") {
      const mine = signature(entry.module, a);
      const theirs = signature(kept.module, b);
      if (!sameSignature(mine, theirs)) {
        this.#error(
          entry,
          "prototype-mismatch",
          `'${name}' is ${describe(mine)} here and ${describe(theirs)} in ${kept.module.module.source.path}`,
          kept,
        );
      }
    } else if (a.kind === "variable" && b.kind === "variable") {
      if (a.space !== b.space) {
        this.#error(
          entry,
          "symbol-kind-mismatch",
          `'${name}' is in .${a.space} here and in .${b.space} in ${kept.module.module.source.path}`,
          kept,
        );
      } else if (a.size !== 0 && b.size !== 0 && a.size !== b.size && entry.binding !== "common") {
        this.#error(
          entry,
          "variable-mismatch",
          `'${name}' has ${a.size} bytes here and ${b.size} in ${kept.module.module.source.path}`,
          kept,
        );
      }
    } else
      this.#error(
        entry,
        "symbol-kind-mismatch",
        `'${name}' is a ${a.kind} here and a ${b.kind} in ${kept.module.module.source.path}`,
        kept,
      );
  }

  /** Names that modules keep to themselves stay as they are, unless another module uses them too. */
  #nameStatics(own: readonly Entry[], taken: Set<string>): void {
    const give = (symbol: Linked, wanted: string): void => {
      let name = wanted;
      for (let i = 2; taken.has(name); i++) name = `${wanted}$${i}`;
      taken.add(name);
      this.#names.set(symbol, name);
    };
    for (const { symbol } of own) give(symbol, symbol.name);
    for (const module of this.#modules) {
      for (const [declaration, local] of staticLocals(module)) give(local, `${declaration.name.text}.${local.name}`);
    }
  }
}

/** Of two common variables the larger is taken. */
function outranks(entry: Entry, winner: Entry): boolean {
  const difference = strength[entry.binding] - strength[winner.binding];
  if (difference !== 0 || entry.binding !== "common") return difference > 0;
  return (
    entry.symbol.kind === "variable" && winner.symbol.kind === "variable" && entry.symbol.size > winner.symbol.size
  );
}

function entriesOf(module: CheckedModule): Entry[] {
  const entry = (symbol: Linked, binding: Binding): Entry => ({ module, symbol, binding });
  return [
    ...module.functions.map((symbol) => entry(symbol, functionBinding(symbol))),
    ...module.variables.map((symbol) => entry(symbol, variableBinding(symbol))),
  ];
}

function functionBinding(symbol: FunctionSymbol): Binding {
  const linkages = symbol.declarations.map((d) => d.linkage?.value);
  if (symbol.declaration.body === null && symbol.aliasOf === null) return "extern";
  if (linkages.includes("weak")) return "weak";
  return linkages.includes("visible") ? "strong" : "static";
}

function variableBinding(symbol: VariableSymbol): Binding {
  switch (symbol.linkage) {
    case "extern":
      // Dynamic shared memory is nobody's definition: each module has its own name for it.
      return symbol.space === "shared" && symbol.size === 0 ? "static" : "extern";
    case "visible":
      return "strong";
    case "weak":
      return "weak";
    case "common":
      return "common";
    default:
      return "static";
  }
}

const signature = (module: CheckedModule, symbol: FunctionSymbol): Signature =>
  lowerSignature(module.signatures.get(symbol.declaration) ?? { returns: [], params: [] });

const sameParam = (a: ParamType, b: ParamType): boolean =>
  a.size === b.size && a.align === b.align && a.unsized === b.unsized && (a.kind === "array") === (b.kind === "array");

const sameList = (a: readonly ParamType[], b: readonly ParamType[]): boolean =>
  a.length === b.length && a.every((p, i) => sameParam(p, b[i]!));

const sameSignature = (a: Signature, b: Signature): boolean =>
  sameList(a.returns, b.returns) && sameList(a.params, b.params);

const describeList = (list: readonly ParamType[]): string =>
  `(${list.map((p) => (p.unsized ? "bytes" : p.kind === "array" ? `${p.size} bytes` : `.${p.kind}${p.size * 8}`)).join(", ")})`;

const describe = (s: Signature): string => `${describeList(s.params)} -> ${describeList(s.returns)}`;
