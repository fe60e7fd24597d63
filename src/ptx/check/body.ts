import type { DiagnosticSink, Span } from "../../source/index.ts";
import type { ControlKind } from "../isa/define.ts";
import { instructionSet } from "../isa/index.ts";
import { rootOf } from "../isa/resolve.ts";
import type { Label, LabelSymbol, LocDirective } from "../tree/leaves.ts";
import type { Block, FunctionDeclaration, Instruction, Statement, VariableSymbol } from "../tree/nodes.ts";
import type { Binder } from "./bind.ts";
import { checkBranch, checkIndexedBranch } from "./branches.ts";
import type { CallChecker } from "./calls.ts";
import type { BodyInfo, CheckContext } from "./context.ts";
import { duplicate } from "./duplicate.ts";
import { isNoreturn } from "./function-directives.ts";
import { checkInstruction } from "./instructions.ts";
import type { ModuleContext } from "./module-context.ts";
import { ParameterPassing, type PassedParameters } from "./parameter-passing.ts";
import { reachableReturns } from "./reachable.ts";
import { Scope } from "./scope.ts";
import type { TargetDeclarations } from "./targets.ts";
import type { VariableDeclarations } from "./variables.ts";

/** The parts of the module checker that check the statements of a body. */
export interface BodyParts {
  readonly context: ModuleContext;
  readonly binder: Binder;
  readonly variables: VariableDeclarations;
  readonly targets: TargetDeclarations;
  readonly calls: CallChecker;
  readonly passed: PassedParameters;
  /** The first use of each file number. */
  readonly files: Map<number, LocDirective>;
}

/**
 * Checks the statements of one function in one pass: opens scopes, declares variables, binds names, checks
 * instructions.
 */
export class BodyChecker {
  readonly #parts: BodyParts;
  readonly #node: FunctionDeclaration;
  readonly #body: BodyInfo;
  readonly #context: CheckContext;
  readonly #passing: ParameterPassing;

  constructor(parts: BodyParts, node: FunctionDeclaration, body: BodyInfo) {
    this.#parts = parts;
    this.#node = node;
    this.#body = body;
    const { sink, version, target, addressSize, gates } = parts.context;
    this.#context = { sink: sink as DiagnosticSink, version, target, addressSize, gates, function: node, body };
    this.#passing = new ParameterPassing(parts.context, parts.passed);
  }

  /** Checks the whole body. `block` shares the scope of the formal parameters. */
  check(block: Block): void {
    this.#statements(block);
    const returns = () => reachableReturns(block, this.#parts.targets.branchTargets);
    // Compilers emit nothing after a point that they know to be unreachable, so reaching the end is not evidence of a
    // return.
    const written = () => returns().filter(({ end }) => end !== block.end);
    if (isNoreturn(this.#node.directives)) for (const span of written()) this.#reportReturn(span);
    this.#passing.finish(this.#body, returns);
  }

  #statements({ statements }: Block): void {
    this.#hoist(statements);
    for (const statement of statements) this.#statement(statement);
  }

  /** Declares the labels of a block first, because they may be used before they are defined. */
  #hoist(statements: readonly Statement[]): void {
    const { scope } = this.#parts.binder;
    for (const statement of statements) {
      if (statement.kind !== "label" || scope.ownLabel(statement.name.text)) continue;
      const symbol: LabelSymbol = { kind: "label", name: statement.name.text, span: statement.name, label: statement };
      scope.declareLabel(symbol);
      this.#body.labels.push(symbol);
    }
  }

  #statement(node: Statement): void {
    switch (node.kind) {
      case "instruction":
        this.#instruction(node);
        return;
      case "label":
        this.#label(node);
        return;
      case "block":
        this.#block(node);
        return;
      case "variable":
        this.#parts.variables.declare(node, this.#node, this.#body.locals as VariableSymbol[]);
        return;
      case "branchtargets":
      case "calltargets":
        this.#parts.targets.list(node);
        return;
      case "callprototype":
        this.#parts.targets.prototype(node);
        return;
      case "loc":
        noteFile(node, this.#parts.files);
        return;
      case "pragma":
        this.#parts.context.require({ since: "2.0" }, "'.pragma'", node);
        return;
      case "file":
      case "section":
        this.#parts.context.sink.error(
          "misplaced-directive",
          { start: node.start, end: node.start + node.kind.length + 1 },
          `'.${node.kind}' is only allowed outside functions`,
        );
    }
  }

  #block(node: Block): void {
    const { binder } = this.#parts;
    const outer = binder.scope;
    binder.scope = new Scope(outer);
    this.#statements(node);
    binder.scope = outer;
  }

  #label({ name }: Label): void {
    const { binder, context } = this.#parts;
    const { scope } = binder;
    const known = scope.ownLabel(name.text);
    const other = known && known.span !== name ? known : scope.ownDeclared(name.text);
    if (other === undefined) return;
    if (other.kind === "label") {
      context.sink.error("duplicate-name", name, `the label '${name.text}' is already defined in this block`, {
        notes: [{ message: "first defined here", source: context.sink.source, span: other.span }],
      });
    } else duplicate(name, scope, context.sink);
  }

  #instruction(node: Instruction): void {
    const { binder } = this.#parts;
    const resolution = instructionSet.resolve(node.opcode.text);
    binder.instruction(node, resolution.control);
    checkInstruction(node, resolution, this.#context);
    if (resolution.control === null) this.#passed(node);
    else this.#control(node, resolution.control);
  }

  /** Operands that are names of labels, lists and functions are beyond the table. */
  #control(node: Instruction, control: ControlKind): void {
    const { context, calls, targets } = this.#parts;
    switch (control) {
      case "call":
        calls.check(node, this.#node);
        this.#call(node);
        return;
      case "branch":
        checkBranch(node, context);
        return;
      case "branch-indexed":
        checkIndexedBranch(node, targets, context);
        return;
      case "return":
      case "exit":
      case "stop":
        return;
      default:
        control satisfies never;
    }
  }

  /** Notes what reads and writes parameters, or takes the address of one. */
  #passed(node: Instruction): void {
    const { text } = node.opcode;
    // The table's own strings compare faster than pieces of the source.
    switch (node.resolved?.instruction.name ?? rootOf(text)) {
      case "ld":
      case "st":
        if (text.startsWith(".param", 2)) this.#passing.access(node, text.startsWith("st"));
        return;
      case "mov":
        if (this.#parts.context.version < 201) this.#functionAddress(node);
        this.#passing.mention(node.operands);
        return;
      case "cvta":
        this.#passing.mention(node.operands);
    }
  }

  #call(node: Instruction): void {
    const info = this.#parts.calls.info.get(node);
    if (info) this.#passing.call(info);
  }

  #functionAddress({ operands }: Instruction): void {
    const [, source] = operands;
    if (source?.kind !== "name" || source.symbol?.kind !== "function") return;
    this.#parts.context.require({ since: "2.1" }, "the address of a function", source);
  }

  #reportReturn(span: Span): void {
    this.#parts.context.sink.warning(
      "noreturn-returns",
      span,
      `'${this.#node.name.text}' is .noreturn but returns here`,
      {
        help: "end it with exit or trap, or declare it without .noreturn",
      },
    );
  }
}

/** Notes the files that a `.loc` names. They are checked at the end, because `.file` may follow the functions. */
export function noteFile(node: LocDirective, files: Map<number, LocDirective>): void {
  if (!files.has(node.file)) files.set(node.file, node);
  if (node.inlinedAt !== null && !files.has(node.inlinedAt.file)) files.set(node.inlinedAt.file, node);
}
