import type { Row } from "../isa/row.ts";
import { needsWideRegisters } from "../platforms.ts";
import type { Statement, VisaFile } from "../tree.ts";
import { typeBytes } from "../types.ts";

/**
 * Infers the bytes of a register from text that names no platform. IGC aligns its aliases of the predefined variables
 * to a register: `hword` is 32 bytes, `wordx32` is 64. An alias of %r0 with more than 32 bytes, or one of %arg or
 * %retval with more bytes than they have in 32-byte registers, also implies 64, and so does an instruction that only
 * platforms with such registers have. Failing these, variables of 64 bytes and more decide, which IGC aligns to a
 * register too. The default is 32.
 */
export function inferRegisterBytes(tree: VisaFile): 32 | 64 {
  let small = false;
  let large = false;
  const rows = new Set<Row>();
  for (const statement of statementsOf(tree)) {
    if (statement.kind === "instruction") rows.add(statement.row);
    if (statement.kind !== "decl") continue;
    const align = statement.align?.text.toLowerCase() ?? "";
    const bytes = statement.type === null ? 0 : statement.elements * typeBytes(statement.type);
    const base = statement.alias?.of.text;
    if (base !== undefined && Object.hasOwn(smallBytes, base)) {
      const end = statement.alias!.offset + bytes;
      if (align.startsWith("wordx") || (end > smallBytes[base]! && end % 64 === 0)) return 64;
      small ||= align === "hword";
    } else if (bytes >= 64) {
      small ||= align === "hword";
      large ||= align === "wordx32";
    }
  }
  return (large && !small) || [...rows].some(needsWideRegisters) ? 64 : 32;
}

/** Bytes of the predefined variables if a register has 32. */
const smallBytes: Readonly<Record<string, number>> = {
  "%r0": 32,
  "%arg": 32 * 32,
  "%retval": 12 * 32,
  "%sp": 8,
  "%fp": 8,
};

/** The statements of all routines, in no order. */
function* statementsOf(tree: VisaFile): Iterable<Statement> {
  const open: (readonly Statement[])[] = tree.routines.map((routine) => routine.statements);
  for (let statements = open.pop(); statements !== undefined; statements = open.pop()) {
    for (const statement of statements) {
      if (statement.kind === "scope") open.push(statement.statements);
      else yield statement;
    }
  }
}
