import type { Span } from "../../source/index.ts";
import type { CheckedModule } from "../check/check.ts";
import type { LinkNames } from "../lower/link-names.ts";
import type { DwarfDirective, FileDirective, Label, LocDirective } from "../tree/leaves.ts";
import type {
  FunctionSymbol,
  NameExpr,
  PtxSymbol,
  SectionDirective,
  TargetList,
  VariableSymbol,
} from "../tree/nodes.ts";
import { linkageOf } from "./entries.ts";
import type { FileNumbers } from "./file-numbers.ts";

/** The names that a program gives to the symbols and labels of its modules. */
export interface ProgramNames extends LinkNames {
  /** The new name of a label if a function or variable of the program has its name; else the name itself. */
  labelName(name: string): string;
}

/** Nodes whose text in the program may differ from that in their module. */
type Changing = NameExpr | Label | TargetList | LocDirective | FileDirective | SectionDirective | DwarfDirective;

/** The text that one module contributes to a program. */
export class ModuleText {
  readonly #module: CheckedModule;
  readonly #names: ProgramNames;
  readonly #files: ReadonlyMap<number, number>;
  /** In source order. */
  readonly #changing: readonly Changing[];

  constructor(module: CheckedModule, names: ProgramNames, files: FileNumbers) {
    this.#module = module;
    this.#names = names;
    const changing: Changing[] = [];
    for (const item of module.module.items) collect(item, changing);
    this.#changing = changing.sort((a, b) => a.start - b.start);
    this.#files = new Map(changing.flatMap((n) => (n.kind === "file" ? [[n.index, files.numberOf(n)] as const] : [])));
  }

  // ---- Functions ---------------------------------------------------------------------------------------------------

