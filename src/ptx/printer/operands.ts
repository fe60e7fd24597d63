import type { SourceText } from "../../source/index.ts";
import type { Expression, Initializer, Operand } from "../tree/nodes.ts";

/** Prints operands and expressions. Literals keep their spelling in the source. */
export class OperandPrinter {
  readonly #source: SourceText;

  constructor(source: SourceText) {
    this.#source = source;
  }

  /** `tight`: no blanks around the operators of sums and products, as in an address. */
  operand(node: Operand, tight = false): string {
    switch (node.kind) {
      case "negated":
        return `!${this.operand(node.operand)}`;
      case "vector":
        return `{${this.list(node.elements)}}`;
      case "list":
        return `(${this.list(node.elements)})`;
      case "address": {
        const parts = node.parts.map((part) => this.operand(part, true)).join(", ");
        return `[${parts}]${node.qualifier ? `.${node.qualifier.text}` : ""}`;
      }
      case "indexed":
        return `${this.operand(node.base)}[${this.operand(node.index, true)}]`;
      case "pair":
        return `${this.operand(node.first)}|${this.operand(node.second)}`;
      case "sink":
        return "_";
      case "bad":
        return this.#source.slice(node);
      default:
        return this.expression(node, tight);
    }
  }

  list(nodes: readonly Operand[]): string {
    return nodes.map((node) => this.operand(node)).join(", ");
  }

  expression(node: Expression, tight = false): string {
    switch (node.kind) {
      case "integer":
      case "float":
        return this.#source.slice(node);
      case "name":
        return node.component === null ? node.text : `${node.text}.${node.component}`;
      case "unary":
        return node.operator + this.expression(node.operand, tight);
      case "binary": {
        const left = this.expression(node.left, tight);
        const right = this.expression(node.right, tight);
        return tight && /^[-+*]$/.test(node.operator)
          ? left + node.operator + right
          : `${left} ${node.operator} ${right}`;
      }
      case "conditional": {
        const [condition, then, otherwise] = [node.condition, node.then, node.otherwise].map((e) => this.expression(e));
        return `${condition} ? ${then} : ${otherwise}`;
      }
      case "parenthesized":
        return `(${this.expression(node.inner)})`;
      case "operator-call": {
        const lists = node.argumentLists.map((list) =>
          list.map((argument) => this.expression(argument, true)).join(", "),
        );
        if (node.operator.text === "mask" && lists.length === 2) return `${lists[0]}(${lists[1]})`;
        return node.operator.text + lists.map((list) => `(${list})`).join("");
      }
    }
  }

  /** An initial value, as pieces between which a line may break. */
  initializer(node: Initializer): string[] {
    if (node.kind === "initializer-field") return [`${node.name.text} = ${this.expression(node.value)}`];
    if (node.kind !== "initializer-list") return [this.expression(node, true)];
    const pieces: string[] = [];
    for (const element of node.elements) {
      if (pieces.length > 0) pieces[pieces.length - 1] += ",";
      for (const piece of this.initializer(element)) pieces.push(piece);
    }
    if (pieces.length === 0) return ["{}"];
    pieces[0] = `{${pieces[0]}`;
    pieces[pieces.length - 1] += "}";
    return pieces;
  }
}
