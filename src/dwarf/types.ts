import { demangle } from "../names/index.ts";
import { At, Encoding, Form, Tag } from "./constants.ts";
import { type Entries, type Entry, numberOf, textOf } from "./entries.ts";
import { Reader } from "./reader.ts";

/** How the bytes of a base type are read. */
export type BaseEncoding = "signed" | "unsigned" | "float" | "boolean" | "signed-char" | "unsigned-char";

/** A member of a struct, class or union, or a base class. */
export interface Member {
  /** Empty for an anonymous struct or union. */
  readonly name: string;
  readonly type: SourceType;
  /** In bytes, from the start of the struct. */
  readonly offset: number;
  /** The position and number of bits in a little-endian word at `offset`, if it is a bit field. */
  readonly bits: { readonly from: number; readonly count: number } | null;
  /** Whether it is a base class. */
  readonly isBase: boolean;
}

/** A type of the source. */
export type SourceType =
  | { readonly kind: "base"; readonly name: string; readonly size: number; readonly encoding: BaseEncoding }
  | {
      readonly kind: "pointer" | "reference" | "rvalue-reference";
      /** Read on demand: types refer to themselves through pointers. */
      readonly target: () => SourceType;
      readonly size: number;
    }
  | {
      readonly kind: "struct";
      readonly keyword: "struct" | "class" | "union";
      readonly name: string | null;
      readonly size: number;
      /** Read on demand, like targets. */
      readonly members: () => readonly Member[];
    }
  /** `count` null: the size is not known. */
  | { readonly kind: "array"; readonly element: SourceType; readonly count: number | null }
  | {
      readonly kind: "enum";
      readonly name: string | null;
      readonly size: number;
      readonly values: readonly { readonly name: string; readonly value: bigint }[];
    }
  | {
      readonly kind: "typedef";
      readonly name: string;
      /** The type that it names. */
      readonly target: () => SourceType;
    }
  | {
      readonly kind: "qualified";
      readonly qualifier: string;
      /** The type without the qualifier. */
      readonly target: () => SourceType;
    }
  | { readonly kind: "function" }
  | { readonly kind: "void" }
  | { readonly kind: "unknown"; readonly why: string };

const unknown = (why: string): SourceType => ({ kind: "unknown", why });

const encodings: Readonly<Record<number, BaseEncoding>> = {
  [Encoding.boolean]: "boolean",
  [Encoding.float]: "float",
  [Encoding.signed]: "signed",
  [Encoding.signedChar]: "signed-char",
  [Encoding.unsigned]: "unsigned",
  [Encoding.unsignedChar]: "unsigned-char",
  [Encoding.utf]: "unsigned",
};

/** The most typedefs and qualifiers around a type: a malformed one may refer to itself. */
const maxLayers = 50;

/** Returns a type without typedefs and qualifiers. */
export function plainType(type: SourceType): SourceType {
  let at = type;
  for (let i = 0; i < maxLayers; i++) {
    if (at.kind !== "typedef" && at.kind !== "qualified") return at;
    at = at.target();
  }
  return unknown("its type refers to itself");
}

/** Returns the size of a type in bytes, or null if it is not known. */
export function sizeOfType(type: SourceType): number | null {
  const plain = plainType(type);
  switch (plain.kind) {
    case "array": {
      const element = sizeOfType(plain.element);
      return element === null || plain.count === null ? null : element * plain.count;
    }
    case "base":
    case "pointer":
    case "reference":
    case "rvalue-reference":
    case "struct":
    case "enum":
      return plain.size;
    default:
      return null;
  }
}

/** Returns a type as C++ writes it: "const float *", "int [2][3]". */
export function typeName(type: SourceType, depth = 0): string {
  if (depth > maxLayers) return "...";
  switch (type.kind) {
    case "base":
    case "typedef":
      return type.name;
    case "pointer":
    case "reference":
    case "rvalue-reference": {
      const mark = { pointer: "*", reference: "&", "rvalue-reference": "&&" }[type.kind];
      const target = typeName(type.target(), depth + 1);
      const bounds = /^(.*?) ?((?:\[\d*\])+)$/.exec(target);
      if (bounds !== null) return `${bounds[1]} (${mark}) ${bounds[2]}`;
      return target.endsWith("*") || target.endsWith("&") ? `${target}${mark}` : `${target} ${mark}`;
    }
    case "struct":
      return type.name ?? `${type.keyword} {...}`;
    case "enum":
      return type.name ?? "enum {...}";
    case "array": {
      const element = typeName(type.element, depth + 1);
      const [, inner = element, bounds = ""] = /^(.*?) ?((?:\[\d*\])+)$/.exec(element) ?? [];
      return `${inner} [${type.count ?? ""}]${bounds}`;
    }
    case "qualified": {
      const target = typeName(type.target(), depth + 1);
      return target.endsWith("*") ? `${target} ${type.qualifier}` : `${type.qualifier} ${target}`;
    }
    case "function":
      return "void ()";
    case "void":
      return "void";
    case "unknown":
      return "?";
  }
}

/** nvcc writes the linker's name of an enumeration. */
const plainName = (name: string): string => demangle(name)?.name ?? name;

const maxNesting = 100;

/** Reads types, each once. */
export class Types {
  readonly #entries: Entries;
  readonly #known = new Map<Entry, SourceType>();
  #nesting = 0;

  constructor(entries: Entries) {
    this.#entries = entries;
  }

  /** Returns the type that an entry refers to. */
  of(entry: Entry): SourceType {
    if (!entry.attributes.has(At.type)) return { kind: "void" };
    const referred = this.#entries.referred(entry, At.type);
    return referred === null ? unknown("its type is not in the debug information") : this.#type(referred);
  }

