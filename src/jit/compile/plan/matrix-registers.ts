import { fragmentOf, type MatrixProduct, type Op } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { tileOf } from "../../../tiles/index.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { blocksWhileSuspended, type SuspensionPoints } from "./suspension-points.ts";

/** Bytes of a 32-bit register of the lanes of a warp. */
const matrixRegisterBytes = 128;

/** Quads of a warp. */
const warpQuads = 8;

/** Where a register lies: so many bytes into the chunk's state, or into the context's area for such registers. */
export interface MatrixRegisterPlace {
  readonly area: "state" | "context";
  readonly at: number;
}

/**
 * Registers with the fragments of products that are computed by tiles, and the sums of those of warpgroups. A warp has
 * more of them than the machine has vector registers, and tiles read and write them in memory: so they lie there from
 * the start, the registers of a fragment one after the other. Those that are needed after the chunk has been suspended
 * lie in its state, where they need not be saved.
 */
export class MatrixRegisters {
  readonly #places = new Map<number, MatrixRegisterPlace>();
  readonly #bytes = { state: 0, context: 0 };

  /** None of a chunk that is less than a warp. */
  constructor(analysis: UniformityAnalysis, points: SuspensionPoints, quads: number) {
    const { instructions, liveness, ir } = analysis.code;
    if (quads !== warpQuads || ir.file !== undefined) return;
    const kept = new Set<number>();
    for (const block of blocksWhileSuspended(analysis, points, false)) {
      liveness.liveIn(block).forEach((r) => {
        kept.add(r);
      });
    }
    const isVector = (r: number): boolean =>
      ir.registers[r]!.class === "b32" && ir.registers[r]!.bits === 32 && analysis.register(r).kind === "vector";
    for (const { op, dst } of instructions) {
      const results = dst.flatMap((to) => (typeof to === "number" ? [to] : []));
      for (const fragment of [...(isOfMatrices(op) ? [results] : []), ...operandsIn(op)]) {
        if (fragment?.every(isVector)) this.#place(fragment, kept);
      }
    }
  }

  /** Gives a fragment's registers places, unless one has a place already. */
  #place(fragment: readonly number[], kept: ReadonlySet<number>): void {
    if (new Set(fragment).size < fragment.length || fragment.some((r) => this.#places.has(r))) return;
    const area = fragment.some((r) => kept.has(r)) ? "state" : "context";
    for (const register of fragment) {
      this.#places.set(register, { area, at: this.#bytes[area] });
      this.#bytes[area] += matrixRegisterBytes;
    }
  }

  /** Where a register lies; null if it does not lie in memory. */
  of(register: number): MatrixRegisterPlace | null {
    return this.#places.get(register) ?? null;
  }

  /** Where the registers of a fragment lie one after the other; null if they do not. */
  fragment(registers: readonly number[]): MatrixRegisterPlace | null {
    const places = registers.map((r) => this.of(r));
    const [first] = places;
    const isOne = (place: MatrixRegisterPlace | null, i: number): boolean =>
      place !== null && place.area === first!.area && place.at === first!.at + matrixRegisterBytes * i;
    return first != null && places.every(isOne) ? first : null;
  }

  /** Bytes of the registers in a chunk's state. */
  get stateBytes(): number {
    return this.#bytes.state;
  }

  /** Bytes of the others. */
  get contextBytes(): number {
    return this.#bytes.context;
  }
}

/** Whether an operation computes a fragment, or what is too much for vector registers. */
const isOfMatrices = (op: Op): boolean =>
  op.kind === "unit"
    ? op.unit.op === "multiply-warpgroup"
    : op.kind === "warp" && op.warp.op === "multiply" && tileOf(op.warp.product) !== null;

/** The fragments that a product of a warp reads. */
const operandsIn = (op: Op): readonly (readonly number[] | null)[] =>
  op.kind === "warp" && op.warp.op === "multiply" && isOfMatrices(op)
    ? Object.values(fragmentsOf(op.warp.product, op.warp.operands))
    : [];

/** The registers of each operand of a product; null of one that is not just registers. */
export function fragmentsOf(
  product: MatrixProduct,
  operands: readonly Expr[],
): Readonly<Record<"a" | "b" | "c", readonly number[] | null>> {
  const afterA = fragmentOf(product, "a").registers;
  const afterB = afterA + fragmentOf(product, "b").registers;
  const registersOf = (from: number, end?: number): readonly number[] | null => {
    const part = operands.slice(from, end);
    const registers = part.flatMap((e) => (e.kind === "reg" ? [e.reg] : []));
    return registers.length === part.length ? registers : null;
  };
  return { a: registersOf(0, afterA), b: registersOf(afterA, afterB), c: registersOf(afterB) };
}
