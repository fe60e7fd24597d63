import { linkVisa } from "../../visa/check/index.ts";
import { controlOf } from "../../visa/isa/row.ts";
import { programOf } from "../base/program.ts";
import type { Finding } from "../base/results.ts";
import type { VisaModel } from "./model.ts";

/** A document as others of its program see it. */
export interface LinkedDocument {
  readonly uri: string;
  readonly model: VisaModel;
}

/**
 * The findings of the rules between routines, of one document and those that belong to its program: where one names a
 * function that another one defines. A function that none of them has may be in a file that is not open.
 */
export function linkFindings(own: LinkedDocument, others: readonly LinkedDocument[]): readonly Finding[] {
  const program = programOf(own, others, needs);
  const uris = new Map(program.map(({ uri, model }) => [model.source, uri]));
  const defined = new Set(program.flatMap(({ model }) => model.routines.map(({ name }) => name)));
  const { diagnostics } = linkVisa(program.map(({ model }) => model));
  return diagnostics.flatMap(({ source, span, severity, code, message, help, notes }): readonly Finding[] => {
    if (source !== own.model.source) return [];
    const named = source.text.slice(span.start, span.end).replace(/^"|"$/g, "");
    if (code === "visa-unknown-function" && !defined.has(named)) return [];
    return [
      {
        ...{ start: span.start, end: span.end, severity, code, message },
        help: help ?? null,
        notes: notes.map((note) => {
          const uri = uris.get(note.source ?? source);
          const { span: at } = note;
          const place = at === undefined || uri === undefined ? null : { uri, start: at.start, end: at.end };
          return { message: note.message, place };
        }),
      },
    ];
  });
}

/** Whether a document names a function that another one defines, and does not define it itself. */
function needs({ model }: LinkedDocument, other: LinkedDocument): boolean {
  const own = new Set(model.routines.map(({ name }) => name));
  const there = new Set(other.model.routines.flatMap(({ kind, name }) => (kind === "function" ? [name] : [])));
  if (there.size === 0) return false;
  return model.routines.some(({ instructions }) =>
    instructions.some(({ row, operands: { routine } }) => {
      if (routine?.kind !== "name" || controlOf(row) === null) return false;
      return there.has(routine.name.text) && !own.has(routine.name.text);
    }),
  );
}
