import { Malformed } from "./grammar.ts";
import { type Encoding, type FunctionType, type Node, text } from "./node.ts";

/** The name is too long to show: names can repeat their parts again and again. */
export class TooLong extends Error {}

/** The most characters of a name, the most parts visited on the way, and the most within each other. */
const limits = { length: 1 << 18, steps: 1 << 18, depth: 1000 };

/** The arguments that template parameters refer to; those in the arguments themselves refer to `outer`. */
interface Context {
  readonly args: readonly Node[];
  readonly outer: Context | null;
}

/** A part, and the context for the template parameters in it. */
interface Bound {
  readonly node: Node;
  readonly context: Context | null;
}

type Pointer = Extract<Node, { kind: "pointer" }>;

const nothing = text("");

/** Renders parts. Types are written around what they declare, so each has a left and a right side. */
export class Printer {
  #steps = 0;
  #depth = 0;
  #context: Context | null = null;
  /** The context of the type of a conversion operator. */
  #ofConversion: Context | null = null;
  /** The argument of the packs at which an expansion is, and the number that they have. */
  #expansion: { readonly index: number; length: number | null } | null = null;
  #inLambda = false;

  print(node: Node): string {
    return this.#bounded(this.#left(node) + this.#right(node));
  }

  /** The name of a function without its parameters. */
  nameOf(encoding: Encoding): string {
    const outer = this.#ofConversion;
    this.#ofConversion = this.#own(encoding);
    const words = this.print(encoding.name);
    this.#ofConversion = outer;
    return words;
  }

