import { type Diagnostic, DiagnosticSink, type Span } from "../../source/index.ts";
import type { CheckedModule } from "../check/check.ts";
import type { Target } from "../check/target.ts";
import type { LinkNames } from "../lower/link-names.ts";
import { staticLocals } from "../lower/module-lowering.ts";
import type { LinkCode } from "./codes.ts";
import { entriesOf, type Entry, type Linkable } from "./entries.ts";
import { FreshNames } from "./fresh-names.ts";
import { resolveShared, type SharedFinding, unresolved } from "./shared-name.ts";
import { commonTarget, separatesSamplers, targetSpan } from "./target.ts";

/** The result of `linkPtx`: modules whose names have been resolved against each other. */
export interface LinkedProgram {
  readonly modules: readonly CheckedModule[];
  /** The newest PTX ISA version among the modules, as one number: 6.4 is 604. */
  readonly version: number;
  /** The lowest target that runs the code of all modules. */
  readonly target: Target;
  readonly names: LinkNames;
  /** Errors and warnings by module, each in source order. Each code has a page: `lanewise explain CODE`. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Resolves the names of one or more checked modules as nvlink does (11.6): a visible definition takes precedence over
 * weak ones, and these over common ones; a static name that is taken elsewhere is replaced. `isProvided` tells which
 * functions the runtime provides. The modules must be free of errors. What is wrong goes into `diagnostics`, and a
 * program with errors cannot be lowered; throws only if `modules` is empty.
 */
export function linkPtx(modules: readonly CheckedModule[], isProvided: (name: string) => boolean): LinkedProgram {
  const [first] = modules;
  if (first === undefined) throw new Error("there is no module to link");
  return new Linker(modules, first, isProvided).link();
}

class Linker {
  readonly #modules: readonly CheckedModule[];
  readonly #first: CheckedModule;
  readonly #isProvided: (name: string) => boolean;
  readonly #sinks: ReadonlyMap<CheckedModule, DiagnosticSink<LinkCode>>;
  readonly #names = new Map<Linkable, string>();
  readonly #dropped = new Set<Linkable>();

  constructor(modules: readonly CheckedModule[], first: CheckedModule, isProvided: (name: string) => boolean) {
    this.#modules = modules;
    this.#first = first;
    this.#isProvided = isProvided;
    this.#sinks = new Map(modules.map((module) => [module, new DiagnosticSink(module.module.source)]));
  }

  link(): LinkedProgram {
    const shared = new Map<string, Entry[]>();
    const own: Entry[] = [];
    for (const module of this.#modules) {
      for (const entry of entriesOf(module)) {
        const { symbol, binding } = entry;
        if (binding === "static") own.push(entry);
        else if (binding === "missing") this.#report(unresolved(entry));
        else if (!shared.get(symbol.name)?.push(entry)) shared.set(symbol.name, [entry]);
      }
    }
    for (const entries of shared.values()) this.#resolve(entries);
    this.#nameStatics(own, new Set(shared.keys()));
    this.#checkAddressSizes();
    return {
      modules: this.#modules,
      version: Math.max(...this.#modules.map((m) => m.version)),
      target: this.#target(),
      names: {
        nameOf: (symbol) => this.#names.get(symbol) ?? symbol.name,
        defines: (symbol) => !this.#dropped.has(symbol),
      },
      diagnostics: [...this.#sinks.values()].flatMap(({ diagnostics }) =>
        diagnostics.sort((a, b) => a.span.start - b.span.start),
      ),
    };
  }

  // ---- Targets and address sizes -----------------------------------------------------------------------------------

  #checkAddressSizes(): void {
    const { addressSize, module: first } = this.#first;
    for (const module of this.#modules) {
      if (module.addressSize === addressSize) continue;
      const span: Span = module.module.items.find((item) => item.kind === "address-size") ?? { start: 0, end: 0 };
      const message = `this module has ${module.addressSize}-bit addresses, but ${first.source.path} has ${addressSize}-bit ones`;
      this.#sinks.get(module)!.error("link-address-size", span, message);
    }
  }

  #target(): Target {
    let { target } = this.#first;
    const separate = separatesSamplers(this.#first);
    for (const module of this.#modules) {
      const error = (message: string): void =>
        this.#sinks.get(module)!.error("link-target", targetSpan(module), message);
      const both = commonTarget(target, module.target);
      if (both) target = both;
      else error(`no device runs both code for ${module.target.name} and code for ${target.name}`);
      if (separatesSamplers(module) !== separate) {
        const mode = (independent: boolean): string => (independent ? "texmode_independent" : "texmode_unified");
        const { path } = this.#first.module.source;
        error(`this module is ${mode(!separate)}, but ${path} is ${mode(separate)}`);
      }
    }
    return target;
  }

  // ---- Names shared by modules -------------------------------------------------------------------------------------

  /** Resolves one name. `entries`: its entries in the order of the modules. */
  #resolve(entries: readonly Entry[]): void {
    const { kept, findings } = resolveShared(entries, this.#isProvided);
    for (const entry of entries) {
      this.#names.set(entry.symbol, entry.symbol.name);
      if (entry !== kept) this.#drop(entry);
    }
    for (const found of findings) this.#report(found);
  }

  #report({ entry, severity, code, message, help, other }: SharedFinding<CheckedModule>): void {
    const { symbol } = entry;
    const notes =
      other === null
        ? []
        : [
            {
              message: `'${symbol.name}' is also here`,
              source: other.module.module.source,
              span: other.symbol.span,
            },
          ];
    this.#sinks.get(entry.module)![severity](code, symbol.span, message, { help, notes });
  }

  /** Drops an entry, and the static variables of a function with it. */
  #drop({ module, symbol }: Entry): void {
    this.#dropped.add(symbol);
    if (symbol.kind === "variable") return;
    for (const local of module.bodies.get(symbol.declaration)?.locals ?? []) this.#dropped.add(local);
  }

  // ---- Static names ------------------------------------------------------------------------------------------------

  /** Names static symbols: they keep their names unless these are taken. */
  #nameStatics(own: readonly Entry[], taken: Set<string>): void {
    const fresh = new FreshNames(this.#modules.map((m) => m.module.source.text));
    const assign = (symbol: Linkable, wanted: string): string => {
      const name = taken.has(wanted) ? fresh.next(wanted) : wanted;
      taken.add(name);
      this.#names.set(symbol, name);
      return name;
    };
    for (const { module, symbol } of own) {
      const name = assign(symbol, symbol.name);
      if (name === symbol.name || symbol.kind !== "function" || !symbol.entry) continue;
      const message = `'${symbol.name}' is taken by another module; this kernel is renamed to '${name}'`;
      this.#sinks.get(module)!.warning("kernel-renamed", symbol.span, message, { help: "give it another name" });
    }
    for (const module of this.#modules) {
      for (const [owner, local] of staticLocals(module)) {
        if (!this.#dropped.has(local)) assign(local, `${this.#names.get(owner) ?? owner.name}.${local.name}`);
      }
    }
  }
}