  #type(entry: Entry): SourceType {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    if (this.#nesting >= maxNesting) return unknown("its type refers to itself");
    this.#nesting++;
    const type = this.#read(entry);
    this.#nesting--;
    this.#known.set(entry, type);
    return type;
  }

  #read(entry: Entry): SourceType {
    const name = textOf(entry, At.name);
    const size = numberOf(entry, At.byteSize);
    const target = (): SourceType => this.of(entry);
    const pointerSize = size ?? entry.unit.addressSize;
    switch (entry.tag) {
      case Tag.baseType: {
        const encoding = encodings[numberOf(entry, At.encoding) ?? 0];
        if (encoding === undefined || size === null) return unknown(`the type ${name} has an unknown encoding`);
        return { kind: "base", name: name ?? "?", size, encoding };
      }
      case Tag.pointerType:
        return { kind: "pointer", target, size: pointerSize };
      case Tag.referenceType:
        return { kind: "reference", target, size: pointerSize };
      case Tag.rvalueReferenceType:
        return { kind: "rvalue-reference", target, size: pointerSize };
      case Tag.structureType:
      case Tag.classType:
      case Tag.unionType:
        return this.#struct(entry, name, size);
      case Tag.arrayType:
        return this.#array(entry);
      case Tag.enumerationType:
        return { kind: "enum", name: name && plainName(name), size: size ?? 4, values: enumerators(entry) };
      case Tag.typedef:
        return { kind: "typedef", name: name ?? "?", target };
      case Tag.constType:
        return { kind: "qualified", qualifier: "const", target };
      case Tag.volatileType:
        return { kind: "qualified", qualifier: "volatile", target };
      case Tag.restrictType:
        return { kind: "qualified", qualifier: "__restrict__", target };
      case Tag.atomicType:
        return { kind: "qualified", qualifier: "_Atomic", target };
      case Tag.subroutineType:
        return { kind: "function" };
      case Tag.unspecifiedType:
        return { kind: "void" };
      default:
        return unknown(`types of tag 0x${entry.tag.toString(16)} are not supported`);
    }
  }

  #struct(entry: Entry, name: string | null, size: number | null): SourceType {
    const keyword = entry.tag === Tag.unionType ? "union" : entry.tag === Tag.classType ? "class" : "struct";
    let members: readonly Member[] | null = null;
    const read = (): readonly Member[] => (members ??= this.#members(entry));
    return { kind: "struct", keyword, name: name && plainName(name), size: size ?? 0, members: read };
  }

  #members(entry: Entry): readonly Member[] {
    return entry.children.flatMap((child): Member[] => {
      const isBase = child.tag === Tag.inheritance;
      // Static members have a declaration only.
      const isStatic = child.attributes.has(At.external) || child.attributes.has(At.declaration);
      if (isStatic || (child.tag !== Tag.member && !isBase)) return [];
      const type = this.of(child);
      const offset = memberOffset(child);
      return [{ name: textOf(child, At.name) ?? "", type, isBase, ...fieldOf(child, offset, sizeOfType(type) ?? 0) }];
    });
  }

  #array(entry: Entry): SourceType {
    const counts = entry.children.filter(({ tag }) => tag === Tag.subrangeType).map(countOf);
    let type = this.of(entry);
    for (const count of counts.reverse()) type = { kind: "array", element: type, count };
    return type;
  }
}

const enumerators = ({ children }: Entry) =>
  children.flatMap((child) => {
    const value = child.attributes.get(At.constValue);
    if (child.tag !== Tag.enumerator || value?.kind !== "number") return [];
    return [{ name: plainName(textOf(child, At.name) ?? "?"), value: signed(value) }];
  });

/** Numbers of a fixed size may be negative. */
function signed({ value, form }: { readonly value: bigint; readonly form: number }): bigint {
  const sizes: Readonly<Record<number, number>> = {
    [Form.data1]: 8,
    [Form.data2]: 16,
    [Form.data4]: 32,
    [Form.data8]: 64,
  };
  const bits = sizes[form];
  return bits === undefined ? value : BigInt.asIntN(bits, value);
}

function countOf(entry: Entry): number | null {
  const count = numberOf(entry, At.count);
  const upper = numberOf(entry, At.upperBound);
  const found = count ?? (upper === null ? null : upper + 1);
  return found === null || found < 0 || found > 0x7fff_ffff ? null : found;
}

/** A number, or (before version 4) a location expression that adds one. */
function memberOffset(entry: Entry): number {
  const value = entry.attributes.get(At.dataMemberLocation);
  if (value?.kind === "number") return Number(value.value);
  if (value?.kind !== "block") return 0;
  const { section, start, end } = value.block;
  if (end - start < 2 || (section.bytes[start] !== 0x23 && section.bytes[start] !== 0x10)) return 0;
  return new Reader(section, start + 1, end).small();
}

/** Bit fields: before version 4 they are counted from the highest bit of the type's storage. */
function fieldOf(entry: Entry, offset: number, size: number): Pick<Member, "offset" | "bits"> {
  const count = numberOf(entry, At.bitSize);
  if (count === null || count < 1 || count > 64) return { offset, bits: null };
  const whole = numberOf(entry, At.dataBitOffset);
  if (whole !== null) return { offset: offset + (whole >> 3), bits: { from: whole & 7, count } };
  const storage = 8 * (numberOf(entry, At.byteSize) ?? size);
  const from = storage - (numberOf(entry, At.bitOffset) ?? 0) - count;
  return from < 0 ? { offset, bits: null } : { offset: offset + (from >> 3), bits: { from: from & 7, count } };
}
