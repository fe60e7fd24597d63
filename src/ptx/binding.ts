import type { Candidate } from "./isa/resolve.ts";

/** The form that the checker chose for an instruction: the only one whose modifiers and operands fit. */
export type Resolved = Candidate;
