import type { Op, UndefinedCase } from "../../ir/index.ts";
import { type Expr, kit } from "../../semantics/index.ts";
import { controlOf } from "../isa/row.ts";
import type { ExecSize, Instruction, Name, Operand, VectorOperand } from "../tree.ts";
import { typeBytes } from "../types.ts";
import type { LowerContext, Lowered } from "./context.ts";
import { lanesOf } from "./guard.ts";
import { nameOf, once, vectorOf } from "../instruction-operands.ts";
import { destination, source } from "./operands.ts";
import type { Symbols } from "./symbols.ts";

/** The further facts that the lowering of control flow needs. */
export interface FlowContext extends LowerContext {
  readonly symbols: Symbols;
  /** The index of the IR instruction at a label. */
  target(label: Name): number;
}

/**
 * Lowers control flow (section 3.4 of the execution model). Forward and backward branches are lowered alike: the group
 * with the lowest pc in the deepest activation runs, and groups at the same pc become one. Lanes that branched forward
 * thus wait at their label, and lanes that did not branch backward wait after the branch.
 */
export function lowerFlow(context: FlowContext, instruction: Instruction): Lowered {
  const { row, operands, exec } = instruction;
  const kind = controlOf(row);
  if (kind === null) throw new Error(`${row.name} is not control flow`);
  switch (kind) {
    case "branch":
      return control({ kind: "branch", target: context.target(nameOf(instruction, "target").name), uniform: false });
    case "branch-indexed": {
      const targets = operands["targets"]?.kind === "names" ? operands["targets"].names : [];
      const index = source(context, vectorOf(instruction, "index"), exec ?? once);
      const op: Op = {
        kind: "branch-indexed",
        index: index.expr,
        targets: targets.map((label) => context.target(label)),
        uniform: false,
      };
      return control(op, index.undefinedCases);
    }
    case "call":
      return control({
        kind: "subroutine-call",
        target: context.target(nameOf(instruction, "target").name),
        allLanes: exec?.size === 1,
      });
    case "file-call": {
      const { text } = nameOf(instruction, "routine").name;
      if (!context.symbols.routines.has(text)) return missing(text);
      return call(instruction, { kind: "direct", function: text });
    }
    case "file-call-indirect": {
      const operand = vectorOf(instruction, "address");
      const address = source(
        context,
        operand,
        exec !== null && hasAddressPerChannel(context, operand, exec) ? exec : once,
      );
      return call(instruction, { kind: "indirect", address: address.expr }, address.undefinedCases);
    }
    case "return":
    case "file-return":
      return control({ kind: "return", uniform: false });
    case "address":
      return lowerFaddr(context, instruction);
  }
}

const control = (op: Op, undefinedCases: readonly UndefinedCase[] = []): Lowered => ({ op, dst: [], undefinedCases });

type FileCall = Extract<Op, { kind: "file-call" }>;

const call = (
  { operands, exec }: Instruction,
  target: FileCall["target"],
  undefinedCases: readonly UndefinedCase[] = [],
): Lowered => {
  const argSize = numberOf(operands["argSize"]);
  const retvalSize = numberOf(operands["returnSize"]);
  const { hint } = operands;
  const noreturn = hint?.kind === "option" && hint.choice.includes("noreturn");
  const op: Op = { kind: "file-call", target, argSize, retvalSize, allLanes: exec?.size === 1, noreturn };
  return control(op, undefinedCases);
};

/**
 * Whether the operand has an address for each channel. The manual uses the first for all of them, whatever the region.
 * Here lanes whose addresses differ are reported, unless the region extends past the variable, where there are no
 * addresses to compare.
 */
function hasAddressPerChannel(context: FlowContext, operand: VectorOperand, { size }: ExecSize): boolean {
  if (operand.kind !== "general") return true;
  const { region, row, column } = operand;
  const { type, bytes } = context.variable(operand.variable);
  const [width, vertical, horizontal] = [region.width ?? 1, region.vertical ?? 0, region.horizontal ?? 0];
  const last = Math.floor((size - 1) / width) * vertical + ((size - 1) % width) * horizontal;
  return row * context.routine.grfBytes + (column + last + 1) * typeBytes(type) <= bytes;
}

const missing = (what: string): Lowered =>
  control({ kind: "unsupported", what, reason: "nothing in the program has this name" });

/** Lowers `faddr`: the address of a routine, or of data that the program names. */
function lowerFaddr(context: FlowContext, instruction: Instruction): Lowered {
  const { symbols } = context;
  const name = nameOf(instruction, "routine").name.text;
  const found = symbols.routines.has(name) ? { section: name, offset: 0 } : symbols.data.get(name);
  if (found === undefined) return missing(name);
  const { section: symbol, offset } = found;
  const address: Expr = { kind: "symbol", ty: "i64", symbol, offset, generic: true };
  const { to, type, undefinedCases } = destination(context, vectorOf(instruction, "dst"), once);
  const value = typeBytes(type) === 8 ? address : kit.wrap(address);
  return { op: { kind: "pure", values: [value] }, dst: [to], undefinedCases, lanes: lanesOf(once) };
}

function numberOf(operand: Operand | undefined): number {
  if (operand?.kind !== "number") throw new Error("the operand is not a number");
  return operand.value;
}