  /**
   * The functions that this module contributes: those it defines, aliases included, and those of the runtime that it
   * declares.
   */
  get #functions(): readonly FunctionSymbol[] {
    return this.#module.functions.filter((f) => this.#names.defines(f));
  }

  /** The program's names of the kernels that this module refers to. */
  *kernelsNamed(): Generator<string> {
    for (const node of this.#changing) {
      const symbol = node.kind === "name" ? node.symbol : null;
      if (symbol?.kind === "function" && symbol.entry) yield this.#names.nameOf(symbol);
    }
  }

  /** Declarations of all functions and of the given kernels. */
  *prototypes(kernels: ReadonlySet<string>): Generator<string> {
    for (const symbol of this.#functions) {
      const { entry, directives, body, end } = symbol.declaration;
      if (entry && !kernels.has(this.#names.nameOf(symbol))) continue;
      const header = this.#function(symbol, directives[0]?.start ?? body?.start ?? end).replace(/;$/, "");
      const repeated = entry ? [] : directives.filter((d) => d.name.text !== ".pragma");
      // On a line of its own, because the header may end with a comment.
      yield [header, ...repeated.map((d) => this.#slice(d)), ";"].join("\n");
    }
  }

  *definitions(): Generator<string> {
    for (const symbol of this.#functions) {
      if (symbol.declaration.body !== null) yield this.#function(symbol, symbol.declaration.end);
    }
  }

  *aliases(): Generator<string> {
    const { nameOf } = this.#names;
    for (const symbol of this.#functions) {
      if (symbol.aliasOf !== null) yield `.alias ${nameOf(symbol)}, ${nameOf(symbol.aliasOf)};`;
    }
  }

  /** The text of a function up to `end`, under its name in the program. */
  #function(symbol: FunctionSymbol, end: number): string {
    const { start, name, linkage } = symbol.declaration;
    const word = linkage === null && linkageOf(symbol);
    const before = this.#slice({ start, end: name.start });
    const after = this.#slice({ start: name.end, end });
    return `${word ? `.${word} ` : ""}${before}${this.#names.nameOf(symbol)}${after}`;
  }

  // ---- Variables ---------------------------------------------------------------------------------------------------

  /** The variables that this module defines for the program, in source order. */
  get variables(): readonly VariableSymbol[] {
    return this.#module.variables.filter((v) => this.#names.defines(v));
  }

  /** The program's names of the variables that a variable's initial value refers to. */
  *usesOf({ declarator: { initializer } }: VariableSymbol): Generator<string> {
    if (initializer === null) return;
    for (const node of this.#within(initializer)) {
      if (node.kind === "name" && node.symbol?.kind === "variable") yield this.#names.nameOf(node.symbol);
    }
  }

  variable(symbol: VariableSymbol): string {
    const { declaration, declarator } = symbol;
    // The part that all variables of the declaration share.
    const shared = this.#slice({ start: declaration.start, end: declaration.declarators[0]!.start });
    const rest = this.#slice({ start: declarator.name.end, end: declarator.end });
    return `${shared}${this.#names.nameOf(symbol)}${rest};`;
  }

  /** A declaration of a variable, for uses before its definition. */
  forward(symbol: VariableSymbol): string {
    const { declaration, declarator } = symbol;
    const start = declaration.linkage?.span.end ?? declaration.start;
    const shared = this.#slice({ start, end: declaration.declarators[0]!.start });
    const bounds = declarator.dimensions.map((bound) => `[${bound === null ? "" : this.#slice(bound)}]`);
    return `.extern ${shared}${this.#names.nameOf(symbol)}${bounds.join("")};`;
  }

  // ---- Rewritten text ----------------------------------------------------------------------------------------------

  *#within({ start, end }: Span): Generator<Changing> {
    let low = 0;
    let high = this.#changing.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changing[middle]!.start < start) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < this.#changing.length && this.#changing[i]!.end <= end; i++) yield this.#changing[i]!;
  }

  #slice(span: Span): string {
    const { text } = this.#module.module.source;
    let out = "";
    let at = span.start;
    for (const node of this.#within(span)) {
      out += text.slice(at, node.start) + this.#changed(node);
      at = node.end;
    }
    return out + text.slice(at, span.end);
  }

  #changed(node: Changing): string {
    const original = this.#module.module.source.slice(node);
    switch (node.kind) {
      case "name":
        return this.#nameOf(node.symbol, node.text) + original.slice(node.text.length);
      case "label":
        return this.#names.labelName(node.name.text) + original.slice(node.name.text.length);
      case "branchtargets":
      case "calltargets":
        return this.#targetList(node);
      case "loc": {
        // The rest of a `.loc` refers to debug sections, which are left out.
        const file = this.#files.get(node.file);
        return file === undefined ? "" : `.loc ${file} ${node.line} ${node.column}`;
      }
      case "file":
      case "section":
      case "dwarf":
        return "";
    }
  }

  #nameOf(symbol: PtxSymbol | null, name: string): string {
    if (symbol?.kind === "label") return this.#names.labelName(name);
    if (symbol?.kind === "function" || (symbol?.kind === "variable" && symbol.owner === null))
      return this.#names.nameOf(symbol);
    return name;
  }

  /** A list with its ranges expanded, because the new names need not form a range. */
  #targetList(node: TargetList): string {
    const targets = (node.kind === "branchtargets" ? this.#module.branchTargets : this.#module.callTargets).get(node);
    const names = (targets ?? []).map((symbol) => this.#nameOf(symbol, symbol.name));
    return `${node.label ? `${node.label.text}: ` : ""}.${node.kind} ${names.join(", ")};`;
  }
}

/** Collects the changing nodes of a subtree, symbols excluded. */
function collect(node: unknown, found: Changing[]): void {
  if (Array.isArray(node)) {
    for (const element of node) collect(element, found);
  } else if (typeof node === "object" && node !== null) {
    if (isChanging(node)) found.push(node);
    else {
      for (const [key, value] of Object.entries(node)) {
        if (key !== "symbol" && key !== "resolved") collect(value, found);
      }
    }
  }
}

const changingKinds: ReadonlySet<unknown> = new Set<Changing["kind"]>([
  "label",
  "branchtargets",
  "calltargets",
  "loc",
  "file",
  "section",
  "dwarf",
]);

function isChanging(node: { readonly kind?: unknown }): node is Changing {
  if (node.kind !== "name") return changingKinds.has(node.kind);
  const { symbol } = node as NameExpr;
  return symbol?.kind === "function" || symbol?.kind === "variable" || symbol?.kind === "label";
}
