import type { Access } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { findableFor } from "../../abi/extent-table.ts";
import { addressOf, bytesOf } from "../analysis/access/access-groups.ts";
import type { Chunk } from "../emit/chunk.ts";
import { fullAddresses } from "../emit/lane-addresses.ts";
import { allBits, laneBits } from "../lanes/mask-bits.ts";
import type { Mask } from "../lanes/mask.ts";
import { extended } from "../lanes/scalar.ts";
import { findName, spreadName } from "../module/access-helpers.ts";
import { type FunctionContext, storeEntry } from "../module/function-context.ts";
import { callHost } from "../module/host-calls.ts";

/**
 * Looks up the addresses of lanes one by one: in the object that the instruction found last, then in the tables of
 * extents, then by asking the launcher.
 */
export class AddressLookup {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;
  readonly #recordOf: (instruction: number) => number;
  readonly #sites = new Map<number, number>();

  /** `recordOf`: the record that the launcher keeps for an instruction. */
  constructor(chunk: Chunk, context: FunctionContext, recordOf: (instruction: number) => number) {
    this.#chunk = chunk;
    this.#context = context;
    this.#recordOf = recordOf;
  }

  /** Leaves the byte offsets of the lanes of a mask in the context, or ends the launch. */
  lookUp(index: number, access: Access, address: Expr, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    const { context, unit } = this.#context;
    const record = this.#recordOf(index);
    let site = this.#sites.get(index);
    if (site === undefined) this.#sites.set(index, (site = this.#context.siteOf(index, record)));
    this.#spread(address);
    storeEntry(writer, this.#context);
    writer.get(context);
    writer.i32(record);
    writer.i32(site);
    writer.value(bitsOf(mask, lanes));
    writer.i32(bytesOf(access));
    writer.i32(access.align);
    writer.i32(this.#findableFor(index));
    writer.call(unit.accessHelpers.named(findName));
  }

  /** The spaces in whose tables code searches: none for a surface, beyond which another allocation may lie. */
  #findableFor(index: number): number {
    const { op } = this.#chunk.analysis.code.instructions[index]!;
    if (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") return 0;
    const isInSurface = op.place.kind === "surface" || op.place.surface !== undefined;
    return isInSurface ? 0 : findableFor(op.access.space, op.kind !== "load");
  }

  /** The same for an element of an access to a surface, which ends where the access need not. */
  lookUpElement(index: number, element: number, address: Expr, mask: Mask): void {
    const { writer, lanes } = this.#chunk;
    this.#spread(address);
    storeEntry(writer, this.#context);
    writer.get(this.#context.context);
    writer.i32(this.#context.siteOf(index, this.#recordOf(index), element));
    writer.value(bitsOf(mask, lanes));
    callHost(writer, "translate");
  }

  /** Loads the offset found for the first lane of a mask into a local. */
  loadFirstOffset(mask: Mask, into: number): void {
    const { writer, lanes } = this.#chunk;
    const { context, layout } = this.#context;
    const first = wasm.op("i32.and", wasm.op("i32.ctz", bitsOf(mask, lanes)), wasm.i32(lanes - 1));
    writer.value(wasm.op("i32.add", wasm.local("i32", context), wasm.op("i32.shl", first, wasm.i32(2))));
    writer.memory("i32.load", 4, layout.places);
    writer.set(into);
  }

  /** Loads all offsets that were found, into a local for each quad. */
  loadOffsets(into: readonly number[]): void {
    const { writer } = this.#chunk;
    const { context, layout } = this.#context;
    into.forEach((local, q) => {
      writer.get(context);
      writer.memory("v128.load", 16, layout.places + q * 16);
      writer.set(local);
    });
  }

  /** Stores the addresses of all lanes in the context. */
  #spread(address: Expr): void {
    const { writer } = this.#chunk;
    const { context, unit } = this.#context;
    const value = this.#chunk.value(address);
    writer.get(context);
    switch (value.kind) {
      case "uniform":
        writer.value(value.scalar.ty === "i64" ? value.scalar : extended(value.scalar));
        writer.i64(0n);
        writer.call(unit.accessHelpers.named(spreadName.affine));
        return;
      case "affine":
        writer.value(value.base);
        if (value.ty === "i64") writer.i64(BigInt(value.stride));
        else writer.i32(value.stride);
        writer.call(unit.accessHelpers.named(value.ty === "i64" ? spreadName.affine : spreadName.affine32));
        return;
      case "indexed":
        if (value.index.kind !== "affine") break;
        writer.value(value.base);
        writer.value(value.index.base);
        writer.i32(value.index.stride);
        writer.i64(BigInt(value.scale));
        writer.call(unit.accessHelpers.named(value.signed ? spreadName.signed : spreadName.unsigned));
        return;
    }
    // The constant part is added in the helper, to keep this code small: there is much of it, and it rarely runs.
    const { base, offset } = address.ty === "i64" ? addressOf(address) : { base: address, offset: 0 };
    writer.i64(BigInt(offset));
    for (const part of fullAddresses(this.#chunk, base).quads.flat()) writer.value(part);
    writer.call(unit.accessHelpers.named(spreadName.each, this.#chunk.lanes));
  }
}

/** The bits of a mask; null stands for all lanes. */
export const bitsOf = (mask: Mask, lanes: number): Wasm => (mask === null ? allBits(lanes) : laneBits(mask));
