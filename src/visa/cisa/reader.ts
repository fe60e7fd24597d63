import { type Diagnostic, DiagnosticSink, type Span } from "../../source/index.ts";
import type { VisaFile } from "../tree.ts";
import { BinaryText } from "./binary-text.ts";
import { ByteReader, Malformed } from "./byte-reader.ts";
import type { CisaCode } from "./codes.ts";
import { type Format, formatsOf } from "./format.ts";
import { type Header, readHeader, type RoutineEntry } from "./header.ts";
import { type ReadRoutine, readRoutine } from "./routine-reader.ts";

export interface CisaRead {
  /** Null where not even the header could be read; else all that could. */
  readonly tree: VisaFile | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a CISA file (4_visa_header.md): version 3.6, and others from 3.0 to 4.2 as far as the documents go. Spans of the
 * tree and of the diagnostics are offsets of bytes; the source of both is a hex dump. Any bytes may be given: reading never
 * throws, and takes time in proportion to their number.
 */
export function readCisa(bytes: Uint8Array, path: string): CisaRead {
  const source = new BinaryText(path, bytes);
  const sink = new DiagnosticSink<CisaCode>(source);
  try {
    const header = readHeader(bytes);
    const places = new Places(bytes, sink).find(header.entries);
    const routines = readRoutines(bytes, header, places, sink).map(({ routine }) => routine);
    const tree: VisaFile = { source, version: header.version, routines, comments: [] };
    return { tree, diagnostics: sink.diagnostics };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    report(sink, error);
    return { tree: null, diagnostics: sink.diagnostics };
  }
}

const report = (sink: DiagnosticSink<CisaCode>, { code, span, message }: Malformed): void =>
  sink.error(code, span, `${message} (at ${hex(span.start)})`, { help: helps[code] });

const helps: Partial<Record<CisaCode, string>> = {
  "visa-cisa-unknown-opcode": "what follows in this routine is not read, as instructions differ in length",
};

const hex = (offset: number): string => `0x${offset.toString(16)}`;

/** A routine and where it is, whatever the header says. */
interface Place {
  readonly entry: RoutineEntry;
  readonly offset: number;
  /** The file ends before it does. */
  readonly isCut: boolean;
}

class Places {
  readonly #bytes: Uint8Array;
  readonly #sink: DiagnosticSink<CisaCode>;

  constructor(bytes: Uint8Array, sink: DiagnosticSink<CisaCode>) {
    this.#bytes = bytes;
    this.#sink = sink;
  }

  find(entries: readonly RoutineEntry[]): readonly Place[] {
    const places: Place[] = [];
    let room = this.#bytes.length;
    for (const entry of entries) {
      if (entry.kind === "function" && entry.offset === 0 && entry.size === 0) {
        const message = `function ${entry.name.text} is external: its instructions are not in this file`;
        this.#sink.warning("visa-cisa-extern-function", entry.name, message);
        continue;
      }
      const offset = this.#offset(entry, places.at(-1));
      const isCut = offset + entry.size > this.#bytes.length;
      if (isCut) {
        const message = `${entry.name.text} ends at ${hex(offset + entry.size)}, and the file at ${hex(this.#bytes.length)}`;
        this.#sink.error("visa-cisa-truncated", entry.at, message);
      }
      room -= Math.max(0, Math.min(entry.size, this.#bytes.length - offset));
      if (room < 0) {
        const message = `with ${entry.name.text} the routines have more bytes than the file`;
        this.#sink.error("visa-cisa-overlap", entry.at, message);
        break;
      }
      places.push({ entry, offset, isCut });
    }
    return places;
  }

  /** Writers of 3.6 add the size of the native code to a function's offset once for each function before it. */
  #offset(entry: RoutineEntry, before: Place | undefined): number {
    if (before === undefined || entry.kind === "kernel" || before.entry.kind === "kernel") return entry.offset;
    const expected = before.offset + before.entry.size;
    if (entry.offset === expected || this.#isNamed(entry, entry.offset) || !this.#isNamed(entry, expected)) {
      return entry.offset;
    }
    const message = `function ${entry.name.text} is not at ${hex(entry.offset)}, but at ${hex(expected)}`;
    this.#sink.warning("visa-cisa-routine-offset", entry.at, message);
    return expected;
  }

  /** Whether the first string of what lies there is the routine's name, as writers put it. */
  #isNamed({ name }: RoutineEntry, offset: number): boolean {
    const start = offset + 4;
    const end = start + (name.end - name.start);
    if (end >= this.#bytes.length || this.#bytes[end] !== 0) return false;
    return new ByteReader(this.#bytes, start, end).text(end - start) === name.text;
  }
}

/** In the first format in which all of them can be read, or else in that in which most can. */
function readRoutines(
  bytes: Uint8Array,
  { version }: Header,
  places: readonly Place[],
  sink: DiagnosticSink<CisaCode>,
): readonly ReadRoutine[] {
  const [likeliest, ...others] = formatsOf(version.major, version.minor);
  const attempt = (format: Format) => ({
    format,
    routines: places.map(({ entry, offset }) => readRoutine(bytes, entry, offset, format)),
  });
  let best = attempt(likeliest);
  for (const format of others) {
    if (failures(best.routines) === 0) break;
    const next = attempt(format);
    if (failures(next.routines) < failures(best.routines)) best = next;
  }
  const fields = addedFields(best.format);
  if (fields !== null) sink.warning("visa-cisa-layout-guessed", versionSpan, `read with ${fields}`);
  for (const [i, { failure }] of best.routines.entries()) {
    const isSaid = failure?.code === "visa-cisa-truncated" && places[i]!.isCut;
    if (failure !== null && !isSaid) report(sink, failure);
  }
  return best.routines;
}

const versionSpan: Span = { start: 4, end: 6 };

const failures = (routines: readonly ReadRoutine[]): number => routines.filter((r) => r.failure !== null).length;

function addedFields({ callFlags, surfaceIndices }: Format): string | null {
  const fields = [
    ...(callFlags ? ["a byte of flags in ifcall"] : []),
    ...(surfaceIndices ? ["an index beside the surface of LSC accesses"] : []),
  ];
  return fields.length === 0 ? null : fields.join(" and ");
}
