import { type Diagnostic, demangle, type Report, type SourceText, type Span, type ThreadId } from "lanewise";
import type { FileRange, Finding } from "./protocol.ts";

const rangeOf = (source: SourceText, { start, end }: Span): FileRange => ({
  path: source.path,
  from: start,
  to: end,
  line: source.position(start).line,
});

/** A name as its source has it. */
export const shownName = (name: string): string => demangle(name)?.name ?? name;

export const findingOf = ({ severity, code, message, help, source, span, notes }: Diagnostic): Finding => ({
  severity,
  code,
  message,
  help: help ?? null,
  at: rangeOf(source, span),
  notes: notes.filter((note) => note.span === undefined).map((note) => note.message),
  related: notes.flatMap((note) =>
    note.span === undefined
      ? []
      : [{ message: note.message, at: rangeOf(note.source ?? source, note.span), thread: null }],
  ),
  threads: "",
  stack: [],
});

export const findingOfReport = (report: Report): Finding => ({
  severity: report.severity,
  code: report.code,
  message: report.message,
  help: report.help ?? null,
  at: rangeOf(report.source, report.span),
  notes: report.notes,
  related: (report.related ?? []).map(({ message, source, span, thread }) => ({
    message,
    at: rangeOf(source, span),
    thread: threadName(thread),
  })),
  threads: threadsOf(report),
  stack: report.stack.map((entry) => ({
    function: shownName(entry.function),
    at: rangeOf(entry.source, entry.span),
  })),
});

const threadName = ({ block, thread }: ThreadId): string => `thread (${thread.join()}) of block (${block.join()})`;

function threadsOf({ threads, count }: Report): string {
  const [first] = threads;
  if (first === undefined) return "";
  if (count === 1) return threadName(first);
  const sameBlock = threads.filter(({ block }) => block.join() === first.block.join());
  const names = sameBlock
    .slice(0, 8)
    .map(({ thread }) => (thread[1] + thread[2] > 0 ? `(${thread.join()})` : thread[0]));
  const more = count - Math.min(8, sameBlock.length);
  return `threads ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}; first in block (${first.block.join()})`;
}
