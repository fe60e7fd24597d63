import type { DiagnosticDetails, Span } from "../../source/index.ts";
import { type BoundRoutine, isVectorCompiled, type Variable } from "../symbols.ts";
import type { Instruction, Name } from "../tree.ts";
import type { Binding } from "./bind.ts";
import type { VisaCheckCode } from "./codes.ts";

/** A routine that is being checked, and where its diagnostics go. */
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

  /** The variable of a name; null if there is none, which has been reported. */
  variable(name: Name): Variable | null {
    return this.routine.variableOf.get(name) ?? null;
  }

  error(code: VisaCheckCode, span: Span, message: string, details?: DiagnosticDetails | string): void {
    this.binding.sink.error(code, span, message, typeof details === "string" ? { help: details } : details);
  }

  warning(code: VisaCheckCode, span: Span, message: string, details?: DiagnosticDetails | string): void {
    this.binding.sink.warning(code, span, message, typeof details === "string" ? { help: details } : details);
  }

  /**
   * Reports what a page calls wrong but IGC's vector compiler (`Target="cm"`) writes, and IGC assembles: a warning in
   * its text, an error in any other.
   */
  unlessVectorCompiled(code: VisaCheckCode, span: Span, message: string, help: string): void {
    if (isVectorCompiled(this.routine)) this.warning(code, span, message, help);
    else this.error(code, span, message, help);
  }

  /** A note for a diagnostic, at another place of the routine's file. */
  note(message: string, span: Span): DiagnosticDetails {
    return { notes: [{ message, source: this.routine.file.source, span }] };
  }
}

/** Number of channels of an instruction; 1 if it has no execution size. */
export const channelsOf = ({ exec }: Instruction): number => exec?.size ?? 1;
