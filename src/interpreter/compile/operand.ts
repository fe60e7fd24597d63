import { laneAddressOf } from "../../ir/access.ts";
import { accessesOf } from "../../ir/op-traits.ts";
import type { Destination, FileTarget, Instruction, Op } from "../../ir/index.ts";
import { allLanes, type Lanes, liesWithin } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { bind, type Bindings, bitsOf, splitOffset } from "../../semantics/bind.ts";
import { type Expr, kit, type Region } from "../../semantics/index.ts";
import type { Assignment, ExprCompiler, FunctionContext, LaneFunction, Run, Target } from "./expr-compiler.ts";
import { interferes } from "./region-hazard.ts";
import type { Slot } from "./register-file.ts";

/** The address of an access: a register (or nothing, for an address known beforehand) plus a constant. */
export interface AddressOperand {
  /** Null: the address is `offset`, or `offset` bytes after the start of the frame. */
  readonly slot: Slot | null;
  readonly offset: number;
  readonly high: number;
  readonly inFrame: boolean;
}

const nothing: Run = () => {};

const noOperands: readonly Expr[] = [];

const filePlaces = (targets: readonly (Target | null)[]): FileTarget[] =>
  targets.filter((to): to is FileTarget => to !== null && "kind" in to);

/**
 * The expressions that an operation reads lane by lane while it writes its results. All others are computed before any
 * result is written.
 */
function operandsOf(op: Op): readonly Expr[] {
  if (op.kind === "warp") return op.warp.operands;
  if (op.kind === "unit") return op.operands;
  const made = accessesOf(op);
  if (made.length === 0) return noOperands;
  return made.flatMap((access) => {
    if (access.effect === "store") return [];
    return [laneAddressOf(access.place), ...(access.effect === "atomic" ? access.combine : [])];
  });
}

/** The byte of a region's element, as an expression over the lane. */
function laneAddress({ at, first, vertical, width, horizontal }: Region, bits: number): Expr {
  const lane: Expr = { kind: "special", ty: "i32", name: "laneid" };
  const e = kit.sub(lane, kit.i32(first));
  const row = kit.mul(kit.shr(e, kit.i32(Math.log2(width)), true), kit.i32((vertical * bits) / 8));
  const column = kit.mul(kit.and(e, kit.i32(width - 1)), kit.i32((horizontal * bits) / 8));
  return kit.add(kit.i32(at), kit.add(row, column));
}

/**
 * Prepares the operands of one instruction. A plain register is used where it lies; any other expression is computed
 * into a temporary by `prepare`, which the instruction runs first.
 */
export class Operands {
  readonly #context: FunctionContext;
  readonly #bindings: Bindings;
  readonly #compiler: ExprCompiler;
  readonly #memo = new Map<Expr, Expr>();
  readonly #assignments: Assignment[] = [];
  /** The lanes that the instruction is for; null: all that run. */
  readonly lanes: Lanes | null;

  constructor(context: FunctionContext, bindings: Bindings, compiler: ExprCompiler, lanes: Lanes | null) {
    this.#context = context;
    this.lanes = lanes;
    this.#compiler = compiler;
    const { byteFileBytes } = context.file;
    this.#bindings =
      byteFileBytes === 0
        ? bindings
        : {
            ...bindings,
            region: (leaf) => {
              const { region, bits } = leaf;
              if (liesWithin(region, bits, lanes ?? allLanes, byteFileBytes)) return leaf;
              return { ...leaf, kind: "indirect", address: laneAddress(region, bits) };
            },
          };
  }

  bind(expr: Expr): Expr {
    return bind(expr, this.#bindings, this.#memo);
  }

  /** The register that holds the value after `prepare`. */
  slot(expr: Expr): Slot {
    const bound = bitsOf(this.bind(expr));
    if (bound.kind === "reg") return this.#context.file.slot(bound.reg);
    if (bound.kind === "region") {
      const slot = this.#context.file.slotOf(bound, this.lanes ?? allLanes);
      if (slot !== null) return slot;
    }
    const known = this.#assignments.find((a) => a.value === bound);
    if (known !== undefined) return known.to as Slot;
    return this.#copy(bound);
  }

  #copy(bound: Expr): Slot {
    const to = this.#context.file.temporary(bound.ty);
    this.#assignments.push({ value: bound, to });
    return to;
  }

  /** Code that computes an `i32` which is the same in all lanes, from one of them. */
  scalar(expr: Expr): (x: Activation, lane: number) => number {
    const bound = this.bind(expr);
    let compute: LaneFunction | null = null;
    return (x, lane) => {
      compute ??= this.#compiler.lane(this.#context, bound, this.lanes);
      return compute(x, lane, []) as number;
    };
  }

