import { SourceText, type Span } from "../../source/index.ts";
import type { CheckedModule } from "../check/check.ts";
import { parsePtx } from "../parser/index.ts";
import { printPtx } from "../printer.ts";
import type { FunctionSymbol, PtxSymbol, VariableSymbol } from "../symbols.ts";
import type { FunctionDeclaration, Item, LocDirective, NameExpr, VariableDeclaration } from "../tree.ts";
import type { LinkedProgram } from "./resolve.ts";

/**
 * The text of one module that holds all that the linked modules define. Everything is declared before it is used: prototypes of
 * all functions, then variables, then bodies. Debug sections of several modules do not go together and are left out; `.file`
 * and `.loc` are kept, with new file numbers.
 */
export function printLinked(program: LinkedProgram): string {
  const parts = program.modules.map((module, index) => new ModuleText(module, program, index));
  const newest = program.modules.reduce((a, b) => (b.version > a.version ? b : a));
  const widest = program.modules.reduce((a, b) => (b.target.sm > a.target.sm ? b : a));
  const text = [
    `.version ${Math.floor(newest.version / 100)}.${newest.version % 100}`,
    `.target ${widest.target.name}`,
    `.address_size ${newest.addressSize}`,
    ...parts.flatMap((p) => p.files()),
    ...parts.flatMap((p) => p.prototypes()),
    ...inOrderOfUse(parts),
    ...parts.flatMap((p) => p.functions()),
    ...parts.flatMap((p) => p.aliases()),
  ].join("\n");
  return printPtx(parsePtx(new SourceText("linked.ptx", text)).tree);
}

interface Edit extends Span {
  readonly text: string;
}

/** Each module's files get numbers of their own. */
const fileStride = 1000;

class ModuleText {
  readonly #module: CheckedModule;
  readonly #program: LinkedProgram;
  readonly #firstFile: number;
  readonly #edits: readonly Edit[];

  constructor(module: CheckedModule, program: LinkedProgram, index: number) {
    this.#module = module;
    this.#program = program;
    this.#firstFile = program.modules.length === 1 ? 0 : index * fileStride;
    const edits: Edit[] = [];
    for (const item of module.module.items) walk(item, (node) => this.#edit(node, edits));
    this.#edits = edits.sort((a, b) => a.start - b.start);
  }

  #nameOf(symbol: PtxSymbol | null): string | null {
    return symbol?.kind === "function" || (symbol?.kind === "variable" && symbol.owner === null)
      ? this.#program.names.nameOf(symbol)
      : null;
  }

  #edit(node: { readonly kind?: unknown } & Span, edits: Edit[]): void {
    if (node.kind === "name") {
      const { symbol, start, text } = node as NameExpr;
      const name = this.#nameOf(symbol);
      if (name !== null && name !== text) edits.push({ start, end: start + text.length, text: name });
    } else if (node.kind === "loc") {
      const { file, line, column, start, end } = node as LocDirective;
      edits.push({ start, end, text: `.loc ${file + this.#firstFile} ${line} ${column}` });
    }
  }

  /** The source text of a span with all names as the program knows them; `declared` renames the declaration itself. */
  #slice(span: Span, declared: readonly Edit[] = []): string {
    const edits = [...this.#edits.filter((e) => e.start >= span.start && e.end <= span.end), ...declared].sort(
      (a, b) => a.start - b.start,
    );
    const { text } = this.#module.module.source;
    let out = "";
    let at = span.start;
    for (const edit of edits) {
      out += text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return out + text.slice(at, span.end);
  }

  files(): string[] {
    return this.#module.module.items.flatMap((item) =>
      item.kind === "file" ? [`.file ${item.index + this.#firstFile} "${item.name.text}"`] : [],
    );
  }

  /** Functions that this module contributes. */
  get #functions(): readonly FunctionSymbol[] {
    return this.#module.functions.filter((f) => this.#program.names.defines(f));
  }

  #function(symbol: FunctionSymbol, declaration: FunctionDeclaration, end: number): string {
    const { name } = declaration;
    return this.#slice({ start: declaration.start, end }, [
      { start: name.start, end: name.end, text: this.#program.names.nameOf(symbol) },
    ]);
  }

  prototypes(): string[] {
    return this.#functions.flatMap((symbol) => {
      const { declaration } = symbol;
      if (declaration.entry) return [];
      return [
        `${this.#function(symbol, declaration, declaration.body?.start ?? declaration.end).replace(/;?\s*$/, "")};`,
      ];
    });
  }

  functions(): string[] {
    return this.#functions.flatMap((symbol) =>
      symbol.declaration.body === null ? [] : [this.#function(symbol, symbol.declaration, symbol.declaration.end)],
    );
  }

  aliases(): string[] {
    return this.#functions.flatMap((symbol) =>
      symbol.aliasOf === null
        ? []
        : [`.alias ${this.#program.names.nameOf(symbol)}, ${this.#program.names.nameOf(symbol.aliasOf)};`],
    );
  }

  variables(): { readonly symbol: VariableSymbol; readonly text: string; readonly uses: readonly VariableSymbol[] }[] {
    return this.#module.variables
      .filter((v) => this.#program.names.defines(v))
      .map((symbol) => {
        const { declaration, declarator } = symbol;
        const uses: VariableSymbol[] = [];
        if (declarator.initializer) walk(declarator.initializer, (n) => collectVariable(n, uses));
        const rename = [
          { start: declarator.name.start, end: declarator.name.end, text: this.#program.names.nameOf(symbol) },
        ];
        return {
          symbol,
          text: `${prefix(declaration, this.#slice.bind(this))} ${this.#slice(declarator, rename)};`,
          uses,
        };
      });
  }
}

/** What all variables of a declaration share: everything before its first declarator. */
const prefix = (declaration: VariableDeclaration, slice: (span: Span) => string): string =>
  slice({ start: declaration.start, end: declaration.declarators[0]!.start }).trimEnd();

function collectVariable(node: { readonly kind?: unknown }, uses: VariableSymbol[]): void {
  const symbol = node.kind === "name" ? (node as NameExpr).symbol : null;
  if (symbol?.kind === "variable") uses.push(symbol);
}

/** Variables whose initializers point at others come after those. */
function inOrderOfUse(parts: readonly ModuleText[]): string[] {
  const all = parts.flatMap((p) => p.variables());
  const byName = new Map(all.map((v) => [v.symbol.name, v]));
  const done = new Set<(typeof all)[number]>();
  const order: string[] = [];
  const visit = (variable: (typeof all)[number]): void => {
    if (done.has(variable)) return;
    done.add(variable);
    for (const used of variable.uses) {
      const other = all.find((v) => v.symbol === used) ?? byName.get(used.name);
      if (other) visit(other);
    }
    order.push(variable.text);
  };
  for (const variable of all) visit(variable);
  return order;
}

/** Calls `visit` for every node of a part of the tree, parents first; the symbols that nodes refer to are not part of it. */
function walk(node: unknown, visit: (node: { readonly kind?: unknown } & Span) => void): void {
  if (Array.isArray(node)) {
    for (const element of node) walk(element, visit);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  if ("start" in node) visit(node as Span);
  for (const [key, value] of Object.entries(node as Item)) {
    if (key !== "symbol" && key !== "resolved" && typeof value === "object") walk(value, visit);
  }
}
