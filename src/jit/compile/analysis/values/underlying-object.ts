import { laneAddressOf } from "../../../../ir/access.ts";
import { writersIn } from "../../../../ir/flow/accesses.ts";
import { type Instruction, windows } from "../../../../ir/index.ts";
import type { Expr } from "../../../../semantics/index.ts";
import { integerOf, type LeafExpr, LinearQuestion } from "../../../../ir/uniformity/linear-form.ts";
import type { UniformityAnalysis } from "./uniformity.ts";

/** The facts about a function that are needed. */
type ObjectAnalysis = Pick<UniformityAnalysis, "code" | "shape">;

type FrameLeaf = Extract<Expr, { kind: "frame" }>;

/** The variable or allocation to which an address belongs. */
export type UnderlyingObject =
  /** The target of the pointer at an offset among the kernel's parameters. */
  | { readonly kind: "param"; readonly offset: number }
  /** A variable of the frame. */
  | { readonly kind: "frame"; readonly leaf: FrameLeaf }
  /** Known addresses: that of the object, or, where the distance is not known, candidates, the likeliest first. */
  | { readonly kind: "constant"; readonly addresses: readonly number[] };

export interface AddressBase {
  readonly root: UnderlyingObject;
  /**
   * Bytes between the object and the address, without the index of an indexed address; null where they are not known.
   */
  readonly distance: number | null;
}

/** An address without its index: at most one object, and bytes. */
interface Sum {
  readonly root: Exclude<UnderlyingObject, { kind: "constant" }> | null;
  readonly constant: bigint;
}

/** The most objects that an access is checked against. */
export const maxCandidates = 4;

/** The objects without those that stand before. */
const distinct = (roots: readonly UnderlyingObject[]): readonly UnderlyingObject[] => [
  ...new Map(roots.map((root) => [keyOf(root), root])).values(),
];

function keyOf(root: UnderlyingObject): string {
  switch (root.kind) {
    case "param":
      return `param ${root.offset}`;
    case "frame":
      return `frame ${root.leaf.variable}`;
    case "constant":
      return `constant ${root.addresses.join()}`;
  }
}

const zero: Sum = { root: null, constant: 0n };

const addressIn = (ty: Expr["ty"], constant: bigint, offset: number): number =>
  Number(BigInt.asUintN(ty === "i32" ? 32 : 64, constant + BigInt(offset)));

/** Finds the objects to which addresses belong, as far as the instructions show it. */
export class UnderlyingObjects {
  readonly #analysis: ObjectAnalysis;
  readonly #question: BaseQuestion;
  /** By register, the instructions that write it. */
  readonly #writers: ReadonlyMap<number, readonly Instruction[]>;
  /** Offsets of the parameters that are pointers. */
  readonly #params: readonly number[];

  constructor(analysis: ObjectAnalysis, params: readonly number[]) {
    this.#analysis = analysis;
    this.#params = params;
    this.#question = new BaseQuestion(
      (r) => this.#soleWriter(r),
      (op) => this.#paramOf(op),
      analysis,
    );
    this.#writers = writersIn(analysis.code.instructions);
  }

  /**
   * The objects to which an access may belong, the likeliest first; none where nothing is known. `offset`: the bytes
   * that the access adds to the base.
   */
  of(base: Expr, offset: number): readonly AddressBase[] {
    const { kind } = this.#analysis.shape(base);
    const sum = kind === "uniform" || kind === "indexed" ? this.#question.of(base) : null;
    if (sum !== null) {
      if (sum.root !== null) return [{ root: sum.root, distance: Number(sum.constant) }];
      const address = addressIn(base.ty, sum.constant, offset);
      return [{ root: { kind: "constant", addresses: [address] }, distance: address - offset }];
    }
    const roots = this.#rootsOf(base, new Set());
    const objects = roots.filter((root) => root.kind !== "constant");
    if (objects.length > 0) return objects.slice(0, maxCandidates).map((root) => ({ root, distance: null }));
    // The constant may be a variable's address, or a counter's first value; then the offset may be the address.
    const constants = roots.flatMap((root) => (root.kind === "constant" ? root.addresses : []));
    if (offset === 0) {
      return constants.length === 0 ? [] : [{ root: { kind: "constant", addresses: constants }, distance: null }];
    }
    const sums = constants.map((constant) => addressIn(base.ty, BigInt(constant), offset));
    return [{ root: { kind: "constant", addresses: [...sums, ...constants, offset] }, distance: null }];
  }

  /** The instruction that writes a register, where that is always the same value when it is read. */
  #soleWriter(register: number): Instruction | null {
    const { liveness, writes } = this.#analysis.code;
    const writer = this.#writers.get(register)?.[0];
    if (writer === undefined || writes[register] !== 1 || liveness.liveIn(0).has(register)) return null;
    return writer.guard === null && writer.lanes === undefined ? writer : null;
  }

  /** Guesses where the sum is not known: the objects among all that an address may be computed from. */
  #rootsOf(expr: Expr, seen: Set<number>): readonly UnderlyingObject[] {
    switch (expr.kind) {
      case "frame":
        return [{ kind: "frame", leaf: expr }];
      case "const":
        return typeof expr.value === "boolean" ? [] : [{ kind: "constant", addresses: [Number(expr.value)] }];
      case "prim":
        if (/^i(32|64)\.select$/.test(expr.prim)) {
          return distinct(expr.args.slice(1).flatMap((arg) => this.#rootsOf(arg, seen)));
        }
        return /^i(32|64)\.(add|sub)$|^i64\.extend|^i32\.wrap/.test(expr.prim) ? this.#firstRoots(expr.args, seen) : [];
      case "reg":
        break;
      default:
        return [];
    }
    if (seen.has(expr.reg)) return [];
    seen.add(expr.reg);
    const roots = (this.#writers.get(expr.reg) ?? []).flatMap(({ op, dst }) => {
      const at = dst.indexOf(expr.reg);
      if (op.kind === "pure" && at >= 0) return this.#rootsOf(op.values[at]!, seen);
      const root = this.#paramOf(op);
      return root === null ? [] : [root];
    });
    return distinct(roots);
  }

  /** The objects of the first term that has any; a constant counts only where no other object is found. */
  #firstRoots(terms: readonly Expr[], seen: Set<number>): readonly UnderlyingObject[] {
    const roots = terms.map((term) => this.#rootsOf(term, seen)).filter((found) => found.length > 0);
    return roots.find((found) => found.some((root) => root.kind !== "constant")) ?? roots[0] ?? [];
  }

  #paramOf(op: Instruction["op"]): Extract<UnderlyingObject, { kind: "param" }> | null {
    if (op.kind !== "load" || op.access.space !== "kernel-param") return null;
    const address = laneAddressOf(op.place);
    if (address.kind !== "const") return null;
    const offset = Number(address.value) - windows["kernel-param"].start;
    return this.#params.includes(offset) ? { kind: "param", offset } : null;
  }
}

