import type { Declaration, Statement, VisaFile } from "../tree.ts";
import { typeBytes } from "../types.ts";

/**
 * Infers the bytes of a register from text that names no platform. IGC aligns its aliases of the predefined variables
 * to a register: `hword` is 32 bytes, `wordx32` is 64. An alias of %r0 with more than 32 bytes, or one of %arg or
 * %retval with more bytes than they have in 32-byte registers, also implies 64. Failing such aliases, variables of 64
 * bytes and more decide, which IGC aligns to a register too. The default is 32.
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

/** Bytes of the predefined variables if a register has 32. */
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
