import { DiagnosticSink, nearest, type Span } from "../../source/index.ts";
import type { Platform } from "../isa/row.ts";
import { registerBytes } from "../platforms.ts";
import { isReservedName, predefinedVariables } from "../predefined.ts";
import {
  type BoundInput,
  type BoundLabel,
  type BoundRoutine,
  type Mutable,
  unaliased,
  type Variable,
} from "../symbols.ts";
import type {
  Declaration,
  FunctionDirective,
  Instruction,
  Label,
  Name,
  Routine,
  Statement,
  VisaFile,
} from "../tree.ts";
import { typeBytes, type VariableKind } from "../types.ts";
import { alignmentBytes } from "./alignment.ts";
import type { VisaCheckCode } from "./codes.ts";
import { eachVariableName } from "./operand-names.ts";
import { inferRegisterBytes } from "./register-size.ts";
import { Scope } from "./scope.ts";
import { Skipped } from "./skipped.ts";

/** Options of `bindVisa` and `checkVisa`. */
export interface BindOptions {
  /**
   * The platform that the program is for. It decides the size of a register (GRF) and which instructions exist. If null
   * or absent, the size is inferred from the text and no instruction is refused.
   */
  readonly platform?: Platform | null;
  /** The most diagnostics that are kept per routine. */
  readonly limit?: number;
}

/**
 * Resolves the names of every routine of a file (4_visa_header.md). Never throws: unknown names, duplicates, aliases
 * that form a cycle and the like are in each routine's `diagnostics`, with the codes of `visaCheckCodes`.
 */
export function bindVisa(tree: VisaFile, options: BindOptions = {}): readonly BoundRoutine[] {
  return bindRoutines(tree, options).map(({ routine }) => routine);
}

/** A routine, and what else the checker needs to know about it. */
export interface Binding {
  readonly routine: BoundRoutine;
  readonly sink: DiagnosticSink<VisaCheckCode>;
  /** The variable of each declaration. */
  readonly declared: ReadonlyMap<Declaration, Variable>;
  /** The routine's body and its subroutines, in order; empty if there is no `.function`. */
  readonly parts: readonly Part[];
  /** The index in `parts` of the part that a label belongs to. */
  readonly partOfLabel: ReadonlyMap<BoundLabel, number>;
  readonly skipped: Skipped;
  /** Where the routine's text ends: at the next routine, or at the end of the file. */
  readonly end: number;
}

/** The text from one `.function` to the next. */
interface Part {
  readonly name: Name;
  /** The index of its first instruction. */
  readonly at: number;
}

/** Binds every routine of a file and keeps what the checker needs. */
export function bindRoutines(tree: VisaFile, { platform = null, limit }: BindOptions): readonly Binding[] {
  const grfBytes = platform === null ? inferRegisterBytes(tree) : registerBytes(platform);
  const skipped = new Skipped(tree);
  return tree.routines.map((routine, i) => {
    const sink = new DiagnosticSink<VisaCheckCode>(tree.source, limit);
    const end = tree.routines[i + 1]?.start ?? tree.source.text.length;
    return { ...new RoutineBinder(tree, routine, { platform, grfBytes }, skipped, sink).bind(), skipped, end };
  });
}

interface Machine {
  readonly platform: Platform | null;
  readonly grfBytes: 32 | 64;
}

/** A name that is used before any declaration of it. */
interface Unresolved {
  readonly name: Name;
  readonly scope: Scope<Variable>;
  /** The alias whose base the name is, if it is one. */
  readonly alias: Mutable<Variable> | null;
}

const nowhere: Span = { start: 0, end: 0 };

const noAttributes: Variable["attributes"] = new Map();

function predefine(grfBytes: 32 | 64): { readonly variables: readonly Variable[]; readonly scope: Scope<Variable> } {
  const scope = new Scope<Variable>(null);
  const variables = predefinedVariables(grfBytes).map((row) => {
    const variable = unaliased({
      kind: row.kind,
      name: row.name,
      index: row.index,
      predefined: true,
      type: row.type,
      elements: row.elements,
      bytes: row.elements * typeBytes(row.type),
      align: typeBytes(row.type),
      attributes: new Map(),
      span: nowhere,
    });
    for (const name of [row.name, ...row.otherNames]) scope.names.set(name, variable);
    return variable;
  });
  return { variables, scope };
}

/** The predefined variables, which are the same in all routines, by the size of a register. */
const predefinedIn = { 32: predefine(32), 64: predefine(64) };

/** The values of SimdSize that say a number of lanes. Any other value is reported when attributes are checked. */
const simdSizes = [8, 16, 32];

/** The most unknown names of a routine that get a suggestion, each of which costs a search of all visible names. */
const suggestionLimit = 20;
/** The most names searched for one suggestion. */
const namesSearched = 2000;

