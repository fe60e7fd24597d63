import { genericBases, type WindowName, windows } from "../../ir/index.ts";

/** Function addresses are this far apart; all between two of them are inside the first. */
export const functionStride = 16;

/** Addresses below this count as null plus a member's offset. */
const nullPage = 4096;

const windowNames = Object.keys(windows) as readonly WindowName[];

/** The halves of an address: both unsigned 32-bit numbers. */
export interface AddressParts {
  readonly high: number;
  readonly low: number;
}

/** The state space of an address. `generic`: whether it is a generic address; else it is one within the space. */
export type Classified =
  | { readonly kind: "global"; readonly offset: number }
  | { readonly kind: WindowName; readonly generic: boolean }
  | { readonly kind: "null" }
  | { readonly kind: "unknown" };

/** The address space of a device, with addresses of 32 or 64 bits. */
export class AddressSpace {
  readonly size: 32 | 64;
  /** The amount to add to an address within a window's space to make it generic. */
  readonly window: bigint;
  /** The upper half of global addresses and of the windows' generic addresses. */
  readonly globalHigh: number;
  readonly windowHigh: number;
  /** The address of offset 0 of device memory, without the upper half. */
  readonly globalLow: number;

  constructor(size: 32 | 64) {
    const { global, window } = genericBases[size];
    this.size = size;
    this.window = window;
    this.windowHigh = parts(window).high;
    ({ high: this.globalHigh, low: this.globalLow } = parts(global));
  }

  /** The address of an offset in device memory. */
  global(offset: number): bigint {
    return (BigInt(this.globalHigh) << 32n) + BigInt(this.globalLow + offset);
  }

  /** The generic address of an address within a window's space. */
  generic({ high, low }: AddressParts): AddressParts {
    return { high: (high + this.windowHigh) >>> 0, low };
  }

  /** The offset in device memory of an address; null of one that is not global. */
  offset(high: number, low: number): number | null {
    const isGlobal = high === this.globalHigh && (this.size === 64 || low >= this.globalLow);
    return isGlobal ? low - this.globalLow : null;
  }

  /** Returns the state space in which an address lies. */
  classify({ high, low }: AddressParts): Classified {
    const offset = this.offset(high, low);
    if (offset !== null) return { kind: "global", offset };
    if (high === 0 && low < nullPage) return { kind: "null" };
    if (high === 0 || high === this.windowHigh) {
      for (const name of windowNames) {
        if (low >= windows[name].from && low < windows[name].end) {
          return { kind: name, generic: high === this.windowHigh };
        }
      }
    }
    return { kind: "unknown" };
  }
}

export const parts = (address: bigint): AddressParts => ({
  high: Number(BigInt.asUintN(32, address >> 32n)),
  low: Number(BigInt.asUintN(32, address)),
});

export const hex = ({ high, low }: AddressParts): string =>
  high === 0 ? `0x${low.toString(16)}` : `0x${high.toString(16)}${low.toString(16).padStart(8, "0")}`;
