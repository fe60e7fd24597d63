import type { Row } from "../isa/row.ts";
import type { FileItem, PackedPart } from "../isa/template.ts";

/** Codes of a variable's class, for instructions that can name any kind of variable. */
export const variableClasses = { G: 0, A: 0x10, P: 0x20 } as const;

/** The bits that a part of a packed field may set. A constant has none: the bits that are left over must equal it. */
function bitsOf(part: PackedPart, row: Row): number {
  if (typeof part === "number") return 0;
  if (part.part === "class") return variableClasses.A | variableClasses.P;
  const spec = row.operands[part.operand];
  if (spec?.class === "option") return Object.values(spec.choices).reduce((bits, code) => bits | code, 0);
  if (spec?.class === "number") return 2 ** Math.ceil(Math.log2(spec.to + 1)) - 1;
  throw new Error(`${row.name} packs ${part.operand}, which is not a number`);
}

/** Splits a packed field into the values of its parts; null if its constants are not the row's. */
export function unpack(
  value: number,
  { parts }: Extract<FileItem, { kind: "packed" }>,
  row: Row,
): readonly (readonly [part: Exclude<PackedPart, number>, value: number])[] | null {
  let rest = value;
  let constant = 0;
  const values: [Exclude<PackedPart, number>, number][] = [];
  for (const part of parts) {
    if (typeof part === "number") {
      constant += part;
      continue;
    }
    const bits = bitsOf(part, row);
    values.push([part, (value & bits) >>> 0]);
    rest = (rest & ~bits) >>> 0;
  }
  return rest === constant ? values : null;
}
