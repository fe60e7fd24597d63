import { type Expr, ExprResults, kit, type Region, type RegionLeaf } from "../../semantics/index.ts";
import { variablesAt } from "../byte-file.ts";
import type { Destination, Instruction } from "../instruction.ts";
import { mapOperands } from "../operands.ts";
import type { FileHome, IrFunction, Register } from "../module.ts";
import { allLanes, type Lanes } from "../lanes.ts";
import { byteOf, extentOf, strideOf } from "../region.ts";
import { fileLeavesOf } from "./accesses.ts";
import { lastBefore } from "./ascending.ts";
import { ComputedVariables } from "./computed-variables.ts";
import { withoutRule } from "./lane-rules.ts";

/** Bytes of the file that instructions access; `home` is null if no register can stand for them. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly home: FileHome | null;
}

/**
 * Promotes parts of a function's byte file to registers, for threads of `width` lanes: bytes that all instructions
 * access in the same way, as one element that all lanes share or as adjacent elements of the lanes. The others stay in
 * the file, and so does the part that other functions see.
 */
export function promoteFile(loaded: IrFunction, width: number): IrFunction {
  const { file } = loaded;
  if (file === undefined) return loaded;
  const ir = { ...loaded, instructions: loaded.instructions.map(withWholePair) };
  // Subroutines share variables in the file.
  const isShared = ir.instructions.some(({ op }) => op.kind === "subroutine-call");
  const parts = isShared ? null : partsOf(ir);
  const seenByOthers = sharesFile(ir) ? variablesAt(file.grfBytes) : 0;
  const registers: Register[] = [...ir.registers];
  const { variables } = file;
  /** In ascending order, as the parts are. */
  const inRegisters = (parts ?? []).flatMap(({ start, end, home }) => {
    if (home === null || start < seenByOthers) return [];
    const variable = variables[lastBefore(variables, ({ at }) => at, start)];
    const name = variable !== undefined && variable.at <= start ? variable.name : "";
    const register = registers.push({ name, class: home.bits === 64 ? "b64" : "b32", bits: home.bits, home }) - 1;
    return [{ start, end, register }];
  });
  const registerAt = (byte: number): number | null => {
    const found = inRegisters[lastBefore(inRegisters, ({ start }) => start, byte)];
    return found !== undefined && byte >= found.start && byte < found.end ? found.register : null;
  };
  return { ...ir, registers, instructions: ir.instructions.map((i) => forAll(rewritten(i, registerAt), width)) };
}

/** A copy of two adjacent doublewords for the thread as one of a quadword, which is what compilers mean by it. */
function withWholePair(instruction: Instruction): Instruction {
  const { op, dst, guard, lanes } = instruction;
  if (op.kind !== "pure" || guard !== null || lanes?.noMask !== true || lanes.uniform || lanes.count !== 2)
    return instruction;
  const [to] = dst;
  const [value] = op.values;
  const isCopy =
    dst.length === 1 && typeof to === "object" && to?.kind === "region" && value?.kind === "region" && to.bits === 32;
  if (!isCopy || value.bits !== 32 || value.ty !== "i32") return instruction;
  if (strideOf(to.region, lanes) !== 1 || strideOf(value.region, lanes) !== 1) return instruction;
  const { first } = lanes;
  const one = (region: Region): Region => ({
    at: byteOf(region, 32, first),
    first,
    vertical: 0,
    width: 1,
    horizontal: 0,
  });
  const whole: Expr = { kind: "region", ty: "i64", bits: 64, signed: false, region: one(value.region) };
  return {
    ...instruction,
    lanes: { ...lanes, count: 1 },
    op: { kind: "pure", values: [whole] },
    dst: [{ ...to, bits: 64, region: one(to.region) }],
  };
}

/** Whether other functions see the beginning of the file: the thread's part, %arg and %retval. */
const sharesFile = ({ kind, instructions }: IrFunction): boolean =>
  kind === "function" || instructions.some(({ op }) => op.kind === "file-call");

const lanesOf = ({ lanes }: Instruction): Lanes => lanes ?? allLanes;

/**
 * The disjoint parts of the file that are accessed, in ascending order; null if a place is computed and may be any.
 */
