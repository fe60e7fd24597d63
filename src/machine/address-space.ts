/**
 * Where each state space lies. Within its own space a variable of a window has a 32-bit address; its generic address has
 * the window's upper half on top. A global address is the same in both. In a 32-bit module the upper half is nothing, and
 * global memory is the upper 2 GiB. The ranges are disjoint, so a wrong space, a null and a stray pointer differ.
 */
export const windows = {
  shared: { start: 0x0100_0000, end: 0x2000_0000 },
  local: { start: 0x2000_0000, end: 0x3000_0000 },
  const: { start: 0x3000_0000, end: 0x4000_0000 },
  "kernel-param": { start: 0x4000_0000, end: 0x5000_0000 },
  function: { start: 0x5000_0000, end: 0x6000_0000 },
} as const;

type WindowName = keyof typeof windows;

/** Function addresses are this far apart; all between two of them are inside the first. */
export const functionStride = 16;

/** Addresses below this are taken for null plus a member's offset. */
const nullPage = 4096;

/** The halves of an address: both unsigned 32-bit numbers. */
export interface AddressParts {
  readonly high: number;
  readonly low: number;
}

export type Classified =
  | { readonly kind: "global"; readonly offset: number }
  | { readonly kind: WindowName; readonly generic: boolean }
  | { readonly kind: "null" }
  | { readonly kind: "unknown" };

export class AddressSpace {
  readonly size: 32 | 64;
  /** The upper half of global addresses and of the windows' generic addresses. */
  readonly globalHigh: number;
  readonly windowHigh: number;
  /** The address of offset 0 of device memory, without the upper half. */
  readonly globalLow: number;

  constructor(size: 32 | 64) {
    this.size = size;
    this.globalHigh = size === 64 ? 0x7f00 : 0;
    this.windowHigh = size === 64 ? 0x7f10 : 0;
    this.globalLow = size === 64 ? 0 : 0x8000_0000;
  }

  /** What is added to an address within a window's space to make it generic. */
  get window(): bigint {
    return BigInt(this.windowHigh) << 32n;
  }

  /** The address of an offset in device memory. */
  global(offset: number): bigint {
    return (BigInt(this.globalHigh) << 32n) + BigInt(this.globalLow + offset);
  }

  classify({ high, low }: AddressParts): Classified {
    if (high === this.globalHigh && (this.size === 64 || low >= this.globalLow)) {
      return { kind: "global", offset: low - this.globalLow };
    }
    if (high === 0 && low < nullPage) return { kind: "null" };
    if (high === 0 || high === this.windowHigh) {
      for (const name of Object.keys(windows) as WindowName[]) {
        if (low >= windows[name].start && low < windows[name].end) {
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
