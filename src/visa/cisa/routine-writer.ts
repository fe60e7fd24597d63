import type { Span } from "../../source/index.ts";
import type { BoundRoutine } from "../symbols.ts";
import type { Attribute, Declaration, DeclarationAttribute, Name, Statement } from "../tree.ts";
import { dataTypes, type VariableKind } from "../types.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { FieldWriter } from "./field-writer.ts";
import {
  alignments,
  bindlessSampler,
  implicitInputs,
  type LabelKind,
  labelKinds,
  markerOpcodes,
  numberAttributesOfVariables,
  pseudoInput,
  targets,
} from "./format.ts";
import { InstructionWriter, type Mentions } from "./instruction-writer.ts";
import { StringPool } from "./string-pool.ts";

/** The entries of a table: those of one kind of variable, or the attributes. */
class Table {
  readonly out = new ByteWriter();
  count = 0;
}

interface LabelEntry {
  readonly string: number;
  readonly kind: LabelKind;
}

/** A routine's bytes, and the offset in them of its inputs (kernels only). */
export interface WrittenRoutine {
  readonly bytes: Uint8Array;
  readonly inputs: number;
}

/** Writes one kernel or function in version 3.6; `fields` collects errors. */
export function writeRoutine(bound: BoundRoutine, fields: FieldWriter): WrittenRoutine {
  const writer = new RoutineWriter(bound, fields);
  writer.statements(bound.routine.statements);
  return writer.finish();
}

