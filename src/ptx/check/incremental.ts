import { DiagnosticSink, type SourceText, type Span } from "../../source/index.ts";
import type { Item } from "../tree/module.ts";
import type { FunctionDeclaration, Initializer, Parameter } from "../tree/nodes.ts";
import { suggestionLimit } from "./bind.ts";
import type { CheckedModule } from "./checked-module.ts";
import type { CheckCode } from "./codes.ts";
import {
  type BodyFindings,
  type BodyMemory,
  ModuleChecker,
  type ModulePart,
  type Replacement,
} from "./module-checker.ts";
import { moduleHeader } from "./module-header.ts";
import type { CallSignature } from "./signature.ts";

/** Finds the text of a span by its node, where a diagnostic or a note is about another part of the module. */
class PartSink extends DiagnosticSink<CheckCode> {
  readonly #sources: WeakMap<object, SourceText>;

  constructor(source: SourceText, sources: WeakMap<object, SourceText>) {
    super(source);
    this.#sources = sources;
  }

  override sourceOf(span: Span): SourceText {
    return this.#sources.get(span) ?? this.source;
  }
}

/** A body that has been checked, and the text that it is in. */
interface Known {
  readonly findings: BodyFindings;
  /** Whether its diagnostics point to other parts of the module. */
  readonly points: boolean;
}

/** What a check of the whole module has left for the next one. */
interface Checked {
  readonly bodies: ReadonlyMap<FunctionDeclaration, Known>;
  /** For each name, the texts of its declarations. */
  readonly declared: ReadonlyMap<string, string>;
  readonly heading: string;
  readonly hasSets: boolean;
}

const nothing: Checked = { bodies: new Map(), declared: new Map(), heading: "", hasSets: false };

/** The number of different texts of declarations after which all are forgotten. */
const manyTexts = 100_000;

/**
 * Checks a module again and again while its text changes, with the same result as `checkPtx`. A body is checked again
 * only if its own text has changed, or a declaration that it refers to. Between two checks a part is the same object
 * exactly if its text and tree are.
 */
