import type { Diagnostic, DiagnosticSink, SourceText } from "../../source/index.ts";
import type { LabelSymbol, LocDirective } from "../tree/leaves.ts";
import type { Item } from "../tree/module.ts";
import type {
  Block,
  CallPrototype,
  FunctionDeclaration,
  FunctionSymbol,
  Instruction,
  ParameterSymbol,
  TargetList,
  VariableSymbol,
} from "../tree/nodes.ts";
import { Binder, suggestionLimit } from "./bind.ts";
import { BodyChecker, type BodyParts, noteFile } from "./body.ts";
import { CallChecker, type CallInfo } from "./calls.ts";
import type { CheckedModule } from "./checked-module.ts";
import type { CheckCode } from "./codes.ts";
import type { BodyInfo, Writable } from "./context.ts";
import { FunctionDeclarations } from "./functions.ts";
import { ModuleContext } from "./module-context.ts";
import { moduleHeader, noteNewerVersion } from "./module-header.ts";
import { PassedParameters, type UnwrittenArgument } from "./parameter-passing.ts";
import { checkRecursion } from "./recursion.ts";
import { ModuleScope, Scope } from "./scope.ts";
import type { CallSignature } from "./signature.ts";
import { TargetDeclarations } from "./targets.ts";
import { VariableDeclarations } from "./variables.ts";

/** Items and the text that their spans are in. */
export interface ModulePart {
  readonly source: SourceText;
  readonly items: readonly Item[];
}

/** What the check of one body has found, and what it depends on. */
export interface BodyFindings {
  readonly body: BodyInfo;
  readonly diagnostics: readonly Diagnostic[];
  readonly calls: ReadonlyMap<Instruction, CallInfo>;
  readonly lists: readonly (TargetList | CallPrototype)[];
  readonly branchTargets: ReadonlyMap<TargetList, readonly LabelSymbol[]>;
  readonly callTargets: ReadonlyMap<TargetList, readonly FunctionSymbol[]>;
  readonly signatures: ReadonlyMap<object, CallSignature>;
  readonly unwritten: readonly UnwrittenArgument[];
  readonly read: readonly ParameterSymbol[];
  readonly files: ReadonlyMap<number, LocDirective>;
  /** The names that were looked for at module scope. */
  readonly names: ReadonlySet<string>;
  /** How many suggestions for unknown names there were before, and how many it made. */
  readonly suggestions: { readonly before: number; readonly made: number };
  /** Whether it calls through a table of functions. */
  readonly usesTables: boolean;
}

/** A function whose text has taken the place of another one's. Its header reads the same. */
export interface Replacement {
  /** The text that the old function was in, and that of the new one. */
  readonly sources: { readonly old: SourceText; readonly now: SourceText };
  /** The number of the directive among those of the module. */
  readonly place: number;
  readonly old: FunctionDeclaration;
  readonly now: FunctionDeclaration;
}

/** What is known of bodies that have been checked before, with the same declarations around them. */
export interface BodyMemory {
  /** The findings of a body, if they would be the same now. */
  recall(node: FunctionDeclaration, suggestions: number): BodyFindings | null;
  keep(node: FunctionDeclaration, findings: BodyFindings): void;
  /** The findings of a body, whatever has changed since. */
  last(node: FunctionDeclaration): BodyFindings | null;
  forget(node: FunctionDeclaration): void;
  /** The signatures of headers in which nothing was found, and which depend on no other declaration. */
  readonly headers: WeakMap<FunctionDeclaration, CallSignature>;
}

/** Checks a module in one pass over its items. With a memory, bodies that it knows are not checked again. */
export class ModuleChecker {
  readonly #parts: readonly ModulePart[];
  readonly #items: readonly Item[];
  readonly #memory: BodyMemory | null;
  readonly #scope = new ModuleScope();
  readonly #sink: DiagnosticSink<CheckCode>;
  readonly #context: ModuleContext;
  readonly #shared: BodyParts;
  readonly #functions: FunctionDeclarations;
  readonly #variables: VariableSymbol[] = [];
  readonly #bodies = new Map<FunctionDeclaration, BodyInfo>();
  readonly #signatures = new Map<object, CallSignature>();
  /** The numbers of the files that are declared. */
  readonly #numbered = new Set<number>();
  /** How many diagnostics were about single directives, not about the module. */
  #ofItems = 0;

