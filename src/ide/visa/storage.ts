import type { BoundRoutine, Variable } from "../../visa/symbols.ts";
import type { VisaModel } from "./model.ts";

/**
 * Says what follows from a variable's declaration: its size, how its elements belong to the lanes, whose bytes it
 * shares, and where the payload of a thread has it.
 */
export function storageTexts({ routines }: VisaModel, variable: Variable): readonly string[] {
  const routine = routines.find(({ variables }) => variables.includes(variable));
  if (routine === undefined || variable.predefined) return [];
  return [sizeText(routine, variable), sharedText(routine, variable), inputText(routine, variable)].filter(
    (text) => text !== null,
  );
}

function sizeText({ simd, grfBytes }: BoundRoutine, variable: Variable): string | null {
  const { kind, bytes, elements } = variable;
  if (kind !== "G") return null;
  const registers = bytes / grfBytes;
  const whole = Number.isInteger(registers) ? `, ${registers} register${registers === 1 ? "" : "s"}` : "";
  const lanes =
    elements === 1 ? "; one value for all lanes" : elements === simd ? `; one element for each of ${simd} lanes` : "";
  return `${bytes} bytes${whole}${lanes}.`;
}

function sharedText({ variables }: BoundRoutine, variable: Variable): string | null {
  const { root, rootOffset, bytes } = variable;
  const others = variables.filter(
    (other) =>
      other !== variable &&
      other !== root &&
      other.root === root &&
      other.rootOffset < rootOffset + bytes &&
      rootOffset < other.rootOffset + other.bytes,
  );
  const own = root === variable ? null : `Bytes ${rootOffset} to ${rootOffset + bytes - 1} of \`${root.name}\``;
  const names = others.slice(0, 8).map(({ name }) => `\`${name}\``);
  const more = others.length > names.length ? ", ..." : "";
  if (own === null) return names.length === 0 ? null : `Shares bytes with ${names.join(", ")}${more}.`;
  return names.length === 0 ? `${own}.` : `${own}, as those of ${names.join(", ")}${more}.`;
}

function inputText({ inputs, grfBytes }: BoundRoutine, variable: Variable): string | null {
  const input = inputs.find((each) => each.variable === variable);
  if (input === undefined) return null;
  const { offset, implicit } = input;
  const within = offset % grfBytes === 0 ? "" : `, byte ${offset % grfBytes}`;
  const what = implicit === "" ? "Input" : `Implicit input (${implicit})`;
  return `${what} of the kernel: r${Math.floor(offset / grfBytes)}${within}.`;
}
