import { type FileVariable, fileLayout, variablesAt } from "../../ir/index.ts";
import { predefinedVariable } from "../predefined.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";

/** Bytes: what a variable's place is a multiple of, and what lies between two at least. */
const unit = 64;

/** Bytes of a slot: of a surface, of a sampler, of an element of an address variable. */
const slotBytes = 4;

/** The last of the slots for predefined surfaces is that of S31, the bindless sampler. */
const bindlessSamplerAt = fileLayout.surfaces.at + fileLayout.surfaces.bytes - slotBytes;

/** Where everything that a routine can name lies in its byte file. */
export interface Layout {
  /** Bytes of the file. */
  readonly bytes: number;
  /** Sorted by their place; see `ByteFile`. */
  readonly variables: readonly FileVariable[];
  readonly aliases: readonly FileVariable[];
  placeOf(variable: Variable): number;
}

/**
 * Lays out a routine's variables: predefined ones where every file has them, the others behind them, each in 64-byte units
 * of its own with a gap before the next, so that what leaves a variable is seen to leave it. An alias lies in its root.
 */
export function layOut(routine: BoundRoutine): Layout {
  const { grfBytes } = routine;
  const places = new Map<Variable, number>();
  const variables: FileVariable[] = [];
  let end = variablesAt(grfBytes);
  for (const variable of routine.variables) {
    if (variable.kind === "P" || variable.root !== variable) continue;
    const bytes = bytesOf(variable);
    const at = variable.predefined ? placeOfPredefined(variable, grfBytes) : Math.ceil((end + unit) / unit) * unit;
    end = Math.max(end, at + bytes);
    places.set(variable, at);
    variables.push({ name: variable.name, at, bytes, type: variable.type, span: variable.span });
  }
  const placeOf = (variable: Variable): number => {
    const at = places.get(variable.root);
    if (at === undefined) throw new Error(`${variable.name} has no place in the file`);
    return at + variable.rootOffset;
  };
  return {
    bytes: Math.ceil((end + unit) / unit) * unit,
    variables: variables.sort((a, b) => a.at - b.at),
    aliases: routine.variables
      .filter((v) => v.kind !== "P" && v.root !== v)
      .map((v) => ({ name: v.name, at: placeOf(v), bytes: bytesOf(v), type: v.type, span: v.span })),
    placeOf,
  };
}

const bytesOf = ({ kind, elements, bytes }: Variable): number => (kind === "G" ? bytes : elements * slotBytes);

const placeOfPredefined = ({ name }: Variable, grfBytes: 32 | 64): number =>
  predefinedVariable(name, grfBytes)?.at ?? bindlessSamplerAt;

/** A piece of a kernel's payload and where the kernel has it. */
export interface PayloadPlace {
  /** Bytes, in the payload as the launch puts it together: r0 first. */
  readonly offset: number;
  readonly size: number;
  /** In the byte file. */
  readonly at: number;
}

/**
 * What a launch copies from the payload into the byte file of a thread that begins: r0, and what the kernel's `.input`
 * directives name. No piece is larger than the variable it goes to.
 */
export function payloadPlaces(routine: BoundRoutine): readonly PayloadPlace[] {
  let places = placesOf.get(routine);
  if (places === undefined) placesOf.set(routine, (places = findPlaces(routine)));
  return places;
}

/** Each launch asks for them. */
const placesOf = new WeakMap<BoundRoutine, readonly PayloadPlace[]>();

function findPlaces(routine: BoundRoutine): readonly PayloadPlace[] {
  const { placeOf } = layOut(routine);
  const r0 = { offset: 0, size: routine.grfBytes, at: fileLayout.r0.at };
  const inputs = routine.inputs.map(({ variable, offset, size }) => ({
    offset,
    size: Math.max(0, Math.min(size, bytesOf(variable), bytesOf(variable.root) - variable.rootOffset)),
    at: placeOf(variable),
  }));
  return [r0, ...inputs.filter((input) => input.size > 0)];
}