/**
 * Asks what addresses are without their index. The walk is that of linear forms, but of the form only the base is kept,
 * and it has to be known exactly. So nothing that is the same in all lanes, and otherwise unknown, may be left out: an
 * index is what differs from lane to lane and has been extended from 32 bits, all else but constants and objects is
 * unknown.
 */
class BaseQuestion extends LinearQuestion<Sum, bigint> {
  readonly #sums = new Map<number, Sum | null>();
  readonly #writer: (register: number) => Instruction | null;
  readonly #paramOf: (op: Instruction["op"]) => Sum["root"];
  readonly #analysis: ObjectAnalysis;

  constructor(
    writer: (register: number) => Instruction | null,
    paramOf: (op: Instruction["op"]) => Sum["root"],
    analysis: ObjectAnalysis,
  ) {
    super();
    this.#writer = writer;
    this.#paramOf = paramOf;
    this.#analysis = analysis;
  }

  protected leaf(expr: LeafExpr): Sum | null {
    switch (expr.kind) {
      case "const":
        return { root: null, constant: BigInt(expr.value as number | bigint) };
      case "frame":
        return { root: { kind: "frame", leaf: expr }, constant: 0n };
      case "reg":
        return this.#inRegister(expr.reg);
      default:
        return null;
    }
  }

  protected sum(a: Sum, b: Sum, sign: 1 | -1): Sum | null {
    if (b.root !== null && (a.root !== null || sign === -1)) return null;
    return { root: a.root ?? b.root, constant: a.constant + BigInt(sign) * b.constant };
  }

  protected factorOf(operand: Expr): bigint | null {
    return integerOf(operand);
  }

  protected power(exponent: number): bigint {
    return 1n << BigInt(exponent);
  }

  /** A multiple of an index is an index; addresses are not multiplied. */
  protected multiple(sum: Sum): Sum | null {
    return sum.root === null && sum.constant === 0n ? zero : null;
  }

  protected extension(operand: Expr): Sum | null {
    return this.#analysis.shape(operand).kind === "uniform" ? null : zero;
  }

  /** A 32-bit address has no index. */
  protected truncation(): null {
    return null;
  }

  protected other(): null {
    return null;
  }

  #inRegister(register: number): Sum | null {
    const known = this.#sums.get(register);
    if (known !== undefined) return known;
    // Until it is known, it is not: a register may be computed from itself.
    this.#sums.set(register, null);
    const writer = this.#writer(register);
    const sum = writer === null ? null : this.#written(writer, register);
    this.#sums.set(register, sum);
    return sum;
  }

  #written({ op, dst }: Instruction, register: number): Sum | null {
    const root = this.#paramOf(op);
    if (root !== null) return { root, constant: 0n };
    return op.kind === "pure" ? this.of(op.values[dst.indexOf(register)]!) : null;
  }
}
