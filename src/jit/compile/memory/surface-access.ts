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
import { type FunctionContext, tellEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";
import type { AccessChecks } from "./access-checks.ts";
import { bitsOf } from "./address-lookup.ts";
import { BoundsCheck } from "./bounds-check.ts";
import type { CheckedAccess } from "./checked-access.ts";

type MemoryOp = Extract<Op, { kind: "load" | "store" | "atomic" }>;

/** What accesses ask where their bytes are: by addresses, or by offsets into surfaces. */
export type OffsetFinder = Pick<AccessChecks, "locate" | "find" | "loadPlace" | "loadPlaces">;

/**
 * Finds where an instruction accesses a surface (vISA), by offsets into it. The launcher notes the surface that the instruction has
 * used last; what does not lie within it as a whole is looked up element by element.
 */
export class SurfaceAccess implements OffsetFinder {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #plain: AccessChecks;
  readonly #op: MemoryOp;
  /** The element that is looked up. */
  readonly #element: number;
  readonly #record: number;

  constructor(chunk: Chunk, context: FunctionContext, plain: AccessChecks, op: MemoryOp, element = 0, record?: number) {
    this.#chunk = chunk;
    this.#context = context;
    this.#plain = plain;
    this.#op = op;
    this.#element = element;
    this.#record = record ?? context.unit.records++;
  }

  /** The same for one of the access's elements. */
  ofElement(element: number): SurfaceAccess {
    return new SurfaceAccess(this.#chunk, this.#context, this.#plain, this.#op, element, this.#record);
  }

  locate(index: number, _active: Mask, mask: Mask): CheckedAccess {
    const { writer } = this.#chunk;
    const { access, place } = this.#op;
    this.#turnTo(index, mask);
    const { reach, locals } = this.#plain.objects.recorded(this.#record);
    const { base, offset } = addressOf(laneAddressOf(place));
    const stretch = { offset, size: bytesOf(access), align: access.align };
    const target = { reach: { ...reach, from: i64(0) }, ahead: null };
    const { ok, places } = new BoundsCheck(this.#chunk, stretch, target).of(this.#chunk.value(base), mask);
    const assignments: { readonly local: number; readonly value: Wasm }[] = [];
    const kept = (value: Wasm): Wasm => {
      const local = writer.local(value.ty);
      assignments.push({ local, value });
      return wasm.local(value.ty, local);
    };
    const there =
      places.kind === "each" ? { ...places, quads: places.quads.map(kept) } : { ...places, at: kept(places.at) };
    const good = kept(ok);
    writer.assign(assignments);
    for (const local of locals) writer.release(local);
    return {
      ok: good,
      rescue: null,
      isNear: true,
      mayAdjoin: false,
      strip: null,
      places: there,
      offset: 0,
      release: () => {
        for (const { local } of assignments) writer.release(local);
      },
    };
  }

  find(index: number, _access: Access, address: Expr, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    const { context, layout } = this.#context;
    fullAddresses(this.#chunk, address)
      .quads.flat()
      .forEach((part, i) => {
        writer.get(context);
        writer.value(part);
        writer.memory("v128.store", 16, layout.addresses + i * 16);
      });
    tellEntry(writer, this.#context);
    writer.get(context);
    writer.i32(this.#context.siteOf(index, this.#record, this.#element));
    writer.value(bitsOf(mask, lanes));
    callHost(writer, "translate");
  }

  loadPlace(mask: Mask, into: number): void {
    this.#plain.loadPlace(mask, into);
  }

  loadPlaces(into: readonly number[]): void {
    this.#plain.loadPlaces(into);
  }

  /** Asks the launcher for the surface, unless it is the one that the record has. */
  #turnTo(index: number, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    const { context } = this.#context;
    const { place } = this.#op;
    if (place.kind !== "surface") throw new Error("an access by its address has no surface");
    const value = this.#chunk.value(place.surface);
    if (value.kind !== "uniform") throw new Unsupported("a surface that is not the same in all lanes");
    const asked = writer.local("i32");
    writer.assign([{ local: asked, value: value.scalar }]);
    writer.get(context);
    writer.memory("i32.load", 4, this.#plain.objects.recordAt(this.#record));
    // 0 stands for no surface.
    writer.value(wasm.op("i32.add", wasm.local("i32", asked), wasm.i32(1)));
    writer.op("i32.ne");
    writer.if(() => {
      tellEntry(writer, this.#context);
      writer.get(context);
      writer.i32(this.#context.siteOf(index, this.#record));
      writer.get(asked);
      writer.value(bitsOf(mask, lanes));
      callHost(writer, "surface");
    });
    writer.release(asked);
  }
}
