import type { OperandSpec } from "../isa/row.ts";
import type { SourceModifier, Version } from "../tree.ts";

/** "CISA", little-endian. */
export const magic = 0x4153_4943;

/** How wide the fields are whose width has changed between the versions of the format (4_visa_header.md). */
export interface Format {
  readonly major: number;
  readonly minor: number;
  /** Indices of strings and of general variables, and the counts of both. */
  readonly wideIndices: boolean;
  /** The lengths of the routines' names in the header. */
  readonly wideNames: boolean;
  /** The number of inputs. */
  readonly wideInputCount: boolean;
  /**
   * Later writers put a byte of flags into IFCALL, and an index beside the surface of LSC accesses, without a version of its
   * own.
   */
  readonly callFlags: boolean;
  readonly surfaceIndices: boolean;
}

export const atLeast = (version: Pick<Version, "major" | "minor">, major: number, minor: number): boolean =>
  version.major > major || (version.major === major && version.minor >= minor);

/** The formats that a file of this version may have, the likeliest first. */
export function formatsOf(major: number, minor: number): readonly [Format, ...Format[]] {
  const version = { major, minor };
  const format: Format = {
    ...version,
    wideIndices: atLeast(version, 3, 4),
    wideNames: atLeast(version, 3, 7),
    wideInputCount: atLeast(version, 3, 5),
    callFlags: false,
    surfaceIndices: false,
  };
  if (!atLeast(version, 3, 7)) return [format];
  return [
    format,
    { ...format, callFlags: true, surfaceIndices: true },
    { ...format, callFlags: true },
    { ...format, surfaceIndices: true },
  ];
}

/** The format that this project writes: the last for which a writer was published. */
export const written = { major: 3, minor: 6 } as const;

/** Channels by their code in bits 0 to 2 of an execution size, and the codes of an address operand's width. */
export const execSizes: readonly number[] = [1, 2, 4, 8, 16, 32];

/** The strides and widths of regions by their codes (5_operands.md); code 0 is null. */
export const strides: readonly (number | null)[] = [null, 0, 1, 2, 4, 8, 16, 32];

/** Alignments of general variables as the parser calls them, by their codes; code 0 is the smallest, and not written. */
export const alignments: readonly string[] = [
  "byte",
  "word",
  "dword",
  "qword",
  "oword",
  "GRF",
  "GRFx2",
  "hword",
  "wordx32",
  "wordx64",
];

/** Where the runtime takes an input from, by the number in bits 3 to 7 of its kind; others are `UNDEFINED_<n>`. */
export const implicitInputs: readonly string[] = ["", "LOCAL_SIZE", "GROUP_COUNT", "LOCAL_ID"];
/** An input that occupies no registers of the payload. */
export const pseudoInput = { name: "PSEUDO_INPUT", code: 0x10 } as const;

/** The values of the attribute `Target`, which a file holds as a number. */
export const targets: readonly string[] = ["cm", "3d", "cs"];

/** Attributes whose value is text; all others are numbers, or have none. */
export const textAttributes: ReadonlySet<string> = new Set(["OutputAsmPath", "AsmName"]);

/** Attributes of variables that are numbers; the others have no value. */
export const numberAttributesOfVariables: ReadonlySet<string> = new Set(["Scope", "SurfaceUsage"]);

/** The kinds of labels. */
export const labelKinds = { block: 0, subroutine: 1 } as const;

/** Markers in the instruction stream that are statements of their own in the text. */
export const markerOpcodes = { subroutine: 0x30, label: 0x31 } as const;

/** The numbers of the first variables that a routine declares; of the other kinds they count from 0. */
export const firstGeneral = 32;
export const firstPredicate = 1;
export const firstSurface = 6;

/** In bits 0 to 2 of the tag of a vector operand. 4 was the address of a variable, and never occurs. */
export const operandClasses = { general: 0, address: 1, predicate: 2, indirect: 3, immediate: 5, state: 6 } as const;

/** In bits 3 to 5 of the tag, by their codes. */
export const sourceModifiers: Readonly<Record<number, SourceModifier>> = { 1: "abs", 2: "neg", 3: "neg-abs", 5: "not" };
/** The modifier of a destination that saturates. */
export const saturation = 4;

/** Of a general operand's row: a register of the platforms that files were written for. */
export const rowBytes = 32;

/** The number of S31, so that a routine can declare as many. */
export const bindlessSampler = 31;

/** How many of the predefined general variables 3.6 has: %null to %color. */
export const predefinedInPool = 18;

/** Whether what is written as an operand of a variable is its address: only the instruction tells. */
export const takesAddress = ({ forms }: Extract<OperandSpec, { class: "vector" }>): boolean =>
  forms.includes("address-of") && !forms.includes("general");
