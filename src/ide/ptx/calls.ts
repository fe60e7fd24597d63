import type {
  FunctionDeclaration,
  Initializer,
  Instruction,
  NameExpr,
  Operand,
  Parameter,
} from "../../ptx/tree/nodes.ts";
import type { Span } from "../../source/index.ts";
import type { CallEdge, CallItem, InlayHint } from "../base/results.ts";
import { headerText, nameSpan, sourceName } from "./entities.ts";
import { lineStarts } from "./locations.ts";
import { type Part, type Placed, type PtxModel, toDocument } from "./model.ts";
import { allStatements } from "./statements.ts";

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
  const add = (node: Operand | Initializer): void => functionsIn(node, found);
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

/** Adds the names of the functions whose addresses are in an operand or an initial value. */
export function functionsIn(node: Operand | Initializer, into: Set<string>): void {
  if (node.kind === "name" && node.symbol?.kind === "function" && !node.symbol.entry) into.add(node.symbol.name);
  else if (node.kind === "initializer-list") for (const element of node.elements) functionsIn(element, into);
  else if (node.kind === "operator-call")
    for (const list of node.argumentLists) for (const argument of list) functionsIn(argument, into);
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
