import { readsOf, writesOf } from "../../../../ir/flow/accesses.ts";
import { resultsOf } from "../../../../ir/flow/liveness.ts";
import type { Instruction, OpOf } from "../../../../ir/index.ts";
import { registersIn } from "../../../../ir/module.ts";
import { mapOperands } from "../../../../ir/operands.ts";
import type { RegisterLeaf } from "../../../../semantics/bind.ts";
import { everyLeaf, type Expr, ExprResults, kit, rewriteLeaves } from "../../../../semantics/index.ts";
import { addressOf } from "./access-groups.ts";
import { BlockLines, type Line } from "../code/block-lines.ts";
import type { PreparedCode } from "../code/prepared-code.ts";

/** What is known of values before code is changed. */
export interface KnownOfLanes {
  /** Whether all lanes have the same value. */
  readonly isUniform: (expr: Expr) => boolean;
  /** Whether nothing is known of how the values of lanes lie to each other. */
  readonly isUnknown: (expr: Expr) => boolean;
  /** Whether a value follows from the thread's number alone. */
  readonly isOfThread: (expr: Expr) => boolean;
}

/** The parts of a register, two others: it always holds their sum. */
interface Parts {
  readonly start: number;
  readonly counter: number;
}

/**
 * Code in which addresses in shared memory are sums of where a thread begins and of what all lanes share, if that tells
 * more: the first part follows from thread numbers, and of the sum nothing is known. `tile[i][tid / 16]`, and what a
 * loop moves on, as in `p = tile + tid / 16 * 4; for (...) { *p; p += 260; }`, have `*(start + counter)`.
 */
export function withCountersApart(code: PreparedCode, known: KnownOfLanes): PreparedCode {
  const found = summedRegisters(code, known);
  if (found.size === 0) return code;
  const lines = new BlockLines(code);
  const named = new Map<number, Parts>();
  for (const r of found) named.set(r, { start: lines.registerLike(r), counter: lines.registerLike(r) });
  const reg = (register: number): Expr => ({ kind: "reg", ty: "i32", reg: register });
  const leaf = (expr: Expr): Expr => {
    const own = expr.kind === "reg" ? named.get(expr.reg) : undefined;
    return own === undefined ? expr : kit.add(reg(own.start), reg(own.counter));
  };
  const memo = new ExprResults<Expr>();
  const read = (expr: Expr): Expr => rewriteLeaves(expr, leaf, memo);
  const rewritten = (line: Line): readonly Line[] => {
    const { instruction } = line;
    const { op, dst } = instruction;
    const own = typeof dst[0] === "number" ? named.get(dst[0]) : undefined;
    if (own === undefined || op.kind !== "pure") return [{ ...line, instruction: mapOperands(instruction, read) }];
    const set = (to: number, value: Expr): Line => ({
      ...line,
      instruction: { ...instruction, op: { kind: "pure", values: [value] }, dst: [to] },
    });
    const step = stepOf(instruction);
    if (step !== null) return [set(own.counter, kit.add(reg(own.counter), step))];
    const { start, counter } = partsOf(op.values[0]!, known);
    return [set(own.start, start), set(own.counter, counter ?? kit.i32(0))];
  };
  lines.blocks.forEach((block, i) => {
    lines.blocks[i] = block.flatMap(rewritten);
  });
  return lines.result();
}

/**
 * The registers that have such parts: addresses that one instruction computes, and others move on by constants. What
 * reads one otherwise would have to add its parts.
 */
function summedRegisters(code: PreparedCode, known: KnownOfLanes): ReadonlySet<number> {
  const { ir, instructions } = code;
  const found = new Set<number>();
  if (ir.file !== undefined) return found;
  for (const { op } of instructions) {
    const base = op.kind === "load" || op.kind === "store" ? baseOf(op) : null;
    if (base !== null && known.isUnknown(base)) found.add(base.reg);
  }
  const [values, moved] = [new Map<number, Expr>(), new Set<number>()];
  for (const r of code.liveness.acrossLanes) found.delete(r);
  code.liveness.liveIn(0).forEach((r) => {
    found.delete(r);
  });
  for (const r of [...resultsOf(ir), ...registersIn([...ir.params, ...ir.returns])]) found.delete(r);
  for (const instruction of found.size === 0 ? [] : instructions) {
    const { op, dst, guard, lanes } = instruction;
    const isPlain = op.kind === "pure" && dst.length === 1 && guard === null && lanes === undefined;
    const isStep = isPlain && stepOf(instruction) !== null;
    writesOf(instruction, (r) => {
      if (!isPlain || (!isStep && values.has(r))) found.delete(r);
      else if (isStep) moved.add(r);
      else values.set(r, op.values[0]!);
    });
    if (isStep) continue;
    const base = op.kind === "load" || op.kind === "store" ? baseOf(op) : null;
    const stored = op.kind === "store" ? op.values : [];
    readsOf(instruction, {
      register: (r) => {
        if (base?.reg !== r || guard?.register === r || stored.some((v) => reads(v, r))) found.delete(r);
      },
    });
  }
  for (const r of found) {
    const value = values.get(r);
    const parts = value === undefined ? null : partsOf(value, known);
    const isSum = parts !== null && (parts.counter !== null || moved.has(r));
    if (!isSum || !known.isOfThread(parts.start)) found.delete(r);
  }
  return found;
}

/** The register that is the address of an access to shared memory, but for a constant; null if it is none. */
function baseOf({ access, place }: OpOf<"load" | "store">): RegisterLeaf | null {
  if (access.space !== "shared" || place.kind !== "address") return null;
  const { base } = addressOf(place.address);
  return base.kind === "reg" && base.ty === "i32" ? base : null;
}

/** A value as a sum of what differs from lane to lane, and of what all lanes share (null: nothing). */
function partsOf(value: Expr, { isUniform }: KnownOfLanes): { readonly start: Expr; readonly counter: Expr | null } {
  if (value.kind !== "prim" || value.prim !== "i32.add") return { start: value, counter: null };
  const [a, b] = value.args as [Expr, Expr];
  if (isUniform(a)) return { start: b, counter: a };
  return isUniform(b) ? { start: a, counter: b } : { start: value, counter: null };
}

const reads = (expr: Expr | null, register: number): boolean =>
  expr !== null && !everyLeaf(expr, (leaf) => leaf.kind !== "reg" || leaf.reg !== register);

/** The constant that an instruction adds to the register that it writes; null for others. */
function stepOf({ op, dst }: Instruction): Expr | null {
  if (op.kind !== "pure" || dst.length !== 1) return null;
  const value = op.values[0]!;
  if (value.kind !== "prim" || value.prim !== "i32.add") return null;
  const [a, b] = value.args;
  return a!.kind === "reg" && a!.reg === dst[0] && b!.kind === "const" ? b! : null;
}
