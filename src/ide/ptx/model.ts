import { type CheckedModule, checkPtx } from "../../ptx/check/check.ts";
import type { CallInfo } from "../../ptx/check/calls.ts";
import { parsePtx } from "../../ptx/parser/index.ts";
import type { Name } from "../../ptx/tree/leaves.ts";
import type { Comment } from "../../ptx/tree/leaves.ts";
import type { Item } from "../../ptx/tree/module.ts";
import type { FunctionDeclaration, Instruction, VariableDeclaration } from "../../ptx/tree/nodes.ts";
import { type Diagnostic, SourceText, type Span } from "../../source/index.ts";
import type { TextEdit } from "../base/results.ts";

/**
 * A run of directives at module scope that is parsed by itself. The spans of its nodes are offsets of `source`, in
 * which it begins at `base`; in the document it begins at `start`.
 */
export interface Part {
  readonly source: SourceText;
  readonly base: number;
  readonly length: number;
  start: number;
  readonly items: readonly Item[];
  readonly comments: readonly Comment[];
  readonly syntax: readonly Diagnostic[];
}

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

/** Converts a span of a part to one of the document. */
export const toDocument = ({ start, base }: Part, span: Span): { readonly start: number; readonly end: number } => ({
  start: span.start - base + start,
  end: span.end - base + start,
});

/** The text of a PTX module, its tree in parts, and what the checker says of it. */
export class PtxModel {
  readonly path: string;
  #text: string;
  #parts: readonly Part[] | null = null;
  #checked: CheckedModule | null = null;
  #globals: ReadonlyMap<string, Global> | null = null;
  #lines: SourceText | null = null;

  constructor(path: string, text: string) {
    this.path = path;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  edit({ start, end, text }: TextEdit): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#parts = null;
    this.#checked = null;
    this.#globals = null;
    this.#lines = null;
  }

  /** In the order of the text. */
  get parts(): readonly Part[] {
    this.#parts ??= this.#parse();
    return this.#parts;
  }

  get checked(): CheckedModule {
    void this.parts;
    return this.#checked!;
  }

  #parse(): readonly Part[] {
    const source = new SourceText(this.path, this.#text);
    const { tree, diagnostics } = parsePtx(source);
    this.#checked = checkPtx(tree);
    const { items, comments } = tree;
    return [{ source, base: 0, start: 0, length: this.#text.length, items, comments, syntax: diagnostics }];
  }

  /** The diagnostics of the parser and the checker, in the order of the text, with the parts that they are in. */
  get diagnostics(): readonly Diagnostic[] {
    const all = [...this.parts.flatMap(({ syntax }) => syntax), ...this.checked.diagnostics];
    return all.sort((a, b) => this.offset(a.source, a.span.start) - this.offset(b.source, b.span.start));
  }

  /** The offset in the document of one in the source of a part. */
  offset(source: SourceText, offset: number): number {
    const part = this.parts.find((each) => each.source === source);
    return part === undefined ? 0 : offset - part.base + part.start;
  }

  /** The line of an offset of the document, from 1. */
  line(offset: number): number {
    this.#lines ??= new SourceText(this.path, this.#text);
    return this.#lines.position(offset).line;
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

  /** All directives at module scope, in the order of the text. */
  *items(): Generator<Placed> {
    for (const part of this.parts) for (const item of part.items) yield { part, item };
  }

  /** The directive around an offset of the document, and that offset in the part's source. */
  itemAt(offset: number): (Placed & { readonly at: number }) | null {
    const part = lastFrom(this.parts, ({ start }) => start <= offset);
    if (part === undefined) return null;
    const at = offset - part.start + part.base;
    const item = lastFrom(part.items, ({ start }) => start <= at);
    return item === undefined || at > item.end ? null : { part, item, at };
  }

  /** The directive around an offset, or else the last one before it. */
  itemAround(offset: number): Placed | null {
    const part = lastFrom(this.parts, ({ start }) => start <= offset);
    const item = part && lastFrom(part.items, ({ start }) => start <= offset - part.start + part.base);
    return part === undefined || item === undefined ? null : { part, item };
  }

  /** The text before an offset, at most so many characters. */
  textBefore(offset: number, most: number): string {
    return this.#text.slice(Math.max(0, offset - most), offset);
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

/** The last element of a list for which a condition holds that holds for a first part of the list. */
export function lastFrom<T>(list: readonly T[], holds: (element: T) => boolean): T | undefined {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}
