import { isSigned, typeBytes, isFloat, type DataType } from "../types.ts";
import { predefinedVariable } from "../predefined.ts";
import type { OperandSpec, VectorForm } from "../isa/row.ts";
import type { Variable } from "../symbols.ts";
import type {
  AddressOperand,
  GeneralOperand,
  IndirectOperand,
  Instruction,
  NameOperand,
  Name,
  SourceModifier,
  VectorOperand,
} from "../tree.ts";
import { leavesVariable } from "./bounds.ts";
import { activationBytes } from "./raw-bytes.ts";
import { destinationRegion, type Extent, sourceRegion } from "./region.ts";
import { channelsOf, type RoutineContext } from "./routine-context.ts";

export type VectorSpec = Extract<OperandSpec, { class: "vector" }>;

const formNames: Readonly<Record<VectorForm, string>> = {
  general: "a variable with a region",
  indirect: "an indirect operand",
  immediate: "an immediate",
  address: "an address variable",
  "address-of": "the address of a variable",
  predicate: "a predicate",
  state: "a sampler or surface",
};

const formOf = (operand: VectorOperand | NameOperand): VectorForm =>
  operand.kind === "name" ? "predicate" : operand.kind;

/** Checks one vector operand by itself: form, kind of variable, type, modifier, region, bounds (5_operands.md). */
export function checkVector(
  context: RoutineContext,
  instruction: Instruction,
  operand: VectorOperand | NameOperand,
  spec: VectorSpec,
): void {
  const form = formOf(operand);
  if (!spec.forms.includes(form)) {
    const wanted = spec.forms.map((f) => formNames[f]).join(" or ");
    context.error("visa-operand-not-allowed", operand, `${formNames[form]} cannot stand here`, `write ${wanted}`);
    return;
  }
  const channels = spec.scalar === true ? 1 : channelsOf(instruction);
  switch (operand.kind) {
    case "general":
      general(context, instruction, operand, spec, channels);
      return;
    case "indirect":
      indirect(context, operand, spec, channels);
      return;
    case "address":
      address(context, operand, spec, channels);
      return;
    case "immediate":
      typed(context, operand, operand.type, spec, true);
      return;
    case "address-of":
      addressOf(context, operand.variable, operand.offset);
      return;
    case "state":
      state(context, operand.variable, operand.element, channels);
      return;
    case "name":
      predicateElements(context, instruction, operand.name);
  }
}

/** The variable of a name if it is of one of these kinds; otherwise reports it and returns null. */
export function ofKind(context: RoutineContext, name: Name, ...kinds: readonly Variable["kind"][]): Variable | null {
  const variable = context.variable(name);
  if (variable === null || kinds.includes(variable.kind)) return variable;
  const message = `\`${name.text}\` is ${kindNames[variable.kind]}`;
  context.error("visa-operand-kind", name, message, {
    help: `${kinds.map((kind) => kindNames[kind]).join(" or ")} is wanted here`,
    ...(variable.predefined ? {} : context.note("declared here", variable.span)),
  });
  return null;
}

const kindNames: Readonly<Record<Variable["kind"], string>> = {
  G: "a general variable",
  A: "an address variable",
  P: "a predicate variable",
  S: "a sampler",
  T: "a surface",
};