class RoutineBinder {
  readonly #tree: VisaFile;
  readonly #node: Routine;
  readonly #machine: Machine;
  readonly #skipped: Skipped;
  readonly #sink: DiagnosticSink<VisaCheckCode>;
  readonly #variables: Variable[] = [];
  readonly #declared = new Map<Declaration, Variable>();
  readonly #variableOf = new Map<Name, Variable>();
  readonly #labels = new Map<string, BoundLabel>();
  readonly #inputs: BoundInput[] = [];
  readonly #attributes = new Map<string, number | string | null>();
  readonly #instructions: Instruction[] = [];
  readonly #unresolved: Unresolved[] = [];
  /** The next number of a declared variable, by kind. */
  readonly #next: Record<VariableKind, number> = { G: 32, A: 0, P: 1, S: 0, T: 6 };
  readonly #parts: Part[] = [];
  readonly #partOfLabel = new Map<BoundLabel, number>();
  /** The `.function` that the next label may belong to. */
  #directive: FunctionDirective | null = null;

  constructor(tree: VisaFile, node: Routine, machine: Machine, skipped: Skipped, sink: DiagnosticSink<VisaCheckCode>) {
    this.#tree = tree;
    this.#node = node;
    this.#machine = machine;
    this.#skipped = skipped;
    this.#sink = sink;
  }

