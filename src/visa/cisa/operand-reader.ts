import type { OperandSpec } from "../isa/row.ts";
import type { FieldWidth } from "../isa/template.ts";
import type {
  ExecSize,
  Name,
  NameOperand,
  Operand,
  Predicate,
  RawOperand,
  Region,
  SourceModifier,
  VectorOperand,
} from "../tree.ts";
import { type DataType, dataTypes, isFloat, typeBytes } from "../types.ts";
import { type ByteReader, Malformed } from "./byte-reader.ts";
import { execSizes, operandClasses, rowBytes, saturation, sourceModifiers, strides, takesAddress } from "./format.ts";
import { variableClasses } from "./packed.ts";
import type { Tables } from "./tables.ts";

type VectorSpec = Extract<OperandSpec, { class: "vector" }>;

/** The specification of sources that a row does not describe. */
const anySource: VectorSpec = { class: "vector", role: "src", forms: [], types: dataTypes };
/** The specification of sources in the parentheses and brackets of LSC addresses. */
export const bareSource: VectorSpec = { ...anySource, plain: true };

/** Reads the fields of instructions (5_operands.md). All methods throw `Malformed`. */
export class OperandReader {
  readonly reader: ByteReader;
  readonly tables: Tables;

  constructor(reader: ByteReader, tables: Tables) {
    this.reader = reader;
    this.tables = tables;
  }

  field(width: FieldWidth): number {
    return this.reader[width]();
  }

  /** Reads an execution size and mask. */
  exec(): ExecSize {
    const start = this.reader.at;
    const byte = this.reader.u8();
    const size = execSizes[byte & 0xf];
    if (size === undefined) throw this.#bad(start, `execution sizes have no code ${byte & 0xf}`);
    return { ...this.#mask(byte >> 4, start), size, start, end: this.reader.at };
  }

  /** Reads the number of elements and the mask of `gather` and `scatter`. */
  execElements(): ExecSize {
    const start = this.reader.at;
    const byte = this.reader.u8();
    const size = [8, 16, 1][byte & 3];
    if (size === undefined) throw this.#bad(start, "there is no number of elements with the code 3");
    return { ...this.#mask(byte >> 4, start), size, start, end: this.reader.at };
  }

  predicate(): Predicate | null {
    const start = this.reader.at;
    const value = this.reader.u16();
    if (value === 0) return null;
    const collapse = ([null, "any", "all"] as const)[(value >> 13) & 3];
    if (collapse === undefined) throw this.#bad(start, "a predicate cannot be both any and all");
    const name = this.tables.name("P", value & 0xfff, start);
    return { name, inverted: value >= 0x8000, collapse, start, end: this.reader.at };
  }

  raw(): RawOperand {
    const start = this.reader.at;
    const variable = this.tables.name("G", this.tables.index(), start);
    const offset = this.reader.u16();
    return { kind: "raw", variable, offset, start, end: this.reader.at };
  }

  /** Reads a vector operand; calls `saturate` if its modifier says that the destination saturates. */
  vector(spec: VectorSpec = anySource, saturate?: () => void): VectorOperand | NameOperand {
    const start = this.reader.at;
    const tag = this.reader.u8();
    const operand = this.#ofClass(tag & 7, spec, start);
    if (tag >> 3 === 0) return operand;
    return this.#modified(operand, tag >> 3, start, spec, saturate);
  }

  /** Reads an operand that is neither a vector, a raw nor an LSC operand: a name or a number. */
  simple(spec: OperandSpec, width: FieldWidth | null): Operand {
    const start = this.reader.at;
    switch (spec.class) {
      case "predicate": {
        const operand = this.vector();
        if (operand.kind === "name") return operand;
        throw this.#bad(start, "this operand must be a predicate");
      }
      case "surface":
        return this.#named("T", this.reader.u8(), start);
      case "sampler":
        return this.#named("S", this.reader.u8(), start);
      case "label":
      case "kernel": {
        const number = this.reader.u16();
        if (this.tables.isKernel(number) !== (spec.class === "kernel"))
          throw this.#bad(start, "a label of another kind");
        return this.#named("L", number, start);
      }
      case "routine": {
        const name = this.tables.string("u16");
        return { kind: "name", name, start, end: this.reader.at };
      }
      case "string": {
        const { text } = this.tables.string();
        return { kind: "string", text, start, end: this.reader.at };
      }
      case "number": {
        const value = this.field(width ?? "u8");
        return { kind: "number", value, start, end: this.reader.at };
      }
      default:
        throw this.#bad(start, `a ${spec.class} is not read like this`);
    }
  }

  /** Reads the number of a variable of any kind, whose class has been read before. */
  variable(variableClass: number): NameOperand {
    const start = this.reader.at;
    const kind = (["G", "A", "P"] as const).find((k) => variableClasses[k] === variableClass);
    if (kind === undefined) throw this.#bad(start, `variables have no class ${variableClass}`);
    return this.#named(kind, this.tables.index(), start);
  }

  labels(count: number): readonly Name[] {
    this.reader.countOf(count, 2, "labels");
    return Array.from({ length: count }, () => {
      const start = this.reader.at;
      return this.tables.name("L", this.reader.u16(), start);
    });
  }

  #named(kind: "G" | "A" | "P" | "S" | "T" | "L", number: number, start: number): NameOperand {
    const name = this.tables.name(kind, number, start);
    return { kind: "name", name, start, end: this.reader.at };
  }

  #ofClass(operandClass: number, spec: VectorSpec, start: number): VectorOperand | NameOperand {
    switch (operandClass) {
      case operandClasses.general:
        return this.#general(spec, start);
      case operandClasses.address: {
        const variable = this.tables.name("A", this.reader.u16(), start);
        const element = this.reader.u8();
        const code = this.reader.u8();
        const width = execSizes[code];
        if (width === undefined) throw this.#bad(start, `address operands have no width with the code ${code}`);
        return { kind: "address", variable, element, width, start, end: this.reader.at };
      }
      case operandClasses.predicate: {
        const value = this.reader.u16();
        if (value > 0xfff) throw this.#bad(start, "a predicate operand cannot be inverted or collapsed");
        return this.#named("P", value, start);
      }
      case operandClasses.indirect: {
        const variable = this.tables.name("A", this.reader.u16(), start);
        const element = this.reader.u8();
        const offset = this.reader.i16();
        const type = dataTypes[this.reader.u8() & 0xf]!;
        const region = this.#region();
        const rest = { start, end: this.reader.at, modifier: null };
        return { kind: "indirect", variable, element, offset, region, type, ...rest };
      }
      case operandClasses.immediate: {
        const type = dataTypes[this.reader.u8() & 0xf]!;
        if (type === "bool") throw this.#bad(start, "an immediate cannot have the type bool");
        const bits = typeBytes(type) === 8 ? this.reader.u64() : extended(BigInt(this.reader.u32()), type);
        return { kind: "immediate", type, bits, start, end: this.reader.at };
      }
      case operandClasses.state:
        return this.#state(spec, start);
      default:
        throw this.#bad(start, `operands have no class ${operandClass}`);
    }
  }

