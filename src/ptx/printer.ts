import type { Span } from "../source/index.ts";
import { DeclarationPrinter, file, location, pragma, range } from "./printer/declarations.ts";
import { Lines } from "./printer/lines.ts";
import { OperandPrinter } from "./printer/operands.ts";
import type { Item, Module } from "./tree/module.ts";
import type {
  Block,
  CallPrototype,
  FunctionDeclaration,
  Instruction,
  SectionDirective,
  Statement,
  TargetList,
} from "./tree/nodes.ts";

/**
 * The canonical text of a module, comments included. Parsing it again gives the same tree, and printing that tree the
 * same text. Statements that could not be parsed are printed as they stand in the source. Never throws.
 */
export function printPtx(module: Module): string {
  return new ModulePrinter(module).text();
}

/** Statements and directives that are printed on one line, long initial values aside. */
type OneLine = Exclude<Statement | Item, { kind: "block" | "function" | "bad" | "section" | "label" }>;

const headings: ReadonlySet<Item["kind"]> = new Set(["version", "target", "address-size"]);

class ModulePrinter {
  readonly #module: Module;
  readonly #lines: Lines;
  readonly #operands: OperandPrinter;
  readonly #declarations: DeclarationPrinter;
  #nextSkipped = 0;

  constructor(module: Module) {
    this.#module = module;
    this.#lines = new Lines(module.source, module.comments);
    this.#operands = new OperandPrinter(module.source);
    this.#declarations = new DeclarationPrinter(this.#operands);
  }

  text(): string {
    let previous: Item | null = null;
    for (const item of this.#module.items) {
      if (previous && separated(previous, item)) this.#lines.blank("always");
      this.#statement(item);
      previous = item;
    }
    return this.#lines.end();
  }

  /** Whether part of the node's text is missing from the tree. Must be called in source order. */
  #broken(node: Span): boolean {
    const { skipped } = this.#module;
    while ((skipped[this.#nextSkipped]?.end ?? node.start + 1) <= node.start) this.#nextSkipped++;
    const next = skipped[this.#nextSkipped];
    return next !== undefined && next.start < node.end;
  }

  #function(node: FunctionDeclaration): void {
    const header = { start: node.start, end: node.body?.start ?? node.end };
    if (this.#broken(header)) this.#lines.verbatim(header);
    else this.#header(node);
    if (node.body) this.#block(node.body);
  }

  #header(node: FunctionDeclaration): void {
    const words: string[] = [];
    if (node.linkage) words.push(`.${node.linkage.value}`);
    words.push(node.entry ? ".entry" : ".func");
    if (node.attributes.length > 0) words.push(this.#declarations.attributes(node.attributes));
    if (node.returns) words.push(this.#declarations.parameters(node.returns));
    words.push(node.name.text);
    const { params, directives } = node;
    const closed = node.body !== null || directives.at(-1)?.name.text === ".pragma";
    const ending = (last: boolean): string => (last && !closed ? ";" : "");
    const none = directives.length === 0;
    const head = words.join(" ");
    const span = { start: node.start, end: node.name.end };
    if (params && params.length > 0) {
      this.#lines.print(`${head}(`, span);
      this.#lines.blank("never");
      this.#parameters(params);
      const end = this.#lines.after(")", node.end);
      this.#lines.commentsBefore(end - 1);
      this.#lines.print(`)${ending(none)}`, { start: end - 1, end });
    } else this.#lines.print(head + (params ? "()" : "") + ending(none), span);
    for (const [i, directive] of directives.entries()) {
      this.#lines.blank("never");
      this.#lines.print(
        this.#declarations.functionAttribute(directive) + ending(i === directives.length - 1),
        directive,
      );
    }
    if (node.body) this.#lines.blank("never");
  }

  #parameters(nodes: NonNullable<FunctionDeclaration["params"]>): void {
    this.#lines.indent++;
    for (const [i, node] of nodes.entries()) {
      this.#lines.print(this.#declarations.parameter(node) + (i < nodes.length - 1 ? "," : ""), node);
    }
    this.#lines.indent--;
  }

  #block(node: Block): void {
    const lines = this.#lines;
    lines.print("{", { start: node.start, end: node.start + 1 });
    lines.blank("never");
    lines.indent++;
    for (const statement of node.statements) this.#statement(statement);
    this.#close(node, node.statements);
  }

  /** Prints the `}` of a block, unless it is missing from the source. `inner`: the nodes in the block. */
  #close(node: Span, inner: readonly Span[]): void {
    const start = node.end - 1;
    const closed = start >= (inner.at(-1)?.end ?? node.start + 1) && this.#module.source.text[start] === "}";
    if (closed) this.#lines.commentsBefore(start);
    this.#lines.indent--;
    if (closed) this.#lines.print("}", { start, end: node.end });
  }

