import type { FileDirective, LocDirective } from "../tree/leaves.ts";
import type {
  Attribute,
  Declarator,
  Expression,
  FunctionAttribute,
  Parameter,
  VariableDeclaration,
} from "../tree/nodes.ts";
import { indentation } from "./lines.ts";
import type { OperandPrinter } from "./operands.ts";

/** Initial values are wrapped at this column. */
const width = 120;

const strings = (names: readonly { readonly text: string }[]): string =>
  names.map((name) => `"${name.text}"`).join(", ");

export const pragma = (names: readonly { readonly text: string }[]): string => `.pragma ${strings(names)};`;

export function location(node: LocDirective): string {
  let text = `.loc ${node.file} ${node.line} ${node.column}`;
  const { functionName, inlinedAt } = node;
  if (functionName) {
    text += `, function_name ${functionName.label.text}${functionName.offset === 0 ? "" : `+${functionName.offset}`}`;
  }
  if (inlinedAt) text += `, inlined_at ${inlinedAt.file} ${inlinedAt.line} ${inlinedAt.column}`;
  return text;
}

export function file(node: FileDirective): string {
  const stamp = node.timestamp === null ? "" : `, ${node.timestamp}, ${node.size ?? 0n}`;
  return `.file ${node.index} "${node.name.text}"${stamp}`;
}

export const range = (node: Declarator["range"]): string => (node ? `<${node.count}>` : "");

/** Prints declarations. */
export class DeclarationPrinter {
  readonly #operands: OperandPrinter;

  constructor(operands: OperandPrinter) {
    this.#operands = operands;
  }

  /** `indent`: the line's level of indentation. */
  variable(node: VariableDeclaration, indent: number): string {
    const words: string[] = [];
    if (node.linkage) words.push(`.${node.linkage.value}`);
    words.push(node.bank === null ? `.${node.space}` : `.${node.space}[${node.bank}]`);
    words.push(...this.#specifiers(node));
    const pieces = [words.join(" ")];
    for (const [i, declarator] of node.declarators.entries()) {
      if (i > 0) pieces[pieces.length - 1] += ",";
      pieces.push(...this.#declarator(declarator));
    }
    pieces[pieces.length - 1] += ";";
    return filled(pieces, indent);
  }

  parameter(node: Parameter): string {
    const words = [`.${node.space}`, ...this.#specifiers(node)];
    if (node.pointer) {
      words.push(".ptr");
      if (node.pointer.space !== null) words.push(`.${node.pointer.space}`);
      if (node.pointer.align !== null) words.push(`.align ${node.pointer.align}`);
    }
    words.push(node.name.text + this.#dimensions(node.dimensions));
    return words.join(" ");
  }

  parameters(nodes: readonly Parameter[]): string {
    return `(${nodes.map((node) => this.parameter(node)).join(", ")})`;
  }

  attributes(nodes: readonly Attribute[]): string {
    const list = nodes.map((node) =>
      node.args.length > 0 ? `${node.name.text}(${this.#list(node.args)})` : node.name.text,
    );
    return `.attribute(${list.map((text) => `.${text}`).join(", ")})`;
  }

  functionAttribute(node: FunctionAttribute): string {
    if (node.name.text === ".pragma") return pragma(node.strings);
    return node.args.length === 0 ? node.name.text : `${node.name.text} ${this.#list(node.args)}`;
  }

  #specifiers(node: VariableDeclaration | Parameter): string[] {
    const words: string[] = [];
    if (node.attributes.length > 0) words.push(this.attributes(node.attributes));
    if (node.align) words.push(`.align ${node.align.value}`);
    if (node.vector > 1) words.push(`.v${node.vector}`);
    words.push(`.${node.type.text}`);
    return words;
  }

  #declarator(node: Declarator): string[] {
    const head = node.name.text + range(node.range) + this.#dimensions(node.dimensions);
    if (node.initializer === null) return [head];
    const [first, ...rest] = this.#operands.initializer(node.initializer);
    return [`${head} = ${first}`, ...rest];
  }

  #dimensions(bounds: readonly (Expression | null)[]): string {
    return bounds.map((bound) => `[${bound === null ? "" : this.#operands.expression(bound)}]`).join("");
  }

  #list(nodes: readonly Expression[]): string {
    return nodes.map((node) => this.#operands.expression(node)).join(", ");
  }
}

/** Joins pieces by blanks and wraps them at `width`; continuation lines are indented one level more. */
function filled(pieces: readonly string[], indent: number): string {
  const margin = indentation.repeat(indent + 1);
  let text = "";
  let column = indentation.length * indent;
  for (const [i, piece] of pieces.entries()) {
    if (i > 0 && column + 1 + piece.length > width) {
      text += `\n${margin}`;
      column = margin.length;
    } else if (i > 0) {
      text += " ";
      column++;
    }
    text += piece;
    column += piece.length;
  }
  return text;
}
