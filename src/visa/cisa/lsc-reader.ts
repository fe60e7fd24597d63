import type { OperandSpec } from "../isa/row.ts";
import type { LscAddress, LscBlock, LscData, RawOperand, VectorOperand } from "../tree.ts";
import { Malformed } from "./byte-reader.ts";
import { addressSizes, type Codes, dataSizes, models, orders, scales, vectorLengths } from "./lsc-codes.ts";

/** The kind of shape that the data of an instruction have. */
export type LscShape = Extract<OperandSpec, { class: "lsc-data" }>["shape"];

/** A part of an operand, with the span of its bytes. */
export interface Part {
  readonly value: number | RawOperand | VectorOperand;
  readonly start: number;
  readonly end: number;
}
/** Parts by their names in the row's layout. */
export type Parts = ReadonlyMap<string, Part>;

/** Builds an LSC operand from its parts, which are spread over the instruction. */
export class LscParts {
  readonly #parts: Parts;
  readonly #start: number;
  readonly #end: number;

  /** `parts` must not be empty. */
  constructor(parts: Parts) {
    this.#parts = parts;
    const all = [...parts.values()];
    this.#start = Math.min(...all.map((part) => part.start));
    this.#end = Math.max(...all.map((part) => part.end));
  }

  address(): LscAddress {
    const model = this.#code("model", models, "flat");
    const surface = this.#operand("surface");
    const surfaceOffset = this.#number("index", 0);
    // For these two models, text leaves out a surface of 0.
    const bare = model === "flat" || model === "arg";
    const none = bare && surface?.kind === "immediate" && surface.bits === 0n;
    return {
      kind: "lsc-address",
      model,
      surface: none || surface?.kind === "raw" ? null : surface,
      surfaceOffset: surfaceOffset === 0 ? null : surfaceOffset,
      scale: this.#code("scale", scales, 1),
      base: this.#bases(),
      size: this.#code("size", addressSizes, null),
      start: this.#start,
      end: this.#end,
    };
  }

  data(shape: LscShape): LscData {
    const register = this.#operand("register");
    if (register?.kind !== "raw") throw new Error("the row has no register for its data");
    const transposed = this.#code("order", orders, false);
    const blocks = shape === "block" || shape === "typed-block";
    return {
      kind: "lsc-data",
      register,
      size: this.#code("size", dataSizes, "d32"),
      vector: shape === "vector" ? this.#code("elements", vectorLengths, 1) : 1,
      transposed: transposed && !blocks,
      channels: shape === "channels" ? this.#number("channels", 0) : null,
      block: blocks ? this.#block(transposed) : null,
      start: this.#start,
      end: this.#end,
    };
  }

  #block(transposed: boolean): LscBlock {
    const [blocks, width, height] = [this.#number("blocks", 1), this.#number("width", 1), this.#number("height", 1)];
    return { blocks, width, height, transposed, vnni: this.#number("vnni", 0) !== 0 };
  }

  /** The addresses, without trailing ones that are %null. */
  #bases(): LscAddress["base"] {
    const offset = this.#number("offset", 0);
    const found: LscAddress["base"][number][] = [];
    for (let i = 0; ; i++) {
      const operand = this.#operand(`base${i}`) ?? (i === 1 ? this.#operand("pitch") : null);
      if (operand === null) break;
      found.push({ operand, offset: this.#number(`offset${i}`, i === 0 ? offset : 0) });
    }
    const last = found.findLastIndex(({ operand }) => operand.kind !== "raw" || operand.variable.text !== "%null");
    return found.slice(0, Math.max(1, last + 1));
  }

  #operand(part: string): RawOperand | VectorOperand | null {
    const value = this.#parts.get(part)?.value;
    return value === undefined || typeof value === "number" ? null : value;
  }

  #number(part: string, missing: number): number {
    const value = this.#parts.get(part)?.value;
    return typeof value === "number" ? value : missing;
  }

  #code<Name>(part: string, { nameOf }: Codes<Name>, missing: Name): Name {
    const read = this.#parts.get(part);
    if (read === undefined || typeof read.value !== "number") return missing;
    const name = nameOf.get(read.value);
    if (name !== undefined) return name;
    throw new Malformed("visa-cisa-bad-value", read, `an LSC operand has no ${part} with the code ${read.value}`);
  }
}