  /** The parameters of a function, one by one. */
  parametersOf(encoding: Encoding): string[] {
    return this.#within(this.#own(encoding), () =>
      (encoding.type?.parameters ?? []).flatMap((parameter) =>
        parameter.kind === "expansion" ? this.#expanded(parameter.pattern) : [this.print(parameter)],
      ),
    );
  }

  /** A list without its empty packs. */
  #list(items: readonly Node[]): string {
    const parts: string[] = [];
    for (const item of items) {
      const part = this.print(item);
      const mayVanish = item.kind === "expansion" || item.kind === "pack" || item.kind === "parameter";
      if (part !== "" || !mayVanish) parts.push(part);
    }
    return this.#bounded(parts.join(", "));
  }

  #bounded(words: string): string {
    if (words.length > limits.length) throw new TooLong();
    return words;
  }

  #visit(show: () => string): string {
    if (++this.#steps > limits.steps || ++this.#depth > limits.depth) throw new TooLong();
    const words = show();
    this.#depth--;
    return this.#bounded(words);
  }

  #within<T>(context: Context | null, show: () => T): T {
    const outer = this.#context;
    this.#context = context;
    const shown = show();
    this.#context = outer;
    return shown;
  }

  #left(node: Node): string {
    return this.#visit(() => this.#leftOf(node));
  }

  #leftOf(node: Node): string {
    switch (node.kind) {
      case "text":
        return node.text;
      case "nested":
        return this.#nested(this.print(node.scope), this.print(node.name));
      case "local":
        return this.#local(node.scope, node.name);
      case "template":
        return this.#template(this.print(node.name), this.#list(node.args));
      case "pack":
        return this.#list(node.items);
      case "parameter":
        return this.#inContext(this.#resolved(node), (one) => this.#left(one));
      case "count":
        return this.#count(node.of);
      case "expansion":
        return this.#bounded(this.#expanded(node.pattern).join(", "));
      case "suffixed":
        return this.#left(node.of) + this.#sequence(node.suffix.parts);
      case "pointer": {
        const { to, sign } = this.#collapsed(node);
        return this.#inContext(to, (one) => `${this.#opened(one, "")}${sign}`);
      }
      case "member":
        return `${this.#opened(node.to, " ")}${this.print(node.owner)}::*`;
      case "function":
        return node.result === null ? "" : this.#resultOf(node.result);
      case "array":
        return this.#left(node.of);
      case "encoding":
        return this.#encoding(node);
      case "structor":
        return `${node.destructor ? "~" : ""}${this.#classOf(node.of)}`;
      case "conversion":
        return `operator ${this.#within(this.#ofConversion ?? this.#context, () => this.print(node.type))}`;
      case "operand":
        return this.#operand(node.of);
      case "list":
        return this.#list(node.items);
      case "lambda":
        return this.#lambda(node.parameters);
      case "sequence":
        return this.#sequence(node.parts);
    }
  }

  #right(node: Node): string {
    return this.#visit(() => this.#rightOf(node));
  }

  #rightOf(node: Node): string {
    switch (node.kind) {
      case "parameter":
        return this.#inContext(this.#resolved(node), (one) => (one.kind === "pack" ? "" : this.#right(one)));
      case "suffixed":
        return this.#right(node.of);
      case "pointer":
        return this.#inContext(this.#collapsed(node).to, (one) => this.#closed(one));
      case "member":
        return this.#closed(node.to);
      case "function":
        return this.#parameters(node) + (node.result === null ? "" : this.#right(node.result));
      case "array": {
        const size = node.size === null ? "" : this.print(node.size);
        const rest = this.#right(node.of);
        return rest.startsWith(" [") ? ` [${size}]${rest.slice(1)}` : ` [${size}]${rest}`;
      }
      default:
        return "";
    }
  }

  #parameters({ parameters, suffix }: FunctionType): string {
    return `(${this.#list(parameters)})${this.#sequence(suffix.parts)}`;
  }

  /** What stands before the name of a function; what it returns may go on after the parameters. */
  #resultOf(result: Node): string {
    return this.#left(result) + (this.#right(result).startsWith(")") ? "" : " ");
  }

  #own({ args }: Encoding): Context | null {
    return args === null ? this.#context : { args, outer: this.#context };
  }

  #encoding(encoding: Encoding): string {
    const { type } = encoding;
    const own = this.#own(encoding);
    const shown = this.nameOf(encoding);
    if (type === null) return shown;
    return this.#within(own, () => {
      const words = shown + this.#parameters(type);
      return type.result === null ? words : this.#resultOf(type.result) + words + this.#right(type.result);
    });
  }

  #local(scope: Node, name: Node): string {
    const inner = scope.kind === "encoding" ? this.#own(scope) : this.#context;
    return `${this.print(scope)}::${this.#within(inner, () => this.print(name))}`;
  }

  #lambda(parameters: readonly Node[]): string {
    const outer = this.#inLambda;
    this.#inLambda = true;
    const words = this.#list(parameters);
    this.#inLambda = outer;
    return words;
  }

  /** What stands before the sign of a pointer. Functions and arrays need parentheses around it. */
  #opened(to: Node, gap: string): string {
    const kind = this.#declarator(to);
    const left = this.#left(to);
    return kind === "array" ? `${left} (` : kind === "function" ? `${left}(` : `${left}${gap}`;
  }

  #closed(to: Node): string {
    return (this.#declarator(to) === null ? "" : ")") + this.#right(to);
  }

  /** Whether a type is that of an array or a function, perhaps with qualifiers. */
  #declarator(type: Node): "array" | "function" | null {
    let at: Bound = { node: type, context: this.#context };
    for (;;) {
      const { node, context } = this.#within(at.context, () => this.#resolved(at.node));
      if (node.kind === "array" || node.kind === "function") return node.kind;
      if (node.kind !== "suffixed") return null;
      at = { node: node.of, context };
    }
  }

  /** A reference to a reference is one reference. */
  #collapsed(pointer: Pointer): { readonly to: Bound; readonly sign: string } {
    let { sign } = pointer;
    let to: Bound = { node: pointer.to, context: this.#context };
    while (sign !== "*") {
      const { node, context } = this.#within(to.context, () => this.#resolved(to.node));
      if (node.kind !== "pointer" || node.sign === "*") break;
      if (node.sign === "&") sign = "&";
      to = { node: node.to, context };
    }
    return { to, sign };
  }

  #inContext({ node, context }: Bound, show: (node: Node) => string): string {
    return this.#within(context, () => show(node));
  }

  /** What a template parameter stands for; any other part is itself. Of a pack, an expansion takes one at a time. */
  #resolved(node: Node): Bound {
    let at = node;
    let context = this.#context;
    while (at.kind === "parameter") {
      if (++this.#steps > limits.steps) throw new TooLong();
      if (this.#inLambda) return { node: text(`auto:${at.index + 1}`), context };
      const arg = context?.args[at.index];
      if (context === null || arg === undefined) throw new Malformed();
      at = arg;
      context = context.outer;
      if (at.kind === "pack" && this.#expansion !== null) {
        this.#expansion.length ??= at.items.length;
        at = at.items[this.#expansion.index] ?? nothing;
      }
    }
    return { node: at, context };
  }

  #count(of: Node): string {
    const outer = this.#expansion;
    this.#expansion = null;
    const { node } = this.#resolved(of);
    const words = node.kind === "pack" ? `${this.#lengthOf(node.items)}` : `sizeof...(${this.print(of)})`;
    this.#expansion = outer;
    return words;
  }

  /** How many arguments a pack has, in which others may be expanded. */
  #lengthOf(items: readonly Node[]): number {
    return items.reduce((sum, item) => sum + (item.kind === "expansion" ? this.#expanded(item.pattern).length : 1), 0);
  }

  #expanded(pattern: Node): string[] {
    const outer = this.#expansion;
    const parts: string[] = [];
    let length: number | null = null;
    let index = 0;
    do {
      this.#expansion = { index, length: null };
      const part = this.print(pattern);
      ({ length } = this.#expansion);
      if (length === null) parts.push(`${part}...`);
      else if (index < length) parts.push(part);
      index++;
    } while (length !== null && index < length);
    this.#expansion = outer;
    return parts;
  }

  #nested(scope: string, name: string): string {
    return scope === "" ? name : `${scope}::${name}`;
  }

  #template(name: string, args: string): string {
    // `operator<` and its arguments stand apart, and so do two brackets that close.
    return `${name}${name.endsWith("<") ? " " : ""}<${args}${args.endsWith(">") ? " " : ""}>`;
  }

  /** The name of a class without its scope and arguments. */
  #classOf(node: Node): string {
    switch (node.kind) {
      case "nested":
      case "local":
      case "template":
        return this.#classOf(node.name);
      case "suffixed":
        return this.#classOf(node.of);
      default:
        return this.print(node);
    }
  }

  #operand(of: Node): string {
    const words = this.print(of);
    return isSimple(of) ? words : `(${words})`;
  }

  #sequence(parts: readonly (string | Node)[]): string {
    return this.#bounded(parts.map((part) => (typeof part === "string" ? part : this.print(part))).join(""));
  }
}

const isSimple = (node: Node): boolean =>
  node.kind === "nested" || node.kind === "list" || (node.kind === "text" && !/^-?\d|^(true|false)$/.test(node.text));
