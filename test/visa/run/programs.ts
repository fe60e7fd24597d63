import { addresses } from "./programs/addresses.ts";
import { branches } from "./programs/branches.ts";
import { calls } from "./programs/calls.ts";
import { combinations } from "./programs/combinations.ts";
import { conventions } from "./programs/conventions.ts";
import { crossings } from "./programs/crossings.ts";
import { masks } from "./programs/masks.ts";
import { parts } from "./programs/parts.ts";
import { recursion } from "./programs/recursion.ts";
import { state } from "./programs/state.ts";
import { subroutines } from "./programs/subroutines.ts";
import { threads } from "./programs/threads.ts";

/** The programs with models, family by family. */
export const families = {
  calls,
  conventions,
  recursion,
  branches,
  subroutines,
  addresses,
  threads,
  crossings,
  masks,
  parts,
  state,
  combinations,
};
