import { form, instruction, nothing } from "../define.ts";
import { align } from "../matrix/steps.ts";

/** Section 9.7.19.1. */
const brkpt = instruction("brkpt", {
  summary: "stops execution for a debugger",
  section: "9.7.19.1",
  forms: [form("brkpt", { since: "1.0", target: "sm_11", effect: () => ({ kind: "breakpoint" }) })],
});

/** Section 9.7.19.2. */
const nanosleep = instruction("nanosleep", {
  summary: "suspends the thread for a while",
  section: "9.7.19.2",
  forms: [
    form("nanosleep.u32 t", {
      since: "6.3",
      target: "sm_70",
      effect: (_, { t }) => ({ kind: "sleep", nanoseconds: t }),
    }),
  ],
});

/** Section 9.7.19.3. */
const pmevent = instruction("pmevent", {
  summary: "triggers performance monitor events",
  section: "9.7.19.3",
  forms: [
    form("pmevent a", { operands: { a: "imm u32 0..15" }, since: "1.4", effect: nothing }),
    form("pmevent.mask a", { operands: { a: "imm u32 0..65535" }, since: "3.0", target: "sm_20", effect: nothing }),
  ],
});

/** Section 9.7.19.4. */
const trap = instruction("trap", {
  summary: "ends the grid with an error",
  section: "9.7.19.4",
  forms: [form("trap", { since: "1.0", control: "stop", effect: () => ({ kind: "trap" }) })],
});

/** The multiples of 8 from 24 to 256. */
const registerCounts = Array.from({ length: 30 }, (_, i) => 24 + 8 * i).join("|");

/** Section 9.7.19.5. */
const setmaxnreg = instruction("setmaxnreg", {
  summary: "changes the number of registers that the warp owns",
  section: "9.7.19.5",
  forms: [
    form("setmaxnreg.action.sync.aligned.u32 count", {
      where: { action: ["inc", "dec"] },
      operands: { count: `imm u32 ${registerCounts}` },
      since: "8.0",
      target: ["sm_90a", "sm_100f", "sm_101f", "sm_110f", "sm_120f"],
      note: "registers are not a limited resource here, so the hint has no effect",
      effect: () => [align, { op: { kind: "nothing" } }],
    }),
  ],
});

export const miscellaneousInstructions = [brkpt, nanosleep, pmevent, trap, setmaxnreg];
