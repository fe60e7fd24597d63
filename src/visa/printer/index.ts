import type {
  Declaration,
  DeclarationAttribute,
  Input,
  Routine,
  Scope,
  Statement,
  Version,
  VisaFile,
} from "../tree.ts";
import { Lines } from "./lines.ts";
import { instruction, quoted } from "./operands.ts";

/**
 * Prints the canonical text of a file, in the style of IGC's dumps, comments included. Parsing it gives the same tree,
 * and printing that tree the same text. Statements that the parser skipped are printed as they are in the source. A
 * tree read from a CISA file has no comments.
 */
export function printVisa(tree: VisaFile): string {
  const lines = new Lines(tree);
  if (tree.version !== null) lines.print(version(tree.version), tree.version);
  for (const [i, routine] of tree.routines.entries()) new RoutinePrinter(lines, tree.source.text).print(routine, i > 0);
  return lines.end();
}

const version = ({ major, minor }: Version): string => `.version ${major}.${minor}`;

/** The sections of a routine, which blank lines separate. */
const sections: Readonly<Record<Statement["kind"], number>> = {
  funcdecl: 0,
  decl: 1,
  input: 2,
  parameter: 2,
  attribute: 2,
  options: 2,
  "function-directive": 3,
  label: 4,
  instruction: 5,
  scope: 6,
};

class RoutinePrinter {
  readonly #lines: Lines;
  readonly #text: string;
  #previous: Statement["kind"] | null = null;

  constructor(lines: Lines, text: string) {
    this.#lines = lines;
    this.#text = text;
  }

  print({ kind, name, version: own, start, statements }: Routine, apart: boolean): void {
    if (own !== null) this.#lines.print(version(own), own, apart);
    const directive = kind === "kernel" ? ".kernel" : ".global_function";
    this.#lines.print(`${directive} ${quoted(name.text)}`, { start, end: name.end }, apart && own === null);
    for (const statement of statements) this.#statement(statement, 0);
  }

  #statement(node: Statement, depth: number): void {
    const apart = this.#apart(node.kind);
    this.#previous = node.kind;
    if (node.kind === "scope") this.#scope(node, depth, apart);
    else {
      const indent = node.kind === "label" ? 0 : node.kind === "instruction" ? depth + 1 : depth;
      this.#lines.print("    ".repeat(indent) + text(node), node, apart);
    }
  }

  #apart(kind: Statement["kind"]): boolean {
    const previous = this.#previous;
    if (kind === "label") return previous !== "function-directive" && previous !== "label";
    if (previous === null) return true;
    if (kind === "function-directive") return true;
    return sections[previous] < sections[kind] && previous !== "label" && previous !== "function-directive";
  }

  #scope({ statements, start, end }: Scope, depth: number, apart: boolean): void {
    const indent = "    ".repeat(depth);
    this.#lines.print(`${indent}{`, { start, end: start + 1 }, apart);
    this.#previous = "label";
    for (const statement of statements) this.#statement(statement, depth + 1);
    // A scope that is never closed has no `}`, which has been reported.
    if (end > start + 1 && this.#text[end - 1] === "}") {
      this.#lines.comments(end - 1, 4 * (depth + 1));
      this.#lines.print(`${indent}}`, { start: end - 1, end });
    }
    this.#previous = "scope";
  }
}

function text(node: Exclude<Statement, Scope>): string {
  switch (node.kind) {
    case "decl":
      return declaration(node);
    case "input":
      return input(node);
    case "parameter":
      return `.parameter ${node.name.text}${node.size === null ? "" : ` size=${node.size}`}`;
    case "attribute":
      return `.kernel_attr ${attribute(node)}`;
    case "function-directive":
      return `.function ${quoted(node.name.text)}`;
    case "funcdecl":
      return `.funcdecl ${quoted(node.name.text)}`;
    case "options":
      return `OPTIONS ${node.text}`.trimEnd();
    case "label":
      return `${node.name.text}:`;
    case "instruction":
      return instruction(node);
  }
}

function declaration(node: Declaration): string {
  const { name, variable, type, elements, align, alias, shown } = node;
  const words = [`.decl ${name.text} v_type=${variable}`];
  if (type !== null) words.push(`type=${type}`);
  words.push(`num_elts=${elements}`);
  if (align !== null) words.push(`align=${align.text}`);
  if (alias !== null) words.push(`alias=<${alias.of.text}, ${alias.offset}>`);
  if (shown !== null) words.push(`v_name=${shown.text}`);
  return [...words, ...attributes(node.attributes)].join(" ");
}

function input(node: Input): string {
  const words = [node.implicit === "" ? ".input" : `.implicit_${node.implicit}`, node.name.text];
  if (node.offset !== null) words.push(`offset=${node.offset}`);
  if (node.size !== null) words.push(`size=${node.size}`);
  return [...words, ...attributes(node.attributes)].join(" ");
}

const attributes = (nodes: readonly DeclarationAttribute[]): readonly string[] =>
  nodes.length === 0 ? [] : [`attrs={${nodes.map(attribute).join(", ")}}`];

function attribute({ name, value }: Pick<DeclarationAttribute, "name" | "value">): string {
  if (value === null) return name.text;
  return `${name.text}=${typeof value === "string" ? quoted(value) : value}`;
}
