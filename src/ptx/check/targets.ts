import type { LabelSymbol } from "../tree/leaves.ts";
import type { CallPrototype, FunctionSymbol, PtxSymbol, TargetList, TargetName } from "../tree/nodes.ts";
import type { Name } from "../tree/leaves.ts";
import type { Binder } from "./bind.ts";
import { duplicate, nounOf } from "./duplicate.ts";
import { checkDirectives } from "./function-directives.ts";
import type { ModuleContext } from "./module-context.ts";
import { type CallSignature, signatureOf } from "./signature.ts";

/** How many names the ranges of all lists may expand to: `N<1000>` is short, but every name costs memory. */
const rangeLimit = 1_000_000;

/** Checks and declares `.branchtargets`, `.calltargets` and `.callprototype` (11.3). */
export class TargetDeclarations {
  readonly branchTargets = new Map<TargetList, readonly LabelSymbol[]>();
  readonly callTargets = new Map<TargetList, readonly FunctionSymbol[]>();
  readonly signatures: Map<object, CallSignature>;
  /** All lists and prototypes so far. */
  readonly declared: (TargetList | CallPrototype)[] = [];
  readonly #context: ModuleContext;
  readonly #binder: Binder;
  #ranged = 0;

  constructor(context: ModuleContext, binder: Binder, signatures: Map<object, CallSignature>) {
    this.#context = context;
    this.#binder = binder;
    this.signatures = signatures;
  }

  list(node: TargetList): void {
    this.declared.push(node);
    if (node.kind === "branchtargets") {
      this.#context.require({ since: "6.0", target: "sm_30" }, "'.branchtargets'", node);
      this.branchTargets.set(node, this.#labels(node));
    } else {
      this.#context.require({ since: "2.1", target: "sm_20" }, "'.calltargets'", node);
      this.callTargets.set(node, this.#functions(node));
    }
    this.#declare(node.label, (name) => ({ kind: "target-list", name: name.text, span: name, list: node }));
  }

  prototype(node: CallPrototype): void {
    this.declared.push(node);
    const { sink } = this.#context;
    this.#context.require({ since: "2.1", target: "sm_20" }, "'.callprototype'", node);
    const signature = signatureOf(node, "prototype", this.#binder, this.#context);
    this.signatures.set(node, signature);
    for (const directive of node.attributes) for (const arg of directive.args) this.#binder.expression(arg);
    checkDirectives(node.attributes, "prototype", signature.returns.length > 0, this.#context);
    if (node.name.text !== "_" && node.name.text !== "") {
      sink.error("prototype-name", node.name, "a prototype cannot have a name of its own", { help: "write `_`" });
    }
    this.#declare(node.label, (name) => ({ kind: "prototype", name: name.text, span: name, prototype: node }));
  }

  #declare(name: Name | null, create: (name: Name) => PtxSymbol): void {
    const { scope } = this.#binder;
    if (name !== null && !duplicate(name, scope, this.#context.sink)) scope.declare(name.text, create(name));
  }

  /** The labels in a list: those of this block or an enclosing one, which may follow the list. */
  #labels(node: TargetList): LabelSymbol[] {
    return this.#members(node, "label", "not-a-label");
  }

  /**
   * The functions in a list, which must be declared before it. ptxas also accepts kernels; calling one is undefined.
   */
  #functions(node: TargetList): FunctionSymbol[] {
    return this.#members(node, "function", "call-target");
  }

  #members<K extends "label" | "function">(node: TargetList, wanted: K, code: "not-a-label" | "call-target") {
    const members: Extract<PtxSymbol, { kind: K }>[] = [];
    const isWanted = (symbol: PtxSymbol | null): symbol is Extract<PtxSymbol, { kind: K }> => symbol?.kind === wanted;
    for (const target of node.targets) {
      this.#each(target, (name, symbol) => {
        if (isWanted(symbol)) members.push(symbol);
        else if (symbol) this.#notA(wanted, code, target, name, symbol);
        return isWanted(symbol);
      });
    }
    return members;
  }

  #notA(
    wanted: string,
    code: "not-a-label" | "call-target",
    target: TargetName,
    name: string,
    symbol: PtxSymbol,
  ): void {
    this.#context.sink.error(code, target, `a ${wanted} is expected here, but '${name}' is a ${nounOf(symbol)}`);
  }

  /** Visits the names of `N` or `N<3>`, up to the first that `take` refuses, so that `N<4000000000>` is cheap. */
  #each({ name, range }: TargetName, take: (name: string, symbol: PtxSymbol | null) => boolean): void {
    if (range === null) {
      this.#binder.target(name);
      take(name.text, name.symbol);
      return;
    }
    for (let i = 0; i < range.count; i++) {
      if (this.#ranged++ >= rangeLimit) {
        if (this.#ranged === rangeLimit + 1) {
          this.#context.sink.error(
            "branch-list",
            range.span,
            `the lists of this module have more than ${rangeLimit} targets`,
          );
        }
        return;
      }
      const text = `${name.text}${i}`;
      const symbol = this.#binder.scope.findTarget(text);
      if (symbol === undefined) {
        this.#context.sink.error("unknown-name", { start: name.start, end: range.span.end }, `unknown label '${text}'`);
        return;
      }
      if (!take(text, symbol)) return;
    }
  }
}
