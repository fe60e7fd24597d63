import type { ByteWriter } from "./byte-writer.ts";
import type { FieldWriter } from "./field-writer.ts";
import { execSizes, operandClasses, rowBytes, saturation, sourceModifiers, strides } from "./format.ts";
import { typeBytes, dataTypes } from "../types.ts";
import type {
  AddressOf,
  ExecSize,
  NameOperand,
  Predicate,
  RawOperand,
  Region,
  SourceModifier,
  VectorOperand,
} from "../tree.ts";
import type { Span } from "../../source/index.ts";

const modifierCodes = new Map(Object.entries(sourceModifiers).map(([code, name]) => [name, Number(code)]));

/** The region of an address, which is a scalar. */
const scalarRegion: Region = { vertical: 0, width: 1, horizontal: 0 };

/** Writes the operands of instructions by their forms (5_operands.md). */
export class OperandWriter {
  readonly #out: ByteWriter;
  readonly #fields: FieldWriter;

  constructor(out: ByteWriter, fields: FieldWriter) {
    this.#out = out;
    this.#fields = fields;
  }

  /** Writes an execution size and mask; for an instruction without one, the code 0 (M1, 1). */
  exec(exec: ExecSize | null): void {
    this.#out.u8(exec === null ? 0 : maskCode(exec) | Math.max(0, execSizes.indexOf(exec.size)));
  }

  /** Writes the number of elements and the mask of `gather` and `scatter`. */
  execElements(exec: ExecSize | null): void {
    const size = exec?.size ?? 8;
    this.#out.u8((exec === null ? 0 : maskCode(exec)) | (size === 16 ? 1 : size === 1 ? 2 : 0));
  }

  predicate(predicate: Predicate | null): void {
    if (predicate === null) {
      this.#out.u16(0);
      return;
    }
    const collapse = { none: 0, any: 0x2000, all: 0x4000 }[predicate.collapse ?? "none"];
    this.#out.u16(this.#predicateNumber(predicate) | collapse | (predicate.inverted ? 0x8000 : 0));
  }

  /** Writes a raw operand; null stands for %null. */
  raw(operand: RawOperand | null): void {
    this.#out.u32(operand === null ? 0 : this.#fields.numberOf(operand.variable));
    if (operand === null) this.#out.u16(0);
    else this.#fields.field(this.#out, "u16", operand.offset, operand, "the offset");
  }

  vector(operand: VectorOperand | NameOperand, saturate = false): void {
    switch (operand.kind) {
      case "general":
        this.#tag("general", saturate ? saturation : operand.modifier);
        this.#general(this.#fields.numberOf(operand.variable), operand.row, operand.column, operand.region, operand);
        return;
      case "address":
        this.#tag("address");
        this.#address(operand);
        this.#out.u8(Math.max(0, execSizes.indexOf(operand.width)));
        return;
      case "name":
        this.#tag("predicate");
        this.#out.u16(this.#predicateNumber(operand));
        return;
      case "indirect":
        this.#tag("indirect", saturate ? saturation : operand.modifier);
        this.#address(operand);
        this.#fields.field(this.#out, "i16", operand.offset, operand, "the offset");
        this.#out.u8(dataTypes.indexOf(operand.type));
        this.#region(operand.region, operand);
        return;
      case "immediate":
        this.#tag("immediate");
        this.#out.u8(dataTypes.indexOf(operand.type));
        if (typeBytes(operand.type) === 8) this.#out.u64(BigInt.asUintN(64, operand.bits));
        else this.#out.u32(Number(BigInt.asUintN(32, operand.bits)));
        return;
      case "state":
        this.#state(operand, operand.element);
        return;
      case "address-of":
        this.#addressOf(operand);
    }
  }

  /** Writes an address as if it were the variable's operand; which of them is meant depends on the instruction. */
  #addressOf(operand: AddressOf): void {
    const variable = this.#fields.variable(operand.variable);
    if (variable === null || variable.kind !== "G") {
      this.#state(operand, operand.offset);
      return;
    }
    const row = Math.floor(operand.offset / rowBytes);
    const column = (operand.offset % rowBytes) / typeBytes(variable.type);
    if (!Number.isInteger(column)) {
      this.#fields.cannotHold(operand, `byte ${operand.offset} is not the start of an element of ${variable.name}`);
    }
    this.#tag("general");
    this.#general(variable.index, row, Math.floor(column), scalarRegion, operand);
  }

  #general(number: number, row: number, column: number, region: Region, span: Span): void {
    this.#out.u32(number);
    this.#fields.field(this.#out, "u8", row, span, "the row");
    this.#fields.field(this.#out, "u8", column, span, "the column");
    this.#region(region, span);
  }

  #address(operand: Extract<VectorOperand, { kind: "address" | "indirect" }>): void {
    this.#out.u16(this.#fields.numberOf(operand.variable));
    this.#fields.field(this.#out, "u8", operand.element, operand, "the element");
  }

  #state(operand: Extract<VectorOperand, { kind: "state" | "address-of" }>, element: number): void {
    const variable = this.#fields.variable(operand.variable);
    this.#tag("state");
    this.#out.u8(variable?.kind === "S" ? 1 : 0);
    this.#out.u16(variable?.index ?? 0);
    this.#fields.field(this.#out, "u8", element, operand, "the element");
  }

  #region({ vertical, width, horizontal }: Region, span: Span): void {
    const code = (value: number | null): number => {
      const found = strides.indexOf(value);
      if (found < 0) this.#fields.cannotHold(span, `a region has no stride or width of ${value}`);
      return Math.max(0, found);
    };
    this.#out.u16(code(vertical) | (code(width) << 4) | (code(horizontal) << 8));
  }

  #predicateNumber(named: Predicate | NameOperand): number {
    const number = this.#fields.numberOf(named.name);
    if (number <= 0xfff) return number;
    this.#fields.cannotHold(named, `${named.name.text} is predicate ${number}, but a file can refer to only 4095`);
    return 0;
  }

  #tag(operandClass: keyof typeof operandClasses, modifier: SourceModifier | typeof saturation | null = null): void {
    const code = typeof modifier === "string" ? modifierCodes.get(modifier)! : (modifier ?? 0);
    this.#out.u8(operandClasses[operandClass] | (code << 3));
  }
}

/** A mask's code, in bits 4 to 7. */
const maskCode = ({ offset, noMask }: ExecSize): number => ((offset / 4) | (noMask ? 8 : 0)) << 4;
