import { form, instruction } from "../define.ts";

// The operands are labels, functions, lists and prototypes: the checker and the lowering of control flow know them.

/** Section 9.7.12.3. */
const bra = instruction("bra", {
  summary: "branches to a label",
  section: "9.7.12.3",
  forms: [form("bra{.uni} tgt", { operands: { tgt: "name" }, since: "1.0", control: "branch" })],
});

/** Section 9.7.12.4. */
const brxIdx = instruction("brx.idx", {
  summary: "branches to the label at an index of a list",
  section: "9.7.12.4",
  forms: [
    form("brx.idx{.uni} index, tlist", {
      operands: { index: "any", tlist: "name" },
      since: "6.0",
      target: "sm_30",
      control: "branch-indexed",
    }),
  ],
});

const indirect = { since: "2.1", target: "sm_20", control: "call" } as const;

/**
 * Section 9.7.12.5. `func` is a function's name, `fptr` a register with a function's address, `targets` a call table,
 * the label of a `.calltargets` list or of a `.callprototype`.
 */
const call = instruction("call", {
  summary: "calls a function",
  section: "9.7.12.5",
  forms: [
    form("call{.uni} func", { operands: { func: "name" }, since: "1.0", control: "call" }),
    form("call{.uni} func, args", { operands: { func: "name", args: "any" }, since: "1.0", control: "call" }),
    form("call{.uni} results, func{, args}", {
      operands: { results: "any", func: "name", args: "any" },
      since: "1.0",
      control: "call",
    }),
    form("call{.uni} fptr, targets", { operands: { fptr: "any", targets: "name" }, ...indirect }),
    form("call{.uni} fptr, args, targets", { operands: { fptr: "any", args: "any", targets: "name" }, ...indirect }),
    form("call{.uni} results, fptr, args, targets", {
      operands: { results: "any", fptr: "any", args: "any", targets: "name" },
      ...indirect,
    }),
  ],
});

/** Section 9.7.12.6. */
const ret = instruction("ret", {
  summary: "returns to the caller",
  section: "9.7.12.6",
  forms: [form("ret{.uni}", { since: "1.0", control: "return" })],
});

/** Section 9.7.12.7. */
const exit = instruction("exit", {
  summary: "ends the thread",
  section: "9.7.12.7",
  forms: [form("exit", { since: "1.0", control: "exit", effect: () => ({ kind: "exit" }) })],
});

export const controlInstructions = [bra, brxIdx, call, ret, exit];
