import { type Expr, primOf } from "../../../semantics/index.ts";
import { wasm } from "../../../wasm/index.ts";
import { lanesKept } from "../analysis/values/thread-values.ts";
import type { Quad, Value, Vector } from "../lanes/value.ts";

type Prim = Extract<Expr, { kind: "prim" }>;
type LaneId = Extract<Expr, { kind: "special" }>;
type Constant = number | boolean | bigint;
type Column = readonly Constant[];

/** What is known of the numbers of a chunk's lanes in their thread. */
interface LaneNumbers {
  readonly lanes: number;
  /** The value of `laneid`. */
  readonly laneId: (leaf: LaneId) => Value;
  /** The power of two of which the number of a chunk's first lane is a multiple; 1 if nothing is known of it. */
  readonly multiple: (leaf: LaneId) => number;
}

const integers: ReadonlySet<string> = new Set(["i32", "i64", "pred"]);

/**
 * Integers and predicates that follow from a lane's number in its thread and from constants alone, as the tables do by
 * which lanes of a thread choose among others: constants, lane by lane, so that no code computes them.
 */
export class LaneConstants {
  readonly #numbers: LaneNumbers;
  readonly #columns = new WeakMap<Expr, Column>();

  constructor(numbers: LaneNumbers) {
    this.#numbers = numbers;
  }

  /** The vector of an expression; null if it depends on anything else. */
  of(expr: Prim, quads: number): Vector | null {
    const column = this.#columnOf(expr);
    return column === null ? null : vectorOfColumn(expr, column.slice(0, 4 * quads));
  }

  #columnOf(expr: Expr): Column | null {
    switch (expr.kind) {
      case "const":
        return integers.has(expr.ty) ? this.#each(() => expr.value as Constant) : null;
      case "special":
        return this.#isFirst(expr) ? this.#each((lane) => lane) : null;
      case "prim": {
        if (!integers.has(expr.ty)) return null;
        let column: Column | null | undefined = this.#columns.get(expr);
        if (column !== undefined) return column;
        column = this.#lowBits(expr) ?? this.#evaluated(expr);
        if (column !== null) this.#columns.set(expr, column);
        return column;
      }
      default:
        return null;
    }
  }

  #evaluated({ prim, args }: Prim): Column | null {
    const columns: Column[] = [];
    for (const arg of args) {
      const column = this.#columnOf(arg);
      if (column === null) return null;
      columns.push(column);
    }
    const evaluate = primOf(prim).eval as (...values: Constant[]) => Constant;
    return this.#each((lane) => evaluate(...columns.map((column) => column[lane]!)));
  }

  /** Of a number of a lane those low bits that count lanes within the chunk. */
  #lowBits(expr: Prim): Column | null {
    const kept = lanesKept(expr);
    const isLow = kept !== null && this.#numbers.multiple(expr.args[0] as LaneId) % kept === 0;
    return isLow ? this.#each((lane) => lane & (kept - 1)) : null;
  }

  /** Whether `laneid` is the lane's number in the chunk. */
  #isFirst(leaf: LaneId): boolean {
    if (leaf.name !== "laneid") return false;
    const value = this.#numbers.laneId(leaf);
    return value.kind === "affine" && value.base.kind === "const" && value.base.value === 0 && value.stride === 1;
  }

  #each(of: (lane: number) => Constant): Column {
    return Array.from({ length: this.#numbers.lanes }, (_, lane) => of(lane));
  }
}

function vectorOfColumn({ ty }: Prim, column: Column): Vector {
  const quads: Quad[] = [];
  for (let lane = 0; lane < column.length; lane += 4) {
    const own = column.slice(lane, lane + 4);
    if (ty === "i64") {
      const [a, b, c, d] = own as [bigint, bigint, bigint, bigint];
      quads.push([wasm.i64x2s(a, b), wasm.i64x2s(c, d)]);
      continue;
    }
    const words = own.map((value) => (ty === "pred" ? -Number(value) : Number(value)));
    const isSame = words.every((word) => word === words[0]);
    quads.push([isSame ? wasm.i32x4(words[0]!) : wasm.lanes(words)]);
  }
  return { kind: "vector", ty, quads };
}

/** The constant elements of 32 bits of a vector; null if it is not constant. */
export function constantLanes({ quads }: Vector): readonly number[] | null {
  const lanes: number[] = [];
  for (const [part] of quads) {
    if (part?.kind !== "const" || part.ty !== "v128") return null;
    const bytes = new DataView(Uint8Array.from(part.value).buffer);
    for (let at = 0; at < 16; at += 4) lanes.push(bytes.getInt32(at, true));
  }
  return lanes;
}
