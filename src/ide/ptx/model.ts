import type { CallInfo } from "../../ptx/check/calls.ts";
import type { CheckedModule } from "../../ptx/check/checked-module.ts";
import { IncrementalChecker } from "../../ptx/check/incremental.ts";
import type { Name } from "../../ptx/tree/leaves.ts";
import type { Item } from "../../ptx/tree/module.ts";
import type { FunctionDeclaration, Instruction, VariableDeclaration } from "../../ptx/tree/nodes.ts";
import { type Diagnostic, SourceText } from "../../source/index.ts";
import type { TextEdit } from "../base/results.ts";
import { lastFrom, type Part, PartedText } from "./parts.ts";

export { lastFrom, type Part, toDocument } from "./parts.ts";

/** A directive at module scope and the part that it is in. */
export interface Placed<I extends Item = Item> {
  readonly part: Part;
  readonly item: I;
}

/** The declarations of a name at module scope. */
export interface Global {
  readonly name: string;
  readonly places: readonly {
    readonly part: Part;
    readonly name: Name;
    readonly item: FunctionDeclaration | VariableDeclaration;
  }[];
}

/** The text of a PTX module, its tree in parts, and what the checker says of it. */
export class PtxModel {
  readonly path: string;
  readonly #text: PartedText;
  readonly #checker = new IncrementalChecker();
  #checked: Omit<CheckedModule, "module"> | null = null;
  #globals: ReadonlyMap<string, Global> | null = null;
  #bySource: ReadonlyMap<SourceText, Part> | null = null;

  constructor(path: string, text: string) {
    this.path = path;
    this.#text = new PartedText(path, text);
  }

  get text(): string {
    return this.#text.text;
  }

  get length(): number {
    return this.#text.length;
  }

  edit(change: TextEdit): void {
    this.#text.edit(change);
    this.#checked = null;
    this.#globals = null;
    this.#bySource = null;
  }

  /** In the order of the text. */
  get parts(): readonly Part[] {
    return this.#text.parts;
  }

  get checked(): Omit<CheckedModule, "module"> {
    this.#checked ??= this.#checker.check(this.parts, new SourceText(this.path, ""));
    return this.#checked;
  }

  /** The diagnostics of the parser and the checker, in the order of the text. */
  get diagnostics(): readonly Diagnostic[] {
    const all = [...this.parts.flatMap(({ syntax }) => syntax), ...this.checked.diagnostics];
    return all.sort((a, b) => this.offset(a.source, a.span.start) - this.offset(b.source, b.span.start));
  }

  /** The offset in the document of one in the source of a part. */
  offset(source: SourceText, offset: number): number {
    this.#bySource ??= new Map(this.parts.map((part) => [part.source, part]));
    const part = this.#bySource.get(source);
    return part === undefined ? 0 : offset - part.base + part.start;
  }

  /** The line of an offset of the document, from 1. */
  line(offset: number): number {
    return this.#text.line(offset);
  }

  /** What is known of a call. */
  callInfo(node: Instruction): CallInfo | undefined {
    return this.checked.callInfo.get(node);
  }

  /** The definition of a function. */
  definition(name: string): Placed<FunctionDeclaration> | null {
    for (const { part, item } of this.globals.get(name)?.places ?? [])
      if (item.kind === "function" && item.body !== null) return { part, item };
    return null;
  }

  /** The definition of a function, or else a declaration. */
  declared(name: string): Placed<FunctionDeclaration> | null {
    for (const { part, item } of this.globals.get(name)?.places ?? [])
      if (item.kind === "function") return this.definition(name) ?? { part, item };
    return null;
  }

  /** All directives at module scope, in the order of the text, with their names bound. */
  *items(): Generator<Placed> {
    void this.checked;
    for (const part of this.parts) for (const item of part.items) yield { part, item };
  }

  /** The directive around an offset of the document, and that offset in the part's source. */
  itemAt(offset: number): (Placed & { readonly at: number }) | null {
    const place = this.itemAround(offset);
    if (place === null) return null;
    const at = offset - place.part.start + place.part.base;
    return at > place.item.end ? null : { ...place, at };
  }

  /** The directive around an offset, or else the last one before it. */
  itemAround(offset: number): Placed | null {
    void this.checked;
    const { parts } = this;
    const part = lastFrom(parts, ({ start }) => start <= offset);
    const item = part && lastFrom(part.items, ({ start }) => start <= offset - part.start + part.base);
    if (part !== undefined && item !== undefined) return { part, item };
    // A part may begin with comments: what is around them is the item before.
    const before = part && parts[parts.indexOf(part) - 1];
    const last = before?.items.at(-1);
    return before === undefined || last === undefined ? null : { part: before, item: last };
  }

  /** The text before an offset, at most so many characters. */
  textBefore(offset: number, most: number): string {
    return this.#text.before(offset, most);
  }

  /** The names that are declared at module scope. */
  get globals(): ReadonlyMap<string, Global> {
    this.#globals ??= this.#findGlobals();
    return this.#globals;
  }

  #findGlobals(): ReadonlyMap<string, Global> {
    const globals = new Map<string, { name: string; places: Global["places"][number][] }>();
    const add = (name: Name, place: Global["places"][number]): void => {
      const known = globals.get(name.text);
      if (known) known.places.push(place);
      else globals.set(name.text, { name: name.text, places: [place] });
    };
    for (const { part, item } of this.items()) {
      if (item.kind === "function") add(item.name, { part, name: item.name, item });
      if (item.kind !== "variable") continue;
      for (const { name } of item.declarators) add(name, { part, name, item });
    }
    return globals;
  }
}