function general(
  context: RoutineContext,
  instruction: Instruction,
  operand: GeneralOperand,
  spec: VectorSpec,
  channels: number,
): void {
  const { variable: name, row, column, region } = operand;
  const variable = ofKind(context, name, "G");
  if (variable === null) return;
  modifier(context, operand, operand.modifier, spec);
  typed(context, operand, variable.type, spec, false);
  const { grfBytes } = context;
  const bytes = typeBytes(variable.type);
  const extent = extentOf(context, operand, region, spec, channels);
  if (extent === null) return;
  if (extent.addresses > 1 || (spec.role === "src" && spec.scalar !== true && region.vertical === null)) {
    context.error(
      "visa-region",
      operand,
      "the region has no vertical stride",
      "only indirect operands can leave it out",
    );
    return;
  }
  const high = instruction.row.name === "MADW" && spec.role === "dst" ? highPart(extent, bytes, grfBytes) : 0;
  const start = row * grfBytes + column * bytes;
  const packed = operand === instruction.operands["src2"] ? activationBytes(instruction) : null;
  const end = start + high + (packed ?? (spec.reach?.(channels) ?? extent.last + 1) * bytes);
  if (!leavesVariable(context, operand, variable, start, end) && column * bytes >= grfBytes) {
    const help = `write (${row + Math.floor((column * bytes) / grfBytes)},${column % (grfBytes / bytes)})`;
    context.error("visa-out-of-bounds", operand, `column ${column} is beyond the register of ${grfBytes} bytes`, help);
  }
  if (spec.role === "dst") writable(context, operand, variable, start);
}

/** Bytes from the low halves of MADW's results to the high halves, which begin in the next register. */
const highPart = (extent: Extent, bytes: number, grfBytes: number): number =>
  Math.ceil(((extent.last + 1) * bytes) / grfBytes) * grfBytes;

function extentOf(
  context: RoutineContext,
  operand: GeneralOperand | IndirectOperand,
  region: GeneralOperand["region"],
  spec: VectorSpec,
  channels: number,
): Extent | null {
  // The region of a scalar operand is ignored (5_operands.md, "Scalar Operands"), but must still be a valid one.
  if (spec.scalar === true) return scalarRegion(context, operand, region, spec);
  return spec.role === "dst"
    ? destinationRegion(context, region, channels, operand)
    : sourceRegion(context, region, channels, operand);
}

function scalarRegion(
  context: RoutineContext,
  operand: GeneralOperand | IndirectOperand,
  region: GeneralOperand["region"],
  spec: VectorSpec,
): Extent | null {
  if (spec.role === "dst") return destinationRegion(context, region, 1, operand);
  const width = region.width ?? 1;
  const legal = sourceRegion(context, { ...region, width, vertical: region.vertical ?? 0 }, 16, operand);
  return legal === null ? null : { last: 0, addresses: 1 };
}

function writable(context: RoutineContext, operand: GeneralOperand, variable: Variable, start: number): void {
  const { root } = variable;
  const row = root.predefined ? predefinedVariable(root.name, context.routine.grfBytes) : undefined;
  if (row === undefined) return;
  const at = variable.rootOffset + start;
  // Only the pause counter of %tsc and elements 1 and 2 of %sr0 can be written.
  const part = root.name === "%tsc" ? at === 16 : root.name === "%sr0" ? at === 4 || at === 8 : true;
  if (row.writable && part) return;
  context.error("visa-read-only", operand, `\`${root.name}\` cannot be written`);
}

function indirect(context: RoutineContext, operand: IndirectOperand, spec: VectorSpec, channels: number): void {
  const variable = ofKind(context, operand.variable, "A");
  modifier(context, operand, operand.modifier, spec);
  typed(context, operand, operand.type, spec, false);
  if (["v", "uv", "vf", "bool"].includes(operand.type)) {
    context.error("visa-operand-type", operand, `an indirect operand cannot have the type ${operand.type}`);
  }
  if (operand.offset < -512 || operand.offset > 511) {
    context.error("visa-indirect-offset", operand, `the offset ${operand.offset} is not within -512 and 511`);
  }
  const extent = extentOf(context, operand, operand.region, spec, channels);
  if (variable === null || extent === null) return;
  addressElements(context, operand.variable, variable, operand.element, extent.addresses);
}

function address(context: RoutineContext, operand: AddressOperand, spec: VectorSpec, channels: number): void {
  const variable = ofKind(context, operand.variable, "A");
  if (![1, 2, 4, 8, 16].includes(operand.width)) {
    context.error(
      "visa-region",
      operand,
      `${operand.width} is not a width of an address operand`,
      "it may be 1, 2, 4, 8, 16",
    );
    return;
  }
  if (variable === null) return;
  const count = spec.role === "dst" ? channels : Math.min(operand.width, channels);
  addressElements(context, operand.variable, variable, operand.element, count);
}

