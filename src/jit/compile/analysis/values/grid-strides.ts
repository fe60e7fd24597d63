import { type Expr, kit } from "../../../../semantics/index.ts";
import type { Invariants } from "./invariant-code.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** Numbers of a thread that differ within a region of blocks. */
export type Axis = "tid.x" | "tid.y" | "tid.z" | "ctaid.x";

/** By axis, by how much a 32-bit value grows, modulo 2^32, where the axis goes up by one: the same everywhere. None: it is the same. */
export type GridStride = ReadonlyMap<Axis, Expr>;

const axes: ReadonlySet<string> = new Set<Axis>(["tid.x", "tid.y", "tid.z", "ctaid.x"]);

const isAxis = (name: string): name is Axis => axes.has(name);

const same: GridStride = new Map();

/** Tells how values go on that are computed before a chunk begins, from its threads to those behind it and in the blocks behind. */
export class GridStrides {
  /** By register, what it holds: what is computed. */
  readonly #values = new Map<number, Expr>();
  readonly #known = new Map<Expr, GridStride | null>();

  constructor({ code }: UniformityAnalysis, hoisted: Invariants) {
    for (const i of [...hoisted.grid, ...hoisted.block, ...hoisted.chunk]) {
      const { op, dst } = code.instructions[i]!;
      dst.forEach((to, k) => {
        // What is loaded is a parameter.
        if (typeof to === "number") this.#values.set(to, op.kind === "pure" ? op.values[k]! : kit.i32(0));
      });
    }
  }

  /** Null where a value does anything else than grow, or stay. */
  of(expr: Expr): GridStride | null {
    let growth = this.#known.get(expr);
    if (growth === undefined) this.#known.set(expr, (growth = this.#find(expr)));
    return growth;
  }

  /** What a register holds, where that is computed beforehand. */
  valueOf(register: number): Expr | null {
    return this.#values.get(register) ?? null;
  }

  isSame(expr: Expr): boolean {
    return this.of(expr)?.size === 0;
  }

  /** Of an address that is otherwise the same: the 32-bit index that is extended and multiplied. */
  indexOf(address: Expr): Expr | null {
    if (address.kind === "reg") {
      const value = this.#values.get(address.reg);
      return value?.ty === address.ty ? this.indexOf(value) : null;
    }
    if (address.kind !== "prim") return null;
    const [a, b] = address.args as readonly [Expr, Expr];
    switch (address.prim) {
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
        return a;
      case "i64.add":
        return this.isSame(a) ? this.indexOf(b) : this.isSame(b) ? this.indexOf(a) : null;
      case "i64.sub":
        return this.isSame(b) ? this.indexOf(a) : null;
      case "i64.mul":
      case "i64.shl":
        return b.kind === "const" ? this.indexOf(a) : a.kind === "const" ? this.indexOf(b) : null;
      default:
        return null;
    }
  }

  #find(expr: Expr): GridStride | null {
    switch (expr.kind) {
      case "const":
        return same;
      case "reg": {
        const value = this.#values.get(expr.reg);
        if (value === undefined) return null;
        const growth = this.of(value);
        return growth === null || growth.size === 0 || value.ty === expr.ty ? growth : null;
      }
      case "special":
        if (isAxis(expr.name)) return new Map([[expr.name, kit.i32(1)]]);
        return /^(ntid|nctaid|ctaid)\./.test(expr.name) ? same : null;
      case "prim":
        break;
      default:
        return null;
    }
    if (expr.prim === "i32.wrap_i64") {
      const [from] = expr.args;
      const whole = from!.kind === "reg" ? this.valueOf(from!.reg) : from!;
      if (whole?.kind === "prim" && whole.prim.startsWith("i64.extend_i32_")) return this.of(whole.args[0]!);
    }
    const args = expr.args.map((arg) => this.of(arg));
    if (args.every((arg) => arg?.size === 0)) return same;
    const [a, b] = args;
    if (a == null || b == null) return null;
    const [left, right] = expr.args as readonly [Expr, Expr];
    switch (expr.prim) {
      case "i32.add":
        return sum(a, b, (_, more) => more, kit.add);
      case "i32.sub":
        return sum(a, b, (none, less) => kit.sub(none, less), kit.sub);
      case "i32.mul":
        return b.size === 0 ? multiplied(a, right) : a.size === 0 ? multiplied(b, left) : null;
      case "i32.shl": {
        if (right.kind !== "const" || Number(right.value) < 0 || Number(right.value) > 31) return null;
        return multiplied(a, kit.i32(2 ** Number(right.value)));
      }
      default:
        return null;
    }
  }
}

/** `alone`: what is left of a growth that only the second has, given nothing. */
function sum(
  a: GridStride,
  b: GridStride,
  alone: (none: Expr, b: Expr) => Expr,
  both: (a: Expr, b: Expr) => Expr,
): GridStride {
  const found = new Map(a);
  for (const [axis, by] of b) {
    const before = a.get(axis);
    found.set(axis, before === undefined ? alone(kit.i32(0), by) : both(before, by));
  }
  return found;
}

const multiplied = (growth: GridStride, by: Expr): GridStride =>
  new Map([...growth].map(([axis, step]) => [axis, kit.mul(step, by)]));
