import { type FamilyName, familyNames } from "./families.ts";
import { type PtxProgram, ptxProgram } from "./ptx-program.ts";
import { type Scale, scales } from "./scale.ts";
import { type VisaFamilyName, type VisaProgram, visaFamilies, visaProgram } from "./visa-program.ts";

export type Program = PtxProgram | VisaProgram;

export const allFamilies = [...familyNames, ...visaFamilies] as const;

/** The program that a family has for a seed. `scale`: of those of PTX; of vISA most are small. */
export const programOf = (family: FamilyName | VisaFamilyName, seed: number, scale: Scale = scales.usual): Program =>
  isVisa(family) ? visaProgram(family, seed) : ptxProgram(family, seed, scale);

const isVisa = (family: FamilyName | VisaFamilyName): family is VisaFamilyName =>
  visaFamilies.some((name) => name === family);

/** The text, with the files of a program of several after each other. */
export const linesOf = (program: Program): readonly string[] =>
  program.isa === "ptx"
    ? program.text.split("\n")
    : program.files.flatMap(({ name, text }) => [`// ==== ${name}`, ...text.split("\n")]);

/** The same launch of other text. */
export function withLines(program: Program, lines: readonly string[]): Program {
  if (program.isa === "ptx") return { ...program, text: lines.join("\n") };
  const parts = lines
    .join("\n")
    .split(/^\/\/ ==== /m)
    .slice(1);
  const files = parts.map((part) => {
    const end = part.indexOf("\n");
    return { name: part.slice(0, end), text: part.slice(end + 1) };
  });
  return { ...program, files };
}