  bind(): Omit<Binding, "skipped" | "end"> {
    const predefined = predefinedIn[this.#machine.grfBytes];
    this.#variables.push(...predefined.variables);
    this.#statements(this.#node.statements, new Scope(predefined.scope));
    this.#resolveLater();
    findRoots(this.#variables, (variable) => this.#cycle(variable));
    const attributes = this.#attributes;
    const size = (name: string): number | null => {
      const value = attributes.get(name);
      return typeof value === "number" ? value : null;
    };
    const routine: BoundRoutine = {
      file: this.#tree,
      routine: this.#node,
      kind: this.#node.kind,
      name: this.#node.name.text,
      ...this.#machine,
      variables: this.#variables,
      variableOf: this.#variableOf,
      labels: this.#labels,
      inputs: this.#inputs,
      attributes,
      simd: simdSizes.find((simd) => simd === size("SimdSize")) ?? 1,
      argSize: size("ArgSize"),
      retvalSize: size("RetValSize"),
      instructions: this.#instructions,
      diagnostics: this.#sink.diagnostics,
    };
    return {
      routine,
      sink: this.#sink,
      declared: this.#declared,
      parts: this.#parts,
      partOfLabel: this.#partOfLabel,
    };
  }

  #statements(statements: readonly Statement[], scope: Scope<Variable>): void {
    for (const statement of statements) {
      switch (statement.kind) {
        case "decl":
          this.#declare(statement, scope);
          break;
        case "input":
          this.#input(statement.name, statement, scope);
          break;
        case "parameter":
          this.#input(statement.name, { ...statement, offset: null, implicit: "" }, scope);
          break;
        case "attribute":
          this.#attributes.set(statement.name.text, statement.value);
          break;
        case "function-directive":
          this.#function(statement);
          break;
        case "scope":
          this.#statements(statement.statements, new Scope(scope));
          break;
        case "label":
          this.#label(statement);
          break;
        case "instruction":
          this.#directive = null;
          this.#instructions.push(statement);
          eachVariableName(statement, (name) => this.#use(name, scope, null));
      }
    }
  }

  #declare(node: Declaration, scope: Scope<Variable>): void {
    const { grfBytes } = this.#machine;
    const { text } = node.name;
    const type = node.variable === "P" ? "bool" : node.variable === "G" ? (node.type ?? "ud") : "ud";
    const bytes = node.variable === "P" ? 0 : node.elements * typeBytes(type);
    const align = node.align === null ? null : alignmentBytes(node.align.text, grfBytes);
    const variable = unaliased({
      kind: node.variable,
      name: text,
      index: this.#next[node.variable]++,
      predefined: false,
      type,
      elements: node.elements,
      bytes,
      align: Math.max(align ?? 1, node.variable === "G" && bytes >= grfBytes ? grfBytes : typeBytes(type)),
      attributes:
        node.attributes.length === 0
          ? noAttributes
          : new Map(node.attributes.map(({ name, value }) => [name.text, value])),
      span: node.name,
    });
    this.#variables.push(variable);
    this.#declared.set(node, variable);
    if (node.alias !== null) {
      variable.alias = { of: variable, offset: node.alias.offset };
      this.#use(node.alias.of, scope, variable);
    }
    const first = scope.names.get(text);
    if (isReservedName(text)) {
      this.#sink.error("visa-reserved-name", node.name, `\`${text}\` is the name of something predefined`, {
        help: "choose another name",
      });
    } else if (first !== undefined) {
      this.#sink.error("visa-duplicate-name", node.name, `\`${text}\` is declared twice`, {
        notes: [{ message: "the first declaration", source: this.#tree.source, span: first.span }],
      });
    } else {
      scope.names.set(text, variable);
    }
  }

  /**
   * Resolves a name from the declarations before it. A name that is not found is looked up again at the end of the
   * routine.
   */
  #use(name: Name, scope: Scope<Variable>, alias: Mutable<Variable> | null): Variable | null {
    const variable = scope.find(name.text);
    if (variable === null) this.#unresolved.push({ name, scope, alias });
    else this.#resolve(name, variable, alias);
    return variable;
  }

  #resolve(name: Name, variable: Variable, alias: Mutable<Variable> | null): void {
    this.#variableOf.set(name, variable);
    if (alias === null) return;
    // An alias of %null is how text says that there is none.
    const none = variable.name === "%null" || variable.kind !== "G" || alias.kind !== "G";
    alias.alias = none ? null : { of: variable, offset: alias.alias!.offset };
  }

  #resolveLater(): void {
    const reported = new Set<string>();
    let suggestions = 0;
    for (const { name, scope, alias } of this.#unresolved) {
      const variable = scope.find(name.text);
      if (variable !== null) this.#resolve(name, variable, alias);
      else if (alias !== null) alias.alias = null;
      if (name.text === "" || reported.has(name.text) || this.#skipped.names(name.text)) continue;
      reported.add(name.text);
      if (variable !== null) {
        this.#sink.error("visa-use-before-declaration", name, `\`${name.text}\` is declared after its use`, {
          help: "move the declaration up",
          notes: [{ message: "declared here", source: this.#tree.source, span: variable.span }],
        });
        continue;
      }
      const candidates = suggestions++ < suggestionLimit ? scope.visible(namesSearched) : [];
      const meant = nearest(name.text, candidates);
      this.#sink.error("visa-unknown-name", name, `there is no variable \`${name.text}\``, {
        help: meant === null ? "declare it with `.decl`" : `did you mean \`${meant}\`?`,
      });
    }
  }

  #cycle(variable: Variable): void {
    this.#sink.error("visa-alias-cycle", variable.span, `\`${variable.name}\` is an alias of itself`, {
      help: "let one of the variables have storage of its own",
    });
  }

  /** An offset that is left out is 0, as in IGC; a size that is left out is the variable's. */
  #input(
    name: Name,
    node: Span & { readonly offset: number | null; readonly size: number | null; readonly implicit: string },
    scope: Scope<Variable>,
  ): void {
    const variable = this.#use(name, scope, null);
    if (variable === null) return;
    const bytes = variable.kind === "G" ? variable.bytes : variable.elements * 4;
    const { offset, size, implicit } = node;
    this.#inputs.push({ variable, offset: offset ?? 0, size: size ?? bytes, implicit, span: node });
  }

  /** The name after `.function` is itself a label; a label of the same name directly after it is the same one. */
  #function(node: FunctionDirective): void {
    this.#directive = node;
    this.#parts.push({ name: node.name, at: this.#instructions.length });
    this.#addLabel(node.name, this.#parts.length === 1 ? "block" : "subroutine");
  }

  #label({ name }: Label): void {
    const directive = this.#directive;
    this.#directive = null;
    if (directive?.name.text === name.text) return;
    this.#addLabel(name, "block");
  }

  #addLabel(name: Name, kind: BoundLabel["kind"]): void {
    const first = this.#labels.get(name.text);
    if (first === undefined) {
      const label = { name: name.text, kind, at: this.#instructions.length, span: name };
      this.#labels.set(name.text, label);
      this.#partOfLabel.set(label, Math.max(0, this.#parts.length - 1));
      return;
    }
    this.#sink.error("visa-duplicate-label", name, `the label \`${name.text}\` is defined twice`, {
      notes: [{ message: "the first one", source: this.#tree.source, span: first.span }],
    });
  }
}

/** Follows every chain of aliases once and sets `root` and `rootOffset`. One alias of each cycle is removed. */
function findRoots(variables: readonly Mutable<Variable>[], onCycle: (variable: Variable) => void): void {
  const done = new Set<Variable>();
  for (const variable of variables) {
    if (variable.alias === null || done.has(variable)) continue;
    const chain: Mutable<Variable>[] = [];
    const open = new Set<Variable>();
    let at = variable;
    while (at.alias !== null && !done.has(at)) {
      if (open.has(at)) {
        onCycle(at);
        at.alias = null;
        break;
      }
      open.add(at);
      chain.push(at);
      at = at.alias.of as Mutable<Variable>;
    }
    for (const link of chain.reverse()) {
      const { alias } = link;
      link.root = alias?.of.root ?? link;
      link.rootOffset = alias === null ? 0 : alias.of.rootOffset + alias.offset;
      done.add(link);
    }
  }
}
