import type { Instruction, Operand } from "../tree/nodes.ts";
import { evaluateConstant } from "./constant.ts";
import { nounOf } from "./duplicate.ts";
import type { ModuleContext } from "./module-context.ts";
import type { TargetDeclarations } from "./targets.ts";

/** Checks that the target of `bra` is a label (9.7.12.3). */
export function checkBranch({ operands }: Instruction, { sink }: ModuleContext): void {
  const [target] = operands;
  if (target?.kind !== "name" || target.symbol === null || target.symbol.kind === "label") return;
  sink.error("not-a-label", target, `a label is expected here, but '${target.text}' is a ${nounOf(target.symbol)}`);
}

/** Checks `brx.idx index, list` (9.7.12.4). */
export function checkIndexedBranch(
  { operands, opcode }: Instruction,
  targets: TargetDeclarations,
  context: ModuleContext,
): void {
  const { sink } = context;
  const [index, list] = operands;
  if (index === undefined || list === undefined) {
    sink.error("operand-count", opcode, "'brx.idx' takes an index and the label of a .branchtargets");
    return;
  }
  checkIndex(index, context);
  if (list.kind === "bad") return;
  if (list.kind !== "name") {
    sink.error("branch-list", list, "the label of a .branchtargets is expected here");
    return;
  }
  const { symbol } = list;
  if (symbol === null) return;
  if (symbol.kind !== "target-list" || symbol.list.kind !== "branchtargets") {
    sink.error("branch-list", list, `'${list.text}' is a ${nounOf(symbol)}, not the label of a .branchtargets`, {
      help: `write \`L: .branchtargets ${symbol.kind === "label" ? list.text : "A, B"};\` before, and 'L' here`,
    });
    return;
  }
  const length = targets.branchTargets.get(symbol.list)?.length ?? 0;
  const value = isConstant(index) ? evaluateConstant(index) : null;
  if (value?.kind !== "integer" || length < symbol.list.targets.length) return;
  if (BigInt.asUintN(32, value.value) >= BigInt(length)) {
    sink.warning(
      "branch-index-out-of-range",
      index,
      `this index is past the end of the list '${list.text}', which has ${length} targets`,
      {
        help: `indices go from 0 to ${length - 1}; a branch with any other is undefined`,
      },
    );
  }
}

type Constant = Extract<Operand, { kind: "integer" | "unary" | "binary" | "conditional" | "parenthesized" }>;

const isConstant = (operand: Operand): operand is Constant =>
  ["integer", "unary", "binary", "conditional", "parenthesized"].includes(operand.kind);

function checkIndex(index: Operand, { sink, reportConstant }: ModuleContext): void {
  if (index.kind === "bad") return;
  if (isConstant(index)) {
    if (evaluateConstant(index, reportConstant)?.kind === "float")
      sink.error("branch-index", index, "an index must be an integer");
    return;
  }
  if (index.kind !== "name") {
    sink.error("branch-index", index, "an index must be a .u32 register or a constant");
    return;
  }
  const { symbol } = index;
  if (symbol === null || symbol.kind === "constant") return;
  if (symbol.kind !== "register") {
    sink.error(
      "branch-index",
      index,
      `an index must be a .u32 register or a constant, but '${index.text}' is a ${nounOf(symbol)}`,
    );
  } else if (symbol.type.bits !== 32 || symbol.type.kind === "f" || (symbol.vector > 1 && index.component === null)) {
    sink.error(
      "branch-index",
      index,
      `an index must be a register of type .u32, .s32 or .b32, but '${index.text}' is .${symbol.type.name}`,
    );
  }
}
