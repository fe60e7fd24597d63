import { type Diagnostic, DiagnosticSink } from "../../source/index.ts";
import type { LabelSymbol, LocDirective } from "../tree/leaves.ts";
import type { Item, Module } from "../tree/module.ts";
import type { FunctionDeclaration, FunctionSymbol, Instruction, TargetList, VariableSymbol } from "../tree/nodes.ts";
import { Binder } from "./bind.ts";
import { BodyChecker, type BodyParts, noteFile } from "./body.ts";
import { CallChecker, type CallInfo } from "./calls.ts";
import type { CheckCode } from "./codes.ts";
import type { BodyInfo } from "./context.ts";
import { FunctionDeclarations } from "./functions.ts";
import { ModuleContext } from "./module-context.ts";
import { moduleHeader, noteNewerVersion } from "./module-header.ts";
import { PassedParameters } from "./parameter-passing.ts";
import { checkRecursion } from "./recursion.ts";
import { Scope } from "./scope.ts";
import type { CallSignature } from "./signature.ts";
import type { Target } from "./target.ts";
import { TargetDeclarations } from "./targets.ts";
import { VariableDeclarations } from "./variables.ts";

/**
 * The result of `checkPtx`: a module whose names are bound and whose declarations, calls and instructions are checked.
 * Only a module without errors may be linked and lowered.
 */
export interface CheckedModule {
  readonly module: Module;
  /** Errors and warnings, in the order in which they were found. Each code has a page: `lanewise explain CODE`. */
  readonly diagnostics: readonly Diagnostic[];
  /** The PTX ISA version as one number: 6.4 is 604. */
  readonly version: number;
  readonly target: Target;
  /** Bits of an address (11.1.3). */
  readonly addressSize: 32 | 64;
  /** Functions and kernels in order of declaration, including aliases and functions without a body. */
  readonly functions: readonly FunctionSymbol[];
  /** The variables at module scope, in order of declaration. */
  readonly variables: readonly VariableSymbol[];
  /** What each function with a body declares and uses. */
  readonly bodies: ReadonlyMap<FunctionDeclaration, BodyInfo>;
  /** The target, arguments and results of every well-formed call. */
  readonly callInfo: ReadonlyMap<Instruction, CallInfo>;
  /** The parameters of every function declaration (`FunctionDeclaration`) and prototype (`CallPrototype`). */
  readonly signatures: ReadonlyMap<object, CallSignature>;
  /** The labels of each `.branchtargets`, in order, with ranges expanded. */
  readonly branchTargets: ReadonlyMap<TargetList, readonly LabelSymbol[]>;
  /** The functions of each `.calltargets`, in order, with ranges expanded. */
  readonly callTargets: ReadonlyMap<TargetList, readonly FunctionSymbol[]>;
}

/** Options of `checkPtx`. */
export interface CheckOptions {
  /** The maximum number of diagnostics to keep. */
  readonly limit?: number;
}

/**
 * Checks a tree that `parsePtx` returned: header, declarations, names, instructions, operands, calls. Sets `symbol` of
 * names and `resolved` of instructions in the tree. What is wrong goes into `diagnostics`; never throws.
 */
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
    noteNewerVersion(this.#tree, this.#sink);
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
        this.#sink.warning("file-index", item, `the file number ${item.index} is used twice`, {
          help: "use another number",
        });
      }
      declared.add(item.index);
    }
    for (const [index, loc] of this.#parts.files) {
      if (declared.has(index)) continue;
      this.#sink.warning("file-index", loc, `no '.file' directive has the number ${index}`, {
        help: `write \`.file ${index} "name.cu"\` at module scope`,
      });
    }
  }
}
