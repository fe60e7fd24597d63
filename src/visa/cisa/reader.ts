import { type Diagnostic, DiagnosticSink, type Span } from "../../source/index.ts";
import { controlOf } from "../isa/row.ts";
import type { VisaFile } from "../tree.ts";
import { BinaryText } from "./binary-text.ts";
import { ByteReader, Malformed } from "./byte-reader.ts";
import type { CisaCode } from "./codes.ts";
import { type Format, formatsOf } from "./format.ts";
import { type Header, readHeader, type RoutineEntry } from "./header.ts";
import { type ReadRoutine, readRoutine } from "./routine-reader.ts";

/** The result of `readCisa`. */
export interface CisaRead {
  /** Everything that could be read; null if not even the header could. */
  readonly tree: VisaFile | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a CISA file (4_visa_header.md): version 3.6, and the others from 3.0 to 4.2 as far as the documents describe
 * them. Spans of the tree and of the diagnostics are byte offsets; their source is a hex dump. Takes any bytes: it
 * never throws, and its time is proportional to their number. Errors are in `diagnostics`, with the codes of
 * `cisaCodes`.
 */
export function readCisa(bytes: Uint8Array, path: string): CisaRead {
  const source = new BinaryText(path, bytes);
  const sink = new DiagnosticSink<CisaCode>(source);
  try {
    const header = readHeader(bytes);
    const found = new RoutineFinder(bytes, sink).find(header.entries);
    const routines = readRoutines(bytes, header, found, sink).map(({ routine }) => routine);
    const tree: VisaFile = { source, version: header.version, routines, comments: [] };
    return { tree, diagnostics: sink.diagnostics };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    report(sink, error);
    return { tree: null, diagnostics: sink.diagnostics };
  }
}

const report = (sink: DiagnosticSink<CisaCode>, { code, span, message }: Malformed, help = helps[code]): void =>
  sink.error(code, span, `${message} (at ${hex(span.start)})`, { help });

const helps: Partial<Record<CisaCode, string>> = {
  "visa-cisa-unknown-opcode": "the rest of this routine is not read, because instructions differ in length",
};

const hex = (offset: number): string => `0x${offset.toString(16)}`;

/** A routine and its actual offset, which the header may give wrongly. */
interface FoundRoutine {
  readonly entry: RoutineEntry;
  readonly offset: number;
  /** Whether the file ends before the routine. */
  readonly isCut: boolean;
}

class RoutineFinder {
  readonly #bytes: Uint8Array;
  readonly #sink: DiagnosticSink<CisaCode>;

  constructor(bytes: Uint8Array, sink: DiagnosticSink<CisaCode>) {
    this.#bytes = bytes;
    this.#sink = sink;
  }