function addressElements(
  context: RoutineContext,
  name: Name,
  variable: Variable,
  element: number,
  count: number,
): void {
  if (element >= 0 && element + count <= variable.elements) return;
  const which = count === 1 ? `element ${element} is` : `elements ${element} to ${element + count - 1} are`;
  const message = `${which} not inside \`${name.text}\`, which has ${variable.elements}`;
  context.error("visa-out-of-bounds", name, message, context.note("declared here", variable.span));
}

function addressOf(context: RoutineContext, name: Name, offset: number): void {
  const variable = ofKind(context, name, "G", "T", "S");
  if (variable === null) return;
  const bytes = variable.kind === "G" ? variable.bytes : variable.elements * 4;
  if (offset >= 0 && offset < bytes) return;
  context.error("visa-out-of-bounds", name, `byte ${offset} is not inside \`${name.text}\`, which has ${bytes}`);
}

function state(context: RoutineContext, name: Name, element: number, channels: number): void {
  const variable = ofKind(context, name, "T", "S");
  if (variable === null || (element >= 0 && element + channels <= variable.elements)) return;
  const message = `element ${element + channels - 1} is not inside \`${name.text}\`, which has ${variable.elements}`;
  context.error("visa-out-of-bounds", name, message);
}

/** Checks that a predicate has a bit for every channel that the instruction can have, from its mask's first on. */
export function predicateElements(context: RoutineContext, { exec }: Instruction, name: Name): void {
  const variable = ofKind(context, name, "P");
  if (variable === null || exec === null) return;
  const end = exec.offset + exec.size;
  // A misaligned mask is reported elsewhere, and so is a predicate with an impossible number of elements.
  const elsewhere = exec.offset % exec.size !== 0 || !Number.isInteger(Math.log2(variable.elements));
  if (end <= variable.elements || elsewhere) return;
  const message = `channels up to ${end - 1} need ${end} bits, but \`${name.text}\` has ${variable.elements}`;
  context.error("visa-predicate-size", name, message, context.note("declared here", variable.span));
}

function modifier(
  context: RoutineContext,
  operand: GeneralOperand | IndirectOperand,
  found: SourceModifier | null,
  spec: VectorSpec,
): void {
  if (found === null) return;
  const allowed = spec.role === "dst" ? "none" : (spec.modifiers ?? "none");
  if (allowed === (found === "not" ? "logic" : "arithmetic")) return;
  const help = {
    arithmetic: "(-), (abs) and (-abs) can stand here",
    logic: "(~) can stand here",
    none: "nothing can stand before this operand",
  }[allowed];
  context.error("visa-modifier", operand, `this operand cannot be modified by ${spelled[found]}`, help);
}

const spelled: Readonly<Record<SourceModifier, string>> = { neg: "(-)", abs: "(abs)", "neg-abs": "(-abs)", not: "(~)" };

function typed(
  context: RoutineContext,
  operand: VectorOperand,
  type: DataType,
  spec: VectorSpec,
  immediate: boolean,
): void {
  if (allowsType(spec, type, immediate)) return;
  const message = `an operand of type ${type} cannot stand here`;
  context.error("visa-operand-type", operand, message, `it may be ${spec.types.join(", ")}`);
}

/** Whether an operand may be of a type; immediates have some freedom. */
export const allowsType = ({ types }: VectorSpec, type: DataType, immediate: boolean): boolean =>
  types.includes(type) || (immediate && immediateFits(type, types));

/**
 * Whether an immediate of a type may stand where one of `types` is expected: a packed one where its elements can
 * (2_datatypes.md, "Type Conversion"), and 32 bits for a 64-bit address.
 */
function immediateFits(type: DataType, types: readonly DataType[]): boolean {
  if (type === "ud") return types.includes("uq");
  if (type === "vf") return types.includes("f");
  if (type === "v") return types.some((t) => isSigned(t));
  if (type === "uv") return types.some((t) => !isSigned(t) && !isFloat(t) && t !== "bool");
  return false;
}
