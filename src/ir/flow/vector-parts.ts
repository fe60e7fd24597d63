import { type Expr, ExprResults, type Region, rewriteLeaves } from "../../semantics/index.ts";
import { type ByteFile, type FileVariable, variablesAt } from "../byte-file.ts";
import type { Destination, Instruction } from "../instruction.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands } from "../operands.ts";
import { byteOf } from "../region.ts";
import type { WorkItemModel } from "../work-item-model.ts";
import { lastBefore } from "./ascending.ts";
import { ComputedVariables } from "./computed-variables.ts";
import { componentsOf, fileAccessesOf, type FileComponent, ruleOf } from "./file-accesses.ts";
import { type Places, unitedWith } from "./lane-halves.ts";

/** A kernel, and where a work item finds what the kernel's payload holds. */
interface PlacedKernel {
  readonly ir: IrFunction;
  readonly model: WorkItemModel;
}

/** Components of which one continues the other: it is to begin `distance` bytes after the other begins. */
interface Join {
  readonly low: number;
  readonly high: number;
  readonly distance: number;
}

/** Bytes that are moved, and by how much. */
interface Move {
  readonly start: number;
  readonly end: number;
  readonly by: number;
}

/** Alignment of what is moved, and the least gap after it. */
const unit = 64;

/**
 * Moves variables of the byte file that hold parts of one vector next to each other. Where a register holds 16
 * elements, compilers give a vector of 32 two variables, and to each its own instruction; once the variables are
 * adjacent, the instructions can be united.
 */
export function joinVectorParts(ir: IrFunction, width: number, model: WorkItemModel): PlacedKernel {
  const hasHalves = ir.instructions.some(({ lanes }) => lanes !== undefined && lanes.first > 0 && lanes.count > 1);
  const accesses = hasHalves ? fileAccessesOf(ir.instructions, width, new ComputedVariables(ir)) : null;
  if (accesses === null) return { ir, model };
  const components = componentsOf(accesses);
  const joins = joinsIn(ir, width, components).filter(({ low, high }) =>
    [low, high].every((i) => components[i]!.start >= variablesAt(ir.file!.grfBytes)),
  );
  const moves = movesFor(chosen(joins, components), components, ir.file!.bytes);
  if (moves.length === 0) return { ir, model };
  const moved = (places: Places, lane: number): Region => {
    const { region, bits } = places;
    const by = moveAt(moves, byteOf(region, bits, lane))?.by ?? 0;
    return by === 0 ? region : { ...region, at: region.at + by };
  };
  return {
    ir: {
      ...ir,
      file: movedFile(ir.file!, moves),
      instructions: ir.instructions.map((i) => relocated(i, width, moved)),
    },
    model: {
      ...model,
      parts: model.parts.flatMap(({ at, bytes: size, from: before, source }) =>
        pieces(at, size, moves).map(({ from, to, bytes }) => ({ at: to, bytes, from: before + from, source })),
      ),
      filled: model.filled.flatMap(({ at, size }) =>
        pieces(at, size, moves).map(({ to, bytes }) => ({ at: to, size: bytes })),
      ),
    },
  };
}

// ---- Which variables belong together --------------------------------------------------------------------------------

/** What pairs of instructions suggest, most often suggested first. */
function joinsIn({ instructions }: IrFunction, width: number, components: readonly FileComponent[]): readonly Join[] {
  const votes = new Map<string, Join & { votes: number }>();
  const vote = (low: number, high: number, distance: number): void => {
    const key = `${low} ${high} ${distance}`;
    const join = votes.get(key);
    if (join === undefined) votes.set(key, { low, high, distance, votes: 1 });
    else join.votes++;
  };
  for (const [first, second] of halvesIn(instructions)) {
    const [a, b] = [ruleOf(first, width), ruleOf(second, width)];
    const found: (readonly [low: number, high: number, distance: number])[] = [];
    const united = unitedWith(first, second, (x, y, stride) => {
      const [low, high] = [byteOf(x.region, x.bits, a.first), byteOf(y.region, y.bits, b.first)];
      const [from, to] = [componentAt(components, low), componentAt(components, high)];
      const ahead = low - components[from]!.start + (stride * a.count * x.bits) / 8;
      if (from !== to && stride !== 0) found.push([from, to, ahead - (high - components[to]!.start)]);
      return x.region;
    });
    if (united !== null) for (const join of found) vote(...join);
  }
  return [...votes.values()].sort((a, b) => b.votes - a.votes);
}