  find(entries: readonly RoutineEntry[]): readonly FoundRoutine[] {
    const found: FoundRoutine[] = [];
    let room = this.#bytes.length;
    for (const entry of entries) {
      if (entry.kind === "function" && entry.offset === 0 && entry.size === 0) {
        const message = `function ${entry.name.text} is external: its instructions are not in this file`;
        this.#sink.warning("visa-cisa-extern-function", entry.name, message);
        continue;
      }
      const offset = this.#offset(entry, found.at(-1));
      const isCut = offset + entry.size > this.#bytes.length;
      if (isCut) {
        const message = `${entry.name.text} ends at ${hex(offset + entry.size)}, but the file at ${hex(this.#bytes.length)}`;
        this.#sink.error("visa-cisa-truncated", entry.at, message);
      }
      room -= Math.max(0, Math.min(entry.size, this.#bytes.length - offset));
      if (room < 0) {
        const message = `up to ${entry.name.text}, the routines have more bytes than the file`;
        this.#sink.error("visa-cisa-overlap", entry.at, message);
        break;
      }
      found.push({ entry, offset, isCut });
    }
    return found;
  }

  /**
   * The offset of a routine. Writers of 3.6 add the size of the native code to a function's offset once for each
   * function before it.
   */
  #offset(entry: RoutineEntry, before: FoundRoutine | undefined): number {
    if (before === undefined || entry.kind === "kernel" || before.entry.kind === "kernel") return entry.offset;
    const expected = before.offset + before.entry.size;
    if (entry.offset === expected || this.#isNamed(entry, entry.offset) || !this.#isNamed(entry, expected)) {
      return entry.offset;
    }
    const message = `function ${entry.name.text} is not at ${hex(entry.offset)}, but at ${hex(expected)}`;
    this.#sink.warning("visa-cisa-routine-offset", entry.at, message);
    return expected;
  }

  /** Whether a routine of this name is at an offset: writers make the name the first string. */
  #isNamed({ name }: RoutineEntry, offset: number): boolean {
    const start = offset + 4;
    const end = start + (name.end - name.start);
    if (end >= this.#bytes.length || this.#bytes[end] !== 0) return false;
    return new ByteReader(this.#bytes, start, end).text(end - start) === name.text;
  }
}

/**
 * Reads the routines in the first format in which all of them can be read, or else in the one with the fewest failures.
 */
function readRoutines(
  bytes: Uint8Array,
  { version }: Header,
  found: readonly FoundRoutine[],
  sink: DiagnosticSink<CisaCode>,
): readonly ReadRoutine[] {
  const [likeliest, ...others] = formatsOf(version.major, version.minor);
  const attempt = (format: Format) => ({
    format,
    routines: found.map(({ entry, offset }) => readRoutine(bytes, entry, offset, format)),
  });
  let best = attempt(likeliest);
  for (const format of others) {
    if (failures(best.routines) === 0) break;
    const next = attempt(format);
    if (failures(next.routines) < failures(best.routines)) best = next;
  }
  if (failures(best.routines) > 0 && found.every(({ isCut }) => !isCut)) {
    const defective = attempt({ ...likeliest, lacksOperands: true });
    if (reach(defective.routines) > reach(best.routines) || defective.routines.every(endsInReturn)) {
      const first = defective.routines[0]!.routine;
      const message = "its instructions lack their last operands, as in what IGC 1.0.12504 writes";
      sink.error("visa-cisa-missing-operands", first.name, message, { help: dumpedText });
      return best.routines;
    }
  }
  const fields = addedFields(best.format);
  if (fields !== null) sink.warning("visa-cisa-layout-guessed", versionSpan, `read with ${fields}`);
  for (const [i, { failure }] of best.routines.entries()) {
    const isReported = failure?.code === "visa-cisa-truncated" && found[i]!.isCut;
    if (failure !== null && !isReported) report(sink, failure, isByDefectiveWriter(version) ? defects : undefined);
  }
  return best.routines;
}

const dumpedText = "take the text that IGC dumps beside it";
const defects = `IGC 1.0.12504, which writes this version, leaves out operands and sets not all predicates: ${dumpedText}`;

const isByDefectiveWriter = ({ major, minor }: Header["version"]): boolean => major === 4 && minor === 1;

const versionSpan: Span = { start: 4, end: 6 };

/** The number of bytes that could be read. */
const reach = (routines: readonly ReadRoutine[]): number =>
  routines.reduce((sum, { routine, failure }) => sum + (failure?.span.start ?? routine.end) - routine.start, 0);

/** Whether a routine could be read up to a return, after which a file that lacks operands has what was in memory. */
function endsInReturn({ routine }: ReadRoutine): boolean {
  const last = routine.statements.findLast(({ kind }) => kind === "instruction");
  return last?.kind === "instruction" && ["return", "file-return"].includes(controlOf(last.row) ?? "");
}

const failures = (routines: readonly ReadRoutine[]): number => routines.filter((r) => r.failure !== null).length;

function addedFields({ callFlags, surfaceIndices }: Format): string | null {
  const fields = [
    ...(callFlags ? ["a byte of flags in ifcall"] : []),
    ...(surfaceIndices ? ["an index beside the surface of LSC accesses"] : []),
  ];
  return fields.length === 0 ? null : fields.join(" and ");
}
