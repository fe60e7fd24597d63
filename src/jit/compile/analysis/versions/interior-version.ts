import { flowGraphOf } from "../../../../ir/flow/flow-graph.ts";
import { livenessOf, resultsOf } from "../../../../ir/flow/liveness.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import {
  accessesOf,
  type Instruction,
  type IrFunction,
  laneAddressOf,
  leadsBack,
  type Op,
  type Register,
} from "../../../../ir/index.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import { renaming } from "../../../../ir/rename-registers.ts";
import { retargeted } from "../../../../ir/retarget.ts";
import { type Dim3, isSameDim3 } from "../../../../machine/reports/report.ts";
import { type Expr, kit, mapChanged } from "../../../../semantics/index.ts";
import type { SourceCode } from "../code/source-code.ts";
import { withForwardedNumbers } from "./forwarded-numbers.ts";
import { type Assumptions, assumptionsOf } from "./interior-assumptions.ts";
import { roundAssumptionsOf } from "./round-assumptions.ts";

/** Kernels with more instructions are left as they are: each version takes as long to compile as the kernel. */
const maxInstructions = 500;

/** What a kernel that gets a second version may do: its threads depend on no others but by memory and barriers. */
const mayRepeat: ReadonlySet<Op["kind"]> = new Set<Op["kind"]>([
  ...(["pure", "load", "store", "atomic", "warp", "fence", "nothing"] as const),
  ...(["barrier", "branch", "return", "exit"] as const),
]);

/**
 * A kernel in two versions, for blocks of one size: one for blocks in the interior, where nothing is clamped at a
 * border and nothing begins anew at the end of a row, and the kernel as it was. Each block decides once for all of its
 * threads. In the interior, coordinates that have been clamped, or taken modulo a length, are linear in a thread's
 * numbers, and so are the addresses that depend on them. Where there are none, the blocks that count as the interior
 * are those of which all threads have as many rounds of loops. The kernel itself where that is of no use.
 */
export function withInteriorVersion(source: SourceCode, block: Dim3): SourceCode {
  const { ir, origins } = source;
  const known = last.get(ir);
  const found = known !== undefined && isSameDim3(known.block, block) ? known.found : versionsOf(ir, block);
  last = new WeakMap([[ir, { block, found }]]);
  if (found === null) return source;
  return origins === null ? found : { ir: found.ir, origins: found.origins.map((i) => origins[i]!) };
}

/** A kernel in two versions, with the index of each instruction in the kernel. */
interface Versions extends SourceCode {
  readonly origins: readonly number[];
}

/** What was found last: whether there are two versions is asked before the kernel is compiled. */
let last = new WeakMap<IrFunction, { readonly block: Dim3; readonly found: Versions | null }>();

/** Whether a kernel has addresses in blocks of one size that are clamped, or begin anew, at borders of the grid. */
export function hasBorders(source: IrFunction, block: Dim3): boolean {
  const ir = repeatable(source);
  return ir !== null && usefulPlaces(ir, writtenOnce(ir), block) !== null;
}

/** A kernel that may have two versions, with the numbers that are known in each round of its loops; null for others. */
function repeatable(source: IrFunction): IrFunction | null {
  const { file, instructions } = source;
  const end = instructions.at(-1);
  if (file !== undefined || instructions.length > maxInstructions || end === undefined) return null;
  if (end.guard !== null || (end.op.kind !== "return" && end.op.kind !== "exit")) return null;
  if (!instructions.every(({ op, lanes }) => lanes === undefined && mayRepeat.has(op.kind))) return null;
  return instructions.some(endsRound) ? withForwardedNumbers(source) : source;
}

function versionsOf(source: IrFunction, block: Dim3): Versions | null {
  const ir = repeatable(source);
  if (ir === null) return null;
  const written = writtenOnce(ir);
  const assumptions = usefulAssumptions(ir, written, block);
  return assumptions && inTwoVersions(ir, assumptions, written);
}

