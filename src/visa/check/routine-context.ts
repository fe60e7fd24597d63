import type { DiagnosticDetails, Span } from "../../source/index.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";
import type { Binding } from "./bind.ts";
import type { VisaCheckCode } from "./codes.ts";

/** What the rules of one routine work on, and where they report. */
export class RoutineContext {
  readonly binding: Binding;
  readonly routine: BoundRoutine;

  constructor(binding: Binding) {
    this.binding = binding;
    this.routine = binding.routine;
  }

  get grfBytes(): number {
    return this.routine.grfBytes;
  }

  /** Null where the name means nothing: that has been reported. */
  variable(name: Name): Variable | null {
    return this.routine.variableOf.get(name) ?? null;
  }

  error(code: VisaCheckCode, span: Span, message: string, details?: DiagnosticDetails | string): void {
    this.binding.sink.error(code, span, message, typeof details === "string" ? { help: details } : details);
  }

  warning(code: VisaCheckCode, span: Span, message: string, details?: DiagnosticDetails | string): void {
    this.binding.sink.warning(code, span, message, typeof details === "string" ? { help: details } : details);
  }

  /** Where something else stands in the routine's file, for a diagnostic. */
  note(message: string, span: Span): DiagnosticDetails {
    return { notes: [{ message, source: this.routine.file.source, span }] };
  }
}

/** Channels of an instruction; 1 where it has no execution size. */
export const channelsOf = ({ exec }: Instruction): number => exec?.size ?? 1;
