import type { Row } from "../isa/row.ts";
import { needsWideRegisters } from "../platforms.ts";
import type { Attribute, Statement, VisaFile } from "../tree.ts";
import { typeBytes } from "../types.ts";

/**
 * Infers the bytes of a register from text that names no platform. IGC aligns its aliases of the predefined variables
 * to a register: `hword` is 32 bytes, `wordx32` is 64. An alias of %r0 with more than 32 bytes, or one of %arg or
 * %retval with more bytes than they have in 32-byte registers, also implies 64, and so does an instruction that only
 * platforms with such registers have. Failing these, variables of 64 bytes and more decide, which IGC aligns to a
 * register too. Its vector compiler aligns them to `GRF`, but says in `PerThreadInputSize` how many bytes of the
 * payload a thread has to itself, which is a register, and writes columns that only a register of 64 bytes has. The
 * default is 32.
 */
export function inferRegisterBytes(tree: VisaFile): 32 | 64 {
  let small = false;
  let large = false;
  const rows = new Set<Row>();
  const vector = new VectorCompilerHints();
  for (const statement of statementsOf(tree)) {
    vector.see(statement);
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
  if ((large && !small) || [...rows].some(needsWideRegisters)) return 64;
  return small ? 32 : vector.registerBytes;
}

/** What text of IGC's vector compiler (`Target="cm"`) tells about registers. */
class VectorCompilerHints {
  #isVector = false;
  #payload: number | null = null;
  #wideColumn = false;
  readonly #types = new Map<string, number>();

  see(statement: Statement): void {
    if (statement.kind === "attribute") this.#attribute(statement);
    else if (statement.kind === "decl") {
      if (statement.type !== null) this.#types.set(statement.name.text, typeBytes(statement.type));
    } else if (statement.kind === "instruction") {
      this.#wideColumn ||= Object.values(statement.operands).some(
        (operand) => operand.kind === "general" && operand.column * (this.#types.get(operand.variable.text) ?? 0) >= 32,
      );
    }
  }

  #attribute({ name, value }: Attribute): void {
    if (name.text === "Target") this.#isVector = value === "cm";
    if (name.text === "PerThreadInputSize" && typeof value === "number") this.#payload = value;
  }

  get registerBytes(): 32 | 64 {
    if (!this.#isVector) return 32;
    return this.#payload === 64 || (this.#payload === null && this.#wideColumn) ? 64 : 32;
  }
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
