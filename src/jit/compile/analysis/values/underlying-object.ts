import { laneAddressOf } from "../../../../ir/access.ts";
import { writesOf } from "../../../../ir/flow/accesses.ts";
import { type Instruction, windows } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

type FrameLeaf = Extract<Expr, { kind: "frame" }>;

/** What addresses are reckoned from. */
export type UnderlyingObject =
  /** The pointer at an offset among the kernel's parameters. */
  | { readonly kind: "param"; readonly offset: number }
  /** A variable of the frame. */
  | { readonly kind: "frame"; readonly leaf: FrameLeaf }
  /** Addresses that are known: that of the root, or, where the distance is not known, what it may be, likeliest first. */
  | { readonly kind: "constant"; readonly addresses: readonly number[] };

export interface AddressBase {
  readonly root: UnderlyingObject;
  /** What is added to the root, the index of an indexed address left out; null where that is not known. */
  readonly distance: number | null;
}

/** A sum: at most one root, and a number. */
interface Sum {
  readonly root: Exclude<UnderlyingObject, { kind: "constant" }> | null;
  readonly constant: bigint;
}

const zero: Sum = { root: null, constant: 0n };

const sumIn = (ty: Expr["ty"], constant: bigint, offset: number): number =>
  Number(BigInt.asUintN(ty === "i32" ? 32 : 64, constant + BigInt(offset)));

/** Finds what addresses are reckoned from, as far as the instructions show it. */
export class UnderlyingObjects {
  readonly #analysis: UniformityAnalysis;
  /** Offsets of the parameters that are pointers. */
  readonly #params: readonly number[];
  readonly #sums = new Map<number, Sum | null>();
  readonly #writers = new Map<number, Instruction[]>();

  constructor(analysis: UniformityAnalysis, params: readonly number[]) {
    this.#analysis = analysis;
    this.#params = params;
    for (const instruction of analysis.code.instructions) {
      writesOf(instruction, (r) => {
        const list = this.#writers.get(r);
        if (list === undefined) this.#writers.set(r, [instruction]);
        else list.push(instruction);
      });
    }
  }

  /** `offset`: what the access adds to the base. */
  of(base: Expr, offset: number): AddressBase | null {
    const { kind } = this.#analysis.shape(base);
    const sum = kind === "uniform" || kind === "indexed" ? this.#sumOf(base) : null;
    if (sum !== null) {
      if (sum.root !== null) return { root: sum.root, distance: Number(sum.constant) };
      const address = sumIn(base.ty, sum.constant, offset);
      return { root: { kind: "constant", addresses: [address] }, distance: address - offset };
    }
    const root = this.#rootOf(base, new Set());
    if (root !== null && (root.kind !== "constant" || offset === 0)) return { root, distance: null };
    if (root === null && offset === 0) return null;
    // A variable's address, or a counter's first value, and then the offset may be that.
    const constants = root === null ? [] : root.addresses;
    const sums = constants.map((constant) => sumIn(base.ty, BigInt(constant), offset));
    return { root: { kind: "constant", addresses: [...constants, ...sums, offset] }, distance: null };
  }

  /** What an address is, without its index: null where it depends on what only the lanes know. */
  #sumOf(expr: Expr): Sum | null {
    if (expr.kind === "const") return { root: null, constant: BigInt(expr.value as number | bigint) };
    if (expr.kind === "frame") return { root: { kind: "frame", leaf: expr }, constant: 0n };
    if (expr.kind === "reg") return this.#sumInRegister(expr.reg);
    if (expr.kind !== "prim") return null;
    const [a, b] = expr.args as readonly [Expr, Expr];
    switch (expr.prim) {
      case "i32.add":
      case "i64.add":
        return this.#sum(this.#sumOf(a), this.#sumOf(b));
      case "i32.sub":
      case "i64.sub": {
        const [from, less] = [this.#sumOf(a), this.#sumOf(b)];
        return less === null || less.root !== null ? null : this.#sum(from, { root: null, constant: -less.constant });
      }
      case "i64.extend_i32_s":
      case "i64.extend_i32_u":
        // An index; what is the same in all lanes would be part of the base.
        return this.#analysis.shape(a).kind === "uniform" ? null : zero;
      case "i64.shl":
      case "i64.mul":
        return this.#analysis.shape(expr).kind === "indexed" && this.#isIndex(expr) ? zero : null;
      default:
        return null;
    }
  }

  /** Whether a multiple of an index has no base. */
  #isIndex(expr: Extract<Expr, { kind: "prim" }>): boolean {
    return expr.args.some((arg) => {
      if (this.#analysis.shape(arg).kind !== "indexed") return false;
      const sum = this.#sumOf(arg);
      return sum !== null && sum.root === null && sum.constant === 0n;
    });
  }

  #sum(a: Sum | null, b: Sum | null): Sum | null {
    if (a === null || b === null || (a.root !== null && b.root !== null)) return null;
    return { root: a.root ?? b.root, constant: a.constant + b.constant };
  }

  /** Only of registers that are always the same when they are read: written once, and before. */
  #sumInRegister(register: number): Sum | null {
    const known = this.#sums.get(register);
    if (known !== undefined) return known;
    this.#sums.set(register, null);
    const { liveness, writes } = this.#analysis.code;
    const [writer] = this.#writers.get(register) ?? [];
    if (writer === undefined || writes[register] !== 1 || liveness.liveIn(0).has(register)) return null;
    const { op, dst, guard, lanes } = writer;
    if (guard !== null || lanes !== undefined) return null;
    const param = this.#paramOf(op);
    let sum: Sum | null = null;
    if (param !== null) sum = { root: param, constant: 0n };
    else if (op.kind === "pure") sum = this.#sumOf(op.values[dst.indexOf(register)]!);
    this.#sums.set(register, sum);
    return sum;
  }

  /** A root among all that an address is made of. */
  #rootOf(expr: Expr, seen: Set<number>): UnderlyingObject | null {
    switch (expr.kind) {
      case "frame":
        return { kind: "frame", leaf: expr };
      case "const":
        return typeof expr.value === "boolean" ? null : { kind: "constant", addresses: [Number(expr.value)] };
      case "prim":
        return /^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/.test(expr.prim)
          ? this.#firstRoot(expr.args, seen)
          : null;
      case "reg":
        break;
      default:
        return null;
    }
    if (seen.has(expr.reg)) return null;
    seen.add(expr.reg);
    for (const { op, dst } of this.#writers.get(expr.reg) ?? []) {
      const at = dst.indexOf(expr.reg);
      const root = op.kind === "pure" && at >= 0 ? this.#rootOf(op.values[at]!, seen) : this.#paramOf(op);
      if (root !== null) return root;
    }
    return null;
  }

  /** Of several terms: a constant is what others are reckoned from only where nothing else is. */
  #firstRoot(terms: readonly Expr[], seen: Set<number>): UnderlyingObject | null {
    const roots = terms.map((term) => this.#rootOf(term, seen)).filter((root) => root !== null);
    return roots.find((root) => root.kind !== "constant") ?? roots[0] ?? null;
  }

  #paramOf(op: Instruction["op"]): Extract<UnderlyingObject, { kind: "param" }> | null {
    if (op.kind !== "load" || op.access.space !== "kernel-param") return null;
    const address = laneAddressOf(op.place);
    if (address.kind !== "const") return null;
    const offset = Number(address.value) - windows["kernel-param"].start;
    return this.#params.includes(offset) ? { kind: "param", offset } : null;
  }
}
