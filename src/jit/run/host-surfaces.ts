import type { Access } from "../../ir/index.ts";
import { accessBytes, accessFault } from "../../machine/faults/access-fault.ts";
import type { Fault } from "../../machine/faults/fault.ts";
import { locate, type Place } from "../../machine/faults/locate.ts";
import { type AddressParts, parts } from "../../machine/memory/address-space.ts";
import type { CallFrame, Grid } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import type { Surface } from "../../machine/state/thread-model.ts";
import { boundSurface, surfaceBytes } from "../../program/surfaces.ts";
import type { CompiledKernel } from "../abi/compiled-kernel.ts";
import { recordBytes } from "../abi/context-layout.ts";
import { oneLaneOf } from "./work-item-lookup.ts";

/** An access through a surface, in the lanes of a mask. */
interface Attempt {
  readonly context: number;
  readonly site: Site;
  readonly x: CallFrame;
  readonly mask: number;
  readonly record: number;
}

/** An element of an access that is looked up. */
interface Lookup {
  readonly element: number;
  /** The lane of its thread that is the first of the chunk. */
  readonly first: number;
  /** The index of the surface where code has addresses, not offsets; null: the record has it. */
  readonly surface: number | null;
}

/** The launcher's side of accesses through surfaces (vISA). */
export class HostSurfaces {
  readonly #grid: Grid;
  readonly #kernel: CompiledKernel;
  /** The byte of memory at which a place begins. */
  readonly #byteOf: (context: number, place: Place) => number;

  constructor(grid: Grid, kernel: CompiledKernel, byteOf: (context: number, place: Place) => number) {
    this.#grid = grid;
    this.#kernel = kernel;
    this.#byteOf = byteOf;
  }

  /**
   * Notes where the surface with an index lies, if that is within one allocation; else every access is looked up.
   *
   * @throws Fault where no surface has the index
   */
  find(attempt: Attempt & { readonly index: number }): void {
    const { context, record, x, index } = attempt;
    const { address, bytes } = this.#surface(attempt, index >>> 0);
    const base = parts(address);
    const { i32 } = this.#grid.memory.views;
    const at = this.#recordAt(context, record);
    i32[at] = index + 1;
    const around = locate(x, 0, base);
    const isWhole = around !== null && !around.freed && base.low + bytes <= around.end && base.low % 8 === 0;
    i32[at + 2] = isWhole ? bytes : 0;
    i32[at + 3] = isWhole ? this.#byteOf(context, around) + base.low - around.start : 0;
  }

  /**
   * Finds the bytes of memory of one element in each lane. Beyond the end of the surface loads find zeros, and stores
   * are dropped. An access that is not allowed ends the launch. Returns where code that has addresses has found the
   * surface, and the upper half of its address there; null if it has not.
   */
  translate(attempt: Attempt & Lookup): { readonly place: Place; readonly high: number } | null {
    const { context, site, x, mask, first, record, element } = attempt;
    const { op } = site.instruction;
    if (op.kind !== "load" && op.kind !== "store" && op.kind !== "atomic") throw new Error(`${op.kind} has no surface`);
    const { layout, lanes } = this.#kernel;
    const { i32, i64 } = this.#grid.memory.views;
    const index = attempt.surface ?? i32[this.#recordAt(context, record)]! - 1;
    const { address, bytes } = this.#surface({ ...attempt, mask: mask << first }, index);
    const base = parts(address);
    const whole: Access = { ...op.access, space: "generic" };
    const size = whole.bits / 8;
    const single: Access = { ...whole, count: 1, align: Math.min(whole.align, size) };
    let failed: Fault | null = null;
    let failedLanes = 0;
    let last: { readonly place: Place; readonly high: number } | null = null;
    for (let lane = 0; lane < lanes; lane++) {
      const at = (context + layout.places + 4 * lane) >>> 2;
      // Elements outside the surface lie where the offset was: zeros, and what is stored there is never read.
      const outside = context + layout.addresses + 8 * lane;
      const offset = attempt.surface === null ? i32[outside >>> 2]! >>> 0 : Number(i64[outside >>> 3]! - address);
      i64[outside >>> 3] = 0n;
      i32[at] = outside;
      if ((mask & (1 << lane)) === 0) continue;
      const isWhole = offset + accessBytes(whole) <= bytes;
      if (!isWhole && offset + (element + 1) * size > bytes) continue;
      const access = isWhole ? whole : single;
      const found = sum(base, isWhole ? offset : offset + element * size);
      const place = locate(x, first + lane, found);
      const fault = accessFault({ x, lane: first + lane, site, effect: op.kind, access, address: found, place });
      if (fault !== null) {
        failed ??= fault;
        if (fault.code === failed.code) failedLanes |= fault.lanes;
      } else {
        const within = found.low - place!.start + (isWhole ? element * size : 0);
        i32[at] = this.#byteOf(context, place!) + within;
        last = { place: place!, high: found.high };
      }
    }
    const only = oneLaneOf(site);
    if (failed !== null) throw failed.inLanes(only === null ? failedLanes : 1 << only);
    return attempt.surface === null ? null : last;
  }

  #recordAt(context: number, record: number): number {
    return (context + this.#kernel.layout.sites + record * recordBytes) >>> 2;
  }

  /** The memory of the surface with an index. Throws a fault where no surface has it. */
  #surface({ site, x, mask }: Attempt, index: number): Surface {
    const surface = boundSurface(this.#grid, index, { site, activation: x, lanes: mask });
    return { address: surface.address, bytes: surfaceBytes(this.#grid, surface) };
  }
}

const sum = ({ high, low }: AddressParts, offset: number): AddressParts =>
  low + offset > 0xffff_ffff ? { high: high + 1, low: low + offset - 2 ** 32 } : { high, low: low + offset };
