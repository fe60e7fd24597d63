import type { Label, Name } from "../../ptx/tree/leaves.ts";
import type { Item } from "../../ptx/tree/module.ts";
import type {
  Block,
  CallPrototype,
  Declarator,
  Expression,
  FunctionDeclaration,
  Initializer,
  Instruction,
  NameExpr,
  Operand,
  Parameter,
  Statement,
  TargetList,
  VariableDeclaration,
} from "../../ptx/tree/nodes.ts";

/** What a name declares where it stands. */
export type Declares =
  | { readonly kind: "variable"; readonly node: VariableDeclaration; readonly declarator: Declarator }
  | { readonly kind: "parameter"; readonly parameter: Parameter; readonly of: FunctionDeclaration | CallPrototype }
  | { readonly kind: "function"; readonly node: FunctionDeclaration }
  | { readonly kind: "label"; readonly node: Label }
  | { readonly kind: "list"; readonly node: TargetList }
  | { readonly kind: "prototype"; readonly node: CallPrototype };

/** A place where a name stands: it is used there, or declared. */
export interface Occurrence {
  /** The name's node; of a use, its span may include a component (`.x`). */
  readonly name: Name | NameExpr;
  /** The use, or null for a declaration. */
  readonly use: NameExpr | null;
  readonly declares: Declares | null;
  /** Whether an instruction writes it. */
  readonly write: boolean;
  readonly instruction: Instruction | null;
}

/** Receives an occurrence. */
export type Visit = (occurrence: Occurrence) => void;

/** Visits the names of a directive at module scope, bodies included, in the order of the text. */
export function eachName(item: Item, visit: Visit): void {
  switch (item.kind) {
    case "function":
      functionNames(item, visit);
      return;
    case "variable":
      declarationNames(item, visit);
      return;
    case "alias":
      use(item.alias, visit);
      use(item.aliasee, visit);
  }
}

const use = (name: NameExpr, visit: Visit, instruction: Instruction | null = null, write = false): void =>
  visit({ name, use: name, declares: null, write, instruction });

const declare = (name: Name, declares: Declares, visit: Visit): void =>
  visit({ name, use: null, declares, write: false, instruction: null });

function functionNames(node: FunctionDeclaration, visit: Visit): void {
  for (const parameter of node.returns ?? []) parameterNames(parameter, node, visit);
  declare(node.name, { kind: "function", node }, visit);
  for (const parameter of node.params ?? []) parameterNames(parameter, node, visit);
  for (const { args } of node.directives) for (const arg of args) expressionNames(arg, visit, null);
  if (node.body !== null) blockNames(node.body, visit);
}

function parameterNames(parameter: Parameter, of: FunctionDeclaration | CallPrototype, visit: Visit): void {
  if (parameter.name.text !== "_") declare(parameter.name, { kind: "parameter", parameter, of }, visit);
  for (const bound of parameter.dimensions) if (bound !== null) expressionNames(bound, visit, null);
}

function declarationNames(node: VariableDeclaration, visit: Visit): void {
  for (const declarator of node.declarators) {
    declare(declarator.name, { kind: "variable", node, declarator }, visit);
    for (const bound of declarator.dimensions) if (bound !== null) expressionNames(bound, visit, null);
    if (declarator.initializer !== null) initializerNames(declarator.initializer, visit);
  }
}

function initializerNames(node: Initializer, visit: Visit): void {
  if (node.kind === "initializer-list") for (const element of node.elements) initializerNames(element, visit);
  else if (node.kind !== "initializer-field") expressionNames(node, visit, null);
}

/** Visits the names of a block. */
function blockNames({ statements }: Block, visit: Visit): void {
  for (const statement of statements) statementNames(statement, visit);
}

/** Visits the names of a statement. */
function statementNames(statement: Statement, visit: Visit): void {
  switch (statement.kind) {
    case "instruction":
      instructionNames(statement, visit);
      return;
    case "label":
      declare(statement.name, { kind: "label", node: statement }, visit);
      return;
    case "block":
      blockNames(statement, visit);
      return;
    case "variable":
      declarationNames(statement, visit);
      return;
    case "branchtargets":
    case "calltargets":
      if (statement.label !== null) declare(statement.label, { kind: "list", node: statement }, visit);
      for (const { name } of statement.targets) use(name, visit);
      return;
    case "callprototype":
      if (statement.label !== null) declare(statement.label, { kind: "prototype", node: statement }, visit);
      for (const parameter of [...(statement.returns ?? []), ...(statement.params ?? [])])
        parameterNames(parameter, statement, visit);
  }
}

function instructionNames(node: Instruction, visit: Visit): void {
  if (node.guard !== null) use(node.guard.register, visit, node);
  const slots = node.resolved?.operands;
  const results = slots === undefined ? 0 : slots.findIndex(({ destination }) => !destination);
  const written = results < 0 ? node.operands.length : results;
  for (const [i, operand] of node.operands.entries())
    operandNames(operand, visit, node, i < written || isResults(node, i));
}

/** Whether an operand is the list of results of a call. */
const isResults = (node: Instruction, index: number): boolean =>
  index === 0 && node.opcode.text.startsWith("call") && node.operands[0]?.kind === "list" && node.operands.length > 1;

function operandNames(operand: Operand, visit: Visit, node: Instruction, write: boolean): void {
  switch (operand.kind) {
    case "name":
      use(operand, visit, node, write);
      return;
    case "address":
      for (const part of operand.parts) operandNames(part, visit, node, false);
      return;
    case "vector":
    case "list":
      for (const element of operand.elements) operandNames(element, visit, node, write);
      return;
    case "negated":
      operandNames(operand.operand, visit, node, false);
      return;
    case "pair":
      operandNames(operand.first, visit, node, write);
      operandNames(operand.second, visit, node, write);
      return;
    case "indexed":
      operandNames(operand.base, visit, node, false);
      operandNames(operand.index, visit, node, false);
      return;
    case "sink":
    case "bad":
      return;
    default:
      expressionNames(operand, visit, node);
  }
}

function expressionNames(expr: Expression, visit: Visit, node: Instruction | null): void {
  switch (expr.kind) {
    case "name":
      use(expr, visit, node);
      return;
    case "unary":
      expressionNames(expr.operand, visit, node);
      return;
    case "binary":
      expressionNames(expr.left, visit, node);
      expressionNames(expr.right, visit, node);
      return;
    case "parenthesized":
      expressionNames(expr.inner, visit, node);
      return;
    case "conditional":
      expressionNames(expr.condition, visit, node);
      expressionNames(expr.then, visit, node);
      expressionNames(expr.otherwise, visit, node);
      return;
    case "operator-call":
      for (const list of expr.argumentLists) for (const argument of list) expressionNames(argument, visit, node);
  }
}