  /** `addressSize`: bits of addresses, if the module does not say. */
  constructor(
    parts: readonly ModulePart[],
    sink: DiagnosticSink<CheckCode>,
    memory: BodyMemory | null,
    addressSize?: 32 | 64,
  ) {
    this.#parts = parts;
    this.#items = parts.length === 1 ? parts[0]!.items : parts.flatMap(({ items }) => items);
    this.#memory = memory;
    this.#sink = sink;
    const header = moduleHeader({ items: this.#items, source: sink.source }, sink, addressSize);
    const { version, target } = header;
    const context = new ModuleContext(sink, version, target, header.addressSize);
    const binder = new Binder(context, this.#scope);
    const targets = new TargetDeclarations(context, binder, this.#signatures);
    this.#context = context;
    this.#functions = new FunctionDeclarations(context, binder, this.#signatures);
    this.#shared = {
      context,
      binder,
      variables: new VariableDeclarations(context, binder),
      targets,
      calls: new CallChecker(context, targets),
      passed: new PassedParameters(),
      files: new Map<number, LocDirective>(),
    };
  }

  check(): Omit<CheckedModule, "module"> {
    let place = 0;
    for (const { source, items } of this.#parts) {
      this.#sink.source = source;
      for (const item of items) this.#item(item, place++);
    }
    return this.#finish();
  }

  #finish(): Omit<CheckedModule, "module"> {
    this.#ofItems = this.#sink.diagnostics.length;
    this.#checkFiles();
    const { calls, targets, passed } = this.#shared;
    passed.report(this.#bodies, this.#context);
    const { version, target, addressSize } = this.#context;
    if (version < 200) checkRecursion(this.#bodies.keys(), calls.info, this.#context);
    noteNewerVersion({ items: this.#items }, this.#sink);
    return {
      diagnostics: [...this.#sink.diagnostics],
      version,
      target,
      addressSize,
      functions: this.#functions.symbols,
      variables: this.#variables,
      bodies: this.#bodies,
      callInfo: calls.info,
      signatures: this.#signatures,
      branchTargets: targets.branchTargets,
      callTargets: targets.callTargets,
    };
  }

  #item(item: Item, place: number): void {
    switch (item.kind) {
      case "variable":
        for (const { name } of item.declarators) this.#scope.note(name.text, place);
        this.#shared.binder.enter(null);
        this.#shared.variables.declare(item, null, this.#variables);
        return;
      case "function":
        this.#function(item, place);
        return;
      case "alias":
        for (const { text } of [item.alias, item.aliasee]) this.#scope.note(text, place);
        this.#shared.binder.enter(null);
        this.#functions.alias(item);
        return;
      case "loc":
        noteFile(item, this.#shared.files);
        return;
      case "pragma":
        this.#context.require({ since: "2.0" }, "'.pragma'", item);
        return;
      case "section":
        this.#context.require({ since: "2.0" }, "'.section'", item.name);
    }
  }

  #function(node: FunctionDeclaration, place: number): void {
    const { binder } = this.#shared;
    binder.enter(null);
    if (node.name.text === "") return;
    const symbol = this.#functions.declare(node, this.#memory?.headers.get(node) ?? this.#header(node));
    if (symbol === null || symbol.declaration === node) this.#scope.note(node.name.text, place);
    if (node.body === null) return;
    if (this.#memory === null) {
      this.#body(node, node.body, this.#shared);
      return;
    }
    const known = this.#memory.recall(node, binder.suggestions);
    if (known === null) this.#memory.keep(node, this.#recorded(node, node.body));
    else this.#repeat(node, known);
  }

  /** Checks a header. */
  #header(node: FunctionDeclaration): CallSignature {
    if (this.#memory === null) return this.#functions.header(node);
    const { length } = this.#sink.diagnostics;
    const asked = new Set<string>();
    this.#scope.asked = asked;
    const signature = this.#functions.header(node);
    this.#scope.asked = null;
    const isClean = this.#sink.diagnostics.length === length && !this.#sink.full && asked.size === 0;
    if (isClean) this.#memory.headers.set(node, signature);
    return signature;
  }

  /** Checks a body, and returns what that has found. */
  #recorded(node: FunctionDeclaration, block: Block): BodyFindings {
    const { binder, calls, targets, passed } = this.#shared;
    const names = new Set<string>();
    const files = new Map<number, LocDirective>();
    const before = [this.#sink.diagnostics.length, targets.declared.length, passed.unwritten.length] as const;
    const suggestions = binder.suggestions;
    const { info, tableUses } = calls;
    calls.info = new Map();
    this.#scope.asked = names;
    const body = this.#body(node, block, { ...this.#shared, files });
    this.#scope.asked = null;
    const own = calls.info;
    calls.info = info;
    for (const [call, found] of own) info.set(call, found);
    this.#noteFiles(files);
    const lists = targets.declared.slice(before[1]);
    const of = <K extends object, V>(map: ReadonlyMap<K, V>): Map<K, V> => {
      const found = new Map<K, V>();
      for (const list of lists as unknown as readonly K[]) if (map.has(list)) found.set(list, map.get(list)!);
      return found;
    };
    return {
      body,
      diagnostics: this.#sink.diagnostics.slice(before[0]),
      calls: own,
      lists,
      branchTargets: of(targets.branchTargets),
      callTargets: of(targets.callTargets),
      signatures: of(this.#signatures),
      unwritten: passed.unwritten.slice(before[2]),
      read: body.params.filter((param): param is ParameterSymbol => passed.read.has(param as ParameterSymbol)),
      files,
      names,
      suggestions: { before: suggestions, made: binder.suggestions - suggestions },
      usesTables: calls.tableUses > tableUses,
    };
  }

  /** Takes over what an earlier check of a body has found. */
  #repeat(node: FunctionDeclaration, found: BodyFindings): void {
    const { binder, calls, targets, passed } = this.#shared;
    for (const diagnostic of found.diagnostics) this.#sink.repeat(diagnostic);
    this.#bodies.set(node, found.body);
    for (const [call, info] of found.calls) calls.info.set(call, info);
    for (const [list, labels] of found.branchTargets) targets.branchTargets.set(list, labels);
    for (const [list, functions] of found.callTargets) targets.callTargets.set(list, functions);
    for (const [list, signature] of found.signatures) this.#signatures.set(list, signature);
    for (const one of found.unwritten) {
      const callee = this.#scope.own(one.callee.name);
      passed.unwritten.push(callee?.kind === "function" ? { ...one, callee } : one);
    }
    for (const param of found.read) passed.read.add(param);
    binder.suggestions += found.suggestions.made;
    this.#noteFiles(found.files);
  }

  // ---- Functions in the place of others ----------------------------------------------------------------------------

  /**
   * Checks functions that have taken the places of others, after the whole module has been checked. The result is that
   * of checking the module that it then is. Null if other directives may be concerned too; the checker is of no use
   * then. `end`: the text of the last part.
   */
  replace(changes: readonly Replacement[], end: SourceText): Omit<CheckedModule, "module"> | null {
    const { diagnostics } = this.#sink;
    if (this.#memory === null || this.#sink.full || this.#context.version < 200 || this.#hasManySuggestions)
      return null;
    const texts = new Set(changes.map(({ sources }) => sources.old));
    let own = 0;
    for (const { old } of changes) {
      const known = this.#memory.last(old);
      if (known === null ? old.body !== null : !this.#standsAlone(known)) return null;
      own += known?.diagnostics.length ?? 0;
    }
    diagnostics.length = this.#ofItems;
    const others = diagnostics.filter(({ source }) => !texts.has(source));
    const points = others.some(({ notes }) => notes.some(({ source }) => source !== undefined && texts.has(source)));
    // What was found in the old texts must have been found in the bodies.
    if (points || diagnostics.length - others.length !== own) return null;
    diagnostics.splice(0, diagnostics.length, ...others);
    for (const change of changes) if (!this.#replaceOne(change, this.#memory)) return null;
    this.#sink.source = end;
    return this.#finish();
  }

  #replaceOne({ sources, place, old, now }: Replacement, memory: BodyMemory): boolean {
    const scope = this.#scope;
    const symbol = scope.own(now.name.text);
    const at = symbol?.kind === "function" ? symbol.declarations.indexOf(old) : -1;
    if (symbol?.kind !== "function" || at < 0) return false;
    this.#sink.source = sources.now;
    this.#shared.binder.enter(null);
    const signature = this.#header(now);
    if (!memory.headers.has(old) || !memory.headers.has(now)) return false;
    this.#signatures.delete(old);
    this.#signatures.set(now, signature);
    symbol.declarations[at] = now;
    if (symbol.declaration === old) symbol.declaration = now;
    if (symbol.span === old.name) (symbol as Writable<FunctionSymbol>).span = now.name;
    this.#bodies.delete(old);
    if (now.body === null) return true;
    this.#drop(memory.last(old)!);
    memory.forget(old);
    scope.before = place + 1;
    const found = this.#recorded(now, now.body);
    scope.before = Number.POSITIVE_INFINITY;
    if (this.#sink.full || this.#hasManySuggestions || !this.#standsAlone(found)) return false;
    if (!scope.isSettled(found.names, place + 1)) return false;
    memory.keep(now, found);
    return true;
  }

  get #hasManySuggestions(): boolean {
    return this.#shared.binder.suggestions >= suggestionLimit;
  }

  /** Whether what was found in a body has to do with no other body. */
  #standsAlone({ lists, usesTables, files }: BodyFindings): boolean {
    return lists.length === 0 && !usesTables && [...files.keys()].every((index) => this.#numbered.has(index));
  }

  /** Forgets what was found in a body that is no more. */
  #drop({ calls, read, unwritten, suggestions }: BodyFindings): void {
    const { binder, calls: checker, passed } = this.#shared;
    for (const call of calls.keys()) checker.info.delete(call);
    for (const param of read) passed.read.delete(param);
    const gone = new Set(unwritten.map(({ argument }) => argument));
    if (gone.size > 0) passed.unwritten = passed.unwritten.filter(({ argument }) => !gone.has(argument));
    binder.suggestions -= suggestions.made;
  }

  #noteFiles(files: ReadonlyMap<number, LocDirective>): void {
    for (const [index, loc] of files) if (!this.#shared.files.has(index)) this.#shared.files.set(index, loc);
  }

  #body(node: FunctionDeclaration, block: Block, parts: BodyParts): BodyInfo {
    const { binder } = parts;
    const module = binder.scope;
    binder.scope = new Scope(module);
    const info = { registers: [], locals: [], labels: [] };
    const body: BodyInfo = { ...info, returns: [], params: [] };
    binder.enter(body);
    Object.assign(body, this.#functions.formals(node));
    this.#bodies.set(node, body);
    new BodyChecker(parts, node, body).check(block);
    binder.scope = module;
    binder.enter(null);
    return body;
  }

  #checkFiles(): void {
    const declared = this.#numbered;
    declared.clear();
    for (const item of this.#items) {
      if (item.kind !== "file") continue;
      if (declared.has(item.index)) {
        this.#sink.warning("file-index", item, `the file number ${item.index} is used twice`, {
          help: "use another number",
        });
      }
      declared.add(item.index);
    }
    for (const [index, loc] of this.#shared.files) {
      if (declared.has(index)) continue;
      this.#sink.warning("file-index", loc, `no '.file' directive has the number ${index}`, {
        help: `write \`.file ${index} "name.cu"\` at module scope`,
      });
    }
  }
}
