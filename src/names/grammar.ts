import type { Node } from "./node.ts";

/** The text is no mangled name. Caught by `demangle`; nobody else sees it. */
export class Malformed extends Error {}

/** The most rules within each other: names of real programs need less than 100. */
const maxDepth = 400;

/** What is known of a name once it has been read, for the function type that may follow it. */
export interface NameFacts {
  /** A constructor, destructor or conversion operator: its result is not said, even if it is a template. */
  withoutResult: boolean;
  endsWithArguments: boolean;
  /** Of a member function. */
  qualifiers: string;
  /** The last arguments in it, to which template parameters after it refer. */
  args: readonly Node[] | null;
}

export const noFacts = (): NameFacts => ({
  withoutResult: false,
  endsWithArguments: false,
  qualifiers: "",
  args: null,
});

/** Where a parser stands in a mangled name, and what it has read. */
export class State {
  readonly text: string;
  at = 0;
  /** The parts that substitutions refer to. */
  readonly substitutions: Node[] = [];
  /** Whether `<` after a template parameter begins its arguments: not in the type of a conversion operator. */
  takeArguments = true;
  #depth = 0;

  constructor(name: string) {
    this.text = name;
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? "";
  }

  looksAt(words: string): boolean {
    return this.text.startsWith(words, this.at);
  }

  take(words: string): boolean {
    if (!this.looksAt(words)) return false;
    this.at += words.length;
    return true;
  }

  require(words: string): void {
    if (!this.take(words)) this.fail();
  }

  next(): string {
    if (this.ended) this.fail();
    return this.text[this.at++]!;
  }

  fail(): never {
    throw new Malformed();
  }

  /** Takes what a pattern with the flag `y` matches here, or returns null. */
  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return null;
    this.at += found[0].length;
    return found[0];
  }

  /** Applies a rule one level further down. */
  within<T>(rule: () => T): T {
    if (++this.#depth > maxDepth) this.fail();
    const result = rule();
    this.#depth--;
    return result;
  }

  /** Reads items up to the letter E. */
  until(item: () => Node): Node[] {
    const items: Node[] = [];
    while (!this.take("E")) items.push(item());
    return items;
  }

  remember(node: Node): Node {
    this.substitutions.push(node);
    return node;
  }

  /** A decimal number, which may be negative. */
  number(): string {
    const found = this.match(/n?\d+/y) ?? this.fail();
    return found.replace("n", "-");
  }

  /** `_` is 0, `0_` is 1, and so on, in a base. */
  sequenceNumber(digits: RegExp, base: number): number {
    const found = this.match(digits) ?? "";
    this.require("_");
    const number = found === "" ? 0 : Number.parseInt(found, base) + 1;
    return Number.isSafeInteger(number) ? number : this.fail();
  }
}

/** The rules of the grammar that call each other across files. */
export interface Grammar {
  readonly state: State;
  type(): Node;
  name(facts: NameFacts): Node;
  unqualifiedName(scope: Node | null, facts: NameFacts): Node;
  expression(): Node;
  literal(): Node;
  encoding(topLevel: boolean): Node;
  functionType(qualifiers: string): Node;
  templateArguments(): Node[];
  templateParameter(): Node;
  substitution(): Node;
  decltype(): Node;
  operatorName(facts: NameFacts): Node;
  sourceName(): Node;
}

/** The digits of sequence numbers. */
export const decimal = /\d+/y;
export const base36 = /[0-9A-Z]+/y;
