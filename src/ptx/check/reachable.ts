import type { Span } from "../../source/index.ts";
import type { ControlKind } from "../isa/define.ts";
import { instructionSet } from "../isa/index.ts";
import type { Label, LabelSymbol } from "../tree/leaves.ts";
import type { Block, Instruction, Statement, TargetList } from "../tree/nodes.ts";

/** The labels of each `.branchtargets`. */
type BranchTargets = ReadonlyMap<TargetList, readonly LabelSymbol[]>;

/**
 * Where control can certainly leave the function: the `ret` instructions that some path from the start reaches, and the
 * closing brace if the end is reachable. Guards may go either way. Paths end at `trap`, `exit` and calls, which need
 * not return.
 */
export function reachableReturns(body: Block, branchTargets: BranchTargets): Span[] {
  const code: (Instruction | Label)[] = [];
  flatten(body.statements, code);
  const positions = new Map<Label, number>();
  for (const [at, node] of code.entries()) if (node.kind === "label") positions.set(node, at);
  const seen = new Uint8Array(code.length + 1);
  const pending = [0];
  const returns: Span[] = [];
  while (pending.length > 0) {
    let at: number | null = pending.pop()!;
    while (at !== null && seen[at] === 0) {
      seen[at] = 1;
      const node: Instruction | Label | undefined = code[at];
      if (node === undefined) returns.push({ start: body.end - 1, end: body.end });
      if (node?.kind === "instruction" && controlOf(node) === "return") returns.push(node);
      if (node?.kind === "instruction")
        for (const label of targetsOf(node, branchTargets)) pending.push(positions.get(label) ?? 0);
      at = node === undefined || stops(node) ? null : at + 1;
    }
  }
  return returns;
}

function flatten(statements: readonly Statement[], code: (Instruction | Label)[]): void {
  for (const statement of statements) {
    if (statement.kind === "block") flatten(statement.statements, code);
    else if (statement.kind === "instruction" || statement.kind === "label") code.push(statement);
  }
}

/** How an instruction moves control, if only its root is right. */
const controlOf = ({ resolved, opcode }: Instruction): ControlKind | null =>
  resolved === null ? instructionSet.resolve(opcode.text).control : resolved.form.control;

function targetsOf(node: Instruction, branchTargets: BranchTargets): Label[] {
  const control = controlOf(node);
  const operand = control === "branch" ? node.operands[0] : control === "branch-indexed" ? node.operands[1] : undefined;
  const symbol = operand?.kind === "name" ? operand.symbol : null;
  if (symbol?.kind === "label") return [symbol.label];
  return symbol?.kind === "target-list" ? (branchTargets.get(symbol.list) ?? []).map(({ label }) => label) : [];
}

const stops = (node: Instruction | Label): boolean =>
  node.kind === "instruction" && node.guard === null && controlOf(node) !== null;
