import type { OperandSpec, Row } from "../isa/row.ts";
import { rowsOfOpcode } from "../isa/table.ts";
import { type FileItem, mnemonicItem } from "../isa/template.ts";
import type { ExecSize, Instruction, Operand, Predicate, RawOperand, VectorOperand } from "../tree.ts";
import { Malformed } from "./byte-reader.ts";
import { layoutOf, narrowOperation } from "./layout.ts";
import { LscParts, type Part } from "./lsc-reader.ts";
import { bareSource, type OperandReader } from "./operand-reader.ts";
import { choiceOfCode, codeByDefault, type OptionSpec, optionalOperands } from "./options.ts";
import { unpack } from "./packed.ts";
import { modeText, valuesOf } from "./render-target.ts";

/**
 * Reads the instruction whose opcode was read at `start`. If several rows share the opcode, the first whose constants
 * and operand forms match those of the file is taken; failing that, the first that can be read at all.
 *
 * @throws Malformed
 */
export function readInstruction(fields: OperandReader, opcode: number, start: number): Instruction {
  const { reader } = fields;
  const rows = rowsOfOpcode(opcode);
  const at = reader.at;
  const sub = rows.some((row) => row.sub !== null) ? reader.u8() : null;
  const candidates = rows.filter((row) => row.sub === sub);
  const span = { start, end: reader.at };
  if (candidates.length === 0) throw new Malformed("visa-cisa-unknown-opcode", span, noOpcode(opcode, sub));
  reader.at = at;

  let failure: Malformed | null = null;
  for (const strict of candidates.length > 1 ? [true, false] : [false]) {
    for (const row of candidates) {
      try {
        return new Draft(fields, row, start, strict).read();
      } catch (error) {
        if (!(error instanceof Malformed)) throw error;
        if (failure === null || error.span.start > failure.span.start) failure = error;
        reader.at = at;
      }
    }
  }
  throw failure!;
}

