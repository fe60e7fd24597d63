import type { Bindings } from "../../../../semantics/bind.ts";
import { accessesOf, type Instruction, type MemoryAccess } from "../../../../ir/index.ts";
import { areInRow, isRow, type LaunchShape } from "../../../abi/launch-shape.ts";
import { specialsOf } from "./special-registers.ts";
import { ThreadValues } from "./thread-values.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** Registers whose values are the same in each chunk, lane by lane, and known while code is written. */
export interface KnownLanes {
  /** By register, the bits of its value in each lane. A predicate is 0 or 1. */
  readonly values: ReadonlyMap<number, readonly number[]>;
  /** By thread number, its value in each lane. */
  readonly numbers: ReadonlyMap<string, readonly number[]>;
  /** The instructions that compute nothing but vectors which are known. */
  readonly instructions: ReadonlySet<number>;
  /** The registers that these write: nothing is written to them when the code runs. */
  readonly registers: ReadonlySet<number>;
}

export const noKnownLanes: KnownLanes = {
  values: new Map(),
  numbers: new Map(),
  instructions: new Set(),
  registers: new Set(),
};

const isShared = ({ access: { space } }: MemoryAccess): boolean => space === "shared";

/** Kernels with more instructions are not examined. */
const maxInstructions = 20_000;

/**
 * Finds values that follow from thread numbers which are the same in each chunk: all of them where a block is one
 * chunk, `tid.x` where chunks are whole rows, and numbers of lanes among as many as fit into a chunk, also as the low
 * bits of `tid.x` where chunks lie in rows. So are the masks and the addresses that are computed of them.
 */
export function knownLanesOf(analysis: UniformityAnalysis, shape: LaunchShape, bindings: Bindings): KnownLanes {
  if (shape.scalar) return noKnownLanes;
  const { code } = analysis;
  const { instructions, liveness, ir } = code;
  const names = knownNumbers(shape, instructions);
  const inRow = areInRow(shape);
  const isNumbered = names.length > 0 || (shape.width === null && usesLaneNumbers(instructions, inRow));
  if (!isNumbered || instructions.length > maxInstructions || ir.file !== undefined) return noKnownLanes;
  // Without a block only the numbers of lanes within their chunk are known.
  const block = shape.block ?? [1, 1, 1];
  const lanes = 4 * shape.quads;
  const isKnown = (special: string): boolean =>
    names.includes(special) || (shape.block !== null && special.startsWith("ntid."));
  const readFirst = liveness.liveIn(0);
  const threads = new ThreadValues({ ...ir, instructions }, block, bindings, (r) => !readFirst.has(r), {
    count: lanes,
    isKnown,
    areInRow: inRow,
  });
  const values = new Map<number, readonly number[]>();
  const computed = new Set<number>();
  instructions.forEach(({ op, dst, guard, lanes: rule }, i) => {
    if (op.kind !== "pure" || guard !== null || rule !== undefined || dst.length === 0) return;
    let isVector = true;
    dst.forEach((to, k) => {
      if (typeof to !== "number") {
        isVector = false;
        return;
      }
      const { ty } = op.values[k]!;
      const { bits, home } = ir.registers[to]!;
      const kind = analysis.register(to).kind;
      const fits = (ty === "i32" && bits === 32) || (ty === "pred" && bits === 1);
      const found =
        fits && home === undefined && kind !== "indexed" && !liveness.acrossLanes.has(to)
          ? threads.of({ kind: "reg", reg: to, ty })
          : null;
      if (found !== null) values.set(to, found);
      if (found === null || kind !== "vector") isVector = false;
    });
    if (isVector) computed.add(i);
  });
  const numbers = new Map(
    names.map((name) => [name, threads.of({ kind: "special", name: name as never, ty: "i32" })!]),
  );
  const registers = [...computed].flatMap((i) => instructions[i]!.dst as readonly number[]);
  return { values, numbers, instructions: computed, registers: new Set(registers) };
}

const usesLaneNumbers = (instructions: readonly Instruction[], inRow: boolean): boolean => {
  const specials = specialsOf(instructions);
  return specials.has("laneid") || (inRow && specials.has("tid.x"));
};

/** The thread numbers that are the same in each chunk, lane by lane. */
function knownNumbers(
  { block, quads, full, width }: LaunchShape,
  instructions: readonly Instruction[],
): readonly string[] {
  if (block === null || !full || width !== null) return [];
  const lanes = 4 * quads;
  const names: string[] = [];
  if (lanes === 32) names.push("laneid");
  // Blocks of one row that share nothing are perhaps parts of one long row, in which thread numbers go on.
  if (isRow(block) && !instructions.some(({ op }) => accessesOf(op).some(isShared))) return names;
  if (lanes % block[0] === 0) names.push("tid.x");
  if (lanes % (block[0] * block[1]) === 0) names.push("tid.y");
  if (lanes === block[0] * block[1] * block[2]) names.push("tid.z");
  return names;
}
