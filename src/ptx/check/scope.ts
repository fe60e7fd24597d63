import type { LabelSymbol } from "../tree/leaves.ts";
import type { PtxSymbol } from "../tree/nodes.ts";

/** `r<8>`: the names r0 to r7, whose symbols are created on first use. */
export interface NameRange {
  readonly base: string;
  readonly count: number;
  /** Creates the symbol of one of the names. */
  readonly create: (name: string) => PtxSymbol;
}

/** The offset of the digits at the end of a name; its length if there are none. */
export function digitsAt(name: string): number {
  let at = name.length;
  while (at > 0) {
    const code = name.charCodeAt(at - 1);
    if (code < 0x30 || code > 0x39) break;
    at--;
  }
  return at;
}

/**
 * The names declared in one `{}` block, by a function's parameters, or at module scope. Code labels have a separate
 * table, because they may be used before they are declared.
 */
export class Scope {
  readonly parent: Scope | null;
  readonly #names = new Map<string, PtxSymbol>();
  #labels: Map<string, LabelSymbol> | null = null;
  #ranges: Map<string, NameRange> | null = null;
  #lastRange: NameRange | undefined;
  /** For each base of declared names that end in digits, the smallest number. */
  #numbered: Map<string, number> | null = null;

  constructor(parent: Scope | null) {
    this.parent = parent;
  }

  /** The symbol of a name in this scope, enclosing ones excluded. */
  own(name: string): PtxSymbol | undefined {
    return this.#names.get(name) ?? (this.#ranges === null ? undefined : this.#fromRange(name));
  }

  /** The same without the names of ranges: a label may have the name of a register of a range. */
  ownDeclared(name: string): PtxSymbol | undefined {
    return this.#rangeOf(name) ? undefined : this.#names.get(name);
  }

  ownLabel(name: string): LabelSymbol | undefined {
    return this.#labels?.get(name);
  }

  ownRange(base: string): NameRange | undefined {
    return this.#ranges?.get(base);
  }

  declare(name: string, symbol: PtxSymbol): void {
    this.#names.set(name, symbol);
    const at = digitsAt(name);
    if (at === name.length) return;
    this.#numbered ??= new Map();
    const base = name.slice(0, at);
    this.#numbered.set(base, Math.min(Number(name.slice(at)), this.#numbered.get(base) ?? Number.POSITIVE_INFINITY));
  }

  declareLabel(symbol: LabelSymbol): void {
    this.#labels ??= new Map();
    this.#labels.set(symbol.name, symbol);
  }

  declareRange(range: NameRange): void {
    this.#ranges ??= new Map();
    this.#ranges.set(range.base, range);
  }

  /** The first name of `base<count>` that is also declared separately here, or null. */
  clash(base: string, count: number): string | null {
    const smallest = this.#numbered?.get(base);
    return smallest !== undefined && smallest < count ? `${base}${smallest}` : null;
  }

  /** The symbol of an operand's name, in this scope or an enclosing one. */
  find(name: string): PtxSymbol | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const symbol = scope.own(name) ?? scope.#labels?.get(name);
      if (symbol !== undefined) return symbol;
    }
    return undefined;
  }

  /** The same for a branch target: labels take precedence over the registers of a range. */
  findTarget(name: string): PtxSymbol | undefined {
    for (let scope: Scope | null = this; scope !== null; scope = scope.parent) {
      const symbol = scope.#labels?.get(name) ?? scope.own(name);
      if (symbol !== undefined) return symbol;
    }
    return undefined;
  }

  /** All names declared here, except names of ranges that have not been used. */
  *names(): Generator<string> {
    yield* this.#names.keys();
    if (this.#labels) yield* this.#labels.keys();
  }

  #rangeOf(name: string): NameRange | undefined {
    if (this.#ranges === null) return undefined;
    const at = digitsAt(name);
    if (at === name.length) return undefined;
    const last = this.#lastRange;
    // Successive names are mostly of the same few ranges, and comparing is cheaper than looking up a slice of the name.
    const range = last?.base.length === at && name.startsWith(last.base) ? last : this.#ranges.get(name.slice(0, at));
    if (range === undefined || Number(name.slice(at)) >= range.count) return undefined;
    this.#lastRange = range;
    return range;
  }

  #fromRange(name: string): PtxSymbol | undefined {
    const range = this.#rangeOf(name);
    if (range === undefined) return undefined;
    const at = range.base.length;
    if (name.charCodeAt(at) === 0x30 && name.length > at + 1) {
      // `r01` is r1.
      const symbol = this.#fromRange(`${range.base}${Number(name.slice(at))}`);
      if (symbol !== undefined) this.#names.set(name, symbol);
      return symbol;
    }
    let symbol = this.#names.get(name);
    if (symbol === undefined) {
      symbol = range.create(name);
      this.#names.set(name, symbol);
    }
    return symbol;
  }
}

/**
 * The scope of a module, which notes the names that are looked for in it, and where each came about: a body that is
 * checked after the rest of the module has to see it as it was when its turn came.
 */
export class ModuleScope extends Scope {
  /** Where the names go; null to note none. */
  asked: Set<string> | null = null;
  /** Only names that directives before this one declare are found. */
  before = Number.POSITIVE_INFINITY;
  readonly #places = new Map<string, { readonly first: number; last: number }>();

  constructor() {
    super(null);
  }

  /** Notes that a directive, by its number, declares a name or changes what it stands for. */
  note(name: string, directive: number): void {
    const place = this.#places.get(name);
    if (place === undefined) this.#places.set(name, { first: directive, last: directive });
    else place.last = directive;
  }

  /** Whether names stood for the same before a directive as at the end of the module. */
  isSettled(names: Iterable<string>, directive: number): boolean {
    for (const name of names) {
      const place = this.#places.get(name);
      if (place !== undefined && place.first < directive && place.last >= directive) return false;
    }
    return true;
  }

  override own(name: string): PtxSymbol | undefined {
    this.asked?.add(name);
    return this.#isThere(name) ? super.own(name) : undefined;
  }

  override *names(): Generator<string> {
    for (const name of super.names()) if (this.#isThere(name)) yield name;
  }

  #isThere(name: string): boolean {
    return this.before === Number.POSITIVE_INFINITY || (this.#places.get(name)?.first ?? 0) < this.before;
  }
}