/** By register that one instruction writes, before it is read, that instruction. */
function writtenOnce(ir: IrFunction): ReadonlyMap<number, Instruction> {
  const writes = new Uint32Array(ir.registers.length);
  for (const instruction of ir.instructions) writesOf(instruction, (r) => writes[r]!++);
  const read = livenessOf(ir, flowGraphOf(ir.instructions, {}), resultsOf(ir)).liveIn(0);
  const found = new Map<number, Instruction>();
  for (const instruction of ir.instructions) {
    if (instruction.guard !== null) continue;
    writesOf(instruction, (r) => {
      const { class: c, bits } = ir.registers[r]!;
      if (writes[r] === 1 && !read.has(r) && (c === "pred" || bits >= 32)) found.set(r, instruction);
    });
  }
  return found;
}

/** What to assume of blocks, so that addresses or the rounds of loops are the better for it; null for nothing. */
function usefulAssumptions(ir: IrFunction, written: ReadonlyMap<number, Instruction>, block: Dim3): Assumptions | null {
  const places = usefulPlaces(ir, written, block);
  if (places !== null) return places;
  const { instructions } = ir;
  const guards = instructions.flatMap((i, at) => (endsRound(i, at) ? [i.guard!.register] : []));
  const rounds = guards.length === 0 ? null : roundAssumptionsOf(ir, written, block);
  if (rounds === null) return null;
  const { registers } = dependents(ir, rounds);
  return guards.some((guard) => registers.has(guard)) ? rounds : null;
}

/** The same, where an address depends on what is assumed. */
function usefulPlaces(ir: IrFunction, written: ReadonlyMap<number, Instruction>, block: Dim3): Assumptions | null {
  const places = assumptionsOf(ir, written, block);
  if (places === null) return null;
  const { isOf } = dependents(ir, places);
  const isUseful = ir.instructions.some(({ op }) => accessesOf(op).some(({ place }) => isOf(laneAddressOf(place))));
  return isUseful ? places : null;
}

/** Whether an instruction ends a round of a loop, where a condition decides. */
const endsRound = (instruction: Instruction, at: number): boolean =>
  instruction.op.kind === "branch" && instruction.guard !== null && leadsBack(instruction, at);

/** What depends on what is assumed of a value: registers, and expressions of them. */
function dependents(
  { instructions }: IrFunction,
  { isBent }: Assumptions,
): { readonly registers: ReadonlySet<number>; readonly isOf: (expr: Expr) => boolean } {
  const registers = new Set<number>();
  const isOf = (expr: Expr): boolean =>
    expr.kind === "reg" ? registers.has(expr.reg) : expr.kind === "prim" && (isBent(expr) || expr.args.some(isOf));
  for (let size = -1; size < registers.size; ) {
    size = registers.size;
    for (const { op, dst } of instructions) {
      if (op.kind !== "pure") continue;
      dst.forEach((to, i) => {
        if (typeof to === "number" && isOf(op.values[i]!)) registers.add(to);
      });
    }
  }
  return { registers, isOf };
}