  /**
   * Files hold the address of a variable as if it were the variable's operand; which of them is meant depends on the
   * instruction.
   */
  #general(spec: VectorSpec, start: number): VectorOperand {
    const number = this.tables.index();
    const variable = this.tables.name("G", number, start);
    const row = this.reader.u8();
    const column = this.reader.u8();
    const region = this.#region();
    const span = { start, end: this.reader.at };
    if (!takesAddress(spec)) return { kind: "general", variable, row, column, region, modifier: null, ...span };
    const offset = row * rowBytes + column * this.tables.elementBytes(number);
    return { kind: "address-of", variable, offset, ...span };
  }

  #state(spec: VectorSpec, start: number): VectorOperand {
    const kind = (["T", "S"] as const)[this.reader.u8()];
    if (kind === undefined) throw this.#bad(start, "a state is a surface or a sampler");
    const variable = this.tables.name(kind, this.reader.u16(), start);
    const element = this.reader.u8();
    const span = { start, end: this.reader.at };
    if (takesAddress(spec)) return { kind: "address-of", variable, offset: element, ...span };
    return { kind: "state", variable, element, ...span };
  }

  #region(): Region {
    const start = this.reader.at;
    const codes = this.reader.u16();
    const stride = (shift: number): number | null => {
      const code = (codes >> shift) & 0xf;
      const value = strides[code];
      if (value === undefined) throw this.#bad(start, `regions have no stride or width with the code ${code}`);
      return value;
    };
    return { vertical: stride(0), width: stride(4), horizontal: stride(8) };
  }

  #modified(
    operand: VectorOperand | NameOperand,
    code: number,
    start: number,
    { role, plain }: VectorSpec,
    saturate: (() => void) | undefined,
  ): VectorOperand | NameOperand {
    if (role === "dst" && code === saturation && saturate !== undefined) {
      saturate();
      return operand;
    }
    const modifier: SourceModifier | undefined = sourceModifiers[code];
    const takesOne = role === "src" && plain !== true && (operand.kind === "general" || operand.kind === "indirect");
    if (modifier !== undefined && takesOne) return { ...operand, modifier };
    throw this.#bad(start, `this operand cannot have the modifier ${code}`);
  }

  /** The codes of masks. In version 3.0 they were M1 to M8, no mask, and the whole mask. */
  #mask(code: number, start: number): Pick<ExecSize, "offset" | "noMask"> {
    const { major, minor } = this.tables.format;
    if (major > 3 || minor > 0) return { offset: 4 * (code & 7), noMask: code > 7 };
    if (code > 9) throw this.#bad(start, `version 3.0 has no mask ${code}`);
    return { offset: code > 7 ? 0 : 4 * code, noMask: code === 8 };
  }

  #bad(start: number, message: string): Malformed {
    return new Malformed("visa-cisa-bad-value", { start, end: Math.max(start + 1, this.reader.at) }, message);
  }
}

/**
 * Drops the bits above a type's own, unless they extend it: files extend integers to 32 bits, and any other bits there
 * have no meaning.
 */
function extended(bits: bigint, type: DataType): bigint {
  const width = 8 * typeBytes(type);
  const isExtended = !isFloat(type) && BigInt.asUintN(32, BigInt.asIntN(width, bits)) === bits;
  return isExtended ? bits : BigInt.asUintN(width, bits);
}
