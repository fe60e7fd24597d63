import type { Attribute, Routine, Statement } from "../tree.ts";
import { ByteReader, Malformed } from "./byte-reader.ts";
import { type Format, markerOpcodes } from "./format.ts";
import type { RoutineEntry } from "./header.ts";
import { readInstruction } from "./instruction-reader.ts";
import { OperandReader } from "./operand-reader.ts";
import { Tables } from "./tables.ts";

/** A routine as far as it could be read; `failure` is what ended it early. */
export interface ReadRoutine {
  readonly routine: Routine;
  readonly failure: Malformed | null;
}

/** Reads the kernel or function that begins at `offset`. Never throws. */
export function readRoutine(bytes: Uint8Array, entry: RoutineEntry, offset: number, format: Format): ReadRoutine {
  const declaredEnd = offset + entry.size;
  const end = Math.min(bytes.length, declaredEnd);
  const statements: Statement[] = [];
  let failure: Malformed | null = null;
  try {
    readInto(statements, new ByteReader(bytes, Math.min(offset, end), end), entry.kind, declaredEnd, format);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    failure = error;
  }
  const { kind, name } = entry;
  return { routine: { kind, name, version: null, statements, start: offset, end }, failure };
}

/** Reads a routine's statements. Those that could be read are in `statements` even if it throws. */
function readInto(
  statements: Statement[],
  reader: ByteReader,
  kind: RoutineEntry["kind"],
  declaredEnd: number,
  format: Format,
): void {
  const start = reader.at;
  const tables = new Tables(reader, format);
  tables.string();
  tables.readVariables();
  // One by one, as there may be more of them than a call can have arguments.
  for (const declaration of tables.declarations()) statements.push(declaration);
  if (kind === "kernel") for (const input of tables.readInputs()) statements.push(input);

  const sizeAt = reader.at;
  const size = reader.u32();
  const entry = reader.u32();
  const sizes = kind === "function" ? functionSizes(reader) : [];
  const attributes = tables.readAttributes(reader.u16()).map((a): Attribute => ({ ...a, kind: "attribute" }));
  for (const attribute of attributes) statements.push(attribute);
  statements.push(...sizes.filter((known) => !attributes.some((a) => a.name.text === known.name.text)));

  const codeStart = start + entry;
  if (codeStart < reader.at || codeStart + size > declaredEnd) {
    const span = { start: sizeAt, end: sizeAt + 8 };
    throw new Malformed("visa-cisa-code-size", span, `${size} bytes of instructions do not lie in the routine`);
  }
  reader.at = Math.min(codeStart, reader.end);
  // If the file was cut off, the instructions that are there are read.
  reader.end = Math.min(reader.end, codeStart + size);
  readCode(statements, reader, tables);
}

/** The fields for a function's sizes. Writers leave them 0 if the text has attributes of these names. */
function functionSizes(reader: ByteReader): readonly Attribute[] {
  return ["ArgSize", "RetValSize"].flatMap((text): Attribute[] => {
    const start = reader.at;
    const value = reader.u8();
    const span = { start, end: reader.at };
    return value === 0 ? [] : [{ kind: "attribute", name: { text, ...span }, value, ...span }];
  });
}

function readCode(statements: Statement[], reader: ByteReader, tables: Tables): void {
  const fields = new OperandReader(reader, tables);
  while (reader.at < reader.end) {
    const start = reader.at;
    const opcode = reader.u8();
    if (opcode === markerOpcodes.label || opcode === markerOpcodes.subroutine) {
      const at = reader.at;
      const number = reader.u16();
      const span = { start, end: reader.at };
      if (opcode === markerOpcodes.subroutine) {
        statements.push({ kind: "function-directive", name: tables.name("L", number, at), ...span });
      }
      statements.push({ kind: "label", name: tables.name("L", number, at), ...span });
    } else statements.push(readInstruction(fields, opcode, start));
  }
}
