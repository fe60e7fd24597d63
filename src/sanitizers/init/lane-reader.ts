import { lowestLane } from "../../ir/lane-mask.ts";
import { byteOf } from "../../ir/region.ts";
import type { Activation } from "../../machine/state/launch-state.ts";
import { type Expr, fold, type LeafValue, primOf, type Value } from "../../semantics/index.ts";
import type { ActivationShadow } from "./activation-shadow.ts";
import { isDataLeaf, type Leaf, leavesOf } from "./reads.ts";
import { filling, sample, sampleCount, type Samples, varyingBits } from "./samples.ts";
import { extend, isDefined, type Shade } from "./shade.ts";

/** Determines which bits of an expression are undefined in one lane, before the instruction is executed. */
export class LaneReader implements Shade {
  /** The undefined bits of the value that was read last. */
  low = 0;
  high = 0;
  origin = 0;
  /** The undefined leaf that the value came from. */
  leaf: Leaf | null = null;
  /** Whether the value is more than a copy or a part of that leaf. */
  computed = false;
  #shadow!: ActivationShadow;
  #lane = 0;
  #active = 0;
  #value!: LeafValue;
  #old: readonly Shade[] = [];

  /** `active`: the lanes that reached the instruction. `old`: shades of the elements of an atomic operation. */
  at(shadow: ActivationShadow, x: Activation, lane: number, active: number, old: readonly Shade[] = []): void {
    this.#shadow = shadow;
    this.#lane = lane;
    this.#active = active;
    this.#value = x.code.leafValue(x, lane);
    this.#old = old;
  }

  /** Whether any bit of the value is undefined; if so, `low`, `high` and `origin` describe it. */
  read(expr: Expr): boolean {
    // A leaf may have an address to be read first, which has leaves of its own.
    const isLeaf = isDataLeaf(expr);
    const found = (isLeaf ? [expr] : leavesOf(expr)).find((leaf) => this.#readLeaf(leaf)) ?? null;
    this.leaf = found;
    this.computed = false;
    if (found === null || isLeaf) return found !== null;
    const { origin } = this;
    const samples = sample(expr, (leaf) => this.#samples(leaf), new Map());
    [this.low, this.high] = varyingBits(expr.ty, samples);
    this.origin = origin;
    this.leaf = found;
    this.computed = found.ty === "pred" || computes(expr);
    return !isDefined(this);
  }

  /** The value that an expression has in the machine, defined or not. */
  value(expr: Expr): Value {
    return fold(expr, (leaf) => this.#known(leaf));
  }

  #none(): false {
    this.low = this.high = this.origin = 0;
    return false;
  }

  /** Reads the bits that a leaf stands for, extended as it says. */
  #readLeaf(leaf: Leaf): boolean {
    switch (leaf.kind) {
      case "reg":
        this.#shadow.registers.read(leaf.reg, this.#lane, this);
        return !isDefined(this);
      case "lane-word":
        return this.#readWord(leaf.reg);
      case "old": {
        const old = this.#old[leaf.index];
        if (old === undefined) return this.#none();
        ({ low: this.low, high: this.high, origin: this.origin } = old);
        return !isDefined(this);
      }
      case "region":
        return this.#readBytes(byteOf(leaf.region, leaf.bits, this.#lane), leaf.bits, leaf.signed);
      case "indirect": {
        if (!this.read(leaf.address))
          return this.#readBytes(this.value(leaf.address) as number, leaf.bits, leaf.signed);
        this.low = this.high = -1;
        return true;
      }
      default:
        return this.#none();
    }
  }

  /** Reads a predicate as a word of lanes. Lanes that are not active have no part in it. */
  #readWord(register: number): boolean {
    const lanes = this.#shadow.registers.lanes[register]! & this.#active;
    if (lanes === 0) return this.#none();
    this.#shadow.registers.read(register, lowestLane(lanes), this);
    this.low = lanes;
    this.high = 0;
    return true;
  }

  #readBytes(at: number, bits: number, signed: boolean): boolean {
    const { file } = this.#shadow;
    const bytes = bits / 8;
    if (file === null || at < 0 || at + bytes > file.size || !file.has(at, bytes)) return this.#none();
    file.read(at, bytes, this);
    extend(this, bits, signed);
    return true;
  }

  #samples(leaf: Leaf): Samples {
    if (!this.#readLeaf(leaf)) return [this.#known(leaf)];
    const { low, high } = this;
    const wide = leaf.ty === "i64" || leaf.ty === "f64";
    const key = this.#keyOf(leaf);
    if (leaf.ty === "pred") return Array.from({ length: sampleCount }, (_, s) => (filling(key, s) & 1) !== 0);
    const bits = this.#known({ ...leaf, ty: wide ? "i64" : "i32" } as Leaf);
    return Array.from({ length: sampleCount }, (_, s): Value => {
      const flippedLow = low & filling(key, s);
      if (!wide) {
        const value = (bits as number) ^ flippedLow;
        return leaf.ty === "f32" ? evaluate("f32.reinterpret_i32", value) : value;
      }
      const flipped = (BigInt(high & filling(key + 1, s)) << 32n) | BigInt(flippedLow >>> 0);
      const value = BigInt.asIntN(64, (bits as bigint) ^ flipped);
      return leaf.ty === "f64" ? evaluate("f64.reinterpret_i64", value) : value;
    });
  }

  /** The same place gets the same filling, however it is read. */
  #keyOf(leaf: Leaf): number {
    switch (leaf.kind) {
      case "region":
        return byteOf(leaf.region, leaf.bits, this.#lane);
      case "reg":
      case "lane-word":
        return -2 - 2 * leaf.reg;
      default:
        return leaf.kind === "old" ? leaf.index : 0x4000_0000;
    }
  }

  /** A value for leaves that are always defined. Symbols are addresses: it is enough that they are not 0. */
  #known(leaf: Leaf): Value {
    const wide = leaf.ty === "i64" || leaf.ty === "f64";
    if (leaf.kind === "symbol") return wide ? 0x7f00_1000n : 0x1000_1000;
    if (leaf.kind === "old") return wide ? 0n : 0;
    if (leaf.kind === "region") {
      const at = byteOf(leaf.region, leaf.bits, this.#lane);
      if (at < 0 || at + leaf.bits / 8 > (this.#shadow.file?.size ?? 0)) return leaf.ty === "i64" ? 0n : 0;
    }
    return this.#value(leaf);
  }
}

const evaluate = (name: "f32.reinterpret_i32" | "f64.reinterpret_i64", value: Value): Value =>
  (primOf(name).eval as (v: Value) => Value)(value);

const arithmetic = /^(f32|f64)\.|\.(add|sub|mul|div|rem)/;
const computing = new WeakMap<Expr, boolean>();

/** Whether an expression does more with its operands than copy, pack or unpack them. */
function computes(expr: Expr): boolean {
  if (expr.kind !== "prim") return false;
  let found = computing.get(expr);
  if (found === undefined) {
    found = (arithmetic.test(expr.prim) && !/\.(select|reinterpret)/.test(expr.prim)) || expr.args.some(computes);
    computing.set(expr, found);
  }
  return found;
}
