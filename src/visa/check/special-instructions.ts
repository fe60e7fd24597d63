import { typeBytes } from "../types.ts";
import type { ExecSize, Instruction, Operand } from "../tree.ts";
import { maskName } from "../exec-mask.ts";
import { channelsOf, type RoutineContext } from "./routine-context.ts";
import { vectorType } from "./type-rules.ts";

/** Checks what the pages of single instructions require beyond the forms and types of their operands. */
export function checkSpecial(context: RoutineContext, instruction: Instruction): void {
  rules[instruction.row.name]?.(context, instruction);
}

const isPredicate = (operand: Operand | undefined): boolean => operand?.kind === "name";

/** Bitwise operations work on data or on predicates. On predicates they cannot be predicated themselves. */
function bitwise(context: RoutineContext, { row, operands, predicate }: Instruction): void {
  const all = Object.values(operands);
  if (!all.some(isPredicate)) return;
  const other = all.find((operand) => !isPredicate(operand));
  if (other !== undefined) {
    context.error("visa-predicate-operand", other, `\`${row.mnemonic}\` of predicates takes only predicates`);
  }
  if (predicate !== null) {
    context.error("visa-predicate-operand", predicate, `\`${row.mnemonic}\` of predicates cannot be predicated`);
  }
}

/** A move from a predicate has one channel and a destination with room for all of its bits. */
function move(context: RoutineContext, instruction: Instruction): void {
  const { operands, exec, predicate, saturate, mnemonic } = instruction;
  const { dst, src0 } = operands;
  if (dst === undefined || src0?.kind !== "name") return;
  if (exec !== null && exec.size !== 1) {
    context.error("visa-predicate-operand", exec, "a move from a predicate has one channel", "write (M1_NM, 1)");
  }
  if (predicate !== null)
    context.error("visa-predicate-operand", predicate, "a move from a predicate cannot be predicated");
  if (saturate) context.error("visa-predicate-operand", mnemonic, "a move from a predicate cannot saturate");
  const type = vectorType(context, dst);
  const bits = context.variable(src0.name)?.elements ?? 0;
  if (type === null) return;
  if (!["ub", "uw", "ud", "b", "w", "d"].includes(type)) {
    context.error("visa-operand-type", dst, `a predicate cannot be moved to the type ${type}`, "it may be ub, uw, ud");
  } else if (8 * typeBytes(type) < bits) {
    context.error("visa-operand-type", dst, `${bits} bits of a predicate do not fit the type ${type}`);
  }
}

/** `setp` of a scalar, whose bits are those of the channels: without a mask, from channel 0 or 16 on. */
function setPredicate(context: RoutineContext, { operands, exec }: Instruction): void {
  const { src0 } = operands;
  if (src0 === undefined || exec === null) return;
  const { horizontal, vertical, width } =
    src0.kind === "general" ? src0.region : { horizontal: 1, vertical: 1, width: 1 };
  const scalar = src0.kind === "immediate" || (horizontal === 0 && (vertical === 0 || width === exec.size));
  if (!scalar) return;
  const from = exec.size === 32 ? exec.offset === 0 : exec.offset % 16 === 0;
  if (exec.noMask && from) return;
  const help = exec.size === 32 ? "write (M1_NM, 32)" : `write (M1_NM, ${exec.size}) or (M5_NM, ${exec.size})`;
  const message = "the bits of a number set channels without a mask";
  // For (M1, n) IGC sets the bits without a mask, as the page's formula has it.
  if (from) context.unlessVectorCompiled("visa-setp-mask", exec, message, help);
  else context.error("visa-setp-mask", exec, message, help);
}

function moveState(context: RoutineContext, instruction: Instruction): void {
  const { dst, src0 } = instruction.operands;
  if (dst === undefined || src0 === undefined) return;
  if (dst.kind !== "state" && src0.kind !== "state") {
    const message = "one operand of `movs` is a surface or sampler";
    context.unlessVectorCompiled("visa-movs", src0, message, "use `mov` for numbers");
  }
  if (dst.kind !== "state" || src0.kind !== "state") return;
  const [to, from] = [context.variable(dst.variable), context.variable(src0.variable)];
  if (to === null || from === null || to.kind === from.kind) return;
  context.error("visa-movs", src0, "a sampler cannot be moved to a surface, nor a surface to a sampler");
}

/** The addresses of predefined variables cannot be taken, except those of %arg and %retval and of aliases. */
function addressAdd(context: RoutineContext, { operands }: Instruction): void {
  const { src0 } = operands;
  if (src0?.kind !== "address-of") return;
  const variable = context.variable(src0.variable);
  if (variable === null || !variable.predefined || variable.name === "%arg" || variable.name === "%retval") return;
  context.error("visa-addr-add", src0, `the address of \`${variable.name}\` cannot be taken`);
}

/** A scalar call or return has no mask. */
function scalarCall(context: RoutineContext, instruction: Instruction): void {
  const { exec, row } = instruction;
  if (exec === null || channelsOf(instruction) !== 1 || exec.noMask) return;
  scalarMask(context, exec, `a scalar \`${row.mnemonic}\``);
}

/** Addresses of functions are known only when the program is loaded, so a constant cannot be one. */
function indirectCall(context: RoutineContext, instruction: Instruction): void {
  scalarCall(context, instruction);
  const { address } = instruction.operands;
  if (address?.kind !== "immediate" || !["ud", "uq"].includes(address.type)) return;
  context.warning(
    "visa-constant-address",
    address,
    "no function is known to have this address",
    "take a function's address with `faddr`",
  );
}

/** Reports an instruction with one channel that is under a mask. */
function scalarMask(context: RoutineContext, exec: ExecSize, what: string): void {
  context.error("visa-scalar-mask", exec, `${what} must be marked NoMask`, withoutMask(exec));
}

/** The same for the return of a subroutine, which IGC's vector compiler writes with a mask. */
export function returnMask(context: RoutineContext, exec: ExecSize): void {
  const message = "a scalar `ret` of a subroutine must be marked NoMask";
  context.unlessVectorCompiled("visa-scalar-mask", exec, message, withoutMask(exec));
}

const withoutMask = (exec: ExecSize): string => `write (${maskName({ ...exec, noMask: true })}, 1)`;

const rules: Readonly<Record<string, (context: RoutineContext, instruction: Instruction) => void>> = {
  AND: bitwise,
  OR: bitwise,
  XOR: bitwise,
  NOT: bitwise,
  MOV: move,
  SETP: setPredicate,
  MOVS: moveState,
  ADDR_ADD: addressAdd,
  CALL: scalarCall,
  FCALL: scalarCall,
  IFCALL: indirectCall,
  FRET: scalarCall,
};