  /** The target of a result. Elements of a region that are not within the byte file are dropped. */
  target(to: Exclude<Destination, null>): Target {
    if (typeof to === "number") return this.#context.file.slot(to);
    if (to.kind === "indirect") return { ...to, address: this.bind(to.address) };
    if (liesWithin(to.region, to.bits, this.lanes ?? allLanes, this.#context.file.byteFileBytes)) return to;
    return { kind: "indirect", bits: to.bits, address: laneAddress(to.region, to.bits) };
  }

  /**
   * Registers for the results of an operation (not `pure`), which it may write at any time, and the code that copies
   * them from there to the byte file. Call before `prepare` is read.
   */
  results({ op, dst }: Instruction): { readonly results: readonly (Slot | null)[]; readonly finish: Run | null } {
    if (op.kind === "pure") return { results: [], finish: null };
    const lanes = this.lanes ?? allLanes;
    const { file } = this.#context;
    const targets = dst.map((to) => (to === null ? null : this.target(to)));
    const unsafe = interferes(operandsOf(op), filePlaces(targets), lanes, false);
    const copies: Assignment[] = [];
    const results = targets.map((to) => {
      if (to === null || !("kind" in to)) return to;
      const slot = to.kind === "region" && !unsafe ? file.slotOf(to, lanes) : null;
      if (slot !== null) return slot;
      const ty = to.bits === 64 ? "i64" : "i32";
      const temporary = file.temporary(ty);
      copies.push({ value: file.leafOf(temporary, ty), to: this.#atFixedAddress(to) });
      return temporary;
    });
    return { results, finish: copies.length === 0 ? null : this.assign(copies) };
  }

  /** Makes the code of a `pure` instruction: `values[i]` to `dst[i]`, all of them computed before any is written. */
  pure(values: readonly Expr[], dst: readonly Destination[]): () => Run {
    const targets = values.map((_, i) => {
      const to = dst[i] ?? null;
      return to === null ? null : this.target(to);
    });
    const bound = (): Assignment[] =>
      values.flatMap((value, i) => {
        const to = targets[i] ?? null;
        return to === null ? [] : [{ value: bitsOf(this.bind(value)), to }];
      });
    if (interferes(values, filePlaces(targets), this.lanes ?? allLanes, true)) {
      const staged = this.#staged(bound());
      return () => staged;
    }
    return () => {
      const assignments = bound();
      return assignments.length === 0 ? nothing : this.#compiler.assign(this.#context, assignments, this.lanes);
    };
  }

  /** Computes all values in all lanes before any is written, for lanes that read what others write. */
  #staged(assignments: readonly Assignment[]): Run {
    const { file } = this.#context;
    const copies: Assignment[] = [];
    const values = assignments.map(({ value, to }): Assignment => {
      if (!("kind" in to)) return { value, to };
      const temporary = file.temporary(value.ty);
      const ty = to.bits === 64 ? "i64" : "i32";
      copies.push({ value: file.leafOf(temporary, ty), to: this.#atFixedAddress(to) });
      return { value, to: temporary };
    });
    const compute = this.assign([...values, ...this.#assignments]);
    const write = this.assign(copies);
    return (x, mask) => {
      compute(x, mask);
      write(x, mask);
    };
  }

  /** The target, with its address in a temporary, which no write to the file changes. */
  #atFixedAddress(to: FileTarget): FileTarget {
    if (to.kind === "region") return to;
    return { ...to, address: this.#context.file.leafOf(this.#copy(this.bind(to.address)), "i32") };
  }

  address(expr: Expr): AddressOperand {
    const { base, offset } = splitOffset(this.bind(expr));
    if (base === null) {
      const address = BigInt.asUintN(expr.ty === "i64" ? 64 : 32, offset);
      return { slot: null, offset: Number(address & 0xffff_ffffn), high: Number(address >> 32n), inFrame: false };
    }
    if (base.kind === "frame" && !base.generic) {
      const at = this.#context.frameOffset(base.variable) + base.offset + Number(offset);
      return { slot: null, offset: at, high: 0, inFrame: true };
    }
    const small = Number(offset);
    if (Number.isSafeInteger(small) && Math.abs(small) < 2 ** 31) {
      return { slot: this.slot(base), offset: small, high: 0, inFrame: false };
    }
    return { slot: this.slot(kit.add(base, kit.int(base, offset))), offset: 0, high: 0, inFrame: false };
  }

  /** Computes the temporaries. Read it after all operands have been requested. */
  get prepare(): Run {
    return this.#assignments.length === 0 ? nothing : this.assign(this.#assignments);
  }

  /** Compiles when it first runs: much of a large kernel never does. */
  assign(assignments: readonly Assignment[]): Run {
    let run: Run | null = null;
    return (x, mask) => {
      run ??= this.#compiler.assign(this.#context, assignments, this.lanes);
      run(x, mask);
    };
  }
}
