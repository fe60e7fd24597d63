import { argRegisters, retvalRegisters } from "../../ir/byte-file.ts";
import type { RoutineContext } from "./routine-context.ts";

/** Checks that calls pass and take back no more registers than %arg and %retval have. */
export function checkCallSizes(context: RoutineContext): void {
  for (const { operands } of context.routine.instructions) {
    for (const [key, max, name] of [
      ["argSize", argRegisters, "%arg"],
      ["returnSize", retvalRegisters, "%retval"],
    ] as const) {
      const size = operands[key];
      if (size?.kind !== "number" || size.value <= max) continue;
      const message = `${size.value} registers are more than ${name} has`;
      context.error("visa-call-size", size, message, `it has ${max}`);
    }
  }
}
