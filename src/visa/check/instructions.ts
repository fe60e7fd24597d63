import { existsOn } from "../platforms.ts";
import type { Instruction, LscAddress, NameOperand, Operand, RawOperand, VectorOperand } from "../tree.ts";
import type { DataType } from "../types.ts";
import { maskName } from "../exec-mask.ts";
import { lscAddressBytes, lscDataBytes, rawBytes } from "./raw-bytes.ts";
import { checkRaw } from "./raw-operand.ts";
import type { RoutineContext } from "./routine-context.ts";
import { checkSpecial } from "./special-instructions.ts";
import { checkTypes } from "./type-rules.ts";
import { checkVector, ofKind, predicateElements, type VectorSpec } from "./vector-operand.ts";

/**
 * Checks every instruction by itself: version and platform, execution size and mask, operands, types. Labels, calls
 * between routines and the order of execution have their own rules.
 */
export function checkInstructions(context: RoutineContext): void {
  for (const instruction of context.routine.instructions) {
    gates(context, instruction);
    execution(context, instruction);
    if (instruction.predicate !== null) predicateElements(context, instruction, instruction.predicate.name);
    for (const key in instruction.operands) checkOperand(context, instruction, key, instruction.operands[key]!);
    checkTypes(context, instruction);
    checkSpecial(context, instruction);
  }
}

function gates(context: RoutineContext, { row, mnemonic }: Instruction): void {
  const { platform, routine, file } = context.routine;
  const version = routine.version ?? file.version;
  if (row.since !== undefined && version !== null) {
    const [major, minor] = row.since.split(".").map(Number) as [number, number];
    if (version.major < major || (version.major === major && version.minor < minor)) {
      const found = `${version.major}.${version.minor}`;
      context.error(
        "visa-version-gate",
        mnemonic,
        `\`${row.mnemonic}\` does not exist in version ${found}`,
        `write .version ${row.since}`,
      );
    }
  }
  if (platform !== null && !existsOn(row, platform)) {
    context.error("visa-platform", mnemonic, `\`${row.mnemonic}\` does not exist on ${platform}`);
  }
}

/** Checks the execution size and the mask (3_execution_model.md, "Execution Mask"). */
function execution(context: RoutineContext, { row, exec }: Instruction): void {
  if (exec === null || row.sizes === null) return;
  if (!row.sizes.includes(exec.size)) {
    const help = `it may have ${row.sizes.join(", ")}`;
    context.error("visa-exec-size", exec, `\`${row.mnemonic}\` cannot have ${exec.size} channels`, help);
  }
  if (exec.offset % exec.size !== 0) {
    const message = `${maskName(exec)} begins at channel ${exec.offset}, which is not a multiple of ${exec.size}`;
    const fitting = [0, 4, 8, 12, 16, 20, 24, 28].filter((offset) => offset % exec.size === 0);
    context.error(
      "visa-mask-offset",
      exec,
      message,
      `write ${fitting.map((o) => maskName({ ...exec, offset: o })).join(", ")}`,
    );
  } else if (!exec.noMask) {
    const { simd } = context.routine;
    const last = exec.offset + exec.size - 1;
    if (simd > 1 && last >= simd) {
      const message = `channels ${exec.offset} to ${last} are not among the ${simd} of the routine`;
      context.error(
        "visa-mask-offset",
        exec,
        message,
        "an instruction without a mask, such as (M1_NM, 32), may have more",
      );
    }
  }
}

function checkOperand(context: RoutineContext, instruction: Instruction, key: string, operand: Operand): void {
  const spec = instruction.row.operands[key];
  if (spec === undefined) return;
  switch (spec.class) {
    case "vector":
      if (isVector(operand)) checkVector(context, instruction, operand, spec);
      return;
    case "raw":
      if (operand.kind !== "raw") return;
      checkRaw(context, operand, spec, rawBytes(instruction, key, context.grfBytes, typeOf(context, operand)));
      return;
    case "predicate":
      if (operand.kind === "name") predicateElements(context, instruction, operand.name);
      return;
    case "surface":
      if (operand.kind === "name") ofKind(context, operand.name, "T");
      return;
    case "sampler":
      if (operand.kind === "name") ofKind(context, operand.name, "S");
      return;
    case "number":
      if (operand.kind === "number") number(context, operand, spec);
      return;
    case "lsc-address":
      if (operand.kind === "lsc-address") lscAddress(context, instruction, operand);
      return;
    case "lsc-data":
      if (operand.kind !== "lsc-data") return;
      checkRaw(context, operand.register, spec, lscDataBytes(instruction, operand, context.grfBytes));
      return;
    case "list":
      if (operand.kind !== "list") return;
      for (const item of operand.items) {
        if (item.kind === "raw") checkRaw(context, item, { class: "raw", role: "src" });
      }
  }
}

const typeOf = (context: RoutineContext, { variable }: RawOperand): DataType =>
  context.variable(variable)?.type ?? "ud";

const isVector = (operand: Operand): operand is VectorOperand | NameOperand =>
  ["general", "indirect", "immediate", "address", "address-of", "state", "name"].includes(operand.kind);

function number(
  context: RoutineContext,
  operand: Extract<Operand, { kind: "number" }>,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  if (operand.value >= from && operand.value <= to) return;
  context.error("visa-number", operand, `${operand.value} is out of range`, `it is from ${from} to ${to}`);
}

/** A scalar that is part of an address: a surface's index or state, a coordinate or size of a block. */
const addressPart: VectorSpec = {
  class: "vector",
  role: "src",
  forms: ["general", "indirect", "immediate", "state"],
  types: ["ud", "d", "uw", "w", "uq", "q"],
  scalar: true,
  modifiers: "none",
};

function lscAddress(context: RoutineContext, instruction: Instruction, address: LscAddress): void {
  const { base, surface } = address;
  const bytes = lscAddressBytes(instruction, address);
  if (surface !== null) checkVector(context, instruction, surface, addressPart);
  for (const { operand } of base) {
    if (operand.kind === "raw") checkRaw(context, operand, { class: "raw", role: "src" }, bytes);
    else checkVector(context, instruction, operand, addressPart);
  }
}
