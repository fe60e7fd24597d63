import type {
  FunctionDeclaration,
  Initializer,
  Instruction,
  NameExpr,
  Operand,
  Parameter,
} from "../../ptx/tree/nodes.ts";
import type { Span } from "../../source/index.ts";
import type { CallEdge, CallItem, InlayHint, SignatureHelp } from "../base/results.ts";
import { headerText, nameSpan, parameterText, sourceName } from "./entities.ts";
import { lineStarts } from "./locations.ts";
import { type Part, type Placed, type PtxModel, toDocument } from "./model.ts";
import { signatureBlock } from "./outline.ts";
import { allStatements } from "./statements.ts";
import { farthest, statementBefore } from "./words.ts";

/** The functions that a call can go to by the text of the module, and where it names them or the list of them. */
interface Call {
  readonly at: Span;
  readonly targets: readonly string[];
}

/** The calls of a function, direct ones and those through tables, lists and prototypes. */
function* callsOf(model: PtxModel, part: Part, item: FunctionDeclaration): Generator<Call> {
  if (item.body === null) return;
  for (const statement of allStatements(item.body)) {
    if (statement.kind !== "instruction" || !isCall(statement)) continue;
    const info = model.callInfo(statement);
    if (info === undefined) continue;
    const { target } = info;
    if (target.kind === "direct") {
      const named = statement.operands.find((operand) => operand.kind === "name") as NameExpr | undefined;
      if (named !== undefined) yield { at: toDocument(part, nameSpan(named)), targets: [target.function.name] };
    } else {
      const targets = target.targets?.map(({ name }) => name) ?? addressTakenIn(model);
      yield { at: toDocument(part, target.address), targets };
    }
  }
}

const isCall = ({ opcode }: Instruction): boolean => opcode.text === "call" || opcode.text.startsWith("call.");

/** The names of the functions of a module whose addresses are taken: what a call through a prototype may go to. */
function addressTakenIn(model: PtxModel): readonly string[] {
  const found = new Set<string>();
  const add = (node: Operand | Initializer): void => {
    if (node.kind === "name" && node.symbol?.kind === "function" && !node.symbol.entry) found.add(node.symbol.name);
    else if (node.kind === "initializer-list") for (const element of node.elements) add(element);
    else if (node.kind === "operator-call") for (const list of node.argumentLists) for (const arg of list) add(arg);
  };
  for (const { item } of model.items()) {
    if (item.kind === "variable")
      for (const { initializer } of item.declarators) if (initializer !== null) add(initializer);
    if (item.kind !== "function" || item.body === null) continue;
    for (const statement of allStatements(item.body))
      if (statement.kind === "instruction" && !isCall(statement))
        for (const operand of statement.operands) add(operand);
  }
  return [...found];
}

/** A function in the hierarchy of calls. */
export function callItemOf(uri: string, { part, item }: Placed<FunctionDeclaration>): CallItem {
  return {
    name: item.name.text,
    detail: sourceName(item.name.text) ?? headerText(part, item),
    kind: item.entry ? "kernel" : "function",
    place: { uri, ...toDocument(part, item) },
    selection: toDocument(part, nameSpan(item.name)),
  };
}

/** The functions that call a function of this name. */
export function callersOf(model: PtxModel, uri: string, name: string): readonly CallEdge[] {
  const edges: CallEdge[] = [];
  for (const { part, item } of model.items()) {
    if (item.kind !== "function") continue;
    const calls = [...callsOf(model, part, item)].filter(({ targets }) => targets.includes(name)).map(({ at }) => at);
    if (calls.length > 0) edges.push({ item: callItemOf(uri, { part, item }), calls });
  }
  return edges;
}

/** The names of the functions that a function calls, with the places of the calls. */
export function calleesOf(model: PtxModel, name: string): ReadonlyMap<string, readonly Span[]> {
  const found = new Map<string, Span[]>();
  const definition = model.definition(name);
  if (definition === null) return found;
  for (const { at, targets } of callsOf(model, definition.part, definition.item)) {
    for (const target of targets) {
      const calls = found.get(target);
      if (calls) calls.push(at);
      else found.set(target, [at]);
    }
  }
  return found;
}

/** The function that is called at an offset, with its parameters. */
export function signatureHelpAt(model: PtxModel, offset: number): SignatureHelp | null {
  const statement = statementBefore(model.textBefore(offset, farthest));
  if (statement === null || !statement.list || !/^call\b/.test(statement.opcode ?? "")) return null;
  const name = statement.names.findLast((each) => model.globals.has(each));
  const definition = name === undefined ? null : model.declared(name);
  if (definition === null) return null;
  const { part, item } = definition;
  const parameters = (item.params ?? []).map((parameter) => parameterText(part, parameter));
  const returns = (item.returns ?? []).map((parameter) => parameterText(part, parameter));
  let label = `${returns.length > 0 ? `(${returns.join(", ")}) ` : ""}${item.name.text} (`;
  const spans = parameters.map((text, i) => {
    const start = label.length;
    label += text + (i < parameters.length - 1 ? ", " : "");
    return { start, end: start + text.length };
  });
  const active = statement.element < spans.length ? statement.element : -1;
  return {
    label: `${label})`,
    parameters: spans,
    active,
    documentation: sourceName(item.name.text) ?? signatureBlock(part, item),
  };
}

/** The names of parameters at calls, and the lines of `.loc`. */
export function inlayHintsIn(model: PtxModel, { start, end }: Span): readonly InlayHint[] {
  const hints: InlayHint[] = [];
  for (const { part, item } of model.items()) {
    if (item.kind !== "function" || item.body === null) continue;
    const whole = toDocument(part, item);
    if (whole.end < start || whole.start > end) continue;
    for (const statement of allStatements(item.body))
      if (statement.kind === "instruction" && isCall(statement)) hints.push(...argumentHints(model, part, statement));
    for (const { at, line } of lineStarts(model, item)) {
      const { end: offset } = toDocument(part, at);
      hints.push({ offset, text: `${line.file.replace(/^.*[\\/]/, "")}:${line.line}`, kind: "source-line" });
    }
  }
  return hints.filter(({ offset }) => offset >= start && offset <= end).sort((a, b) => a.offset - b.offset);
}

function argumentHints(model: PtxModel, part: Part, node: Instruction): readonly InlayHint[] {
  const info = model.callInfo(node);
  if (info === undefined) return [];
  return info.args.flatMap((argument, i) => {
    const parameter: Parameter | undefined = info.signature.params[i]?.parameter;
    const name = parameter?.name.text ?? "_";
    if (name === "_" || (argument.kind === "name" && argument.text === name)) return [];
    return [{ offset: toDocument(part, argument).start, text: `${name}:`, kind: "parameter" as const }];
  });
}
