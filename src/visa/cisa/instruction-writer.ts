import type { Span } from "../../source/index.ts";
import type { Row } from "../isa/row.ts";
import { type FileItem, fileItems, type PackedPart } from "../isa/template.ts";
import type { Immediate, Instruction, Name, Operand, RawOperand, VectorOperand } from "../tree.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { FieldWriter } from "./field-writer.ts";
import { type LabelKind, takesAddress } from "./format.ts";
import { lscPart, unheldParts } from "./lsc-writer.ts";
import { OperandWriter } from "./operand-writer.ts";
import { codeByDefault } from "./options.ts";
import { variableClasses } from "./packed.ts";
import { modeBits, valuesOf } from "./render-target.ts";

/** Numbers of the labels and strings that an instruction names; the first mention of one assigns its number. */
export interface Mentions {
  label(name: Name, kind: LabelKind): number;
  string(text: string): number;
}

/** Writes the instructions of a routine, as their rows' layouts say. */
export class InstructionWriter {
  readonly #out: ByteWriter;
  readonly #fields: FieldWriter;
  readonly #operands: OperandWriter;
  readonly #mentions: Mentions;

  constructor(out: ByteWriter, fields: FieldWriter, mentions: Mentions) {
    this.#out = out;
    this.#fields = fields;
    this.#operands = new OperandWriter(out, fields);
    this.#mentions = mentions;
  }

  write(instruction: Instruction): void {
    const { row } = instruction;
    const items = fileItems(row);
    if (items === null) {
      const message = `the binary layout of ${row.mnemonic} is not known`;
      this.#fields.sink.error("visa-cisa-unknown-layout", instruction.mnemonic, message);
      return;
    }
    this.#out.u8(row.opcode);
    if (row.sub !== null) this.#out.u8(row.sub);
    for (const item of items) this.#item(item, instruction);
    this.#reportUnheld(instruction);
  }

  #item(item: FileItem, instruction: Instruction): void {
    const out = this.#out;
    switch (item.kind) {
      case "exec":
        this.#operands.exec(instruction.exec);
        return;
      case "exec-elements":
        this.#operands.execElements(instruction.exec);
        return;
      case "pred":
        this.#operands.predicate(instruction.predicate);
        return;
      case "null":
        this.#operands.raw(null);
        return;
      case "zero":
        this.#fields.field(out, item.width, 0, instruction, "");
        return;
      case "constant":
        out.u8(item.value);
        return;
      case "packed": {
        const value = item.parts.reduce<number>((sum, part) => sum + this.#packedPart(part, instruction), 0);
        this.#fields.field(out, item.width, value, instruction, "the combination of options");
        return;
      }
      case "operand":
        if (item.part === null) this.#operand(item, instruction);
        else this.#part(item, item.part, instruction);
    }
  }

