import type { Item, Module } from "../../../src/ptx/tree/module.ts";
import type {
  Attribute,
  Block,
  Declarator,
  Expression,
  FunctionAttribute,
  Initializer,
  Operand,
  Parameter,
  Statement,
  VariableDeclaration,
} from "../../../src/ptx/tree/nodes.ts";
import type { Name } from "../../../src/ptx/tree/leaves.ts";

/** A tree as text: one line for each statement, expressions as `(operator operand ...)`. Spans are left out. */
export function dump(module: Module): string {
  const lines = module.items.flatMap((item) => itemLines(item, module));
  for (const skipped of module.skipped) lines.push(`skipped ${JSON.stringify(module.source.slice(skipped))}`);
  return lines.join("\n");
}

const join = (...words: (string | null | false)[]): string =>
  words.filter((word) => word !== null && word !== false && word !== "").join(" ");

function expression(node: Operand | Initializer): string {
  switch (node.kind) {
    case "integer":
      return `${node.value}${node.unsigned ? "U" : ""}`;
    case "float":
      return `f${node.width}:${node.bits.toString(16).padStart(node.width / 4, "0")}`;
    case "name":
      return node.component === null ? node.text : `${node.text}.${node.component}`;
    case "unary":
      return `(${node.operator} ${expression(node.operand)})`;
    case "binary":
      return `(${node.operator} ${expression(node.left)} ${expression(node.right)})`;
    case "conditional":
      return `(? ${[node.condition, node.then, node.otherwise].map(expression).join(" ")})`;
    case "parenthesized":
      return `(paren ${expression(node.inner)})`;
    case "operator-call":
      return `(call ${node.operator.text} ${node.argumentLists.map((list) => `(${list.map(expression).join(" ")})`).join(" ")})`;
    case "negated":
      return `(not ${expression(node.operand)})`;
    case "vector":
      return `(vector ${node.elements.map(expression).join(" ")})`;
    case "address":
      return `(address${node.qualifier ? `.${node.qualifier.text}` : ""} ${node.parts.map(expression).join(" ")})`;
    case "indexed":
      return `(element ${expression(node.base)} ${expression(node.index)})`;
    case "pair":
      return `(pair ${expression(node.first)} ${expression(node.second)})`;
    case "list":
      return `(list${node.elements.map((element) => ` ${expression(element)}`).join("")})`;
    case "sink":
      return "_";
    case "bad":
      return "BAD";
    case "initializer-list":
      return `{${node.elements.map(expression).join(" ")}}`;
    case "initializer-field":
      return `(= ${node.name.text} ${expression(node.value)})`;
  }
}

const list = (nodes: readonly Expression[]): string => nodes.map(expression).join(" ");
const range = (node: Declarator["range"]): string => (node ? `<${node.count}>` : "");
const dimensions = (nodes: readonly (Expression | null)[]): string =>
  nodes.map((node) => `[${node ? expression(node) : ""}]`).join("");

const attributes = (nodes: readonly Attribute[]): string =>
  nodes.map((node) => `attribute(${join(node.name.text, list(node.args))})`).join(" ");

function specifiers(node: VariableDeclaration | Parameter): string {
  return join(
    attributes(node.attributes),
    node.align && `align=${node.align.value}`,
    node.vector > 1 && `v${node.vector}`,
    node.type.text,
  );
}

function parameter(node: Parameter): string {
  const pointer =
    node.pointer && `ptr(${join(node.pointer.space, node.pointer.align !== null && `align=${node.pointer.align}`)})`;
  return join(node.space, specifiers(node), pointer, node.name.text + dimensions(node.dimensions));
}

const parameters = (nodes: readonly Parameter[] | null): string =>
  nodes ? `(${nodes.map(parameter).join(", ")})` : "";

const strings = (names: readonly Name[]): string => names.map((name) => JSON.stringify(name.text)).join(" ");
const functionAttribute = (node: FunctionAttribute): string =>
  join(node.name.text, list(node.args), strings(node.strings));

function declarator(node: Declarator): string {
  const name = node.name.text + range(node.range) + dimensions(node.dimensions);
  return node.initializer ? `${name} = ${expression(node.initializer)}` : name;
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
const blockLines = (node: Block, module: Module): string[] =>
  node.statements.flatMap((inner) => itemLines(inner, module));

function itemLines(node: Item | Statement, module: Module): string[] {
  switch (node.kind) {
    case "version":
      return [`version ${node.major} ${node.minor}`];
    case "target":
      return [`target ${node.names.map((name) => name.text).join(" ")}`];
    case "address-size":
      return [`address-size ${node.value}`];
    case "alias":
      return [`alias ${node.alias.text} = ${node.aliasee.text}`];
    case "function": {
      const head = join(
        "function",
        node.linkage?.value ?? null,
        node.entry ? "entry" : "func",
        attributes(node.attributes),
        parameters(node.returns),
        node.name.text + parameters(node.params),
        ...node.directives.map(functionAttribute),
      );
      return [node.body ? head : `${head} declared`, ...(node.body ? indented(blockLines(node.body, module)) : [])];
    }
    case "variable": {
      const space = node.bank === null ? node.space : `${node.space}[${node.bank}]`;
      const names = node.declarators.map(declarator).join(", ");
      return [join("variable", node.linkage?.value ?? null, space, specifiers(node), names)];
    }
    case "instruction": {
      const guard = node.guard && `@${node.guard.negated ? "!" : ""}${node.guard.register.text}`;
      return [join("instruction", guard, node.opcode.text, ...node.operands.map(expression))];
    }
    case "label":
      return [`label ${node.name.text}`];
    case "block":
      return ["block", ...indented(blockLines(node, module))];
    case "branchtargets":
    case "calltargets":
      return [join(node.kind, node.label?.text ?? "-", ...node.targets.map((t) => t.name.text + range(t.range)))];
    case "callprototype":
      return [
        join(
          "callprototype",
          node.label?.text ?? "-",
          parameters(node.returns),
          node.name.text + parameters(node.params),
          ...node.attributes.map(functionAttribute),
        ),
      ];
    case "loc": {
      const inlined =
        node.inlinedAt && `inlined_at ${node.inlinedAt.file} ${node.inlinedAt.line} ${node.inlinedAt.column}`;
      const name = node.functionName && `function_name ${node.functionName.label.text}+${node.functionName.offset}`;
      return [join(`loc ${node.file} ${node.line} ${node.column}`, name, inlined)];
    }
    case "pragma":
      return [`pragma ${strings(node.strings)}`];
    case "file":
      return [
        join(
          "file",
          String(node.index),
          strings([node.name]),
          node.timestamp !== null && `${node.timestamp} ${node.size}`,
        ),
      ];
    case "section":
      return [
        `section ${node.name.text}`,
        ...node.entries.map((entry) =>
          entry.label ? `  label ${entry.label.text}` : `  ${entry.type?.text} ${list(entry.values)}`,
        ),
      ];
    case "dwarf":
      return [`dwarf ${JSON.stringify(module.source.slice(node))}`];
    case "bad":
      return [`bad ${JSON.stringify(module.source.slice(node))}`];
  }
}
