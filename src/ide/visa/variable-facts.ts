import { type IrFunction, variablesAt } from "../../ir/index.ts";
import { promoteFile, readsOf, writesOf } from "../../ir/flow/index.ts";
import { promoteLanes } from "../../ir/flow/lane-promotion.ts";
import { type GivenRegisters, type RegisterFact, registerFacts } from "../../ir/uniformity/register-facts.ts";
import { lowerRoutine } from "../../visa/lower/routine.ts";
import type { Span } from "../../source/index.ts";
import type { BoundRoutine, Variable } from "../../visa/symbols.ts";
import { type DataType, isFloat, isSigned, typeBytes } from "../../visa/types.ts";
import { floatText } from "../base/constants.ts";
import { factText, integerText } from "../base/facts.ts";
import type { VisaModel } from "./model.ts";

type Facts = (variable: Variable) => RegisterFact | null;

/** The facts of routines: a routine is bound anew exactly if the file's text has changed. */
const known = new WeakMap<BoundRoutine, Facts | null>();

/** The number of instructions beyond which a routine is not analysed: it would take longer than one waits. */
const maxInstructions = 10_000;

/**
 * Says how a variable varies over the lanes of its thread, as far as the analysis of its routine knows; null if it
 * knows nothing, or if the routine has errors.
 */
export function variableFactText(model: VisaModel, variable: Variable): string | null {
  const index = model.routines.findIndex(({ variables }) => variables.includes(variable));
  const fact = index < 0 || variable.predefined ? null : factsOf(model, index)?.(variable);
  const text = fact == null ? null : factText(fact, variable.kind === "P", wordsOf(variable.type));
  const isNumbered = fact?.kind === "stride" || (fact?.kind === "uniform" && fact.inRow);
  return text !== null && isNumbered ? `${text} Local ids are taken to be where Intel's compiler passes them.` : text;
}

/** Analyses a routine in a range of the file, if there is one that has not been. Returns whether there was. */
export function analyseNext(model: VisaModel, { start, end }: Span): boolean {
  const { routines } = model;
  const index = routines.findIndex(
    (each, i) => !known.has(each) && each.routine.start <= end && endOf(routines, i) >= start,
  );
  if (index < 0) return false;
  factsOf(model, index);
  return true;
}

const endOf = (routines: readonly BoundRoutine[], index: number): number =>
  routines[index + 1]?.routine.start ?? Infinity;

function factsOf({ routines, diagnostics }: VisaModel, index: number): Facts | null {
  const routine = routines[index]!;
  let facts = known.get(routine);
  if (facts === undefined) {
    const [{ start }, end] = [routine.routine, endOf(routines, index)];
    const isWrong = diagnostics.some((d) => d.severity === "error" && d.span.start < end && d.span.end >= start);
    known.set(routine, (facts = isWrong ? null : variableFacts(routine, routines)));
  }
  return facts;
}

/**
 * Tells how the variables of a routine vary over the lanes of a thread: those with an element for each lane,
 * predicates, and constants. `routines`: those of its file. Null if the routine is not analysed; it must be free of
 * errors.
 */
export function variableFacts(routine: BoundRoutine, routines: readonly BoundRoutine[]): Facts | null {
  const { instructions, grfBytes } = routine;
  if (instructions.length === 0 || instructions.length > maxInstructions) return null;
  const symbols = { routines: new Set(routines.map(({ name }) => name)), data: new Map() };
  const lowered = lowerRoutine(routine, symbols);
  const { file } = lowered;
  if (file === undefined || lowered.instructions.some(({ op }) => op.kind === "unsupported")) return null;
  const lanes = lanesOf(routine);
  const ir = promoteLanes(lowered, lanes, { accesses: [], instructions: [] })?.ir ?? promoteFile(lowered, lanes);
  const places = new Map([...file.variables, ...(file.aliases ?? [])].map(({ span, at }) => [span, at]));
  const registersAt = homesOf(ir);
  const threadNumbers = new Map<number, "x" | "y" | "z">();
  for (const { variable, along } of localIdsOf(routine))
    for (const register of registersAt(places.get(variable.span)!, variable.bytes)) threadNumbers.set(register, along);
  const given: GivenRegisters = { threadNumbers, others: registersBefore(ir, variablesAt(grfBytes)) };
  // Registers with a place in the file may hold anything. These are known better.
  const better = new Set([...threadNumbers.keys(), ...constantElements(ir)]);
  const registers = ir.registers.map(({ home, ...rest }, r) =>
    better.has(r) || home === undefined ? rest : { ...rest, home },
  );
  const fact = registerFacts({ ...ir, registers }, given, lanes);
  const used = usedRegisters(ir);
  const predicates = new Map(routine.variables.filter(({ kind }) => kind === "P").map((each, i) => [each, i]));
  return (variable) => {
    const predicate = predicates.get(variable);
    const at = places.get(variable.span);
    const found = predicate !== undefined ? [predicate] : at === undefined ? [] : registersAt(at, variable.bytes);
    const bits = variable.kind === "P" ? 1 : typeBytes(variable.type) * 8;
    // Of what nobody reads, promotion leaves nothing.
    if (found.some((r) => ir.registers[r]!.bits !== bits || !used.has(r))) return null;
    const [first, ...more] = found.map(fact);
    if (first === undefined || more.some((each) => !sameFact(each, first))) return null;
    // Elements that belong to no lane have constants at most, and the same in all lanes is what one element always is.
    const isRow = found.every((r) => ir.registers[r]!.home?.lanes !== null);
    return first.kind !== "varies" && (first.kind === "constant" || isRow) ? first : null;
  };
}