/** Pairs of instructions, close to each other, that may be for adjacent lanes. */
function* halvesIn(instructions: readonly Instruction[]): Generator<readonly [Instruction, Instruction]> {
  for (const [i, { lanes }] of instructions.entries()) {
    if (lanes === undefined || lanes.count === 1) continue;
    for (let at = i + 1; at < Math.min(i + 1 + farthest, instructions.length); at++) {
      const other = instructions[at]!;
      if (other.lanes?.first !== lanes.first + lanes.count || other.lanes.count !== lanes.count) continue;
      yield [instructions[i]!, other];
      break;
    }
  }
}

/** How far apart the instructions for two halves of a vector are at most. */
const farthest = 4;

/** The joins that do not contradict each other: a component continues one other, and is continued by one. */
function chosen(joins: readonly Join[], components: readonly FileComponent[]): readonly Join[] {
  const byLow = new Map<number, Join>();
  const byHigh = new Map<number, Join>();
  const isFree = ({ accesses }: FileComponent): boolean => !accesses.some(({ any }) => any === true);
  for (const join of joins) {
    const { low, high, distance } = join;
    const [a, b] = [components[low]!, components[high]!];
    const isCircle = (at: number): boolean => at === low || (byLow.has(at) && isCircle(byLow.get(at)!.high));
    if (byLow.has(low) || byHigh.has(high) || distance < a.end - a.start || isCircle(high)) continue;
    if (!isFree(a) || !isFree(b)) continue;
    byLow.set(low, join);
    byHigh.set(high, join);
  }
  return [...byLow.values()];
}

const componentAt = (components: readonly FileComponent[], byte: number): number =>
  lastBefore(components, ({ start }) => start, byte);

// ---- Where they go --------------------------------------------------------------------------------------------------

/** Gives joined components places at the end of the file. In ascending order. */
function movesFor(joins: readonly Join[], components: readonly FileComponent[], fileBytes: number): readonly Move[] {
  const next = new Map(joins.map((join) => [join.low, join]));
  const highs = new Set(joins.map(({ high }) => high));
  const moves: Move[] = [];
  let end = fileBytes;
  for (const { low: first } of joins) {
    if (highs.has(first)) continue;
    // What is aligned stays so.
    let at = Math.ceil(end / unit) * unit + unit + (components[first]!.start % unit);
    for (let of: number | undefined = first; of !== undefined; ) {
      const { start, end: after } = components[of]!;
      moves.push({ start, end: after, by: at - start });
      end = at + after - start;
      const join = next.get(of);
      at += join?.distance ?? 0;
      of = join?.high;
    }
  }
  return moves.sort((a, b) => a.start - b.start);
}

function moveAt(moves: readonly Move[], byte: number): Move | undefined {
  const found = moves[lastBefore(moves, ({ start }) => start, byte)];
  return found !== undefined && byte >= found.start && byte < found.end ? found : undefined;
}

function movedFile(file: ByteFile, moves: readonly Move[]): ByteFile {
  const nameAt = (byte: number): FileVariable => file.variables[lastBefore(file.variables, ({ at }) => at, byte)]!;
  const placed = moves
    .map(({ start, end, by }): FileVariable => ({ ...nameAt(start), at: start + by, bytes: end - start }))
    .sort((a, b) => a.at - b.at);
  const last = placed.at(-1)!;
  const bytes = Math.ceil((last.at + last.bytes) / unit) * unit;
  return { ...file, bytes, variables: [...file.variables, ...placed] };
}

// ---- What refers to them --------------------------------------------------------------------------------------------

type Mover = (places: Places, lane: number) => Region;

/** The instruction with each region where its bytes now are. */
function relocated(instruction: Instruction, width: number, moved: Mover): Instruction {
  const { first } = ruleOf(instruction, width);
  const memo = new ExprResults<Expr>();
  const leaf = (expr: Expr): Expr => {
    if (expr.kind !== "region") return expr;
    const region = moved(expr, first);
    return region === expr.region ? expr : { ...expr, region };
  };
  const rewrite = (expr: Expr): Expr => rewriteLeaves(expr, leaf, memo);
  const dst = instruction.dst.map((to): Destination => {
    if (to === null || typeof to === "number") return to;
    return to.kind === "indirect" ? { ...to, address: rewrite(to.address) } : { ...to, region: moved(to, first) };
  });
  return { ...mapOperands(instruction, rewrite), dst };
}

/** A part of a range, and where it now is. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

/** The parts of a range of bytes that stay together, in ascending order of where they were. */
function pieces(at: number, size: number, moves: readonly Move[]): readonly Piece[] {
  const found: Piece[] = [];
  const end = at + size;
  let from = at;
  const take = (until: number, by: number): void => {
    if (until > from) found.push({ from: from - at, to: from + by, bytes: until - from });
    from = Math.max(from, until);
  };
  for (const move of moves) {
    if (move.end <= from || move.start >= end) continue;
    take(Math.max(from, move.start), 0);
    take(Math.min(end, move.end), move.by);
  }
  take(end, 0);
  return found;
}
