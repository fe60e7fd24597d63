import type { DebugSection, DebugSections, SymbolReference } from "../../dwarf/index.ts";
import type { Expression, SectionDirective, SectionEntry } from "../tree/nodes.ts";
import { constantOf } from "./constants.ts";

/** Bytes of a value by the type that its directive gives. */
const sizes: Readonly<Record<string, 1 | 2 | 4 | 8>> = { b8: 1, b16: 2, b32: 4, b64: 8 };

const plain = (name: string): string => name.replace(/^\./, "");

const bytesOf = ({ type, values }: SectionEntry): number => (sizes[type?.text ?? ""] ?? 0) * values.length;

/** A label of a debug section, as a place. */
interface LabelPlace {
  readonly section: string;
  readonly offset: number;
}

/**
 * The `.section` directives of a module as bytes. Everything is done on first use, because most runs need no debug
 * information.
 */
export class ModuleSections implements DebugSections {
  readonly #directives = new Map<string, SectionDirective[]>();
  readonly #known = new Map<string, DebugSection>();
  readonly #strings = new Map<string, string | null>();
  #labels: ReadonlyMap<string, LabelPlace> | null = null;

  constructor(directives: readonly SectionDirective[]) {
    for (const directive of directives) {
      const name = plain(directive.name.text);
      const others = this.#directives.get(name);
      if (others === undefined) this.#directives.set(name, [directive]);
      else others.push(directive);
    }
  }

  has(name: string): boolean {
    return this.#directives.has(name);
  }

  section(name: string): DebugSection | null {
    const directives = this.#directives.get(name);
    if (directives === undefined) return null;
    let found = this.#known.get(name);
    if (found === undefined) this.#known.set(name, (found = this.#assemble(directives)));
    return found;
  }

  /** Returns the string at a label plus an offset, which ends at a zero; null if there is none. */
  string(label: string, offset: number): string | null {
    const key = `${offset} ${label}`;
    let found = this.#strings.get(key);
    if (found === undefined) this.#strings.set(key, (found = this.#stringAt(label, offset)));
    return found;
  }

  #stringAt(label: string, offset: number): string | null {
    const place = this.#place(label);
    const bytes = place === null ? null : (this.section(place.section)?.bytes ?? null);
    if (place === null || bytes === null) return null;
    const start = place.offset + offset;
    const end = bytes.indexOf(0, start);
    return start < bytes.length && end > start ? new TextDecoder().decode(bytes.subarray(start, end)) : null;
  }

  /** Returns where a label of a section is, or the start of a section that is named itself. */
  #place(name: string): LabelPlace | null {
    if (name.startsWith(".")) return this.#directives.has(plain(name)) ? { section: plain(name), offset: 0 } : null;
    this.#labels ??= this.#findLabels();
    return this.#labels.get(name) ?? null;
  }

  #findLabels(): ReadonlyMap<string, LabelPlace> {
    const labels = new Map<string, LabelPlace>();
    for (const [section, directives] of this.#directives) {
      let offset = 0;
      for (const entry of directives.flatMap(({ entries }) => entries)) {
        if (entry.label !== null) labels.set(entry.label.text, { section, offset });
        offset += bytesOf(entry);
      }
    }
    return labels;
  }

  #assemble(directives: readonly SectionDirective[]): DebugSection {
    const entries = directives.flatMap((directive) => directive.entries);
    const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + bytesOf(entry), 0));
    const view = new DataView(bytes.buffer);
    const references = new Map<number, SymbolReference>();
    let at = 0;
    for (const { type, values } of entries) {
      const size = sizes[type?.text ?? ""];
      if (size === undefined) continue;
      for (const expression of values) {
        const value = this.#value(expression);
        if (typeof value === "bigint") write(view, at, size, value);
        else references.set(at, value);
        at += size;
      }
    }
    return { bytes, references };
  }

  #value(expression: Expression): bigint | SymbolReference {
    const { symbol, minus, addend } = sumOf(expression);
    const place = symbol === null ? null : this.#place(symbol);
    const from = minus === null ? null : this.#place(minus);
    // The distance between two labels of the code: what counts is the place, because both are in one function.
    if (symbol !== null && place === null) return { symbol, addend: Number(addend) };
    return BigInt(place?.offset ?? 0) - BigInt(from?.offset ?? 0) + addend;
  }
}

function write(view: DataView, at: number, size: 1 | 2 | 4 | 8, value: bigint): void {
  if (size === 8) view.setBigUint64(at, BigInt.asUintN(64, value), true);
  else if (size === 4) view.setUint32(at, Number(BigInt.asUintN(32, value)), true);
  else if (size === 2) view.setUint16(at, Number(BigInt.asUintN(16, value)), true);
  else view.setUint8(at, Number(BigInt.asUintN(8, value)));
}

interface Sum {
  readonly symbol: string | null;
  readonly minus: string | null;
  readonly addend: bigint;
}

const nothing: Sum = { symbol: null, minus: null, addend: 0n };

/** Takes `label`, `label+4`, `label1-label2` and constants apart; what is none of these counts as 0. */
function sumOf(expression: Expression): Sum {
  if (expression.kind === "parenthesized") return sumOf(expression.inner);
  if (expression.kind === "name") return { ...nothing, symbol: expression.text };
  if (expression.kind === "binary" && (expression.operator === "+" || expression.operator === "-")) {
    const [left, right] = [sumOf(expression.left), sumOf(expression.right)];
    if (expression.operator === "+") {
      return { symbol: left.symbol ?? right.symbol, minus: left.minus, addend: left.addend + right.addend };
    }
    return { symbol: left.symbol, minus: right.symbol, addend: left.addend - right.addend };
  }
  const constant = constantOf(expression);
  return constant?.kind === "integer" ? { ...nothing, addend: constant.value } : nothing;
}
