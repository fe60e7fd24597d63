import { At, Tag } from "./constants.ts";
import { type Block, Entries, type Entry, numberOf, textOf } from "./entries.ts";
import { type CodeRange, type LocatedRange, locationsOf, rangesOf } from "./lists.ts";
import { DwarfError } from "./reader.ts";
import type { DebugSections } from "./sections.ts";
import { type SourceType, Types } from "./types.ts";

/** A variable or a parameter of the source. */
export interface SourceVariable {
  readonly name: string;
  readonly isParameter: boolean;
  readonly type: SourceType;
  /** Empty if the compiler has removed it. */
  readonly locations: readonly LocatedRange[];
  /** The value, if the compiler has replaced the variable by it. */
  readonly constant: bigint | null;
  /** The line of its declaration, or 0. */
  readonly line: number;
  readonly addressSize: number;
}

/** A function, a function that was inlined, or a block in braces. */
export interface SourceScope {
  readonly kind: "function" | "inlined" | "block";
  /** The name in the source; null for a block. */
  readonly name: string | null;
  /** The name as the linker knows it, or null. */
  readonly linkageName: string | null;
  /** Empty: all of the scope around it. */
  readonly ranges: readonly CodeRange[];
  readonly variables: readonly SourceVariable[];
  readonly scopes: readonly SourceScope[];
  /** The line of a function's declaration, or 0. */
  readonly line: number;
  /** The expression for the address of the frame, or null. */
  readonly frameBase: Block | null;
}

/** The debug information of a module. */
export interface DebugProgram {
  /** The functions that have code. */
  readonly functions: readonly SourceScope[];
  /** The variables of the module. */
  readonly variables: readonly SourceVariable[];
}

const maxScopes = 1_000_000;

/**
 * Reads the debug information of a module.
 *
 * @throws DwarfError if it is malformed
 */
export function readDebugProgram(sections: DebugSections): DebugProgram {
  return new ProgramReader(sections).read();
}

class ProgramReader {
  readonly #sections: DebugSections;
  readonly #entries: Entries;
  readonly #types: Types;
  readonly #functions: SourceScope[] = [];
  readonly #variables: SourceVariable[] = [];
  #scopes = 0;

  constructor(sections: DebugSections) {
    this.#sections = sections;
    this.#entries = new Entries(sections);
    this.#types = new Types(this.#entries);
  }

  read(): DebugProgram {
    for (const unit of this.#entries.units) this.#outer(unit);
    return { functions: this.#functions, variables: this.#variables };
  }

  /** Reads what is declared outside of functions; namespaces and classes have functions too. */
  #outer(entry: Entry): void {
    for (const child of entry.children) {
      if (child.tag === Tag.subprogram) {
        if (child.attributes.has(At.lowPc) || child.attributes.has(At.ranges)) this.#functions.push(this.#scope(child));
      } else if (child.tag === Tag.variable) this.#variables.push(...this.#variable(child));
      else if (child.tag === Tag.namespace || child.tag === Tag.structureType || child.tag === Tag.classType) {
        this.#outer(child);
      }
    }
  }

  #scope(entry: Entry): SourceScope {
    if (++this.#scopes > maxScopes) throw new DwarfError(`more than ${maxScopes} scopes`);
    const kind = entry.tag === Tag.subprogram ? "function" : entry.tag === Tag.lexicalBlock ? "block" : "inlined";
    const named = kind === "block" ? [] : this.#chain(entry);
    const variables: SourceVariable[] = [];
    const scopes: SourceScope[] = [];
    for (const child of entry.children) {
      if (child.tag === Tag.variable || child.tag === Tag.formalParameter) variables.push(...this.#variable(child));
      else if (child.tag === Tag.lexicalBlock || child.tag === Tag.inlinedSubroutine) scopes.push(this.#scope(child));
    }
    const frame = entry.attributes.get(At.frameBase);
    return {
      kind,
      name: first(named, (e) => textOf(e, At.name)),
      linkageName: first(named, (e) => textOf(e, At.linkageName) ?? textOf(e, At.mipsLinkageName)),
      ranges: rangesOf(entry, this.#sections),
      variables,
      scopes,
      line: first(named, (e) => numberOf(e, At.declLine)) ?? 0,
      frameBase: frame?.kind === "block" ? frame.block : null,
    };
  }

  /** An entry, and those that have the attributes that it lacks: its declaration, the function that was inlined. */
  #chain(entry: Entry): readonly Entry[] {
    const chain: Entry[] = [];
    for (let at: Entry | null = entry; at !== null && chain.length < 8; ) {
      chain.push(at);
      at = this.#entries.referred(at, At.abstractOrigin) ?? this.#entries.referred(at, At.specification);
    }
    return chain;
  }

  #variable(entry: Entry): readonly SourceVariable[] {
    const chain = this.#chain(entry);
    const name = first(chain, (e) => textOf(e, At.name));
    if (name === null) return [];
    const typed = chain.find((e) => e.attributes.has(At.type)) ?? entry;
    const constant = entry.attributes.get(At.constValue);
    return [
      {
        name,
        isParameter: entry.tag === Tag.formalParameter,
        type: this.#types.of(typed),
        locations: locationsOf(entry, this.#sections),
        constant: constant?.kind === "number" ? constant.value : null,
        line: first(chain, (e) => numberOf(e, At.declLine)) ?? 0,
        addressSize: entry.unit.addressSize,
      },
    ];
  }
}

function first<T>(entries: readonly Entry[], read: (entry: Entry) => T | null): T | null {
  for (const entry of entries) {
    const found = read(entry);
    if (found !== null) return found;
  }
  return null;
}