export class IncrementalChecker {
  readonly #sources = new WeakMap<object, SourceText>();
  /** The declarations that an item makes, as far as bodies can tell them apart. */
  readonly #declarations = new WeakMap<Item, Declaration>();
  readonly #texts = new Map<string, number>();
  #headers = new WeakMap<FunctionDeclaration, CallSignature>();
  #before: Checked = nothing;
  /**
   * The check before one that found many functions gone, as where a comment is opened: they often come back. With the
   * names of new items since, and the functions whose names have been resolved anew since, perhaps to something else.
   */
  #fuller: {
    readonly checked: Checked;
    readonly fresh: Set<string>;
    readonly renewed: Set<FunctionDeclaration>;
  } | null = null;
  /** The last check of the whole module, with the parts as they are since. */
  #last: { readonly parts: readonly ModulePart[]; readonly checker: ModuleChecker } | null = null;

  check(parts: readonly ModulePart[], empty: SourceText): Omit<CheckedModule, "module"> {
    const fresh = new Set<string>();
    const { checker } = this.#last ?? {};
    const changes = checker === undefined ? null : this.#replacements(parts, fresh);
    const patched = changes === null ? null : checker!.replace(changes, parts.at(-1)?.source ?? empty);
    if (patched === null) return this.#checkAll(parts, empty, fresh);
    for (const name of fresh) this.#fuller?.fresh.add(name);
    this.#last = { parts: [...parts], checker: checker! };
    return patched;
  }

  /**
   * The functions that have taken the place of others since the last check, if nothing else has changed: each declares
   * what the one before it declared. The names of new items are added to `fresh`.
   */
  #replacements(parts: readonly ModulePart[], fresh: Set<string>): readonly Replacement[] | null {
    if (this.#before.hasSets || this.#texts.size > manyTexts) return null;
    const before = this.#last!.parts;
    const most = Math.min(before.length, parts.length);
    let same = 0;
    let place = 0;
    while (same < most && before[same] === parts[same]) place += parts[same++]!.items.length;
    let after = 0;
    while (after < most - same && before.at(-1 - after) === parts.at(-1 - after)) after++;
    const old = placedItems(before.slice(same, before.length - after));
    const now = placedItems(parts.slice(same, parts.length - after));
    if (old.length !== now.length) return null;
    const changes: Replacement[] = [];
    for (const [i, { item, source }] of now.entries()) {
      const was = old[i]!;
      if (item.kind !== "function" || was.item.kind !== "function") return null;
      this.#enter(item, source, fresh);
      if (this.#declarations.get(item)!.number !== this.#declarations.get(was.item)?.number) return null;
      changes.push({ sources: { old: was.source, now: source }, place: place + i, old: was.item, now: item });
    }
    return changes;
  }

  #checkAll(parts: readonly ModulePart[], empty: SourceText, fresh: Set<string>): Omit<CheckedModule, "module"> {
    if (this.#texts.size > manyTexts) this.#forget();
    for (const part of parts) for (const item of part.items) this.#enter(item, part.source, fresh);
    const { declared, hasSets } = this.#allDeclared(parts);
    for (const name of fresh) this.#fuller?.fresh.add(name);
    const { base, changed, freshSince } = this.#closest(declared, fresh);
    const items = parts.flatMap((part) => part.items);
    const first = parts[0]?.source ?? empty;
    const heading = moduleHeader({ items, source: first }, new PartSink(first, this.#sources));
    const { version, target, addressSize } = heading;
    const key = [version, target.name, target.texturing, addressSize].join(" ");
    const all = key !== base.heading || (changed.size > 0 && (hasSets || base.hasSets));
    if (key !== this.#before.heading) this.#headers = new WeakMap();
    const memory = new Memory(all ? new Map() : base.bodies, this.#headers, {
      ...{ changed, fresh: freshSince },
      isStrict: version < 200,
    });
    const sink = new PartSink(first, this.#sources);
    memory.onKeep = (node, findings) => {
      this.#fuller?.renewed.add(node);
      for (const { argument } of findings.unwritten) this.#sources.set(argument, sink.source);
      for (const loc of findings.files.values()) this.#sources.set(loc, sink.source);
      return findings.diagnostics.some(({ notes }) =>
        notes.some(({ source }) => source !== undefined && source !== sink.source),
      );
    };
    const checker = new ModuleChecker(parts, sink, memory);
    const checked = checker.check();
    this.#last = { parts: [...parts], checker };
    // What was found depends on how many findings there were before.
    const isLess = memory.kept.size < this.#before.bodies.size * 0.9;
    if (isLess) this.#fuller = { checked: this.#before, fresh: new Set(fresh), renewed: new Set(memory.renewed) };
    this.#before = { bodies: sink.full ? new Map() : memory.kept, declared, heading: key, hasSets };
    return checked;
  }

  /** The earlier check from which fewer declarations differ, the names of these, and those of new items since. */
  #closest(
    declared: ReadonlyMap<string, string>,
    fresh: ReadonlySet<string>,
  ): { readonly base: Checked; readonly changed: ReadonlySet<string>; readonly freshSince: ReadonlySet<string> } {
    const last = { base: this.#before, changed: differing(this.#before.declared, declared), freshSince: fresh };
    if (this.#fuller === null || last.changed.size === 0) return last;
    const { checked, fresh: freshSince, renewed } = this.#fuller;
    const changed = differing(checked.declared, declared);
    if (changed.size >= last.changed.size) return last;
    const bodies = new Map([...checked.bodies].filter(([node]) => !renewed.has(node)));
    return { base: { ...checked, bodies }, changed, freshSince };
  }

  #forget(): void {
    this.#texts.clear();
    this.#before = nothing;
    this.#fuller = null;
  }

  /** Notes an item that is new, and the names that it declares. */
  #enter(item: Item, source: SourceText, fresh: Set<string>): void {
    let declaration = this.#declarations.get(item);
    if (declaration === undefined) {
      declaration = declarationOf(item);
      this.#declarations.set(item, declaration);
      for (const node of [item, ...declaration.nodes]) this.#sources.set(node, source);
      const { text } = declaration;
      const slice = text === null ? "" : source.text.slice(text.start, text.end);
      const known = this.#texts.get(slice);
      declaration.number = known ?? this.#texts.size;
      if (known === undefined) this.#texts.set(slice, declaration.number);
      for (const name of declaration.names) fresh.add(name);
    }
  }

  /** For each name, the texts of its declarations in their order, and of what these mention. */
  #allDeclared(parts: readonly ModulePart[]): { readonly declared: Map<string, string>; readonly hasSets: boolean } {
    const declared = new Map<string, string>();
    const mentioning: Declaration[] = [];
    let hasSets = false;
    for (const { items } of parts) {
      for (const item of items) {
        const declaration = this.#declarations.get(item)!;
        hasSets ||= declaration.isSet;
        if (declaration.mentions.length > 0) mentioning.push(declaration);
        for (const name of declaration.names) declared.set(name, `${declared.get(name) ?? ""} ${declaration.number}`);
      }
    }
    for (const { names, mentions } of mentioning) {
      const of = mentions.map((name) => declared.get(name) ?? "").join("|");
      for (const name of names) declared.set(name, `${declared.get(name)}|${of}`);
    }
    return { declared, hasSets };
  }
}

/** The names of which two checks know other declarations. */
function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [name, value] of b) if (a.get(name) !== value) found.add(name);
  for (const name of a.keys()) if (!b.has(name)) found.add(name);
  return found;
}

/** The items of parts, each with its text. */
const placedItems = (parts: readonly ModulePart[]): readonly { readonly item: Item; readonly source: SourceText }[] =>
  parts.flatMap(({ items, source }) => items.map((item) => ({ item, source })));

