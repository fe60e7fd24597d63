import type { Span } from "../../source/index.ts";
import type { BoundRoutine } from "../../visa/symbols.ts";
import type { Instruction } from "../../visa/tree.ts";
import type { InlayHint, SourceLine } from "../base/results.ts";
import type { VisaModel } from "./model.ts";
import { eachName, nameSpan } from "./names.ts";

/** The instructions of a routine with the lines that `.file` and `.loc` give them. */
function* located({
  instructions,
}: BoundRoutine): Generator<{ readonly node: Instruction; readonly line: SourceLine | null; readonly marks: boolean }> {
  let file: string | null = null;
  let line: SourceLine | null = null;
  for (const node of instructions) {
    const { mnemonic } = node.row;
    const [operand] = Object.values(node.operands);
    const marks = mnemonic === ".file" || mnemonic === "file" || mnemonic === ".loc" || mnemonic === "loc";
    if (marks && operand?.kind === "string") file = operand.text;
    if (marks && operand?.kind === "number" && file !== null) line = { file, line: operand.value, column: 0 };
    yield { node, line, marks };
  }
}

/** The line that the instruction at an offset was compiled from. */
export function sourceLineAt({ routines }: VisaModel, offset: number): SourceLine | null {
  for (const routine of routines)
    for (const { node, line } of located(routine)) if (node.start <= offset && offset <= node.end) return line;
  return null;
}

/** The instructions that were compiled from a line of a file whose path ends in `file`. */
export function instructionsOf({ routines }: VisaModel, file: string, wanted: number): readonly Span[] {
  return routines.flatMap((routine) =>
    [...located(routine)]
      .filter(({ line, marks }) => !marks && line?.line === wanted && line.file.endsWith(file))
      .map(({ node: { start, end } }) => ({ start, end })),
  );
}

/** The lines of the source where they begin. */
export function inlayHintsIn({ routines }: VisaModel, { start, end }: Span): readonly InlayHint[] {
  const hints: InlayHint[] = [];
  for (const routine of routines) {
    let last = "";
    for (const { node, line, marks } of located(routine)) {
      const text = line === null ? "" : `${line.file.replace(/^.*[\\/]/, "")}:${line.line}`;
      if (text !== last && marks && node.end >= start && node.end <= end)
        hints.push({ offset: node.end, text, kind: "source-line" });
      last = text;
    }
  }
  return hints;
}

/** The names of the routines that a routine calls, or whose addresses it takes, with the places. */
export function calleesOf(model: VisaModel, name: string): ReadonlyMap<string, readonly Span[]> {
  const found = new Map<string, Span[]>();
  const index = model.routines.findIndex((routine) => routine.name === name);
  const from = model.routines[index]?.routine.start ?? 0;
  const until = model.routines[index + 1]?.routine.start ?? model.source.text.length;
  eachName(model, (occurrence) => {
    const { entity, declares } = occurrence;
    const { start } = occurrence.name;
    if (index < 0 || declares || entity.kind !== "routine" || start < from || start >= until || entity.name === name)
      return;
    const places = found.get(entity.name) ?? [];
    places.push(nameSpan(model, occurrence.name));
    found.set(entity.name, places);
  });
  return found;
}
