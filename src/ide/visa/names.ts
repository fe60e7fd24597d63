import type { Span } from "../../source/index.ts";
import { eachVariableName } from "../../visa/check/operand-names.ts";
import type { BoundRoutine, Variable } from "../../visa/symbols.ts";
import type { Instruction, Name, Operand, Statement } from "../../visa/tree.ts";
import type { VisaModel } from "./model.ts";

/** What a name stands for: a variable or label of a routine, or a routine of the program. */
export type Entity =
  | { readonly kind: "variable"; readonly variable: Variable }
  | { readonly kind: "label"; readonly routine: BoundRoutine; readonly name: string }
  | { readonly kind: "routine"; readonly name: string };

/** A place where a name stands. */
export interface Occurrence {
  readonly name: Name;
  readonly entity: Entity;
  readonly declares: boolean;
  readonly write: boolean;
}

const sameEntity = (a: Entity, b: Entity): boolean => {
  if (a.kind === "variable" || b.kind === "variable")
    return a.kind === "variable" && b.kind === "variable" && a.variable === b.variable;
  if (a.kind === "label" || b.kind === "label")
    return a.kind === "label" && b.kind === "label" && a.routine === b.routine && a.name === b.name;
  return a.name === b.name;
};

/** The place of a name, without its quotes. */
export function nameSpan({ source }: VisaModel, { start, end, text }: Name): Span {
  const from = source.text[start] === '"' ? start + 1 : start;
  return { start: from, end: Math.min(from + text.length, end) };
}

type Visit = (occurrence: Occurrence) => void;

/** Visits the names of a file in the order of the text. */
export function eachName({ routines }: VisaModel, visit: Visit): void {
  for (const routine of routines) {
    const { name } = routine.routine;
    visit({ name, entity: { kind: "routine", name: name.text }, declares: true, write: false });
    statements(routine.routine.statements, routine, visit);
  }
}

/** The names of one routine's statements. */
function statements(list: readonly Statement[], routine: BoundRoutine, visit: Visit): void {
  const variable = (name: Name, declares: boolean, write: boolean): void => {
    const known = declares ? declaredAs(routine, name) : routine.variableOf.get(name);
    if (known !== undefined) visit({ name, entity: { kind: "variable", variable: known }, declares, write });
  };
  for (const statement of list) {
    switch (statement.kind) {
      case "decl":
        variable(statement.name, true, false);
        if (statement.alias !== null) variable(statement.alias.of, false, false);
        break;
      case "input":
      case "parameter":
        variable(statement.name, false, false);
        break;
      case "funcdecl":
      case "function-directive": {
        const { name } = statement;
        const isRoutine = statement.kind === "funcdecl" || name.text === routine.name;
        const entity: Entity = isRoutine
          ? { kind: "routine", name: name.text }
          : { kind: "label", routine, name: name.text };
        visit({ name, entity, declares: false, write: false });
        break;
      }
      case "scope":
        statements(statement.statements, routine, visit);
        break;
      case "label":
        visit({
          name: statement.name,
          entity: { kind: "label", routine, name: statement.name.text },
          declares: true,
          write: false,
        });
        break;
      case "instruction":
        instruction(statement, routine, variable, visit);
    }
  }
}

const declaredAs = ({ variables }: BoundRoutine, name: Name): Variable | undefined =>
  variables.find(({ span }) => span === name);

function instruction(
  node: Instruction,
  routine: BoundRoutine,
  variable: (name: Name, declares: boolean, write: boolean) => void,
  visit: Visit,
): void {
  const written = new Set<Name>();
  for (const [key, operand] of Object.entries(node.operands)) {
    const spec = node.row.operands[key];
    if (spec !== undefined && "role" in spec && spec.role === "dst")
      for (const name of writtenIn(operand)) written.add(name);
  }
  eachVariableName(node, (name) => variable(name, false, written.has(name)));
  for (const [key, operand] of Object.entries(node.operands)) {
    const spec = node.row.operands[key];
    const names = operand.kind === "names" ? operand.names : operand.kind === "name" ? [operand.name] : [];
    for (const name of names) {
      if (spec?.class === "routine")
        visit({ name, entity: { kind: "routine", name: name.text }, declares: false, write: false });
      else if (spec?.class === "label" || spec?.class === "labels")
        visit({ name, entity: { kind: "label", routine, name: name.text }, declares: false, write: false });
    }
  }
}

function writtenIn(operand: Operand): readonly Name[] {
  switch (operand.kind) {
    case "general":
    case "address":
    case "state":
    case "raw":
      return [operand.variable];
    case "name":
      return [operand.name];
    case "lsc-data":
      return [operand.register.variable];
    default:
      return [];
  }
}

/** The name at an offset. */
export function occurrenceAt(model: VisaModel, offset: number): Occurrence | null {
  let found: Occurrence | null = null;
  eachName(model, (occurrence) => {
    const { start, end } = nameSpan(model, occurrence.name);
    if (start <= offset && offset <= end && start < end && (found === null || start === offset)) found = occurrence;
  });
  return found;
}

/** All places of an entity, in the order of the text. */
export function occurrencesOf(model: VisaModel, entity: Entity): readonly Occurrence[] {
  const found: Occurrence[] = [];
  eachName(model, (occurrence) => {
    if (sameEntity(occurrence.entity, entity)) found.push(occurrence);
  });
  return found.sort((a, b) => a.name.start - b.name.start);
}

/** Whether the same names of two files mean the same. */
export function sameMeaning(before: VisaModel, after: VisaModel): boolean {
  const [a, b] = [bindings(before), bindings(after)];
  return a.length === b.length && a.every((binding, i) => binding === b[i]);
}

/** For each name in the order of the text, the number of the first that means the same. */
function bindings(model: VisaModel): readonly number[] {
  const first = new Map<unknown, number>();
  const numbers: number[] = [];
  eachName(model, ({ entity }) => {
    const key = entity.kind === "variable" ? entity.variable : entity.kind === "label" ? labelKey(entity) : entity.name;
    if (!first.has(key)) first.set(key, numbers.length);
    numbers.push(first.get(key)!);
  });
  return numbers;
}

const labelKey = ({ routine, name }: Extract<Entity, { kind: "label" }>): string =>
  `${routine.file.routines.indexOf(routine.routine)} ${name}`;
