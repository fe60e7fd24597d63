import type { LocDirective } from "../../ptx/tree/leaves.ts";
import type { FunctionDeclaration, Instruction } from "../../ptx/tree/nodes.ts";
import type { Span } from "../../source/index.ts";
import type { SourceLine } from "../base/results.ts";
import { type Placed, type PtxModel, toDocument } from "./model.ts";
import { allStatements } from "./statements.ts";

/** The path of a file by its number in `.loc`, or null. */
export function fileNamed(model: PtxModel, index: number): string | null {
  for (const { item } of model.items()) if (item.kind === "file" && item.index === index) return item.name.text;
  return null;
}

const lineOf = (model: PtxModel, { file, line, column }: LocDirective): SourceLine | null => {
  const path = fileNamed(model, file);
  return path === null || line === 0 ? null : { file: path, line, column };
};

/** The line that an instruction was compiled from: that of the last `.loc` before it in its function. */
export function locationAt(model: PtxModel, { item }: Placed, node: Instruction | LocDirective): SourceLine | null {
  if (item.kind !== "function" || item.body === null) return null;
  let last: LocDirective | null = null;
  for (const statement of allStatements(item.body)) {
    if (statement.start > node.start) break;
    if (statement.kind === "loc") last = statement;
  }
  return last === null ? null : lineOf(model, last);
}

/** The instructions of a module that were compiled from a line of a file whose path ends in `file`. */
export function instructionsOf(model: PtxModel, file: string, line: number): readonly Span[] {
  const numbers = new Set<number>();
  for (const { item } of model.items())
    if (item.kind === "file" && item.name.text.endsWith(file)) numbers.add(item.index);
  const found: Span[] = [];
  for (const { part, item } of model.items()) {
    if (item.kind !== "function" || item.body === null) continue;
    let here = false;
    for (const statement of allStatements(item.body)) {
      if (statement.kind === "loc") here = statement.line === line && numbers.has(statement.file);
      else if (here && statement.kind === "instruction") found.push(toDocument(part, statement));
    }
  }
  return found;
}

/** The `.loc` directives of a function that begin a new line, with their lines. */
export function* lineStarts(
  model: PtxModel,
  item: FunctionDeclaration,
): Generator<{ readonly at: LocDirective; readonly line: SourceLine }> {
  if (item.body === null) return;
  let last = "";
  for (const statement of allStatements(item.body)) {
    if (statement.kind !== "loc") continue;
    const line = lineOf(model, statement);
    const key = line === null ? "" : `${line.file}:${line.line}`;
    if (line !== null && key !== last) yield { at: statement, line };
    last = key;
  }
}
