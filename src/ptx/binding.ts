import type { Candidate } from "./isa/resolve.ts";

/** What the checker found an instruction to be: the one form whose modifiers and operands fit. */
export type Resolved = Candidate;
