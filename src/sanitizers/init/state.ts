import { lowestLane } from "../../ir/lane-mask.ts";
import type { Destination, FileTarget } from "../../ir/index.ts";
import { byteOf } from "../../ir/region.ts";
import type { LaneEvent } from "../../machine/events.ts";
import { Fault } from "../../machine/faults/fault.ts";
import type { Activation, Warp } from "../../machine/state/launch-state.ts";
import type { Site } from "../../machine/state/code.ts";
import { ActivationShadow, fileName } from "./activation-shadow.ts";
import { LaneReader } from "./lane-reader.ts";
import { MemoryShadow } from "./memory-shadow.ts";
import { computed, Origins, placeOf } from "./origins.ts";
import type { Leaf, Plan } from "./reads.ts";
import { cut, type Shade } from "./shade.ts";

/** The undefined bits of one value of an instruction, by lane. */
export class LaneShades {
  /** The lanes in which any bit is undefined. */
  lanes = 0;
  readonly #shades: readonly Shade[] = Array.from({ length: 32 }, () => ({ low: 0, high: 0, origin: 0 }));

  put(lane: number, { low, high }: Shade, origin: number): void {
    const shade = this.#shades[lane]!;
    shade.low = low;
    shade.high = high;
    shade.origin = origin;
    this.lanes |= 1 << lane;
  }

  of(lane: number): Shade {
    return this.#shades[lane]!;
  }
}

/** All that is undefined in a running launch. */
export class InitState {
  readonly memory = new MemoryShadow();
  readonly origins = new Origins();
  readonly reader = new LaneReader();
  readonly #activations = new WeakMap<Activation, ActivationShadow>();
  #last: Activation | null = null;
  #lastShadow!: ActivationShadow;
  /** By warp and origin, the lanes that have been reported. */
  readonly #reported = new WeakMap<Warp, Map<number, number>>();

  shadowOf(x: Activation): ActivationShadow {
    if (x === this.#last) return this.#lastShadow;
    let shadow = this.#activations.get(x.within ?? x);
    if (shadow === undefined) this.#activations.set(x.within ?? x, (shadow = new ActivationShadow(x.code)));
    this.#last = x;
    this.#lastShadow = shadow;
    return shadow;
  }

  beginWarp(warp: Warp): void {
    this.#reported.set(warp, new Map());
  }

  /** The origin of what the reader has read last; if it has none, this is its first read. */
  originOf(site: Site, x: Activation): number {
    const { leaf, computed: more } = this.reader;
    const origin = this.reader.origin || this.origins.number(site, x, () => leafName(x, leaf, this.reader));
    return more ? computed(origin) : origin;
  }

  define(shadow: ActivationShadow, x: Activation, { targets }: Plan, dst: readonly Destination[], mask: number): void {
    for (let i = 0; i < dst.length; i++) {
      const to = dst[i]!;
      if (to === null) continue;
      if (typeof to === "number") shadow.registers.define(to, mask);
      else if (to.kind === "region") shadow.defineElements(targets[i]!, mask);
      else this.#defineComputed(shadow, x, to, mask);
    }
  }

  #defineComputed(shadow: ActivationShadow, x: Activation, to: FileTarget, mask: number): void {
    for (let m = mask; m !== 0; m &= m - 1) {
      const lane = lowestLane(m);
      this.reader.at(shadow, x, lane, mask);
      this.write(shadow, to, lane, { low: 0, high: 0, origin: 0 });
    }
  }

  /** Writes a result. The address of a computed place is read by `reader`, which is at the lane. */
  write(shadow: ActivationShadow, to: Exclude<Destination, null>, lane: number, shade: Shade): void {
    if (typeof to === "number") {
      shadow.registers.write(to, lane, shade);
      return;
    }
    const at =
      to.kind === "region" ? byteOf(to.region, to.bits, lane) : (this.reader.value(to.address) as number) >>> 0;
    const bytes = to.bits / 8;
    if (shadow.file === null || at < 0 || at + bytes > shadow.file.size) return;
    const kept = { ...shade };
    cut(kept, to.bits);
    shadow.file.write(at, bytes, kept);
  }

  /**
   * Reports that something depends on an undefined value. `ends`: the run cannot usefully go on.
   *
   * @throws Fault when it ends the launch
   */
  matters({ warp, activation, site, mask }: LaneEvent, origin: number, role: string, ends = false): void {
    const found = this.origins.get(origin);
    const isResult = found.unspecified !== null;
    const code = found.unspecified ?? "uninitialized-read";
    const message = `${found.message} ${role}`;
    const help = isResult
      ? "test the operands first, or leave the result unused"
      : "write it on every way that leads here";
    const notes = found.site === site ? [] : [`it is ${role} in \`${site.code.ir.name}\`, line ${lineOf(site)}`];
    const details = { help, notes, stack: found.stack };
    // A result that is unspecified has a value nevertheless, with which a run goes on.
    const severity = isResult ? "warning" : "error";
    if (ends && !isResult) throw new Fault(code, message, { site: found.site, activation, lanes: mask }, details);
    const reported = this.#reported.get(warp);
    const before = reported?.get(placeOf(origin)) ?? 0;
    const lanes = mask & ~before;
    if (lanes === 0) return;
    reported?.set(placeOf(origin), before | lanes);
    warp.cta.grid.reports.add({ code, severity, message, site: found.site, activation, lanes, ...details });
  }
}

const lineOf = ({ code, instruction }: Site): number => code.ir.source.position(instruction.span.start).line;

function leafName(x: Activation, leaf: Leaf | null, reader: LaneReader): string {
  switch (leaf?.kind) {
    case "reg":
    case "lane-word":
      return `\`${x.code.ir.registers[leaf.reg]!.name}\``;
    case "region":
      return fileName(x, leaf.region.at);
    case "indirect":
      return fileName(x, reader.value(leaf.address) as number);
    default:
      return "memory";
  }
}
