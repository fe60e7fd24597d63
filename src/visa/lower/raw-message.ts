import { platforms } from "../isa/row.ts";
import type { BoundRoutine } from "../symbols.ts";
import type { Instruction, Operand } from "../tree.ts";

/** The units to which messages go, by number: the names of IGC's `SFID`. */
const units: Readonly<Record<number, string>> = {
  2: "the sampler",
  3: "the message gateway",
  4: "the data cache",
  5: "render targets",
  6: "the URB",
  7: "the thread spawner",
  8: "motion estimation",
  9: "the constant cache",
  10: "the data cache",
  11: "the pixel interpolator",
  12: "the data cache",
  13: "check and refinement",
};

/** Those that have another meaning from DG2 on. */
const laterUnits: typeof units = {
  7: "the bindless thread dispatcher",
  8: "ray tracing",
  13: "typed memory",
  14: "shared local memory",
  15: "global memory",
};

/** Bits of an extended descriptor that hold the unit's number. */
const unitBits = 0xf;

/** The unit of a raw message, for the reason why it is not executed; empty where the program does not show it. */
export function unitOf(
  { row, operands: { unit, extended } }: Instruction,
  { platform, grfBytes }: Pick<BoundRoutine, "platform" | "grfBytes">,
): string {
  if (!row.name.startsWith("RAW_SEND")) return "";
  if (unit?.kind === "option") return ` (unit ${unit.choice})`;
  const number = unit?.kind === "number" ? unit.value : extended === undefined ? null : unitIn(extended);
  if (number === null) return "";
  const isLater = platform === null ? grfBytes === 64 : platforms.indexOf(platform) >= platforms.indexOf("dg2");
  const name = (isLater ? laterUnits[number] : undefined) ?? units[number];
  return ` (unit ${number}${name === undefined ? "" : `, ${name}`})`;
}

/** The unit that an extended descriptor names; null where it is computed. */
function unitIn(extended: Operand): number | null {
  if (extended.kind === "number") return extended.value & unitBits;
  return extended.kind === "immediate" ? Number(extended.bits) & unitBits : null;
}
