import { type FileVariable, fileLayout, variablesAt } from "../../ir/index.ts";
import { predefinedVariable } from "../predefined.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";

/** Alignment of variables in the byte file, and the least gap between two of them, in bytes. */
const unit = 64;

/** Bytes of a surface, a sampler, or an element of an address variable. */
const slotBytes = 4;

/** Offset of S31, the bindless sampler: the last of the slots for predefined surfaces. */
const bindlessSamplerAt = fileLayout.surfaces.at + fileLayout.surfaces.bytes - slotBytes;

/** The layout of a routine's byte file. */
export interface Layout {
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** Sorted by offset; see `ByteFile`. */
  readonly variables: readonly FileVariable[];
  readonly aliases: readonly FileVariable[];
  /** The offset of a variable in the file, in bytes; throws for predicates, which are not in it. */
  offsetOf(variable: Variable): number;
  /** See `LowerContext`; 0 in a routine that does not use it. */
  readonly fusedAt: number;
}

/** The flag, and what src2 of `dpasw` has at most: 8 rows of 8 dwords. */
const fusedBytes = 4 + 256;

/**
 * Lays out a routine's variables: predefined ones where every file has them, then the others, each in 64-byte units of
 * its own with a gap before the next, so that accesses beyond a variable are detected. An alias lies inside its root.
 */
export function layOut(routine: BoundRoutine): Layout {
  let layout = layoutOf.get(routine);
  if (layout === undefined) layoutOf.set(routine, (layout = findLayout(routine)));
  return layout;
}

/** Kept per routine: its code is lowered by it, and launches find by it where payloads go. */
const layoutOf = new WeakMap<BoundRoutine, Layout>();

function findLayout(routine: BoundRoutine): Layout {
  const { grfBytes } = routine;
  const offsets = new Map<Variable, number>();
  const variables: FileVariable[] = [];
  let end = variablesAt(grfBytes);
  for (const variable of routine.variables) {
    if (variable.kind === "P" || variable.root !== variable) continue;
    const bytes = bytesOf(variable);
    const at = variable.predefined ? offsetOfPredefined(variable, grfBytes) : Math.ceil((end + unit) / unit) * unit;
    end = Math.max(end, at + bytes);
    offsets.set(variable, at);
    variables.push({ name: variable.name, at, bytes, type: variable.type, span: variable.span });
  }
  const fused = routine.instructions.find(({ row }) => row.name === "DPASW");
  const fusedAt = fused === undefined ? 0 : Math.ceil((end + unit) / unit) * unit;
  if (fused !== undefined) {
    const span = { start: fused.start, end: fused.end };
    variables.push({ name: "registers of fused threads", at: fusedAt, bytes: fusedBytes, type: "ud", span });
    end = fusedAt + fusedBytes;
  }
  const offsetOf = (variable: Variable): number => {
    const at = offsets.get(variable.root);
    if (at === undefined) throw new Error(`${variable.name} has no place in the file`);
    return at + variable.rootOffset;
  };
  return {
    bytes: Math.ceil((end + unit) / unit) * unit,
    variables: variables.sort((a, b) => a.at - b.at),
    aliases: routine.variables
      .filter((v) => v.kind !== "P" && v.root !== v)
      .map((v) => ({ name: v.name, at: offsetOf(v), bytes: bytesOf(v), type: v.type, span: v.span })),
    offsetOf,
    fusedAt,
  };
}

const bytesOf = ({ kind, elements, bytes }: Variable): number => (kind === "G" ? bytes : elements * slotBytes);

const offsetOfPredefined = ({ name }: Variable, grfBytes: 32 | 64): number =>
  predefinedVariable(name, grfBytes)?.at ?? bindlessSamplerAt;

/** A piece of a kernel's payload, and where it goes in the byte file of a thread. */
export interface PayloadPlace {
  /** Bytes from the start of the payload, as the launch assembles it, with r0 first. */
  readonly offset: number;
  /** Bytes. */
  readonly size: number;
  /** Bytes from the start of the byte file. */
  readonly at: number;
}

/**
 * The pieces of the payload that a launch copies into the byte file of each new thread: r0, and those of the kernel's
 * `.input` directives. No piece is larger than its variable.
 */
export function payloadPlaces(routine: BoundRoutine): readonly PayloadPlace[] {
  let places = placesOf.get(routine);
  if (places === undefined) placesOf.set(routine, (places = findPlaces(routine)));
  return places;
}

/** Kept per routine, because every launch needs them. */
const placesOf = new WeakMap<BoundRoutine, readonly PayloadPlace[]>();

function findPlaces(routine: BoundRoutine): readonly PayloadPlace[] {
  const { offsetOf } = layOut(routine);
  const r0 = { offset: 0, size: routine.grfBytes, at: fileLayout.r0.at };
  const inputs = routine.inputs.map(({ variable, offset, size }) => ({
    offset,
    size: Math.max(0, Math.min(size, bytesOf(variable), bytesOf(variable.root) - variable.rootOffset)),
    at: offsetOf(variable),
  }));
  return [r0, ...inputs.filter((input) => input.size > 0)];
}
