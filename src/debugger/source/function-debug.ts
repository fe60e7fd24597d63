import {
  type Address,
  type CodeRange,
  type DebugProgram,
  type DebugSections,
  DwarfError,
  readDebugProgram,
  type SourceScope,
  type SourceVariable,
} from "../../dwarf/index.ts";
import { type IrFunction, originOf } from "../../ir/index.ts";

/** What debug information says about a function, or why it says nothing. */
export type DebugFacts =
  | { readonly kind: "known"; readonly program: DebugProgram; readonly scope: SourceScope; readonly begins: number }
  | { readonly kind: "unknown"; readonly why: string };

const programs = new WeakMap<DebugSections, DebugProgram | DwarfError>();

/** Reads the debug information of a module, once. */
function programOf(sections: DebugSections): DebugProgram | DwarfError {
  let found = programs.get(sections);
  if (found === undefined) {
    try {
      found = readDebugProgram(sections);
    } catch (error) {
      if (!(error instanceof DwarfError)) throw error;
      found = error;
    }
    programs.set(sections, found);
  }
  return found;
}

const known = new WeakMap<IrFunction, DebugFacts>();

/** Returns what the debug information of its module says about a function. */
export function debugOf(ir: IrFunction): DebugFacts {
  let found = known.get(ir);
  if (found === undefined) known.set(ir, (found = readFunction(ir)));
  return found;
}

function readFunction(ir: IrFunction): DebugFacts {
  const unknown = (why: string): DebugFacts => ({ kind: "unknown", why });
  const hasLines = ir.instructions.some(({ location }) => location !== null);
  const onlyLines = hasLines ? "it was compiled with line numbers only (nvcc -G adds variables)" : "there is none";
  if (ir.debug === undefined) return unknown(onlyLines);
  const program = programOf(ir.debug.sections);
  if (program instanceof DwarfError) return unknown(`it cannot be read: ${program.message}`);
  if (program.functions.length === 0) return unknown(onlyLines);
  const { labels } = ir.debug;
  const here = (scope: SourceScope): boolean =>
    scope.ranges.some(({ from }) => typeof from !== "number" && labels.has(from.symbol));
  const scope = program.functions.find(here) ?? program.functions.find(({ linkageName }) => linkageName === ir.name);
  if (scope === undefined) return unknown(`it does not mention ${ir.name}`);
  return { kind: "known", program, scope, begins: firstAfterPrologue(ir) };
}

/**
 * Returns the index of the first instruction after those that only load the parameters, which compilers give the line
 * of the function itself and the column 0.
 */
function firstAfterPrologue(ir: IrFunction): number {
  const first = ir.instructions[0]?.location ?? null;
  if (first === null || first.column !== 0) return 0;
  const index = ir.instructions.findIndex(({ location }) => location !== first);
  return index < 0 ? 0 : index;
}

/** The index at which a function of the source has its parameters; 0 if there is no debug information. */
export function afterPrologue(ir: IrFunction): number {
  const debug = debugOf(ir);
  return debug.kind === "known" ? debug.begins : 0;
}

/** The name of a function in the source, if debug information has it. */
export function sourceName(ir: IrFunction): string | null {
  const debug = debugOf(ir);
  return debug.kind === "known" ? debug.scope.name : null;
}

/** Whether an address range of a function contains an instruction. */
export function contains(ir: IrFunction, { from, to }: CodeRange, index: number): boolean {
  const [first, last] = [indexOf(ir, from), indexOf(ir, to)];
  return first !== null && first <= index && (last === null || index < last);
}

const indexOf = (ir: IrFunction, address: Address): number | null =>
  typeof address === "number" ? null : (ir.debug?.labels.get(address.symbol) ?? null);

/** A variable that can be seen, and how far out it is declared: 0 is the innermost block. */
export interface Visible {
  readonly variable: SourceVariable;
  readonly distance: number;
}

const isIn = (ir: IrFunction, { ranges }: SourceScope, index: number): boolean =>
  ranges.length === 0 || ranges.some((range) => contains(ir, range, index));

/** The scopes around an instruction, the outermost one first. */
function scopesAt(ir: IrFunction, scope: SourceScope, index: number): readonly SourceScope[] {
  const found = [scope];
  for (let at: SourceScope | undefined = scope; at !== undefined; ) {
    at = at.scopes.find((inner) => (inner.ranges.length > 0 || inner.kind === "block") && isIn(ir, inner, index));
    if (at !== undefined) found.push(at);
  }
  return found;
}

/**
 * Returns the variables that can be seen at an instruction, the innermost block first. `level` is the index of the
 * function in the origin of the instruction: a function that is inlined has variables of its own.
 */
export function visibleAt(ir: IrFunction, index: number, level: number): readonly Visible[] {
  const debug = debugOf(ir);
  const instruction = ir.instructions[Math.min(index, ir.instructions.length - 1)];
  if (debug.kind === "unknown" || instruction === undefined) return [];
  const scopes = scopesAt(ir, debug.scope, index);
  const functions = Math.max(1, (originOf(ir, instruction)?.length ?? 1) - level);
  // Those of the wanted function: from its own scope to before the next one that is inlined into it.
  const starts = scopes.flatMap(({ kind }, i) => (kind === "block" ? [] : [i]));
  const which = Math.min(functions, starts.length) - 1;
  const own = scopes.slice(starts[which], starts[which + 1] ?? scopes.length).reverse();
  return own.flatMap((scope, distance) => scope.variables.map((variable) => ({ variable, distance })));
}

/** Returns all variables of a name in a function, wherever they can be seen, and those of the module. */
export function candidates(ir: IrFunction | null, name: string): readonly SourceVariable[] {
  const debug = ir === null ? null : debugOf(ir);
  if (debug?.kind !== "known") return [];
  const found: SourceVariable[] = [];
  const visit = ({ variables, scopes }: SourceScope): void => {
    found.push(...variables.filter((v) => v.name === name));
    for (const inner of scopes) visit(inner);
  };
  visit(debug.scope);
  return [...found, ...debug.program.variables.filter((v) => v.name === name)];
}
