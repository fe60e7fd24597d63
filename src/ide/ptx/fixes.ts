import { rootOf } from "../../ptx/isa/resolve.ts";
import type { Diagnostic, Span } from "../../source/index.ts";
import type { CodeAction, TextEdit } from "../base/results.ts";
import type { PtxModel } from "./model.ts";

/** A repair in the coordinates of the diagnostic's text. */
interface Fix {
  readonly title: string;
  readonly edit: TextEdit;
  /** Whether the edit is to the module's header, and so repairs several findings at once. */
  readonly header?: boolean;
}

/** The repairs of the findings in a range of the document: each one, and all of its code. */
export function codeActionsIn(model: PtxModel, range: Span): readonly CodeAction[] {
  const all = model.diagnostics;
  const placed = (diagnostic: Diagnostic): Span => ({
    start: model.offset(diagnostic.source, diagnostic.span.start),
    end: model.offset(diagnostic.source, diagnostic.span.end),
  });
  const actions: CodeAction[] = [];
  const whole = new Set<string>();
  for (const diagnostic of all) {
    const { start, end } = placed(diagnostic);
    if (end < range.start || start > range.end) continue;
    const fix = fixOf(model, diagnostic);
    if (fix === null) continue;
    const { code } = diagnostic;
    actions.push({ title: fix.title, kind: "fix", code, edits: [editOf(model, diagnostic, fix)] });
    if (fix.header !== true) whole.add(code);
  }
  for (const code of whole) {
    const edits = inOrder(
      all
        .filter((each) => each.code === code)
        .flatMap((each) => {
          const fix = fixOf(model, each);
          return fix === null ? [] : [editOf(model, each, fix)];
        }),
    );
    if (edits.length > 1) actions.push({ title: `fix all ${edits.length} of ${code}`, kind: "fix-all", code, edits });
  }
  return actions;
}

/** Edits in the order of the text, without those that overlap one before. */
function inOrder(edits: readonly TextEdit[]): readonly TextEdit[] {
  let end = -1;
  return [...edits]
    .sort((a, b) => a.start - b.start)
    .filter((edit) => {
      if (edit.start < end || (edit.start === end && edit.end === end)) return false;
      end = Math.max(edit.end, edit.start);
      return true;
    });
}

function editOf(model: PtxModel, { source }: Diagnostic, { edit, header }: Fix): TextEdit {
  if (header === true) return edit;
  return { start: model.offset(source, edit.start), end: model.offset(source, edit.end), text: edit.text };
}

/** How to repair a finding, by its code and what its help says. */
function fixOf(model: PtxModel, diagnostic: Diagnostic): Fix | null {
  const { code, span, help = "" } = diagnostic;
  const meant = /^did you mean ['`](.+)['`]\?$/.exec(help)?.[1];
  if (meant !== undefined) return meantFix(diagnostic, meant);
  const ordered = /^in the manual's order it is `(.+)`$/.exec(help)?.[1];
  if (ordered !== undefined) {
    return { title: `change to '${ordered}'`, edit: { ...opcodeAround(diagnostic), text: ordered } };
  }
  const insert = /^write '(.)' here$/.exec(help)?.[1];
  if (insert !== undefined)
    return { title: `write '${insert}'`, edit: { start: span.start, end: span.start, text: insert } };
  if (code === "ptx-empty-statement") return { title: "remove the ';'", edit: { ...span, text: "" } };
  const heading = /^write `\.(version|target) ([\w.]+)`/.exec(help);
  return heading === null ? null : headingFix(model, heading[1] as "version" | "target", heading[2]!);
}

function meantFix({ code, span, source }: Diagnostic, meant: string): Fix {
  const written = source.slice(span);
  const text = code === "unknown-modifier" ? meant.replace(/^\./, "") : meant;
  const end = code === "unknown-instruction" ? span.start + rootOf(written).length : span.end;
  const component = code === "unknown-name" ? (/\.[\w]+$/.exec(written)?.[0] ?? "") : "";
  return { title: `change to '${meant}'`, edit: { start: span.start, end: end - component.length, text } };
}

/** The whole opcode, one modifier of which a finding is about. */
function opcodeAround({ span, source: { text } }: Diagnostic): Span {
  let { start, end } = span;
  while (start > 0 && /[\w.:]/.test(text[start - 1]!)) start--;
  while (end < text.length && /[\w.:]/.test(text[end]!)) end++;
  return { start, end };
}

/** Writes another version or target in the module's header, or adds it. */
function headingFix(model: PtxModel, kind: "version" | "target", value: string): Fix {
  const title = `write .${kind} ${value}`;
  let end = 0;
  for (const { part, item } of model.items()) {
    const at = (offset: number): number => offset - part.base + part.start;
    if (item.kind === "version") {
      if (kind === "version")
        return { title, header: true, edit: { start: at(item.start), end: at(item.end), text: `.version ${value}` } };
      end = at(item.end);
    }
    if (item.kind !== "target" || kind !== "target") continue;
    const [first] = item.names;
    const span = first ?? { start: item.end, end: item.end };
    return { title, header: true, edit: { start: at(span.start), end: at(span.end), text: value } };
  }
  const text = end === 0 ? `.${kind} ${value}\n` : `\n.${kind} ${value}`;
  return { title, header: true, edit: { start: end, end, text } };
}
