import { type Expr, kit, mapChanged, onceForEach, type SpecialName } from "../../semantics/index.ts";
import type { Instruction } from "../instruction.ts";
import type { IrFunction } from "../module.ts";
import { mapOperands, visitOperands } from "../operands.ts";
import { writesOf } from "./accesses.ts";
import { dominatorsOf } from "./dominance.ts";
import { flowGraphOf } from "./flow-graph.ts";

/*
 * Most kernels only ask which thread of the whole grid they are: `ctaid.x * ntid.x + tid.x`, the global index of a
 * thread, and perhaps for the number of all threads, `nctaid.x * ntid.x`. How the grid is divided into blocks does not
 * matter to them. Where a kernel is compiled for blocks of one size, the code has a constant in place of ntid.
 */

/** Directions of a grid. */
const directions = ["x", "y", "z"] as const;
type Direction = (typeof directions)[number];

/** What a kernel knows of the division of its grid into blocks. */
export interface GlobalIndexUse {
  /**
   * By direction (x, y, z): `any`, if it reads nothing but the global index and the number of all threads; a number, if
   * that is so in blocks of this size; null, if it knows more.
   */
  readonly sizes: readonly ("any" | number | null)[];
  /** The kernel for blocks of any size: it reads %ntid where it had a constant. The same object if it had none. */
  readonly ir: IrFunction;
}

/** What a value is of the global index of a thread, or of the number of threads. */
interface Part {
  readonly is: "tid" | "ntid" | "ctaid" | "nctaid" | "ctaid * ntid";
  readonly direction: Direction;
}

/** Finds what a kernel knows of its blocks. Kernels for which it would matter otherwise are not told apart. */
export const globalIndexUseOf = (kernel: IrFunction): GlobalIndexUse => new GlobalIndexUses(kernel).find();

type PrimExpr = Extract<Expr, { kind: "prim" }>;

class GlobalIndexUses {
  readonly #kernel: IrFunction;
  /** By register that is written once, and by an instruction without a guard: the part of an index that it holds. */
  readonly #registers = new Map<number, { readonly part: Part; readonly instruction: number }>();
  /** Registers that have been read where nothing was known of them. */
  readonly #unknown = new Set<number>();
  readonly #comesFirst: (definition: number, use: number) => boolean;
  /** By expression of the present instruction. */
  readonly #parts = new Map<Expr, Part | null>();
  /** What to read for blocks of any size. */
  readonly #rewritten = new Map<Expr, { readonly direction: Direction; readonly to: Expr }>();
  readonly #sizes = new Map<Direction, "any" | number | null>(directions.map((d) => [d, "any"]));
  /** The present instruction. */
  #at = 0;

