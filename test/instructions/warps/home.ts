import { type Home, homeFor, narrow } from "../kernels.ts";
import type { WarpVector } from "./warp-vectors.ts";

/** A module that has all statements of the vector. */
export function homeOfVector({ file, line, statement }: WarpVector): Home {
  const { candidate, opcode } = statement;
  // The stack is addressed as the module says.
  if (/^(stacksave|stackrestore|alloca)\.u32$/.test(opcode)) return narrow;
  const home = homeFor(candidate, opcode);
  if (home === null) throw new Error(`${file}:${line}: no module has ${opcode}`);
  return home;
}
