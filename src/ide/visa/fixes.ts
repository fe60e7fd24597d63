import type { Diagnostic, Span } from "../../source/index.ts";
import type { CodeAction, TextEdit } from "../base/results.ts";

/** The repairs of the findings in a range: each one, and all of its code. */
export function codeActionsIn(diagnostics: readonly Diagnostic[], range: Span): readonly CodeAction[] {
  const actions: CodeAction[] = [];
  const codes = new Set<string>();
  for (const diagnostic of diagnostics) {
    const { span, code } = diagnostic;
    const edit = editOf(diagnostic);
    if (span.end < range.start || span.start > range.end || edit === null) continue;
    actions.push({ title: `change to '${edit.text}'`, kind: "fix", code, edits: [edit] });
    codes.add(code);
  }
  for (const code of codes) {
    const edits = diagnostics.filter((each) => each.code === code).flatMap((each) => editOf(each) ?? []);
    if (edits.length > 1) actions.push({ title: `fix all ${edits.length} of ${code}`, kind: "fix-all", code, edits });
  }
  return actions;
}

function editOf({ help = "", span }: Diagnostic): TextEdit | null {
  const meant = /^did you mean [`'](.+)[`']\?$/.exec(help)?.[1];
  return meant === undefined ? null : { start: span.start, end: span.end, text: meant };
}
