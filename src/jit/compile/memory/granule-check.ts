import { genericBases } from "../../../ir/index.ts";
import { type Wasm, wasm } from "../../../wasm/index.ts";
import { granule } from "../../abi/extent-table.ts";
import type { AccessGroup, ByteRange } from "../analysis/access/access-groups.ts";
import type { Chunk } from "../emit/chunk.ts";
import { anyOf } from "../lanes/mask-bits.ts";
import { type Mask, bothMasks } from "../lanes/mask.ts";
import { i64 } from "../lanes/scalar.ts";
import type { Vector } from "../lanes/value.ts";
import { inAllocationsName } from "../module/allocated-granules.ts";
import type { FunctionContext } from "../module/function-context.ts";
import { bitsOf } from "./address-lookup.ts";
import type { KnownObject } from "./known-object.ts";
import { quadAddresses, wrongBits } from "./quad-addresses.ts";

/**
 * The check of an access of which nothing is known but that it may be in global memory: as of a pointer that has been
 * loaded. If its lanes are not all in the object that it has found last, the map of allocated granules says whether
 * each is in some allocation.
 */
export class GranuleCheck {
  readonly #chunk: Chunk;
  readonly #context: FunctionContext;

  constructor(chunk: Chunk, context: FunctionContext) {
    this.#chunk = chunk;
    this.#context = context;
  }

  /** Whether accesses of a group can be checked like this. */
  suits({ access, surface, range, address }: AccessGroup): boolean {
    if (surface !== null) return false;
    const { unit } = this.#context;
    if (unit.isTerse || !unit.accessHelpers.knowsAllocations) return false;
    const isScattered = this.#chunk.analysis.shape(address.base).kind === "vector";
    const isGlobal = access.space === "global" || access.space === "generic";
    return isScattered && isGlobal && range.size <= 1 << (granule.bits - 2);
  }

  /** An object as one of global memory, where it is known what makes addresses bytes of memory. */
  placed(object: KnownObject): KnownObject {
    return { ...object, delta: this.#delta };
  }

  get #delta(): Wasm {
    return wasm.i32(this.#context.unit.facts.globals.delta);
  }

  /**
   * Writes the check for the lanes of a mask, after another in `ok` has failed. Returns whether all are in allocations,
   * as a local. `last`: the object that the access has found last, none at first: then it is to be looked up.
   */
  write(
    range: ByteRange,
    { ok, base, last }: { readonly ok: Wasm; readonly base: Vector; readonly last: KnownObject },
    mask: Mask,
  ): number {
    const { writer, lanes } = this.#chunk;
    const { context, unit } = this.#context;
    const holds = writer.local("i32");
    writer.value(wasm.op("i32.and", wasm.op("i32.eqz", ok), wasm.op("i64.ne", last.bytes, i64(0))));
    writer.expect(false);
    writer.if(
      () => {
        const addresses = quadAddresses(base, range.offset, range.align);
        const high = wasm.i32x4(Number(genericBases[unit.facts.addressSize].global >> 32n));
        const wrong = wrongBits(addresses, high);
        writer.get(context);
        writer.i32(range.size);
        for (const { words } of addresses)
          writer.value(wasm.op("i32x4.add", words, wasm.op("i32x4.splat", this.#delta)));
        writer.call(unit.accessHelpers.named(inAllocationsName, lanes));
        writer.i32(-1);
        writer.op("i32.xor");
        writer.value(bitsOf(mask, lanes));
        writer.op("i32.and");
        if (wrong.length > 0) {
          writer.value(anyOf(bothMasks(wrong, mask)!));
          writer.op("i32.or");
        }
        writer.op("i32.eqz");
        writer.set(holds);
      },
      () => writer.assign([{ local: holds, value: wasm.i32(0) }]),
    );
    return holds;
  }
}
