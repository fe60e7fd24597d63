import type { Origin, OriginPlace } from "../source/index.ts";
import type { Instruction, SourceLocation } from "./instruction.ts";
import type { IrFunction } from "./module.ts";

const known = new WeakMap<ReadonlyMap<number, string>, WeakMap<SourceLocation, Origin>>();

/**
 * Returns where an instruction of a function was compiled from, with the functions that were inlined there; null if the
 * program does not say. Instructions with the same position share the result.
 */
export function originOf(
  { name, files }: Pick<IrFunction, "name" | "files">,
  { location }: Pick<Instruction, "location">,
): Origin | null {
  if (location === null) return null;
  let ofModule = known.get(files);
  if (ofModule === undefined) known.set(files, (ofModule = new WeakMap()));
  let origin = ofModule.get(location);
  if (origin === undefined) ofModule.set(location, (origin = chainOf(location, name, files)));
  return origin;
}

function chainOf(location: SourceLocation, outermost: string, files: ReadonlyMap<number, string>): Origin {
  const places: OriginPlace[] = [];
  for (let at: SourceLocation | undefined = location; at !== undefined; at = at.inlined?.at) {
    const { file, line, column, inlined } = at;
    const name = inlined === undefined ? outermost : inlined.function;
    places.push({ path: files.get(file) ?? `file ${file}`, line, column, function: name });
  }
  return places;
}