const wordsOf = (type: DataType) => ({
  together: "the thread",
  numbered: "the work-group",
  constant: (bits: bigint): string => constantText(bits, type),
});

function constantText(bits: bigint, type: DataType): string {
  const width = typeBytes(type) * 8;
  if (isFloat(type) && (width === 32 || width === 64)) return `\`${floatText(bits, width)}\``;
  return integerText(bits, width, isSigned(type));
}

function sameFact(a: RegisterFact, b: RegisterFact): boolean {
  switch (a.kind) {
    case "constant":
      return b.kind === "constant" && a.bits === b.bits;
    case "uniform":
      return b.kind === "uniform" && a.inRow === b.inRow;
    case "stride":
      return b.kind === "stride" && a.stride === b.stride && a.wraps === b.wraps;
    case "varies":
      return b.kind === "varies";
  }
}

/** The lanes of a thread. Functions do not say it: their widest instruction under the mask does. */
function lanesOf({ kind, simd, instructions }: BoundRoutine): number {
  if (kind === "kernel") return simd;
  const ends = instructions.map(({ exec }) => (exec === null || exec.noMask ? 1 : exec.offset + exec.size));
  return ends.reduce((most, end) => Math.max(most, end), simd);
}

/** Finds the registers that hold bytes of the file: those of some bytes from a place on. */
function homesOf({ registers }: IrFunction): (at: number, bytes: number) => readonly number[] {
  const homes = registers.flatMap(({ home }, register) => {
    if (home === undefined) return [];
    const bytes = (home.bits / 8) * (home.lanes?.count ?? 1);
    return [{ register, start: home.at, end: home.at + bytes }];
  });
  return (at, bytes) =>
    homes.filter(({ start, end }) => start < at + bytes && end > at).map(({ register }) => register);
}

/** The elements for all lanes that are written once, with a constant. */
function constantElements({ instructions, registers }: IrFunction): ReadonlySet<number> {
  const writes = new Map<number, number>();
  const constant = new Set<number>();
  for (const instruction of instructions) {
    writesOf(instruction, (r) => writes.set(r, (writes.get(r) ?? 0) + 1));
    const { op, dst, guard, lanes } = instruction;
    if (op.kind !== "pure" || guard !== null || lanes !== undefined) continue;
    for (const [i, to] of dst.entries())
      if (typeof to === "number" && registers[to]!.home?.lanes === null && op.values[i]!.kind === "const")
        constant.add(to);
  }
  return new Set([...constant].filter((r) => writes.get(r) === 1));
}

function usedRegisters({ instructions }: IrFunction): ReadonlySet<number> {
  const used = new Set<number>();
  const add = (register: number): unknown => used.add(register);
  for (const instruction of instructions) {
    readsOf(instruction, { register: add });
    writesOf(instruction, add);
  }
  return used;
}

const registersBefore = ({ registers }: IrFunction, end: number): readonly number[] =>
  registers.flatMap(({ home }, r) => (home !== undefined && home.at < end ? [r] : []));

interface LocalId {
  readonly variable: Variable;
  readonly along: "x" | "y" | "z";
}

/**
 * The inputs that have local ids: the payload of a thread begins with a row of 16-bit numbers for each dimension. Some
 * kernels say how many bytes these are.
 */
function localIdsOf({ attributes, inputs, grfBytes, simd }: BoundRoutine): readonly LocalId[] {
  const declared = attributes.get("PerThreadInputSize");
  const bytes = typeof declared === "number" ? declared : Infinity;
  const rows = Math.max(grfBytes, 2 * simd);
  return inputs.flatMap(({ variable, offset }) => {
    const place = offset - grfBytes;
    const along = (["x", "y", "z"] as const)[place / rows];
    const isRow = typeBytes(variable.type) === 2 && variable.elements >= simd;
    return place < bytes && isRow && along !== undefined ? [{ variable, along }] : [];
  });
}
