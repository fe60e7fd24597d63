import type { Row } from "../isa/row.ts";
import { type FileItem, fileItems } from "../isa/template.ts";
import { atLeast, type Format } from "./format.ts";

type OperandItem = Extract<FileItem, { kind: "operand" }>;

/**
 * The fields of an instruction in a file of this format. Rows give those of version 3.6, which are revised here for
 * others. Null if the layout is not known.
 */
export function layoutOf(row: Row, format: Format): readonly FileItem[] | null {
  const items = fileItems(row);
  if (items === null) return null;
  // In 3.0 and 3.1, typed gathers had a mask of disabled channels and no predicate; in 3.0, WAIT had no operand.
  if (!atLeast(format, 3, 2) && (row.opcode === 0x4b || row.opcode === 0x4c)) return null;
  if (!atLeast(format, 3, 1) && row.opcode === 0x5b) return null;
  const revise = revisions[row.opcode];
  const revised = revise === undefined ? items : revise(items, format);
  return format.lacksOperands ? revised.slice(0, revised.length - revised.filter(isPrefix).length) : revised;
}

/** Execution sizes and predicates come before the operands. */
const isPrefix = ({ kind }: FileItem): boolean => kind === "exec" || kind === "exec-elements" || kind === "pred";

type Revision = (items: readonly FileItem[], format: Format) => readonly FileItem[];

const operand = (name: string, width: OperandItem["width"] = null, part: string | null = null): FileItem => ({
  kind: "operand",
  operand: name,
  part,
  width,
});

const isOperand = (item: FileItem, name: string, part: string | null = null): boolean =>
  item.kind === "operand" && item.operand === name && item.part === part;

/** Inserts items after each one that `where` accepts. */
const insertAfter = (
  items: readonly FileItem[],
  where: (item: FileItem) => boolean,
  ...more: readonly FileItem[]
): readonly FileItem[] => items.flatMap((item) => (where(item) ? [item, ...more] : [item]));

/**
 * Sampler messages. From 3.4 on their offsets are an operand, before that 16 bits. From 3.8 on a paired surface follows
 * the destination. From 4.0 on the operation and its flags have 16 bits (`narrowOperation`).
 */
const sampler: Revision = (items, format) => {
  let revised = items;
  if (!atLeast(format, 3, 4)) {
    revised = revised.map((item) => (isOperand(item, "offsets") ? operand("offsets", "u16", "bits") : item));
  }
  if (atLeast(format, 3, 8)) revised = insertAfter(revised, (item) => isOperand(item, "dst"), { kind: "null" });
  if (!atLeast(format, 4, 0)) return revised;
  return revised.map((item) => (item.kind === "packed" ? { ...item, width: "u16" } : item));
};

/**
 * Converts an operation with flags from bit 8 on (16 bits) to one with flags from bit 5 on (8 bits); null if it does
 * not fit.
 */
export const narrowOperation = (value: number): number | null =>
  (value & 0xff) < 0x20 && value < 0x800 ? (value & 0x1f) | ((value >> 8) << 5) : null;

/** LSC accesses. Later writers put the index of a surface state after the surface. */
const lsc: Revision = (items, { surfaceIndices }) =>
  surfaceIndices
    ? insertAfter(items, (item) => isOperand(item, "address", "surface"), operand("address", "u32", "index"))
    : items;

const isBase = (item: FileItem): boolean =>
  item.kind === "operand" && item.operand === "address" && /^base[0-2]$/.test(item.part ?? "");

/** Typed LSC accesses, for which later writers also put an offset after each coordinate. */
const typedLsc: Revision = (items, format) =>
  !format.surfaceIndices
    ? items
    : lsc(items, format).flatMap((item) =>
        item.kind === "operand" && isBase(item)
          ? [item, operand("address", "i32", `offset${item.part!.slice("base".length)}`)]
          : [item],
      );

const revisions: Readonly<Record<number, Revision>> = {
  // IFCALL
  79: (items, { callFlags }) =>
    callFlags ? insertAfter(items, (item) => item.kind === "pred", operand("hint", "u8")) : items,
  // WAIT
  91: (items, format) => (atLeast(format, 3, 1) ? items : []),
  // RAW_SENDS: the unit's number, after the lengths, came with 3.6.
  122: (items, format) => {
    const unit = items.findIndex((item) => isOperand(item, "results")) + 1;
    return atLeast(format, 3, 6) ? items : items.filter((_, i) => i !== unit);
  },
  109: sampler,
  110: sampler,
  111: sampler,
  137: lsc,
  138: typedLsc,
};
