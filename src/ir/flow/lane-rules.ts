import { type Expr, kit } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction, Register } from "../module.ts";
import { readsOf } from "./accesses.ts";
import { ruleOf } from "./file-accesses.ts";

/** The instruction for all lanes of the group. Written out, as V8 takes long to copy what is left of an object. */
export const withoutRule = ({ op, dst, guard, undefinedCases, span, location }: Instruction): Instruction => ({
  op,
  dst,
  guard,
  undefinedCases,
  span,
  location,
});

/**
 * Finds the predicates of which only the bit of one channel is written and read: that bit belongs to the thread, not
 * to a lane, and decides about instructions that are executed once.
 */
export function singlePredicates({ registers, instructions }: IrFunction, width: number): ReadonlySet<number> {
  const found = new Set(registers.flatMap((register, r) => (register.class === "pred" ? [r] : [])));
  const channels = new Map<number, number>();
  const use = (r: number, channel: number | null): void => {
    if (!found.has(r)) return;
    const known = channels.get(r) ?? channel;
    if (known === null || known !== channel) found.delete(r);
    else channels.set(r, known);
  };
  for (const instruction of instructions) {
    const { lanes, dst } = instruction;
    const rule = ruleOf(instruction, width);
    const isOne = lanes !== undefined && (lanes.uniform || (lanes.noMask && rule.count === 1));
    const channel = isOne ? rule.first : null;
    for (const to of dst) if (typeof to === "number") use(to, lanes?.uniform === true ? null : channel);
    readsOf(instruction, {
      register: (r) => use(r, instruction.guard?.collapse === undefined ? channel : null),
    });
  }
  for (const { op } of instructions) {
    if (op.kind !== "pure") continue;
    for (const value of op.values) wordsOf(value, (r) => found.delete(r));
  }
  return found;
}

function wordsOf(expr: Expr, show: (register: number) => void): void {
  if (expr.kind === "lane-word") show(expr.reg);
  if (expr.kind === "prim") for (const arg of expr.args) wordsOf(arg, show);
}

/** Unites the writes of both halves of a register, one after the other, into one of the whole. */
export function unitePairs(instructions: Instruction[]): void {
  const targets = new Set(instructions.flatMap(({ op }) => (op.kind === "branch" ? [op.target] : [])));
  for (let i = 0; i < instructions.length; i++) {
    const second = instructions[i]!;
    if (targets.has(i)) continue;
    const first = instructions[i - 1];
    if (first?.op.kind !== "pure" || second.op.kind !== "pure" || first.dst.length !== 1) continue;
    const [to] = first.dst;
    const [a, b] = [first.op.values[0]!, second.op.values[0]!];
    const isSame = second.dst.length === 1 && second.dst[0] === to && first.guard === null && second.guard === null;
    if (!isSame || first.lanes !== undefined || second.lanes !== undefined || typeof to !== "number") continue;
    if (a.kind !== "prim" || b.kind !== "prim" || a.prim !== "i64.from_halves" || b.prim !== a.prim) continue;
    const [[low], [rest, high]] = [a.args, b.args];
    const keepsLow = rest!.kind === "prim" && rest!.prim === "i32.wrap_i64" && isRegister(rest!.args[0]!, to);
    if (keepsLow && !readsRegister(high!, to))
      instructions[i] = { ...second, op: { kind: "pure", values: [kit.pair(low!, high!)] } };
  }
}

const isRegister = (expr: Expr, register: number): boolean => expr.kind === "reg" && expr.reg === register;

const readsRegister = (expr: Expr, register: number): boolean =>
  isRegister(expr, register) || (expr.kind === "prim" && expr.args.some((arg) => readsRegister(arg, register)));

/** The registers of which an instruction reads what other lanes have. */
export function readAcross({ op, guard }: Instruction): readonly number[] {
  const found: number[] = [];
  if (op.kind === "warp") for (const operand of op.warp.operands) if (operand.kind === "reg") found.push(operand.reg);
  if (guard?.collapse !== undefined) found.push(guard.register);
  if (op.kind === "pure") for (const value of op.values) wordsOf(value, (r) => found.push(r));
  return found;
}

/** Whether an instruction writes an element that all lanes of the thread share. */
export const writesShared = ({ dst }: Instruction, registers: readonly Register[]): boolean =>
  dst.some((to) => typeof to === "number" && registers[to]!.home?.lanes === null);

/**
 * Drops rules for all lanes from what writes registers that no lane reads of another, nor computes such registers from
 * in lanes that are not active.
 */
export function withoutNeedlessRules(ir: IrFunction, width: number): IrFunction {
  const across = new Set(ir.instructions.flatMap(readAcross));
  const forOthers = ir.instructions.filter(({ lanes }) => lanes?.noMask === true && !lanes.uniform);
  for (let size = -1; size !== across.size; ) {
    size = across.size;
    for (const instruction of forOthers) {
      const isKept = instruction.dst.some((to) => typeof to === "number" && across.has(to));
      if (isKept) readsOf(instruction, { register: (r) => across.add(r) });
    }
  }
  const instructions = ir.instructions.map((instruction): Instruction => {
    const { lanes, op, dst } = instruction;
    if (lanes === undefined || !lanes.noMask || lanes.uniform) return instruction;
    if (op.kind !== "pure" && !(op.kind === "load" && writesShared(instruction, ir.registers))) return instruction;
    const isNeedless = dst.every((to) => typeof to !== "number" || !across.has(to));
    return lanes.first === 0 && lanes.count >= width && isNeedless ? withoutRule(instruction) : instruction;
  });
  return { ...ir, instructions };
}

/**
 * Finds instructions that only compute what nobody reads, such as copies of bytes that are not needed. Returns, by
 * instruction, whether it is one. `kept`: by register, whether it counts as read.
 */
export function deadResults(instructions: readonly Instruction[], kept: readonly boolean[]): readonly boolean[] {
  const readers = new Int32Array(kept.length);
  /** By register, the last instruction that writes it. */
  const lastWriter = new Int32Array(kept.length);
  const more = { register: (r: number) => readers[r]!++ };
  instructions.forEach((instruction, i) => {
    readsOf(instruction, more);
    for (const to of instruction.dst) if (typeof to === "number") lastWriter[to] = i;
  });
  const computesNothing = ({ op, dst }: Instruction): boolean =>
    (op.kind === "pure" || (op.kind === "warp" && op.warp.op === "shfl")) &&
    dst.every((to) => to === null || (typeof to === "number" && !kept[to] && readers[to] === 0));
  const dead = instructions.map(() => false);
  // From the last to the first: what nobody reads any more comes before its last reader, save around a loop.
  for (let again = true; again; ) {
    again = false;
    for (let i = instructions.length - 1; i >= 0; i--) {
      const instruction = instructions[i]!;
      if (dead[i] || !computesNothing(instruction)) continue;
      dead[i] = true;
      const fewer = (r: number): void => {
        readers[r]!--;
        again ||= readers[r] === 0 && lastWriter[r]! > i;
      };
      readsOf(instruction, { register: fewer });
    }
  }
  return dead;
}
