import { form, instruction } from "../define.ts";

const where = { type: ["u32", "u64"] } as const;
const gate = { since: "7.3", target: "sm_52" } as const;

/** Section 9.7.17.1. */
const stacksave = instruction("stacksave", {
  summary: "saves the stack pointer",
  section: "9.7.17.1",
  forms: [form("stacksave.type d", { where, ...gate, effect: () => ({ kind: "stack-save" }) })],
});

/** Section 9.7.17.2. */
const stackrestore = instruction("stackrestore", {
  summary: "restores the stack pointer, which frees all later allocations",
  section: "9.7.17.2",
  forms: [
    form("stackrestore.type a", {
      where,
      operands: { a: "reg type" },
      ...gate,
      effect: (_, { a }) => ({ kind: "stack-restore", value: a }),
    }),
  ],
});

const alignments = Array.from({ length: 24 }, (_, i) => 2 ** i).join("|");

/** The minimum alignment in bytes, and the default (9.7.17.3). */
const frameAlign = 8;

/** Section 9.7.17.3. */
const alloca = instruction("alloca", {
  summary: "allocates local memory until the function returns",
  section: "9.7.17.3",
  forms: [
    form("alloca.type d, size{, align}", {
      where,
      operands: { align: `imm u32 ${alignments}` },
      ...gate,
      effect: (_k, { size }, _m, ops) => ({
        kind: "alloca",
        size,
        align: Math.max(frameAlign, Number(ops.constant("align") ?? 0)),
      }),
    }),
  ],
});

export const stackInstructions = [stacksave, stackrestore, alloca];
