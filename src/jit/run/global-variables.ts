import type { Program } from "../../program/program.ts";
import type { VariableFacts } from "../compile/plan/program-facts.ts";

/** The global variables of a program, as far as compiled code depends on them. */
export function globalsOf({ variables, addresses }: Program): VariableFacts {
  const extents = [...variables.values()].flatMap(({ variable: { name, space, size }, address }) => {
    const start = Number(addresses.global(address));
    return space === "global" ? [{ name, start, end: start + size }] : [];
  });
  return { extents, delta: -addresses.globalLow };
}
