import { argRegisters, retvalRegisters } from "../../ir/byte-file.ts";
import type { RoutineContext } from "./routine-context.ts";

/** What calls pass and get back lies in %arg and %retval. */
export function checkSizes(context: RoutineContext): void {
  for (const { operands } of context.routine.instructions) {
    for (const [key, most, name] of [
      ["argSize", argRegisters, "%arg"],
      ["returnSize", retvalRegisters, "%retval"],
    ] as const) {
      const size = operands[key];
      if (size?.kind !== "number" || size.value <= most) continue;
      const message = `${size.value} registers are more than ${name} has`;
      context.error("visa-call-size", size, message, `it has ${most}`);
    }
  }
}