  #statement(node: Statement | Item): void {
    const lines = this.#lines;
    if (node.kind === "block") this.#block(node);
    else if (node.kind === "function") this.#function(node);
    else if (node.kind === "bad" || this.#broken(node)) lines.verbatim(node);
    else if (node.kind === "section") this.#section(node);
    else if (node.kind === "label") lines.print(`${node.name.text}:`, node, Math.max(0, lines.indent - 1));
    else lines.print(this.#line(node), node);
  }

  #line(node: OneLine): string {
    switch (node.kind) {
      case "version":
        return `.version ${node.major}.${node.minor}`;
      case "target":
        return `.target ${node.names.map((name) => name.text).join(", ")}`;
      case "address-size":
        return `.address_size ${node.value}`;
      case "alias":
        return `.alias ${node.alias.text}, ${node.aliasee.text};`;
      case "instruction":
        return this.#instruction(node);
      case "variable":
        return this.#declarations.variable(node, this.#lines.indent);
      case "branchtargets":
      case "calltargets":
        return targetList(node);
      case "callprototype":
        return this.#prototype(node);
      case "loc":
        return location(node);
      case "pragma":
        return pragma(node.strings);
      case "file":
        return file(node);
      case "dwarf":
        return this.#module.source.slice(node).trimEnd();
    }
  }

  #instruction(node: Instruction): string {
    const { guard, opcode, operands } = node;
    const text = guard ? `@${guard.negated ? "!" : ""}${guard.register.text} ${opcode.text}` : opcode.text;
    return operands.length === 0 ? `${text};` : `${text} ${this.#operands.list(operands)};`;
  }

  #prototype(node: CallPrototype): string {
    const words = [".callprototype"];
    if (node.label) words.unshift(`${node.label.text}:`);
    if (node.returns) words.push(this.#declarations.parameters(node.returns));
    words.push(node.name.text);
    if (node.params) words.push(this.#declarations.parameters(node.params));
    words.push(...node.attributes.map((attribute) => this.#declarations.functionAttribute(attribute)));
    return `${words.join(" ")};`;
  }

  #section(node: SectionDirective): void {
    const lines = this.#lines;
    lines.print(`.section ${node.name.text}`, { start: node.start, end: node.name.end });
    const open = lines.after("{", node.end);
    lines.blank("never");
    lines.print("{", { start: open - 1, end: open });
    lines.blank("never");
    lines.indent++;
    for (const entry of node.entries) {
      if (entry.label) lines.print(`${entry.label.text}:`, entry, lines.indent - 1);
      else {
        const values = entry.values.map((value) => this.#operands.expression(value, true)).join(", ");
        lines.print(`.${entry.type?.text ?? ""} ${values}`, entry);
      }
    }
    this.#close(node, node.entries);
  }
}

function targetList(node: TargetList): string {
  const label = node.label ? `${node.label.text}: ` : "";
  return `${label}.${node.kind} ${node.targets.map((target) => target.name.text + range(target.range)).join(", ")};`;
}

/** Whether a blank line separates two items: function definitions and the module's header stand apart. */
function separated(before: Item, after: Item): boolean {
  if (headings.has(before.kind) !== headings.has(after.kind)) return true;
  return [before, after].some((item) => item.kind === "function" && item.body !== null);
}