  constructor(kernel: IrFunction) {
    this.#kernel = kernel;
    const graph = flowGraphOf(kernel.instructions);
    const dominators = dominatorsOf(graph);
    this.#comesFirst = (definition, use) => {
      const from = graph.blockAt(definition);
      let block = graph.blockAt(use);
      if (from === block) return definition < use;
      while (block >= 0 && block !== from) block = dominators[block]!;
      return block === from;
    };
  }

  find(): GlobalIndexUse {
    const { instructions } = this.#kernel;
    const writes = new Map<number, number>();
    for (const instruction of instructions) writesOf(instruction, (r) => writes.set(r, (writes.get(r) ?? 0) + 1));
    instructions.forEach((instruction, i) => {
      this.#at = i;
      this.#parts.clear();
      this.#examine(instruction, (r) => writes.get(r) === 1 && !this.#unknown.has(r));
    });
    const sizes = directions.map((d) => this.#sizes.get(d)!);
    return { sizes, ir: this.#rewrite(instructions) };
  }

  /** `holds`: whether a register can be the name of what is written to it. */
  #examine({ op, dst, guard }: Instruction, holds: (register: number) => boolean): void {
    if (op.kind !== "pure") {
      visitOperands(op, (expr) => this.#bind(this.#partOf(expr)));
      return;
    }
    op.values.forEach((value, n) => {
      const part = this.#partOf(value);
      const register = dst[n];
      if (part !== null && typeof register === "number" && guard === null && holds(register)) {
        this.#registers.set(register, { part, instruction: this.#at });
      } else this.#bind(part);
    });
  }

  /** A part of an index is used for something else. */
  #bind(part: Part | null): void {
    if (part !== null) this.#sizes.set(part.direction, null);
  }

  #bindAll(parts: readonly (Part | null)[]): null {
    for (const part of parts) this.#bind(part);
    return null;
  }

  /** Which part of an index a value is; null for whole indices, and for all else. */
  #partOf(expr: Expr): Part | null {
    if (expr.kind === "reg") return this.#partIn(expr.reg);
    if (expr.kind === "special") return partNamed(expr.name);
    if (expr.kind !== "prim") return null;
    let part = this.#parts.get(expr);
    if (part === undefined) this.#parts.set(expr, (part = this.#combined(expr)));
    return part;
  }

  #partIn(register: number): Part | null {
    const known = this.#registers.get(register);
    if (known === undefined) {
      this.#unknown.add(register);
      return null;
    }
    if (!this.#comesFirst(known.instruction, this.#at)) this.#bind(known.part);
    return known.part;
  }

  #combined(expr: PrimExpr): Part | null {
    const parts = expr.args.map((arg) => this.#partOf(arg));
    if (parts.every((part) => part === null)) return null;
    switch (expr.prim) {
      // None of these numbers has more than 31 bits: launches for which it would are not regrouped.
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
      case "i32.wrap_i64":
        return parts[0]!;
      case "i32.mul":
      case "i64.mul":
        return this.#product(expr, parts[0]!, parts[1]!);
      case "i32.shl":
      case "i64.shl":
        this.#bind(parts[1]!);
        return this.#multiple(expr, { of: expr.args[0]!, part: parts[0]!, by: powerOf(expr.args[1]!) });
      case "i32.add":
      case "i64.add":
      case "i32.or":
      case "i64.or":
        return this.#sum(expr, parts[0]!, parts[1]!);
      default:
        return this.#bindAll(parts);
    }
  }

  #product(expr: PrimExpr, a: Part | null, b: Part | null): Part | null {
    const [left, right] = expr.args as [Expr, Expr];
    if (a === null) return this.#multiple(expr, { of: right, part: b, by: constantIn(left) });
    if (b === null) return this.#multiple(expr, { of: left, part: a, by: constantIn(right) });
    const blocks = a.is === "ntid" ? b : a;
    const size = blocks === a ? b : a;
    const isPair = size.is === "ntid" && (blocks.is === "ctaid" || blocks.is === "nctaid");
    return isPair && a.direction === b.direction ? withSize(blocks) : this.#bindAll([a, b]);
  }

  /** `of`, a number of blocks, times a constant, which may be their size. */
  #multiple(
    expr: PrimExpr,
    { of, part, by }: { readonly of: Expr; readonly part: Part | null; readonly by: number | null },
  ): Part | null {
    if (part === null) return null;
    const { is, direction } = part;
    const known = this.#sizes.get(direction)!;
    if ((is !== "ctaid" && is !== "nctaid") || by === null || (known !== "any" && known !== by)) {
      this.#bind(part);
      return null;
    }
    this.#sizes.set(direction, by);
    const ntid: Expr = { kind: "special", ty: "i32", name: `ntid.${direction}` };
    this.#rewritten.set(expr, { direction, to: kit.mul(of, of.ty === "i64" ? kit.widen(ntid, false) : ntid) });
    return withSize(part);
  }

  #sum(expr: PrimExpr, a: Part | null, b: Part | null): Part | null {
    const kinds = [a?.is, b?.is];
    const isIndex = a?.direction === b?.direction && kinds.includes("tid") && kinds.includes("ctaid * ntid");
    if (!isIndex) return this.#bindAll([a, b]);
    // In other blocks the two may have bits in common.
    if (expr.prim.endsWith(".or")) {
      const to = kit.add(expr.args[0]!, expr.args[1]!);
      this.#rewritten.set(expr, { direction: a!.direction, to });
    }
    return null;
  }

  #rewrite(instructions: readonly Instruction[]): IrFunction {
    const rewrite = onceForEach<Expr>((expr, rewrite) =>
      expr.kind === "prim" ? withArgs(this.#anySize(expr), rewrite) : expr,
    );
    const changed = mapChanged(instructions, (instruction) => mapOperands(instruction, rewrite));
    return changed === instructions ? this.#kernel : { ...this.#kernel, instructions: changed };
  }

  #anySize(expr: PrimExpr): Expr {
    const known = this.#rewritten.get(expr);
    return known === undefined || this.#sizes.get(known.direction) === null ? expr : known.to;
  }
}

function withArgs(expr: Expr, map: (arg: Expr) => Expr): Expr {
  if (expr.kind !== "prim") return expr;
  const args = mapChanged(expr.args, map);
  return args === expr.args ? expr : { ...expr, args };
}

function partNamed(name: SpecialName): Part | null {
  const [, is, direction] = /^(tid|ntid|ctaid|nctaid)\.([xyz])$/.exec(name) ?? [];
  return is === undefined ? null : { is: is as Part["is"], direction: direction as Direction };
}

/** What a number of blocks makes together with their size; null where that is the number of all threads. */
const withSize = ({ is, direction }: Part): Part | null => (is === "ctaid" ? { is: "ctaid * ntid", direction } : null);

/** A constant that may be the size of a block; else null. */
function constantIn(expr: Expr): number | null {
  const value = expr.kind === "const" ? Number(expr.value) : 0;
  return value >= 1 && value <= 1024 ? value : null;
}

/** The power of two by which a shift multiplies. */
function powerOf(by: Expr): number | null {
  const shift = by.kind === "const" ? Number(by.value) : -1;
  return shift >= 0 && shift <= 10 ? 2 ** shift : null;
}