const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, "0")}`;

const noOpcode = (opcode: number, sub: number | null): string =>
  sub === null ? `${hex(opcode)} is not an opcode` : `${hex(sub)} is not a sub-opcode of ${hex(opcode)}`;

/** The reading of an instruction as one particular row. */
class Draft {
  readonly #fields: OperandReader;
  readonly #row: Row;
  readonly #start: number;
  readonly #strict: boolean;
  readonly #operands: Record<string, Operand> = {};
  /** The parts of operands that are spread over several fields, by operand and part. */
  readonly #parts = new Map<string, Map<string, Part>>();
  #exec: ExecSize | null = null;
  #predicate: Predicate | null = null;
  #saturate = false;

  constructor(fields: OperandReader, row: Row, start: number, strict: boolean) {
    this.#fields = fields;
    this.#row = row;
    this.#start = start;
    this.#strict = strict;
  }

  read(): Instruction {
    const { reader, tables } = this.#fields;
    const items = layoutOf(this.#row, tables.format);
    if (items === null)
      throw this.#malformed("visa-cisa-unknown-layout", `the layout of ${this.#row.mnemonic} is not known`);
    if (this.#row.sub !== null) reader.u8();
    for (const item of items) this.#item(item);
    if (!tables.format.lacksOperands) this.#assemble();
    return {
      kind: "instruction",
      row: this.#row,
      mnemonic: { text: this.#mnemonic(), start: this.#start, end: this.#start + 1 },
      predicate: this.#predicate,
      saturate: this.#saturate,
      exec: this.#exec,
      operands: this.#operands,
      start: this.#start,
      end: reader.at,
    };
  }

  #item(item: FileItem): void {
    const fields = this.#fields;
    switch (item.kind) {
      case "exec":
        this.#exec = fields.exec();
        return;
      case "exec-elements":
        this.#exec = fields.execElements();
        return;
      case "pred":
        this.#predicate = fields.predicate();
        return;
      case "null":
        this.#expect(fields.raw().variable.text === "%null", "a raw operand that is not %null");
        return;
      case "zero":
        // Reserved. Other readers do not check it either.
        fields.field(item.width);
        return;
      case "constant":
        this.#expect(fields.field("u8") === item.value, `a field that is not ${item.value}`);
        return;
      case "packed":
        this.#packed(item);
        return;
      case "operand":
        if (item.part === null) this.#operand(item.operand, item.width);
        else this.#part(item.operand, item.part, item.width);
    }
  }

  #packed(item: Extract<FileItem, { kind: "packed" }>): void {
    const start = this.#fields.reader.at;
    const value = this.#fields.field(item.width);
    const narrow = item.width === "u16" ? narrowOperation(value) : value;
    const values = narrow === null ? null : unpack(narrow, item, this.#row);
    if (values === null) throw this.#malformed("visa-cisa-bad-value", `the flags ${hex(value)} have no meaning here`);
    for (const [{ operand, part }, partValue] of values) {
      if (part !== null) this.#record(operand, part, partValue, start);
      else this.#number(operand, partValue, start);
    }
  }

  #operand(name: string, width: Extract<FileItem, { kind: "operand" }>["width"]): void {
    const fields = this.#fields;
    const start = fields.reader.at;
    const spec = this.#spec(name);
    switch (spec.class) {
      case "vector":
        this.#operands[name] = this.#vector(spec);
        return;
      case "raw":
        this.#operands[name] = fields.raw();
        return;
      case "option":
        this.#number(name, fields.field(width ?? "u8"), start);
        return;
      case "labels": {
        const names = fields.labels(this.#partOf(name, "count"));
        this.#operands[name] = { kind: "names", names, start, end: fields.reader.at };
        return;
      }
      case "list": {
        const count = fields.reader.countOf(fields.reader.u8(), 4, "parameters");
        const items = Array.from({ length: count }, () => fields.raw());
        this.#operands[name] = { kind: "list", items, start, end: fields.reader.at };
        return;
      }
      case "variable":
        this.#operands[name] = fields.variable(this.#partOf(name, "class"));
        return;
      default:
        this.#operands[name] = fields.simple(spec, width);
    }
  }

  #vector(spec: Extract<OperandSpec, { class: "vector" }>): VectorOperand | Extract<Operand, { kind: "name" }> {
    const start = this.#fields.reader.at;
    const saturate = canSaturate(this.#row) ? () => (this.#saturate = true) : undefined;
    const operand = this.#fields.vector(spec, saturate);
    const form = operand.kind === "name" ? "predicate" : operand.kind;
    if (!this.#strict || spec.forms.includes(form)) return operand;
    throw new Malformed(
      "visa-cisa-bad-value",
      { start, end: this.#fields.reader.at },
      `an operand of the form ${form} cannot stand here`,
    );
  }

  /** Sets an option or number from its code in the file. */
  #number(name: string, code: number, start: number): void {
    const spec = this.#spec(name);
    const span = { start, end: this.#fields.reader.at };
    if (spec.class !== "option") {
      this.#operands[name] = { kind: "number", value: code, ...span };
      return;
    }
    const choice = this.#choice(name, spec, code);
    if (choice !== null) this.#operands[name] = { kind: "option", choice, ...span };
  }

  /** The choice with a code; null if it is one that text leaves out. */
  #choice(name: string, spec: OptionSpec, code: number): string | null {
    if (optionalOperands(this.#row).has(name) && code === codeByDefault(spec)) return null;
    const choice = choiceOfCode(spec, code);
    if (choice === undefined) throw this.#malformed("visa-cisa-bad-value", `there is no ${name} with the code ${code}`);
    return choice;
  }

  #part(name: string, part: string, width: Extract<FileItem, { kind: "operand" }>["width"]): void {
    const start = this.#fields.reader.at;
    if (part === "outputs") {
      const kinds = valuesOf(this.#partOf("mode", "flags"));
      const items = kinds.map((kind) => (kind === "raw" ? this.#fields.raw() : this.#notName(this.#fields.vector())));
      this.#operands[name] = { kind: "list", items, start, end: this.#fields.reader.at };
      return;
    }
    this.#record(name, part, this.#partValue(part, width), start);
  }

  #partValue(
    part: string,
    width: Extract<FileItem, { kind: "operand" }>["width"],
  ): number | RawOperand | VectorOperand {
    const fields = this.#fields;
    if (part === "register") return fields.raw();
    if (part === "surface" || part === "pitch") return this.#notName(fields.vector(bareSource));
    if (!/^base\d$/.test(part)) return fields.field(width ?? "u8");
    return this.#shape() === "block" ? this.#notName(fields.vector(bareSource)) : fields.raw();
  }

  #notName(operand: VectorOperand | Extract<Operand, { kind: "name" }>): VectorOperand {
    if (operand.kind !== "name") return operand;
    throw new Malformed("visa-cisa-bad-value", operand, "a predicate cannot be an address");
  }

  #record(name: string, part: string, value: Part["value"], start: number): void {
    let parts = this.#parts.get(name);
    if (parts === undefined) this.#parts.set(name, (parts = new Map()));
    parts.set(part, { value, start, end: this.#fields.reader.at });
  }

  #partOf(name: string, part: string): number {
    const value = this.#parts.get(name)?.get(part)?.value;
    return typeof value === "number" ? value : 0;
  }

  /** Builds the operands whose parts are spread over several fields. */
  #assemble(): void {
    for (const [name, parts] of this.#parts) {
      const spec = this.#spec(name);
      if (spec.class === "lsc-address") this.#operands[name] = new LscParts(parts).address();
      else if (spec.class === "lsc-data") this.#operands[name] = new LscParts(this.#dataParts(parts)).data(spec.shape);
      else if (spec.class === "vector") this.#operands[name] = bitsAsImmediate(parts.get("bits")!);
      else if (spec.class === "string") this.#mode(name, parts.get("flags")!);
    }
    this.#pairSuffixes();
  }

  /** Sets the mode of a render-target write. */
  #mode(name: string, { value, start, end }: Part): void {
    const text = typeof value === "number" ? modeText(value) : null;
    if (text === null) {
      throw new Malformed("visa-cisa-bad-value", { start, end }, "the mode has bits without a meaning");
    }
    if (text !== "") this.#operands[name] = { kind: "string", text, start, end };
  }

  /**
   * Completes pairs of suffixes that are written or left out together: if one is there, the other is set to its
   * default.
   */
  #pairSuffixes(): void {
    const item = mnemonicItem(this.#row);
    for (const [i, suffix] of item.suffixes.entries()) {
      const before = item.suffixes[i - 1];
      if (suffix.kind !== "operand" || !suffix.paired || before?.kind !== "operand") continue;
      const present = this.#operands[before.operand] ?? this.#operands[suffix.operand];
      if (present === undefined) continue;
      for (const name of [before.operand, suffix.operand]) {
        const spec = this.#spec(name);
        if (spec.class !== "option" || this.#operands[name] !== undefined) continue;
        const { start, end } = present;
        this.#operands[name] = { kind: "option", choice: spec.byDefault ?? choiceOfCode(spec, 0) ?? "", start, end };
      }
    }
  }

  /** A second data operand has a register of its own, and shares everything else with the first. */
  #dataParts(parts: ReadonlyMap<string, Part>): ReadonlyMap<string, Part> {
    return parts.has("size") ? parts : new Map([...(this.#parts.get("data") ?? []), ...parts]);
  }

  #shape(): string | null {
    const data = Object.values(this.#row.operands).find((spec) => spec.class === "lsc-data");
    return data?.class === "lsc-data" ? data.shape : null;
  }

  /** The mnemonic with its suffixes. */
  #mnemonic(): string {
    const item = mnemonicItem(this.#row);
    const suffixes = item.suffixes.map((suffix) => {
      if (suffix.kind === "sat") return this.#saturate ? ".sat" : "";
      const operand = this.#operands[suffix.operand];
      if (operand?.kind === "option") return `.${operand.choice}`;
      if (operand?.kind === "string") return `.${operand.text}`;
      return operand?.kind === "number" ? `.${operand.value}` : "";
    });
    return item.word + suffixes.join("");
  }

  #spec(name: string): OperandSpec {
    const spec = this.#row.operands[name];
    if (spec === undefined) throw new Error(`${this.#row.name} has no operand ${name}`);
    return spec;
  }

  #expect(holds: boolean, otherwise: string): void {
    if (!holds) throw this.#malformed("visa-cisa-bad-value", `${this.#row.mnemonic} has ${otherwise}`);
  }

  /** An error at the byte that was read last. */
  #malformed(code: Malformed["code"], message: string): Malformed {
    const end = this.#fields.reader.at;
    return new Malformed(code, { start: Math.max(this.#start, end - 1), end }, message);
  }
}

const canSaturate = (row: Row): boolean => mnemonicItem(row).suffixes.some(({ kind }) => kind === "sat");

const bitsAsImmediate = ({ value, start, end }: Part): Operand => ({
  kind: "immediate",
  type: "uw",
  bits: BigInt(typeof value === "number" ? value : 0),
  start,
  end,
});