class RoutineWriter implements Mentions {
  readonly #bound: BoundRoutine;
  readonly #fields: FieldWriter;
  readonly #pool: StringPool;
  readonly #tables: Readonly<Record<VariableKind, Table>> = {
    G: new Table(),
    A: new Table(),
    P: new Table(),
    S: new Table(),
    T: new Table(),
  };
  readonly #attributes = new Table();
  /** In the order in which they are first mentioned. */
  readonly #labels: LabelEntry[] = [];
  readonly #labelNumbers = new Map<string, number>();
  readonly #code = new ByteWriter();
  readonly #instructions: InstructionWriter;

  constructor(bound: BoundRoutine, fields: FieldWriter) {
    this.#bound = bound;
    this.#fields = fields;
    this.#pool = new StringPool(bound.name);
    this.#instructions = new InstructionWriter(this.#code, fields, this);
  }

  statements(statements: readonly Statement[]): void {
    for (const statement of statements) this.#statement(statement);
  }

  finish(): WrittenRoutine {
    const out = new ByteWriter();
    this.#pool.write(out);
    out.u32(0); // the routine's name is the first string
    out.u32(this.#tables.G.count);
    out.bytes(this.#tables.G.out.finish());
    for (const kind of ["A", "P"] as const) this.#table(out, "u16", this.#tables[kind]);
    this.#writeLabels(out);
    for (const kind of ["S", "T"] as const) this.#table(out, "u8", this.#tables[kind]);
    out.u8(0); // variables for motion estimation, which no longer exist
    const inputs = out.length;
    if (this.#bound.kind === "kernel") this.#writeInputs(out);

    const code = this.#code.finish();
    const attributes = new ByteWriter();
    this.#table(attributes, "u16", this.#attributes);
    // The sizes of arguments and return values of a function are attributes; the fields for them stay 0.
    const sizes = this.#bound.kind === "function" ? 2 : 0;
    out.u32(code.length);
    out.u32(out.length + 4 + sizes + attributes.length);
    for (let i = 0; i < sizes; i++) out.u8(0);
    out.bytes(attributes.finish());
    out.bytes(code);
    return { bytes: out.finish(), inputs };
  }

  label(name: Name, kind: LabelKind): number {
    const known = this.#labelNumbers.get(name.text);
    if (known !== undefined) return known;
    const number = this.#labels.push({ string: this.string(name.text), kind }) - 1;
    this.#labelNumbers.set(name.text, number);
    if (number === 0xffff) this.#fields.cannotHold(name, "a routine can have at most 65535 labels");
    return number & 0xffff;
  }

  string(text: string): number {
    if (text.includes("\0")) this.#fields.cannotHold(this.#bound.routine.name, "a name contains a NUL");
    return this.#pool.add(text);
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case "decl":
        this.#declaration(statement);
        return;
      case "attribute":
        this.#attribute(statement);
        return;
      case "function-directive":
        this.#marker("subroutine", statement.name);
        return;
      case "label": {
        const number = this.#labelNumbers.get(statement.name.text);
        // The directive before it has already written the label of a `.function`.
        if (number === undefined || this.#labels[number]!.kind === "block") this.#marker("label", statement.name);
        return;
      }
      case "scope":
        this.statements(statement.statements);
        return;
      case "instruction":
        this.#instructions.write(statement);
        return;
      case "input":
      case "parameter":
      case "funcdecl":
      case "options":
        // Inputs have a table of their own; a file has no place for the others.
        return;
    }
  }

  #marker(marker: keyof typeof markerOpcodes, name: Name): void {
    this.#code.u8(markerOpcodes[marker]);
    this.#code.u16(this.label(name, marker === "label" ? "block" : "subroutine"));
  }

  #declaration(declaration: Declaration): void {
    const { variable: kind, name, attributes } = declaration;
    const table = this.#tables[kind];
    const { out } = table;
    table.count++;
    out.u32(this.string(name.text));
    if (kind === "G") out.u8(dataTypes.indexOf(declaration.type ?? "ud") | (this.#alignment(declaration) << 4));
    this.#field(out, "u16", declaration.elements, declaration, "the number of elements");
    if (kind === "G") {
      const { alias } = declaration;
      out.u32(alias === null ? 0 : this.#fields.numberOf(alias.of));
      this.#field(out, "u16", alias?.offset ?? 0, declaration, "the offset of the alias");
      out.u8(0); // an alias of one of the routine's variables, not the file's
    }
    this.#field(out, "u8", attributes.length, declaration, "the number of attributes");
    for (const attribute of attributes) this.#attributeOfVariable(out, attribute);
    if (kind === "S" && table.count === bindlessSampler + 1) {
      this.#fields.cannotHold(declaration, "a routine can declare at most 31 samplers");
    }
  }

  #alignment({ align }: Declaration): number {
    if (align === null) return 0;
    const code = alignments.indexOf(align.text);
    if (code < 0) this.#fields.cannotHold(align, `there is no code for the alignment ${align.text}`);
    return Math.max(0, code);
  }

  /** Writes an attribute of a variable: 4 bytes for a number, none for one that is either set or not. */
  #attributeOfVariable(out: ByteWriter, { name, value, ...span }: DeclarationAttribute): void {
    out.u32(this.string(name.text));
    if (typeof value === "string") this.#textValue(out, value, span);
    else if (numberAttributesOfVariables.has(name.text)) this.#numberValue(out, value ?? 0, span);
    else out.u8(0);
  }

  #attribute({ name, value, ...span }: Attribute): void {
    const { out } = this.#attributes;
    this.#attributes.count++;
    out.u32(this.string(name.text === "AsmName" ? "OutputAsmPath" : name.text));
    if (typeof value === "number") this.#numberValue(out, value, span);
    else if (value === null) out.u8(0);
    else if (name.text === "Target" && targets.includes(value)) {
      out.u8(1);
      out.u8(targets.indexOf(value));
    } else this.#textValue(out, value, span);
  }

  #numberValue(out: ByteWriter, value: number, span: Span): void {
    out.u8(4);
    this.#field(out, "i32", value, span, "the value");
  }

  #textValue(out: ByteWriter, value: string, span: Span): void {
    const text = new ByteWriter();
    text.text(value);
    this.#field(out, "u8", text.length, span, "the length of the value");
    out.bytes(text.finish());
  }

  #writeLabels(out: ByteWriter): void {
    out.u16(Math.min(0xffff, this.#labels.length));
    for (const { string, kind } of this.#labels) {
      out.u32(string);
      out.u8(labelKinds[kind]);
      out.u8(0); // attributes, which labels do not have
    }
  }

  #writeInputs(out: ByteWriter): void {
    const { inputs } = this.#bound;
    out.u32(inputs.length);
    for (const { variable, offset, size, implicit, span } of inputs) {
      const category = { G: 0, S: 1, T: 2, A: 0, P: 0 }[variable.kind];
      const code = implicitCode(implicit);
      if (code === null) this.#fields.cannotHold(span, `there is no code for an input of the kind ${implicit}`);
      out.u8(category | ((code ?? 0) << 3));
      out.u32(variable.index);
      this.#field(out, "i16", offset, span, "the offset");
      this.#field(out, "u16", size, span, "the size");
    }
  }

  #table(out: ByteWriter, width: "u8" | "u16", { count, out: entries }: Table): void {
    this.#field(out, width, count, this.#bound.routine.name, "the number of entries of a table");
    out.bytes(entries.finish());
  }

  #field(out: ByteWriter, width: Parameters<FieldWriter["field"]>[1], value: number, span: Span, what: string): void {
    this.#fields.field(out, width, value, span, what);
  }
}

/** The code of an implicit input's kind; null if it has none. */
function implicitCode(implicit: string): number | null {
  if (implicit === pseudoInput.name) return pseudoInput.code;
  const known = implicitInputs.indexOf(implicit);
  const code = known >= 0 ? known : Number(/^UNDEFINED_(\d+)$/.exec(implicit)?.[1] ?? Number.NaN);
  return code <= 0x1f ? code : null;
}