  #packedPart(part: PackedPart, instruction: Instruction): number {
    if (typeof part === "number") return part;
    if (part.part === null) return this.#number(part.operand, instruction);
    const operand = instruction.operands[part.operand];
    const kind = operand?.kind === "name" ? this.#fields.variable(operand.name)?.kind : undefined;
    return kind === "A" || kind === "P" ? variableClasses[kind] : 0;
  }

  /** The code of an option or number; its default if it is left out. */
  #number(name: string, { row, operands }: Instruction): number {
    const spec = row.operands[name];
    const operand = operands[name];
    if (operand?.kind === "number") return operand.value;
    if (spec?.class !== "option") return 0;
    return operand?.kind === "option" ? (spec.choices[operand.choice] ?? 0) : codeByDefault(spec);
  }

  #operand({ operand: name, width }: Extract<FileItem, { kind: "operand" }>, instruction: Instruction): void {
    const out = this.#out;
    const spec = instruction.row.operands[name]!;
    const operand = instruction.operands[name];
    if (operand === undefined) {
      if (spec.class === "raw") this.#operands.raw(null);
      else this.#fields.field(out, width ?? "u8", this.#number(name, instruction), instruction, name);
      return;
    }
    switch (operand.kind) {
      case "number":
      case "option":
        this.#fields.field(out, width ?? "u8", this.#number(name, instruction), operand, name);
        return;
      case "raw":
        this.#operands.raw(operand);
        return;
      case "name":
        this.#name(operand, spec.class, spec.class === "label" ? spec.of : "block");
        return;
      case "names":
        for (const target of operand.names) out.u16(this.#mentions.label(target, "block"));
        return;
      case "string":
        out.u32(this.#mentions.string(operand.text));
        return;
      case "list":
        this.#fields.field(out, "u8", operand.items.length, operand, "the number of parameters");
        for (const item of operand.items) this.#listed(item);
        return;
      case "lsc-address":
      case "lsc-data":
        throw new Error(`${instruction.row.name} does not say which part of ${name} goes where`);
      default: {
        const isDestination = spec.class === "vector" && spec.role === "dst";
        if (operand.kind === "address-of" && !(spec.class === "vector" && takesAddress(spec))) {
          this.#fields.cannotHold(operand, "the address of a variable can only be the first source of addr_add");
        }
        this.#operands.vector(operand, isDestination && instruction.saturate);
      }
    }
  }

  #name(operand: Extract<Operand, { kind: "name" }>, specClass: string, of: "block" | "subroutine"): void {
    const out = this.#out;
    switch (specClass) {
      case "surface":
      case "sampler":
        this.#fields.field(out, "u8", this.#fields.numberOf(operand.name), operand, `the number of the ${specClass}`);
        return;
      case "label":
        out.u16(this.#mentions.label(operand.name, of));
        return;
      case "kernel":
        out.u16(this.#mentions.label(operand.name, "kernel"));
        return;
      case "routine": {
        const index = this.#mentions.string(operand.name.text);
        this.#fields.field(out, "u16", index, operand, "the index of the function's name");
        return;
      }
      case "variable":
        out.u32(this.#fields.numberOf(operand.name));
        return;
      default:
        this.#operands.vector(operand);
    }
  }

  #part(item: Extract<FileItem, { kind: "operand" }>, part: string, instruction: Instruction): void {
    const operand = instruction.operands[item.operand];
    if (operand?.kind === "names" && part === "count") {
      this.#fields.field(this.#out, item.width ?? "u8", operand.names.length, operand, "the number of labels");
      return;
    }
    if (part === "flags" || part === "outputs") {
      this.#renderTarget(part, operand ?? instruction, instruction);
      return;
    }
    const value = operand === undefined ? null : lscPart(operand, part);
    if (value === undefined) {
      this.#fields.cannotHold(operand ?? instruction, `there is no code for its ${part}`);
    } else if (typeof value === "number") {
      this.#fields.field(this.#out, item.width ?? "u8", value, operand ?? instruction, `its ${part}`);
    } else if (value?.kind === "raw") this.#operands.raw(value);
    else if (value !== null) this.#operands.vector(value);
    else if (part === "surface" || part === "pitch") this.#operands.vector(noSurface);
    else this.#operands.raw(null);
  }

  /** Writes the mode of a render-target write, or its values, which must be those that the mode requires. */
  #renderTarget(part: "flags" | "outputs", place: Span, { operands }: Instruction): void {
    const { mode, values } = operands;
    const bits = mode?.kind === "string" ? modeBits(mode.text) : 0;
    if (part === "flags") {
      if (bits === null) this.#fields.cannotHold(place, "the mode has an unknown part");
      this.#out.u16(bits ?? 0);
      return;
    }
    const items = values?.kind === "list" ? values.items : [];
    const wanted = valuesOf(bits ?? 0);
    if (items.length !== wanted.length || items.some(({ kind }, i) => (kind === "raw") !== (wanted[i] === "raw"))) {
      const kinds = wanted.join(", ");
      this.#fields.cannotHold(place, `this mode takes ${wanted.length} operands: ${kinds}`);
    }
    for (const item of items) this.#listed(item);
  }

  #listed(item: RawOperand | VectorOperand): void {
    if (item.kind === "raw") this.#operands.raw(item);
    else this.#operands.vector(item);
  }

  /** Reports operands, and parts of them, that the layout has no field for. */
  #reportUnheld(instruction: Instruction): void {
    const { row, operands, mnemonic } = instruction;
    const held = heldBy(row);
    for (const [name, operand] of Object.entries(operands)) {
      const parts = held.get(name);
      if (parts === undefined) {
        this.#fields.cannotHold(operand, `${mnemonic.text} has no field for this (${name})`);
      } else if (operand.kind === "lsc-address") {
        for (const what of unheldParts(operand, parts)) {
          this.#fields.cannotHold(operand, `${mnemonic.text} has no field for ${what}`);
        }
      }
    }
  }
}

const noSurface: Immediate = { kind: "immediate", type: "ud", bits: 0n, start: 0, end: 0 };

const held = new WeakMap<Row, ReadonlyMap<string, ReadonlySet<string>>>();

/** The operands that a row's layout has fields for, with the parts that it names. */
function heldBy(row: Row): ReadonlyMap<string, ReadonlySet<string>> {
  const known = held.get(row);
  if (known !== undefined) return known;
  const found = new Map<string, Set<string>>();
  const add = (operand: string, part: string | null): void => {
    const parts = found.get(operand) ?? new Set();
    found.set(operand, part === null ? parts : parts.add(part));
  };
  for (const item of fileItems(row) ?? []) {
    if (item.kind === "operand") add(item.operand, item.part);
    if (item.kind !== "packed") continue;
    for (const part of item.parts) if (typeof part !== "number") add(part.operand, part.part);
  }
  held.set(row, found);
  return found;
}
