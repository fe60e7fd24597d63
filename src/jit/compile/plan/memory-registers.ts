import { fragmentOf, type MatrixProduct, type Op } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { tileOf } from "../../../tiles/index.ts";
import type { UniformityAnalysis } from "../analysis/values/uniformity.ts";
import { isWordVector, stateRegistersOf } from "./state-registers.ts";
import { blocksWhileSuspended, type SuspensionPoints } from "./suspension-points.ts";

/** Quads of a warp. */
const warpQuads = 8;

/** Where a register lies: so many bytes into the chunk's state, or into the context's area for registers. */
export interface RegisterPlace {
  readonly area: "state" | "context";
  readonly at: number;
}

/**
 * Registers that lie in memory. Most are those with the fragments of products that are computed by tiles, and the sums
 * of those of warpgroups. A warp has more of them than the machine has vector registers, and tiles read and write them
 * in memory: so they lie there from the start, the registers of a fragment one after the other. Those that are needed
 * after the chunk has been suspended lie in its state, where they need not be saved. Kernels without matrices have
 * `stateRegistersOf` there.
 */
export class MemoryRegisters {
  readonly #places = new Map<number, RegisterPlace>();
  readonly #bytes = { state: 0, context: 0 };

  /** Bytes of a 32-bit register of the lanes of a chunk. */
  readonly #registerBytes: number;

  constructor(analysis: UniformityAnalysis, points: SuspensionPoints, quads: number) {
    this.#registerBytes = 16 * quads;
    if (analysis.code.ir.file !== undefined) return;
    // A chunk that is less than a warp multiplies no matrices.
    if (quads === warpQuads) this.#placeFragments(analysis, points);
    if (this.#places.size > 0) return;
    const registers = stateRegistersOf(analysis, points, quads);
    for (const register of registers) this.#place([register], new Set(registers));
  }

  #placeFragments(analysis: UniformityAnalysis, points: SuspensionPoints): void {
    const { instructions, liveness } = analysis.code;
    const kept = new Set<number>();
    for (const block of blocksWhileSuspended(analysis, points, false)) {
      liveness.liveIn(block).forEach((r) => {
        kept.add(r);
      });
    }
    for (const { op, dst } of instructions) {
      const results = dst.flatMap((to) => (typeof to === "number" ? [to] : []));
      for (const fragment of [...(isOfMatrices(op) ? [results] : []), ...operandsIn(op)]) {
        if (fragment?.every((r) => isWordVector(analysis, r))) this.#place(fragment, kept);
      }
    }
  }

  /** Gives a fragment's registers places, unless one has a place already. */
  #place(fragment: readonly number[], kept: ReadonlySet<number>): void {
    if (new Set(fragment).size < fragment.length || fragment.some((r) => this.#places.has(r))) return;
    const area = fragment.some((r) => kept.has(r)) ? "state" : "context";
    for (const register of fragment) {
      this.#places.set(register, { area, at: this.#bytes[area] });
      this.#bytes[area] += this.#registerBytes;
    }
  }

  /** Where a register lies; null if it does not lie in memory. */
  of(register: number): RegisterPlace | null {
    return this.#places.get(register) ?? null;
  }

  /** Where the registers of a fragment lie one after the other; null if they do not. */
  fragment(registers: readonly number[]): RegisterPlace | null {
    const places = registers.map((r) => this.of(r));
    const [first] = places;
    const isOne = (place: RegisterPlace | null, i: number): boolean =>
      place !== null && place.area === first!.area && place.at === first!.at + this.#registerBytes * i;
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
