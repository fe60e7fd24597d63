import { type Diagnostic, DiagnosticSink, hasErrors } from "../../source/index.ts";
import type { BoundRoutine } from "../symbols.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { CisaCode } from "./codes.ts";
import { FieldWriter } from "./field-writer.ts";
import { magic, written } from "./format.ts";
import { type WrittenRoutine, writeRoutine } from "./routine-writer.ts";

/** The result of `writeCisa`. */
export interface CisaWritten {
  /** The file; null if there are errors. */
  readonly bytes: Uint8Array | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Writes the routines of a program as a CISA file of version 3.6, kernels first. Each is byte for byte what the
 * reference writer makes of the same text, except for the names of labels, which that writer numbers. Whatever 3.6
 * cannot hold is an error (`visa-cisa-cannot-hold`), as are routines of the same name.
 */
export function writeCisa(routines: readonly BoundRoutine[]): CisaWritten {
  const diagnostics: Diagnostic[] = [];
  const write = (bound: BoundRoutine): Item => {
    const sink = new DiagnosticSink<CisaCode>(bound.file.source);
    const fields = new FieldWriter(bound, sink);
    const item = { bound, name: encodeName(bound, fields), ...writeRoutine(bound, fields) };
    diagnostics.push(...sink.diagnostics);
    return item;
  };
  const kernels = routines.filter(({ kind }) => kind === "kernel").map(write);
  const functions = routines.filter(({ kind }) => kind === "function").map(write);
  diagnostics.push(...repeatedNames(routines));
  if (hasErrors(diagnostics)) return { bytes: null, diagnostics };
  return { bytes: assemble(kernels, functions), diagnostics };
}

interface Item extends WrittenRoutine {
  readonly bound: BoundRoutine;
  readonly name: Uint8Array;
}

function encodeName({ name, routine }: BoundRoutine, fields: FieldWriter): Uint8Array {
  const out = new ByteWriter();
  out.text(name);
  if (name.includes("\0")) fields.cannotHold(routine.name, "a name contains a NUL");
  if (out.length > 0xff)
    fields.cannotHold(routine.name, `a name can have at most 255 bytes, but this one has ${out.length}`);
  return out.finish();
}

function* repeatedNames(routines: readonly BoundRoutine[]): Iterable<Diagnostic> {
  const seen = new Set<string>();
  for (const { name, routine, file } of routines) {
    if (seen.has(name)) {
      const sink = new DiagnosticSink<CisaCode>(file.source);
      sink.error("visa-cisa-repeated-name", routine.name, `two routines are named ${name}`);
      yield* sink.diagnostics;
    }
    seen.add(name);
  }
}

/** Bytes of a kernel's and a function's entry in the header, without the name. */
const kernelEntry = 1 + 4 + 4 + 4 + 2 + 2 + 1;
const functionEntry = 1 + 1 + 4 + 4 + 2 + 2;

function assemble(kernels: readonly Item[], functions: readonly Item[]): Uint8Array {
  const out = new ByteWriter();
  const names = [...kernels, ...functions].reduce((sum, { name }) => sum + name.length, 0);
  let offset = 12 + kernels.length * kernelEntry + functions.length * functionEntry + names;
  const place = ({ bytes }: Item): number => {
    const start = offset;
    offset += bytes.length;
    out.u32(start);
    out.u32(bytes.length);
    return start;
  };
  out.u32(magic);
  out.u8(written.major);
  out.u8(written.minor);
  out.u16(kernels.length);
  for (const kernel of kernels) {
    out.u8(kernel.name.length);
    out.bytes(kernel.name);
    const start = place(kernel);
    out.u32(start + kernel.inputs);
    out.u32(0); // no references to variables or functions of the file
    out.u8(0); // no native code
  }
  out.u16(0); // variables of the file, which no longer exist
  out.u16(functions.length);
  for (const routine of functions) {
    out.u8(0); // linkage
    out.u8(routine.name.length);
    out.bytes(routine.name);
    place(routine);
    out.u32(0);
  }
  for (const { bytes } of [...kernels, ...functions]) out.bytes(bytes);
  return out.finish();
}
