import { type Diagnostic, DiagnosticSink } from "../../source/index.ts";
import type { FunctionSymbol, LabelSymbol, VariableSymbol } from "../symbols.ts";
import type { FunctionDeclaration, Instruction, Item, LocDirective, Module, TargetList } from "../tree.ts";
import { Binder } from "./bind.ts";
import { BodyChecker, type BodyParts, noteFile } from "./body.ts";
import { CallChecker, type CallInfo } from "./calls.ts";
import type { CheckCode } from "./codes.ts";
import type { BodyInfo, Target } from "./context.ts";
import { FunctionDeclarations } from "./functions.ts";
import { ModuleContext } from "./module-context.ts";
import { moduleHeader } from "./module-header.ts";
import { PassedParameters } from "./parameter-passing.ts";
import { checkRecursion } from "./recursion.ts";
import { Scope } from "./scope.ts";
import type { CallSignature } from "./signature.ts";
import { TargetDeclarations } from "./targets.ts";
import { VariableDeclarations } from "./variables.ts";

/**
 * A module whose names have been bound and whose declarations, calls and instructions have been checked. Only one without
 * errors may be lowered.
 */
export interface CheckedModule {
  readonly module: Module;
  readonly diagnostics: readonly Diagnostic[];
  /** The PTX ISA version as one number: 6.4 is 604. */
  readonly version: number;
  readonly target: Target;
  readonly addressSize: 32 | 64;
  /** In order of declaration, aliases and functions without a body included. */
  readonly functions: readonly FunctionSymbol[];
  /** Those at module scope, in order. */
  readonly variables: readonly VariableSymbol[];
  readonly bodies: ReadonlyMap<FunctionDeclaration, BodyInfo>;
  /** Of every call that is well formed. */
  readonly callInfo: ReadonlyMap<Instruction, CallInfo>;
  /** Of every function declaration and every prototype. */
  readonly signatures: ReadonlyMap<object, CallSignature>;
  /** The labels of each `.branchtargets`, in order, with ranges written out. */
  readonly branchTargets: ReadonlyMap<TargetList, readonly LabelSymbol[]>;
  /** The functions of each `.calltargets`. */
  readonly callTargets: ReadonlyMap<TargetList, readonly FunctionSymbol[]>;
}

export interface CheckOptions {
  /** At most this many diagnostics are kept. */
  readonly limit?: number;
}

/** Checks a tree as `parsePtx` returns it, and fills the `symbol` of names and the `resolved` of instructions. Never throws. */
export function checkPtx(tree: Module, options: CheckOptions = {}): CheckedModule {
  return new ModuleChecker(tree, options).check();
}

class ModuleChecker {
  readonly #tree: Module;
  readonly #sink: DiagnosticSink<CheckCode>;
  readonly #context: ModuleContext;
  readonly #parts: BodyParts;
  readonly #functions: FunctionDeclarations;
  readonly #variables: VariableSymbol[] = [];
  readonly #bodies = new Map<FunctionDeclaration, BodyInfo>();
  readonly #signatures = new Map<object, CallSignature>();

  constructor(tree: Module, { limit }: CheckOptions) {
    this.#tree = tree;
    this.#sink = new DiagnosticSink(tree.source, limit);
    const { version, target, addressSize } = moduleHeader(tree, this.#sink);
    const context = new ModuleContext(this.#sink, version, target, addressSize);
    const binder = new Binder(context, new Scope(null));
    const targets = new TargetDeclarations(context, binder, this.#signatures);
    this.#context = context;
    this.#functions = new FunctionDeclarations(context, binder, this.#signatures);
    this.#parts = {
      context,
      binder,
      variables: new VariableDeclarations(context, binder),
      targets,
      calls: new CallChecker(context, targets),
      passed: new PassedParameters(),
      files: new Map<number, LocDirective>(),
    };
  }

  check(): CheckedModule {
    for (const item of this.#tree.items) this.#item(item);
    this.#checkFiles();
    const { calls, targets, passed } = this.#parts;
    passed.report(this.#bodies, this.#context);
    const { version, target, addressSize } = this.#context;
    if (version < 200) checkRecursion(this.#bodies.keys(), calls.info, this.#context);
    return {
      module: this.#tree,
      diagnostics: this.#sink.diagnostics,
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

  #item(item: Item): void {
    switch (item.kind) {
      case "variable":
        this.#parts.binder.enter(null);
        this.#parts.variables.declare(item, null, this.#variables);
        return;
      case "function":
        this.#function(item);
        return;
      case "alias":
        this.#parts.binder.enter(null);
        this.#functions.alias(item);
        return;
      case "loc":
        noteFile(item, this.#parts.files);
        return;
      case "pragma":
        this.#context.require({ since: "2.0" }, "'.pragma'", item);
        return;
      case "section":
        this.#context.require({ since: "2.0" }, "'.section'", item.name);
    }
  }

  #function(node: FunctionDeclaration): void {
    const { binder } = this.#parts;
    binder.enter(null);
    if (node.name.text === "") return;
    this.#functions.declare(node);
    if (node.body === null) return;
    const module = binder.scope;
    binder.scope = new Scope(module);
    const info = { registers: [], locals: [], labels: [] };
    const body: BodyInfo = { ...info, returns: [], params: [] };
    binder.enter(body);
    Object.assign(body, this.#functions.formals(node));
    this.#bodies.set(node, body);
    new BodyChecker(this.#parts, node, body).check(node.body);
    binder.scope = module;
    binder.enter(null);
  }

  #checkFiles(): void {
    const declared = new Set<number>();
    for (const item of this.#tree.items) {
      if (item.kind !== "file") continue;
      if (declared.has(item.index)) {
        this.#sink.warning("file-index", item, `the file ${item.index} is named twice`, {
          help: "give it another number",
        });
      }
      declared.add(item.index);
    }
    for (const [index, loc] of this.#parts.files) {
      if (declared.has(index)) continue;
      this.#sink.warning("file-index", loc, `no '.file' names the file ${index}`, {
        help: `write \`.file ${index} "name.cu"\` at module scope`,
      });
    }
  }
}
