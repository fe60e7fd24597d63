import type { Declaration, Statement, VisaFile } from "../tree.ts";
import { typeBytes } from "../types.ts";

/**
 * Bytes of a register, for text that names no platform. IGC aligns its views of the predefined variables to a register:
 * `hword` is 32 bytes, `wordx32` 64. A view of %r0 with more than 32 bytes, or of %arg and %retval with more than they have
 * in small registers, needs large ones too. Without such a view, variables of 64 bytes and more tell: IGC aligns them to a
 * register. What gives no hint has 32.
 */
export function inferRegisterBytes(tree: VisaFile): 32 | 64 {
  let small = false;
  let large = false;
  for (const declaration of declarationsOf(tree)) {
    const align = declaration.align?.text.toLowerCase() ?? "";
    const bytes = declaration.type === null ? 0 : declaration.elements * typeBytes(declaration.type);
    const base = declaration.alias?.of.text;
    if (base !== undefined && Object.hasOwn(smallBytes, base)) {
      const end = declaration.alias!.offset + bytes;
      if (align.startsWith("wordx") || (end > smallBytes[base]! && end % 64 === 0)) return 64;
      small ||= align === "hword";
    } else if (bytes >= 64) {
      small ||= align === "hword";
      large ||= align === "wordx32";
    }
  }
  return large && !small ? 64 : 32;
}

/** Bytes of the predefined variables where a register has 32. */
const smallBytes: Readonly<Record<string, number>> = {
  "%r0": 32,
  "%arg": 32 * 32,
  "%retval": 12 * 32,
  "%sp": 8,
  "%fp": 8,
};

function* declarationsOf(tree: VisaFile): Iterable<Declaration> {
  const open: (readonly Statement[])[] = tree.routines.map((routine) => routine.statements);
  for (let statements = open.pop(); statements !== undefined; statements = open.pop()) {
    for (const statement of statements) {
      if (statement.kind === "decl") yield statement;
      else if (statement.kind === "scope") open.push(statement.statements);
    }
  }
}
