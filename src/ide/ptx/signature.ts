import type { CallPrototype, FunctionDeclaration } from "../../ptx/tree/nodes.ts";
import type { SignatureHelp } from "../base/results.ts";
import { functionsIn } from "./calls.ts";
import { parameterText, sourceName } from "./entities.ts";
import type { Part, PtxModel } from "./model.ts";
import { signatureBlock } from "./outline.ts";
import { allStatements } from "./statements.ts";
import { farthest, statementBefore } from "./words.ts";

/** What says which arguments a call takes: a function or a prototype. */
interface Callable {
  readonly part: Part;
  readonly node: FunctionDeclaration | CallPrototype;
  readonly name: string;
  readonly documentation: string;
}

/** The function or the prototype that is called at an offset, with its parameters. */
export function signatureHelpAt(model: PtxModel, offset: number): SignatureHelp | null {
  const statement = statementBefore(model.textBefore(offset, farthest));
  if (statement === null || !statement.list || !/^call\b/.test(statement.opcode ?? "")) return null;
  const name = statement.names.findLast((each) => model.globals.has(each));
  const called = (name === undefined ? null : functionNamed(model, name)) ?? calledThrough(model, offset);
  // The first list is that of the results.
  return called === null || statement.names.length === 0 ? null : helpFor(called, statement.element);
}

function functionNamed(model: PtxModel, name: string): Callable | null {
  const declared = model.declared(name);
  if (declared === null) return null;
  const { part, item } = declared;
  return { part, node: item, name, documentation: sourceName(name) ?? signatureBlock(part, item) };
}

/** What an indirect call names after its arguments: a prototype, or a list or table of functions (9.7.12.5). */
function calledThrough(model: PtxModel, offset: number): Callable | null {
  const around = model.itemAround(offset);
  if (around === null) return null;
  const { part, item } = around;
  const at = offset - part.start + part.base;
  const [, via] = /^[^;()]*\)\s*,\s*([\w$%]+)/.exec(part.source.text.slice(at, at + farthest)) ?? [];
  if (via === undefined || item.kind !== "function" || item.body === null) return null;
  for (const statement of allStatements(item.body)) {
    if (statement.kind === "callprototype" && statement.label?.text === via)
      return { part, node: statement, name: via, documentation: "any function of this prototype" };
    if (statement.kind === "calltargets" && statement.label?.text === via)
      return oneOf(
        model,
        statement.targets.map(({ name }) => name.text),
      );
  }
  return oneOf(model, functionsOfTable(model, via));
}

function functionsOfTable(model: PtxModel, name: string): readonly string[] {
  const found = new Set<string>();
  for (const { item } of model.globals.get(name)?.places ?? [])
    if (item.kind === "variable")
      for (const { name: declared, initializer } of item.declarators)
        if (declared.text === name && initializer !== null) functionsIn(initializer, found);
  return [...found];
}

/** Functions of a list all take the same: the first one that is declared shows it. */
function oneOf(model: PtxModel, names: readonly string[]): Callable | null {
  for (const name of names) {
    const found = functionNamed(model, name);
    if (found === null) continue;
    return names.length === 1 ? found : { ...found, documentation: `one of ${names.join(", ")}` };
  }
  return null;
}

function helpFor({ part, node, name, documentation }: Callable, element: number): SignatureHelp {
  const parameters = (node.params ?? []).map((parameter) => parameterText(part, parameter));
  const returns = (node.returns ?? []).map((parameter) => parameterText(part, parameter));
  let label = `${returns.length > 0 ? `(${returns.join(", ")}) ` : ""}${name} (`;
  const spans = parameters.map((text, i) => {
    const start = label.length;
    label += text + (i < parameters.length - 1 ? ", " : "");
    return { start, end: start + text.length };
  });
  return { label: `${label})`, parameters: spans, active: element < spans.length ? element : -1, documentation };
}
