import type { OperandSpec } from "../isa/row.ts";
import type { SourceModifier, Version } from "../tree.ts";

/** "CISA", little-endian. */
export const magic = 0x4153_4943;

/**
 * Which fields of a file are wide, and which exist, where that has changed between the versions of the format
 * (4_visa_header.md).
 */
export interface Format {
  readonly major: number;
  readonly minor: number;
  /** Indices of strings and of general variables, and the counts of both: 32 bits instead of 16. */
  readonly wideIndices: boolean;
  /** The lengths of the routines' names in the header: 16 bits instead of 8. */
  readonly wideNames: boolean;
  /** The number of inputs: 32 bits instead of 8. */
  readonly wideInputCount: boolean;
  /** Whether IFCALL has a byte of flags, which later writers added without changing the version. */
  readonly callFlags: boolean;
  /** Whether LSC accesses have an index after the surface, added likewise. */
  readonly surfaceIndices: boolean;
  /**
   * Whether instructions lack operands, as in what IGC 1.0.12504 writes: for each execution size and each
   * predicate that an instruction has, one operand is missing at its end.
   */
  readonly lacksOperands: boolean;
}

/** Whether a version is `major.minor` or later. */
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
    lacksOperands: false,
  };
  if (!atLeast(version, 3, 7)) return [format];
  return [
    format,
    { ...format, callFlags: true, surfaceIndices: true },
    { ...format, callFlags: true },
    { ...format, surfaceIndices: true },
  ];
}

/** The version that this project writes: the last one for which a writer was published. */
export const written = { major: 3, minor: 6 } as const;

/** Channels by their code, in bits 0 to 2 of an execution size and in the width of an address operand. */
export const execSizes: readonly number[] = [1, 2, 4, 8, 16, 32];

/** Strides and widths of regions by their codes (5_operands.md); code 0 is null. */
export const strides: readonly (number | null)[] = [null, 0, 1, 2, 4, 8, 16, 32];

/**
 * Alignments of general variables, as the parser names them, by their codes; code 0 is the smallest, which is not
 * printed.
 */
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

/** Where the runtime takes an input from, by the number in bits 3 to 7 of its kind; any other is `UNDEFINED_<n>`. */
export const implicitInputs: readonly string[] = ["", "LOCAL_SIZE", "GROUP_COUNT", "LOCAL_ID"];
/** An input that takes up no registers of the payload. */
export const pseudoInput = { name: "PSEUDO_INPUT", code: 0x10 } as const;

/** Values of the attribute `Target`, which a file holds as a number. */
export const targets: readonly string[] = ["cm", "3d", "cs"];

/** Attributes whose value is text; all others are numbers, or have none. */
export const textAttributes: ReadonlySet<string> = new Set(["OutputAsmPath", "AsmName"]);

/** Attributes of variables that have a number; the others have no value. */
export const numberAttributesOfVariables: ReadonlySet<string> = new Set(["Scope", "SurfaceUsage"]);

/** Kinds of labels by their codes. */
export const labelKinds = { block: 0, subroutine: 1, kernel: 2 } as const;

/** What a label marks: a place in the routine, or, for `fccall`, a kernel of another program. */
export type LabelKind = keyof typeof labelKinds;

/** Opcodes of the markers in the instruction stream that are separate statements in text. */
export const markerOpcodes = { subroutine: 0x30, label: 0x31 } as const;

/** Numbers of the first general variable, predicate and surface that a routine declares. Other kinds start at 0. */
export const firstGeneral = 32;
export const firstPredicate = 1;
export const firstSurface = 6;

/** Operand classes, in bits 0 to 2 of a vector operand's tag. Class 4, the address of a variable, never occurs. */
export const operandClasses = { general: 0, address: 1, predicate: 2, indirect: 3, immediate: 5, state: 6 } as const;

/** Source modifiers by their codes, in bits 3 to 5 of the tag. */
export const sourceModifiers: Readonly<Record<number, SourceModifier>> = { 1: "abs", 2: "neg", 3: "neg-abs", 5: "not" };
/** The modifier's code in a destination that saturates. */
export const saturation = 4;

/** Bytes of a general operand's row: the register size of the platforms that files were written for. */
export const rowBytes = 32;

/** Number of S31, and therefore the number of samplers that a routine can declare. */
export const bindlessSampler = 31;

/** Number of predefined general variables in version 3.6: %null to %color. */
export const predefinedInPool = 18;

/** Whether an operand that a file holds as a variable means its address: this depends only on the instruction. */
export const takesAddress = ({ forms }: Extract<OperandSpec, { class: "vector" }>): boolean =>
  forms.includes("address-of") && !forms.includes("general");