/** What an item declares at module scope. */
interface Declaration {
  readonly names: readonly string[];
  /** The part of the text that bodies elsewhere depend on. */
  readonly text: Span | null;
  /** The names in its initial values. */
  readonly mentions: readonly string[];
  /** The nodes that diagnostics elsewhere may point to. */
  readonly nodes: readonly Span[];
  /** Whether it declares names by their number (`x<4>`). */
  readonly isSet: boolean;
  number: number;
}

function declarationOf(item: Item): Declaration {
  const none = { names: [], text: null, mentions: [], nodes: [], isSet: false, number: 0 };
  switch (item.kind) {
    case "function": {
      const text = { start: item.start, end: item.body === null ? item.end : item.body.start + 1 };
      const parameters = (list: readonly Parameter[] | null): readonly Span[] => (list ?? []).map(({ name }) => name);
      const nodes = [item.name, ...parameters(item.returns), ...parameters(item.params)];
      return { ...none, names: [item.name.text], text, nodes };
    }
    case "variable": {
      const elements: (Initializer & { readonly kind: string })[] = [];
      for (const { initializer } of item.declarators) if (initializer !== null) named(initializer, elements);
      return {
        ...none,
        names: item.declarators.map(({ name }) => name.text),
        text: item,
        mentions: elements.flatMap((element) => mentioned(element)),
        nodes: [...item.declarators.map(({ name }) => name), ...elements],
        isSet: item.declarators.some(({ range }) => range !== null),
      };
    }
    case "alias":
      return { ...none, names: [item.alias.text, item.aliasee.text], text: item };
    case "target":
      return { ...none, nodes: item.names };
    default:
      return none;
  }
}

/** The elements of an initial value that are names, as in a call table, and the first that is not. */
function named(node: Initializer, found: Initializer[]): void {
  if (node.kind === "initializer-list") for (const element of node.elements) named(element, found);
  else if (node.kind === "name" || node.kind === "operator-call" || found.every(isName)) found.push(node);
}

const isName = ({ kind }: Initializer): boolean => kind === "name" || kind === "operator-call";

function mentioned(node: Initializer): readonly string[] {
  if (node.kind === "name") return [node.text];
  return node.kind === "operator-call" ? node.argumentLists.flatMap((list) => list.flatMap(mentioned)) : [];
}

/** What has changed since the last check. */
interface Changes {
  /** The names whose declarations read differently. */
  readonly changed: ReadonlySet<string>;
  /** The names of which a declaration is a new node, whatever it reads. */
  readonly fresh: ReadonlySet<string>;
  /** Whether findings depend on the nodes themselves. */
  readonly isStrict: boolean;
}

/** The bodies of the last check, of which those are recalled that would be found the same. */
class Memory implements BodyMemory {
  readonly kept = new Map<FunctionDeclaration, Known>();
  /** The functions that have been checked by it. */
  readonly renewed = new Set<FunctionDeclaration>();
  readonly headers: WeakMap<FunctionDeclaration, CallSignature>;
  readonly #bodies: ReadonlyMap<FunctionDeclaration, Known>;
  readonly #since: Changes;
  /** Told of each body that has been checked; says whether its diagnostics point elsewhere. */
  onKeep: (node: FunctionDeclaration, findings: BodyFindings) => boolean = () => false;

  constructor(
    bodies: ReadonlyMap<FunctionDeclaration, Known>,
    headers: WeakMap<FunctionDeclaration, CallSignature>,
    since: Changes,
  ) {
    this.#bodies = bodies;
    this.headers = headers;
    this.#since = since;
  }

  recall(node: FunctionDeclaration, suggestions: number): BodyFindings | null {
    const known = this.#bodies.get(node);
    if (known === undefined || !this.#holds(known, suggestions)) return null;
    this.kept.set(node, known);
    return known.findings;
  }

  #holds({ findings, points }: Known, suggestions: number): boolean {
    const { changed, fresh, isStrict } = this.#since;
    const { names, suggestions: own, usesTables } = findings;
    // What is wrong with a call table is said at its first use, wherever that is now.
    if (usesTables) return false;
    for (const name of points || isStrict ? fresh : changed) if (names.has(name)) return false;
    for (const name of changed) if (names.has(name)) return false;
    // A suggestion may be any name; and whether there is one depends on how many there were.
    const unknown = findings.diagnostics.some(({ code }) => code === "unknown-name");
    if (!unknown) return true;
    return (
      changed.size === 0 &&
      (own.before === suggestions || Math.max(own.before, suggestions) + own.made < suggestionLimit)
    );
  }

  last(node: FunctionDeclaration): BodyFindings | null {
    return this.kept.get(node)?.findings ?? null;
  }

  forget(node: FunctionDeclaration): void {
    this.kept.delete(node);
  }

  keep(node: FunctionDeclaration, findings: BodyFindings): void {
    this.renewed.add(node);
    this.kept.set(node, { findings, points: this.onKeep(node, findings) });
  }
}
