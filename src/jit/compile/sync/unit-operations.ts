import type { Expr, Instruction, OpOf, RegisterClass } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullMask } from "../lanes/mask.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { isWide, type Value, vectorOf } from "../lanes/value.ts";
import type { Place } from "../emit/register-locals.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { ImageFetches } from "./image-fetches.ts";
import { SurfaceElements } from "./surface-elements.ts";
import { type StoredOperands, WarpgroupProducts } from "./warpgroup-products.ts";

/** The class of the registers in which the launcher finds an operand. */
const unitOperandClass = ({ ty }: Expr): RegisterClass => (isWide(ty) ? "b64" : "b32");

/** The registers among operands, from a first one on, that lie in memory one after the other. */
function adjacent(chunk: Chunk, operands: readonly Expr[], first: number): readonly number[] {
  const found: number[] = [];
  for (let i = first; i < operands.length; i++) {
    const operand = operands[i]!;
    if (operand.kind !== "reg" || chunk.fragment([...found.slice(-1), operand.reg]) === null) break;
    found.push(operand.reg);
  }
  return found;
}

/** Writes an operation for the launcher: for some lanes, or for all that execute it. */
type ByHost = (lanes?: readonly Wasm[], stored?: StoredOperands) => void;

/**
 * Writes operations of the machine's units, which the launcher performs. Operands lie at `fragments`, one after the
 * other, lane by lane; results, too.
 */
export class UnitOperations {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;
  readonly #imageFetches: ImageFetches;
  readonly #surfaces: SurfaceElements;
  readonly #products: WarpgroupProducts;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
    this.#imageFetches = new ImageFetches(chunk, at, (operands, to) => this.#storeOperands(operands, to));
    this.#surfaces = new SurfaceElements(chunk, at);
    this.#products = new WarpgroupProducts(chunk, at, (operands, to) => this.#storeOperands(operands, to));
  }

  perform(block: number, index: number, { dst, guard }: Instruction, op: OpOf<"unit">): void {
    const { writer: w } = this.#chunk;
    const { context, siteOf } = this.#at;
    const holds = guard === null ? null : this.#chunk.guardMask(guard);
    const lanes = this.#chunk.maskOf(block, holds) ?? fullMask(this.#chunk.quads);
    importHost(this.#at.unit.module, "unit");
    const byHost: ByHost = (own = lanes, stored) => {
      const { fragments } = this.#at.layout;
      if (stored === undefined) this.#storeOperands(op.operands, fragments);
      else this.#storeBefore(stored, op.operands, fragments);
      storeEntry(w, this.#at);
      w.get(context);
      w.i32(siteOf(index, null));
      w.value(laneBits(own));
      callHost(w, "unit");
    };
    const own = this.#ownOf(op, dst, index);
    w.value(anyOf(lanes));
    w.if(() => (own === null ? byHost() : own(lanes, byHost)));
    this.#writeResults(block, dst, holds);
  }

  /** A function that writes an operation without the launcher, unless that has to perform it; null: it always has. */
  #ownOf(
    op: OpOf<"unit">,
    dst: Instruction["dst"],
    index: number,
  ): ((lanes: readonly Wasm[], byHost: ByHost) => void) | null {
    const { unit, operands } = op;
    if (unit.op === "multiply-warpgroup") return this.#products.of(unit.product, op);
    if (unit.op === "surface-load" || unit.op === "surface-store" || unit.op === "surface-reduce") {
      return this.#surfaces.of(unit, operands, dst);
    }
    return unit.op === "image-fetch" ? this.#imageFetches.of(unit.fetch, { operands, dst, index }) : null;
  }

  /**
   * Stores operands one after the other, so many bytes from the beginning of the context; those that lie so in memory
   * are copied together.
   */
  #storeOperands(operands: readonly Expr[], to: number): void {
    const { writer: w, quads } = this.#chunk;
    const { context } = this.#at;
    let at = to;
    for (let i = 0; i < operands.length; ) {
      const registers = adjacent(this.#chunk, operands, i);
      const place = this.#chunk.fragment(registers);
      if (place !== null) {
        const bytes = 16 * quads * registers.length;
        this.#copy(place, { base: context, offset: at }, bytes);
        at += bytes;
        i += registers.length;
        continue;
      }
      const operand = operands[i++]!;
      const value = fitted(this.#chunk.value(operand), unitOperandClass(operand), quads);
      for (const part of vectorOf(value, quads).quads.flat()) {
        w.get(context);
        w.value(part);
        w.memory("v128.store", 16, at);
        at += 16;
      }
    }
  }

  /** Stores operands of which the last ones are in memory: those are copied first, as they may lie where others go. */
  #storeBefore({ first, place }: StoredOperands, operands: readonly Expr[], to: number): void {
    const registerBytes = 16 * this.#chunk.quads;
    const before = operands.slice(0, first);
    const words = before.reduce((sum, { ty }) => sum + (isWide(ty) ? 2 : 1), 0);
    const at = { base: this.#at.context, offset: to + registerBytes * words };
    this.#copy(place, at, registerBytes * (operands.length - first));
    this.#storeOperands(before, to);
  }

  #copy(from: Place, to: Place, bytes: number): void {
    const { writer: w } = this.#chunk;
    for (const { base, offset } of [to, from]) w.value(wasm.op("i32.add", wasm.local("i32", base), wasm.i32(offset)));
    w.i32(bytes);
    w.memoryCopy();
  }

  /** Copies results to registers that lie in memory one after the other, in all lanes. Returns false if they do not. */
  #copyResults(block: number, dst: Instruction["dst"], holds: ReturnType<Chunk["guardMask"]>): boolean {
    const registers = dst.flatMap((to) => (typeof to === "number" ? [to] : []));
    if (holds !== null || registers.length === 0 || registers.length < dst.length) return false;
    const place = registers.every((r) => this.#chunk.writesAll(block, r)) ? this.#chunk.fragment(registers) : null;
    if (place === null) return false;
    const { context, layout } = this.#at;
    this.#copy({ base: context, offset: layout.fragments }, place, 16 * this.#chunk.quads * registers.length);
    return true;
  }

  #writeResults(block: number, dst: Instruction["dst"], holds: ReturnType<Chunk["guardMask"]>): void {
    if (this.#copyResults(block, dst, holds)) return;
    const { writer: w, quads, function: f } = this.#chunk;
    let at = this.#at.layout.fragments;
    const taken: number[] = [];
    const load = (): Wasm => {
      const local = w.local("v128");
      w.get(this.#at.context);
      w.memory("v128.load", 16, at);
      w.set(local);
      taken.push(local);
      at += 16;
      return wasm.local("v128", local);
    };
    const values = dst.map((to): Value | null => {
      // As `HostUnits` lays results out: what is dropped has no place.
      if (to === null) return null;
      const kind = typeof to === "number" ? f.registers[to]!.class : to.bits === 64 ? "b64" : "b32";
      if (kind === "pred") {
        const answers = Array.from({ length: quads }, () => [wasm.op("i32x4.ne", load(), wasm.i32x4(0))]);
        return { kind: "vector", ty: "pred", quads: answers };
      }
      const isWideResult = kind === "b64";
      const loaded = Array.from({ length: quads }, () => Array.from({ length: isWideResult ? 2 : 1 }, load));
      return { kind: "vector", ty: isWideResult ? "i64" : "i32", quads: loaded };
    });
    if (values.length > 0) this.#chunk.write(block, dst, values, holds);
    for (const local of taken) w.release(local);
  }
}