function partsOf(ir: IrFunction): readonly Part[] | null {
  const { instructions } = ir;
  const computed = new ComputedVariables(ir);
  const accesses: Part[] = [];
  for (const instruction of instructions) {
    const lanes = lanesOf(instruction);
    for (const leaf of fileLeavesOf(instruction)) {
      if (leaf.kind === "region") accesses.push(accessOf(leaf.region, leaf.bits, lanes, false));
      else {
        const variable = computed.of(leaf);
        if (variable === null) return null;
        accesses.push({ start: variable.at, end: variable.at + variable.bytes, home: null });
      }
    }
    for (const to of instruction.dst) {
      if (to === null || typeof to === "number") continue;
      if (to.kind === "indirect") return null;
      accesses.push(accessOf(to.region, to.bits, lanes, true));
    }
  }
  const parts: Part[] = [];
  for (const access of accesses.sort((a, b) => a.start - b.start)) {
    const last = parts.at(-1);
    if (last === undefined || access.start >= last.end) parts.push(access);
    else parts[parts.length - 1] = united(last, access);
  }
  return parts;
}

function accessOf(region: Region, bits: FileHome["bits"], lanes: Lanes, writes: boolean): Part {
  const [start, end] = extentOf(region, bits, lanes);
  const stride = strideOf(region, lanes);
  const isScalar = stride === 0 && (lanes.count === 1 || !writes);
  if (isScalar) return { start, end, home: { at: start, bits, lanes: null } };
  if (stride !== 1) return { start, end, home: null };
  return { start, end, home: { at: start, bits, lanes: { first: lanes.first, count: lanes.count } } };
}

/** The union of two accesses that overlap; `a` does not begin after `b`. */
function united(a: Part, b: Part): Part {
  const bytes = { start: a.start, end: Math.max(a.end, b.end) };
  const [x, y] = [a.home, b.home];
  if (x === null || y === null || x.bits !== y.bits) return { ...bytes, home: null };
  if (x.lanes === null || y.lanes === null) {
    const same = x.lanes === null && y.lanes === null && x.at === y.at;
    return { ...bytes, home: same ? x : null };
  }
  // Each lane has one place, whichever access it is reached by.
  const isOneRow = y.at - x.at === ((y.lanes.first - x.lanes.first) * x.bits) / 8;
  const count = Math.max(x.lanes.first + x.lanes.count, y.lanes.first + y.lanes.count) - x.lanes.first;
  return { ...bytes, home: isOneRow ? { ...x, lanes: { first: x.lanes.first, count } } : null };
}

function rewritten(instruction: Instruction, registerAt: (byte: number) => number | null): Instruction {
  const lanes = lanesOf(instruction);
  const memo = new ExprResults<Expr>();
  const region = (leaf: RegionLeaf): Expr => {
    const register = registerAt(byteOf(leaf.region, leaf.bits, lanes.first));
    return register === null ? { ...leaf, region: plain(leaf.region, leaf.bits, lanes) } : readOf(register, leaf);
  };
  const dst = instruction.dst.map((to): Destination => {
    if (to === null || typeof to === "number") return to;
    if (to.kind === "indirect") return { ...to, address: mapLeaves(to.address, region, memo) };
    const register = registerAt(byteOf(to.region, to.bits, lanes.first));
    return register ?? { ...to, region: plain(to.region, to.bits, lanes) };
  });
  return { ...mapOperands(instruction, (expr) => mapLeaves(expr, region, memo)), dst };
}

/** Drops the rule of an instruction that applies to all lanes of the thread anyway. */
function forAll(instruction: Instruction, width: number): Instruction {
  const { lanes, guard } = instruction;
  if (lanes === undefined || lanes.noMask || lanes.uniform || guard?.collapse !== undefined) return instruction;
  return lanes.first === 0 && lanes.count >= width ? withoutRule(instruction) : instruction;
}

/** The same region with a single stride, if it has one. */
function plain(region: Region, bits: number, lanes: Lanes): Region {
  const stride = strideOf(region, lanes);
  if (stride === null) return region;
  return { at: byteOf(region, bits, lanes.first), first: lanes.first, vertical: stride, width: 1, horizontal: 0 };
}

/** The register, extended as the region would be read: registers of 8 and 16 bits have zero upper bits. */
function readOf(reg: number, { ty, bits, signed }: RegionLeaf): Expr {
  const leaf: Expr = { kind: "reg", ty, reg };
  return bits < 32 && signed ? kit.narrow(leaf, bits, true) : leaf;
}

function mapLeaves(expr: Expr, region: (leaf: RegionLeaf) => Expr, memo: ExprResults<Expr>): Expr {
  const known = memo.get(expr);
  if (known !== undefined) return known;
  const mapped: Expr =
    expr.kind === "region"
      ? region(expr)
      : expr.kind === "indirect"
        ? { ...expr, address: mapLeaves(expr.address, region, memo) }
        : expr.kind === "prim"
          ? { ...expr, args: expr.args.map((arg) => mapLeaves(arg, region, memo)) }
          : expr;
  memo.set(expr, mapped);
  return mapped;
}
