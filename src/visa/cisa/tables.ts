import type { Declaration, DeclarationAttribute, Input, Name } from "../tree.ts";
import { predefinedVariables } from "../predefined.ts";
import { dataTypes, typeBytes, type VariableKind } from "../types.ts";
import { type ByteReader, Malformed } from "./byte-reader.ts";
import {
  alignments,
  bindlessSampler,
  firstGeneral,
  firstPredicate,
  firstSurface,
  type Format,
  implicitInputs,
  labelKinds,
  pseudoInput,
  rowBytes,
  targets,
  textAttributes,
} from "./format.ts";
import { isName, NameSpace } from "./names.ts";

const kindNames: Readonly<Record<VariableKind | "L", string>> = {
  G: "general variable",
  A: "address variable",
  P: "predicate",
  S: "sampler",
  T: "surface",
  L: "label",
};

/** The value of an attribute. */
type AttributeValue = DeclarationAttribute["value"];

/** The tables at the start of a routine, to which its instructions refer by number. */
export class Tables {
  readonly format: Format;
  readonly strings: readonly string[];
  readonly #declarations: Declaration[] = [];
  /** For each declaration, the index of its name in the string pool. */
  readonly #mentions: number[] = [];
  readonly #reader: ByteReader;
  /** Names by kind and number. */
  readonly #names: Readonly<Record<VariableKind | "L", Map<number, string>>> = {
    G: new Map(),
    A: new Map(),
    P: new Map(),
    S: new Map(),
    T: new Map(),
    L: new Map(),
  };
  /** Bytes of an element of each general variable, by number. */
  readonly #elementBytes = new Map<number, number>();
  readonly #variables = new NameSpace("variables");
  readonly #labels = new NameSpace("labels");
  /** The labels that are kernels of other programs. */
  readonly #kernels = new Set<number>();

  /** Reads the string pool. `readVariables` and `readInputs` read the other tables. */
  constructor(reader: ByteReader, format: Format) {
    this.#reader = reader;
    this.format = format;
    for (const { kind, index, name, type } of predefinedVariables(rowBytes)) {
      this.#names[kind].set(index, name);
      if (kind === "G") this.#elementBytes.set(index, typeBytes(type));
    }
    const count = reader.countOf(this.index(), 1, "strings");
    this.strings = Array.from({ length: count }, () => reader.string());
  }

  /** Reads an index of a string or of a general variable. */
  index(): number {
    return this.format.wideIndices ? this.#reader.u32() : this.#reader.u16();
  }

  /** Reads an index and returns its string. */
  string(width: "index" | "u16" = "index"): Name {
    const start = this.#reader.at;
    const index = this.#stringIndex(width);
    return { text: this.strings[index]!, start, end: this.#reader.at };
  }

  /** The name of the variable or label with a number, which was read at `start`. */
  name(kind: VariableKind | "L", number: number, start: number): Name {
    const span = { start, end: this.#reader.at };
    const text = this.#names[kind].get(number);
    if (text !== undefined) return { text, ...span };
    throw new Malformed("visa-cisa-bad-index", span, `${kindNames[kind]} ${number} does not exist`);
  }

  /** Whether a label is the name of a kernel of another program. */
  isKernel(label: number): boolean {
    return this.#kernels.has(label);
  }

  /** Bytes of an element of a general variable that exists. */
  elementBytes(number: number): number {
    return this.#elementBytes.get(number)!;
  }

  /** Reads the declarations of all kinds, and the table of labels. */
  readVariables(): void {
    const reader = this.#reader;
    for (let n = reader.countOf(this.index(), 10, "variables"), i = 0; i < n; i++) this.#general(firstGeneral + i);
    for (let n = reader.u16(), i = 0; i < n; i++) this.#other("A", i);
    for (let n = reader.u16(), i = 0; i < n; i++) this.#other("P", firstPredicate + i);
    for (let n = reader.u16(), i = 0; i < n; i++) this.#label(i);
    const samplers = reader.u8();
    if (samplers >= bindlessSampler)
      throw this.#badValue(reader.at - 1, `${samplers} samplers, but there can be at most 31`);
    for (let i = 0; i < samplers; i++) this.#other("S", i);
    for (let n = reader.u8(), i = 0; i < n; i++) this.#other("T", firstSurface + i);
    const vme = reader.u8();
    if (vme !== 0) throw this.#badValue(reader.at - 1, `${vme} variables for motion estimation; these no longer exist`);
  }

  /**
   * The declarations in the order of the original text, which is that of their names in the string pool; or in the
   * order of the tables, if the former would renumber the variables of a kind.
   */
  declarations(): readonly Declaration[] {
    const mention = new Map(this.#declarations.map((declaration, i) => [declaration, this.#mentions[i]!]));
    const last = new Map<VariableKind, number>();
    for (const [{ variable }, index] of mention) {
      if (index < (last.get(variable) ?? 0)) return this.#declarations;
      last.set(variable, index);
    }
    return this.#declarations.toSorted((a, b) => mention.get(a)! - mention.get(b)!);
  }

  readInputs(): Input[] {
    const reader = this.#reader;
    const count = this.format.wideInputCount ? reader.u32() : reader.u8();
    reader.countOf(count, 7, "inputs");
    return Array.from({ length: count }, () => this.#input());
  }

  /** Reads attributes of a variable or a routine. */
  readAttributes(count: number): DeclarationAttribute[] {
    return Array.from({ length: this.#reader.countOf(count, 3, "attributes") }, () => this.#attribute());
  }

  /** Reads an index of a string and checks it. */
  #stringIndex(width: "index" | "u16"): number {
    const start = this.#reader.at;
    const index = width === "u16" ? this.#reader.u16() : this.index();
    if (index < this.strings.length) return index;
    const message = `string ${index} does not exist: there are ${this.strings.length}`;
    throw new Malformed("visa-cisa-bad-index", { start, end: this.#reader.at }, message);
  }

  #general(number: number): void {
    const reader = this.#reader;
    const start = reader.at;
    const name = this.#declare("G", number);
    const properties = reader.u8();
    const type = dataTypes[properties & 0xf]!;
    if (type === "bool" || ["v", "uv", "vf"].includes(type)) {
      throw this.#badValue(reader.at - 1, `a general variable cannot have the type ${type}`);
    }
    this.#elementBytes.set(number, typeBytes(type));
    const align = alignments[properties >> 4];
    if (align === undefined) throw this.#badValue(reader.at - 1, `alignment ${properties >> 4} does not exist`);
    const alignSpan = { start: reader.at - 1, end: reader.at };
    const elements = reader.u16();
    const aliasAt = reader.at;
    const of = this.index();
    const offset = reader.u16();
    const alias = of === 0 ? null : { of: this.name("G", of, aliasAt), offset };
    const scope = reader.u8();
    if (scope !== 0) throw this.#badValue(reader.at - 1, "an alias of a variable of the file; these no longer exist");
    const attributes = this.readAttributes(reader.u8());
    this.#declarations.push({
      kind: "decl",
      start,
      end: reader.at,
      name,
      variable: "G",
      type,
      elements,
      align: properties >> 4 === 0 ? null : { text: align, ...alignSpan },
      alias,
      attributes,
      shown: null,
    });
  }

  #other(variable: Exclude<VariableKind, "G">, number: number): void {
    const reader = this.#reader;
    const start = reader.at;
    const name = this.#declare(variable, number);
    const elements = reader.u16();
    const attributes = this.readAttributes(reader.u8());
    // For samplers and surfaces, text says which name the file has.
    const shown = variable === "S" || variable === "T" ? { ...name } : null;
    const declaration = { kind: "decl", name, variable, elements, attributes, shown } as const;
    this.#declarations.push({ ...declaration, type: null, align: null, alias: null, start, end: reader.at });
  }

  #label(number: number): void {
    const reader = this.#reader;
    const { text } = this.string();
    const kind = reader.u8();
    if (kind > labelKinds.kernel) throw this.#badValue(reader.at - 1, `labels have no kind ${kind}`);
    this.#names.L.set(number, this.#labels.give(text, "L", number));
    if (kind === labelKinds.kernel) this.#kernels.add(number);
    this.readAttributes(reader.u8());
  }

  #declare(kind: VariableKind, number: number): Name {
    const start = this.#reader.at;
    const index = this.#stringIndex("index");
    const name = this.#variables.give(this.strings[index]!, kind === "G" ? "V" : kind, number);
    this.#names[kind].set(number, name);
    this.#mentions.push(index);
    return { text: name, start, end: this.#reader.at };
  }

  #input(): Input {
    const reader = this.#reader;
    const start = reader.at;
    const properties = reader.u8();
    const kind = (["G", "S", "T"] as const)[properties & 7];
    if (kind === undefined) throw this.#badValue(start, `inputs have no category ${properties & 7}`);
    const at = reader.at;
    const name = this.name(kind, this.index(), at);
    if (name.text.startsWith("%")) throw this.#badValue(at, `the predefined variable ${name.text} cannot be an input`);
    const offset = reader.i16();
    if (offset < 0) throw this.#badValue(reader.at - 2, "an input cannot lie before the payload");
    const size = reader.u16();
    const implicit = implicitName(properties >> 3);
    return { kind: "input", start, end: reader.at, implicit, name, offset, size, attributes: [] };
  }

  #attribute(): DeclarationAttribute {
    const reader = this.#reader;
    const name = this.string();
    if (!isName(name.text)) throw this.#badValue(name.start, "the name of an attribute is not one that text can have");
    const value = this.#attributeValue(name.text, reader.u8());
    return { name, value, start: name.start, end: reader.at };
  }

  #attributeValue(name: string, size: number): AttributeValue {
    const reader = this.#reader;
    const start = reader.at;
    if (textAttributes.has(name)) return reader.text(size);
    if (size === 0) return null;
    if (name === "Target" && size === 1) return targets[reader.u8()] ?? reader.bytes[start]!;
    if (size === 1) return (reader.u8() << 24) >> 24;
    if (size === 2) return reader.i16();
    return size === 4 ? reader.i32() : reader.text(size);
  }

  #badValue(start: number, message: string): Malformed {
    return new Malformed("visa-cisa-bad-value", { start, end: start + 1 }, message);
  }
}

const implicitName = (code: number): string =>
  code === pseudoInput.code ? pseudoInput.name : (implicitInputs[code] ?? `UNDEFINED_${code}`);
