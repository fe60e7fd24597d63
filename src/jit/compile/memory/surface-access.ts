import { laneAddressOf } from "../../../ir/access.ts";
import type { Access, Op } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { Unsupported } from "../../abi/refusal.ts";
import { addressOf, bytesOf } from "../analysis/access/access-groups.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import type { Mask } from "../lanes/mask.ts";
import { i64 } from "../lanes/scalar.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";
import type { AccessChecks } from "./access-checks.ts";
import { bitsOf } from "./address-lookup.ts";
import { BoundsCheck } from "./bounds-check.ts";
import type { CheckedAccess, OffsetFinder } from "./checked-access.ts";

type MemoryOp = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/**
 * Finds the bytes of an access to a surface (vISA). The launcher records the surface that the instruction used last; an
 * access that is not entirely within it is looked up element by element.
 */
export class SurfaceAccess implements OffsetFinder {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #checks: AccessChecks;
  readonly #op: MemoryOp;
  /** The element of the access that is looked up. */
  readonly #element: number;
  readonly #record: number;

  constructor(
    chunk: Chunk,
    context: FunctionContext,
    checks: AccessChecks,
    op: MemoryOp,
    element = 0,
    record?: number,
  ) {
    this.#chunk = chunk;
    this.#context = context;
    this.#checks = checks;
    this.#op = op;
    this.#element = element;
    this.#record = record ?? context.unit.records++;
  }

  /** The lookup of another element of the same access. */
  ofElement(element: number): SurfaceAccess {
    return new SurfaceAccess(this.#chunk, this.#context, this.#checks, this.#op, element, this.#record);
  }

  check(index: number, _active: Mask, mask: Mask): CheckedAccess {
    const { writer } = this.#chunk;
    const { access, place } = this.#op;
    this.#requireSurface(index, mask);
    const { object, locals } = this.#checks.objects.recorded(this.#record);
    const { base, offset } = addressOf(laneAddressOf(place));
    const range = { offset, size: bytesOf(access), align: access.align };
    const target = { object: { ...object, from: i64(0) }, baseDistance: null };
    const { ok, offsets } = new BoundsCheck(this.#chunk, range, target).of(this.#chunk.value(base), mask);
    const assignments: { readonly local: number; readonly value: Wasm }[] = [];
    const kept = (value: Wasm): Wasm => {
      const local = writer.local(value.ty);
      assignments.push({ local, value });
      return wasm.local(value.ty, local);
    };
    const keptOffsets =
      offsets.kind === "each" ? { ...offsets, quads: offsets.quads.map(kept) } : { ...offsets, at: kept(offsets.at) };
    const keptOk = kept(ok);
    writer.assign(assignments);
    for (const local of locals) writer.release(local);
    return {
      ok: keptOk,
      fallback: null,
      inactiveMayAccess: true,
      mayAdjoin: false,
      pattern: null,
      run: null,
      wideLoad: null,
      offsets: keptOffsets,
      immediate: 0,
      release: () => {
        for (const { local } of assignments) writer.release(local);
      },
    };
  }

  lookUp(index: number, _access: Access, address: Expr, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    const { context, layout } = this.#context;
    fullAddresses(this.#chunk, address)
      .quads.flat()
      .forEach((part, i) => {
        writer.get(context);
        writer.value(part);
        writer.memory("v128.store", 16, layout.addresses + i * 16);
      });
    storeEntry(writer, this.#context);
    writer.get(context);
    writer.i32(this.#context.siteOf(index, this.#record, this.#element));
    writer.value(bitsOf(mask, lanes));
    callHost(writer, "translate");
  }

  loadFirstOffset(mask: Mask, into: number): void {
    this.#checks.loadFirstOffset(mask, into);
  }

  loadOffsets(into: readonly number[]): void {
    this.#checks.loadOffsets(into);
  }

  /** Asks the launcher for the surface, unless the record already holds it. */
  #requireSurface(index: number, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    const { context } = this.#context;
    const { place } = this.#op;
    if (place.kind !== "surface") throw new Error("an access by its address has no surface");
    const value = this.#chunk.value(place.surface);
    if (value.kind !== "uniform") throw new Unsupported("a surface that is not the same in all lanes");
    const asked = writer.local("i32");
    writer.assign([{ local: asked, value: value.scalar }]);
    writer.get(context);
    writer.memory("i32.load", 4, this.#checks.objects.recordAt(this.#record));
    // In the record, 0 stands for no surface.
    writer.value(wasm.op("i32.add", wasm.local("i32", asked), wasm.i32(1)));
    writer.op("i32.ne");
    writer.if(() => {
      storeEntry(writer, this.#context);
      writer.get(context);
      writer.i32(this.#context.siteOf(index, this.#record));
      writer.get(asked);
      writer.value(bitsOf(mask, lanes));
      callHost(writer, "surface");
    });
    writer.release(asked);
  }
}