function inTwoVersions(ir: IrFunction, assumptions: Assumptions, written: ReadonlyMap<number, Instruction>): Versions {
  const registers: Register[] = [...ir.registers, ...ir.registers];
  const count = ir.registers.length;
  const own = renaming((r) => (r < count ? r + count : r));
  const add = (type: Pick<Register, "class" | "bits">): number => registers.push({ name: "interior", ...type }) - 1;
  const [first] = ir.instructions as readonly [Instruction, ...Instruction[]];
  const made = (op: Op, dst: readonly number[], guard: Instruction["guard"] = null): Instruction => {
    const { span, location } = first;
    return { ...{ op, guard, dst, undefinedCases: [], span, location } };
  };

  // What is computed of the launch's parameters reads them again: nothing of the kernel has been executed.
  const before: Instruction[] = [];
  const copies = new Map<number, number>();
  const withParameters = renaming(
    (r) => {
      let copy = copies.get(r);
      if (copy === undefined) {
        copies.set(r, (copy = add(ir.registers[r]!)));
        before.push({ ...written.get(r)!, dst: [copy] });
      }
      return copy;
    },
    (r) => r,
  );
  const compute = (value: Expr, to: Pick<Register, "class" | "bits">): number => {
    const register = add(to);
    const instruction = withParameters(made({ kind: "pure", values: [value] }, [register]));
    before.push(instruction);
    return register;
  };
  const places = new Map<Expr, number>();
  const isInterior = compute(assumptions.all, { class: "pred", bits: 1 });
  for (const value of assumptions.values) places.set(value, compute(value, { class: "b32", bits: 32 }));

  const inside = ir.instructions.map((instruction) => {
    const known = mapOperands(instruction, (expr) =>
      assumptions.rewrite(expr, (value) => ({ kind: "reg", ty: "i32", reg: places.get(value)! })),
    );
    return own(known);
  });
  const decided = withDecided(inside, (r) => written.has(r - count));
  const start = before.length + 1;
  const outside = start + inside.length;
  const end = outside + ir.instructions.length;
  const branch = made({ kind: "branch", target: outside, uniform: true }, [], { register: isInterior, negate: true });
  const moved = (to: number) => (i: Instruction) =>
    retargeted(i, (target) => (target === ir.instructions.length ? end : target + to));
  return {
    ir: {
      ...ir,
      registers,
      instructions: [...before, branch, ...decided.map(moved(start)), ...ir.instructions.map(moved(outside))],
    },
    origins: [...Array.from({ length: start }, () => 0), ...[0, 1].flatMap(() => ir.instructions.map((_, i) => i))],
  };
}

/**
 * The code without guards that are known, and with conditions that follow from known ones. `isOnce`: registers that one
 * instruction writes, before they are read.
 */
function withDecided(
  instructions: readonly Instruction[],
  isOnce: (register: number) => boolean,
): readonly Instruction[] {
  const known = new Map<number, boolean>();
  let current = instructions;
  for (let size = -1; size < known.size; ) {
    size = known.size;
    current = current.map((instruction) => {
      const { guard, op, dst } = mapOperands(instruction, (expr) => simplified(expr, known));
      const decided = guard?.collapse === undefined && guard !== null ? known.get(guard.register) : undefined;
      if (decided !== undefined && decided === guard!.negate)
        return { ...instruction, guard: null, op: nothing, dst: [] };
      if (op.kind === "pure" && guard === null) {
        op.values.forEach((value, i) => {
          const to = dst[i];
          if (typeof to !== "number" || value.kind !== "const" || value.ty !== "pred" || !isOnce(to)) return;
          known.set(to, value.value === true);
        });
      }
      return { ...instruction, op, dst, guard: decided === undefined ? guard : null };
    });
  }
  return current;
}

const nothing = { kind: "nothing" } as const;

/** A condition, or a choice, in which some registers are known. */
function simplified(expr: Expr, known: ReadonlyMap<number, boolean>): Expr {
  if (expr.kind === "reg") return expr.ty === "pred" && known.has(expr.reg) ? kit.pred(known.get(expr.reg)!) : expr;
  if (expr.kind !== "prim") return expr;
  const args = mapChanged(expr.args, (arg) => simplified(arg, known));
  const [a, b] = args;
  if (expr.prim === "pred.not" && a?.kind === "const") return kit.pred(a.value !== true);
  if (expr.prim.endsWith(".select") && a?.kind === "const") return args[a.value === true ? 1 : 2]!;
  if (expr.prim === "pred.and" || expr.prim === "pred.or") {
    for (const [one, other] of [
      [a!, b!],
      [b!, a!],
    ] as const) {
      if (one.kind === "const") return (one.value === true) === (expr.prim === "pred.and") ? other : one;
    }
  }
  return args === expr.args ? expr : { ...expr, args };
}
