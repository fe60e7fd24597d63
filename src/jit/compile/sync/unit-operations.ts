import type { Expr, Instruction, OpOf, RegisterClass } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { allLanes, type Chunk } from "../emit/chunk.ts";
import { anyOf, laneBits } from "../lanes/mask-bits.ts";
import { fitted } from "../lanes/register-class.ts";
import { isWide, type Value, vectorOf } from "../lanes/value.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost, importHost } from "../module/host-calls.ts";
import { ImageFetches } from "./image-fetches.ts";
import { SurfaceElements } from "./surface-elements.ts";

/** The class of the registers in which the launcher finds an operand. */
const unitOperandClass = ({ ty }: Expr): RegisterClass => (isWide(ty) ? "b64" : "b32");

/**
 * Writes operations of the machine's units, which the launcher performs. Operands lie at `fragments`, one after the
 * other, lane by lane; results, too.
 */
export class UnitOperations {
  readonly #chunk: Chunk;
  readonly #at: FunctionContext;
  readonly #imageFetches: ImageFetches;
  readonly #surfaces: SurfaceElements;

  constructor(chunk: Chunk, at: FunctionContext) {
    this.#chunk = chunk;
    this.#at = at;
    this.#imageFetches = new ImageFetches(chunk, at);
    this.#surfaces = new SurfaceElements(chunk, at);
  }

  perform(block: number, index: number, { dst, guard }: Instruction, op: OpOf<"unit">): void {
    const { writer: w, quads } = this.#chunk;
    const { context, siteOf } = this.#at;
    const holds = guard === null ? null : this.#chunk.guardMask(guard);
    const lanes = this.#chunk.maskOf(block, holds) ?? allLanes(this.#chunk);
    importHost(this.#at.unit.module, "unit");
    const byHost = (): void => {
      let at = this.#at.layout.fragments;
      for (const operand of op.operands) {
        const value = fitted(this.#chunk.value(operand), unitOperandClass(operand), quads);
        for (const part of vectorOf(value, quads).quads.flat()) {
          w.get(context);
          w.value(part);
          w.memory("v128.store", 16, at);
          at += 16;
        }
      }
      storeEntry(w, this.#at);
      w.get(context);
      w.i32(siteOf(index, null));
      w.value(laneBits(lanes));
      callHost(w, "unit");
    };
    const own = this.#ownOf(op, dst);
    w.value(anyOf(lanes));
    w.if(() => (own === null ? byHost() : own(lanes, byHost)));
    this.#writeResults(block, dst, holds);
  }

  /** A function that writes an operation without the launcher, unless that has to perform it; null: it always has. */
  #ownOf(
    { unit, operands }: OpOf<"unit">,
    dst: Instruction["dst"],
  ): ((lanes: readonly Wasm[], byHost: () => void) => void) | null {
    if (unit.op === "surface-load") return this.#surfaces.of(unit.access, operands, dst);
    if (unit.op === "surface-store") return this.#surfaces.of(unit.access, operands, null);
    const fetch = unit.op === "image-fetch" ? this.#imageFetches.of(unit.fetch, operands, dst) : null;
    return fetch === null ? null : (_, byHost) => fetch(byHost);
  }

  #writeResults(block: number, dst: Instruction["dst"], holds: ReturnType<Chunk["guardMask"]>): void {
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
