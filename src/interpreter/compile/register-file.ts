import type { ByteFile, Register, RegisterClass } from "../../ir/index.ts";
import { byteOf, type Lanes, strideOf } from "../../ir/region.ts";
import type { RegionLeaf, Ty } from "../../semantics/index.ts";

/**
 * Where a register's lanes lie in an activation's file: `base` counts elements of its size (4 bytes for `b32`, 8 for
 * `b64`) for lane 0, the other lanes follow; a predicate is one 32-bit word, a bit per lane.
 */
export interface Slot {
  readonly class: RegisterClass;
  readonly base: number;
  readonly bits: number;
}

const slotBytes = 256;

const roundUp = (bytes: number): number => Math.ceil(bytes / slotBytes) * slotBytes;

/**
 * The layout of a function's registers, then the byte file of a vISA function, then temporaries, in which instructions
 * keep operands that are expressions. A temporary lives as long as one instruction.
 */
export class RegisterFile {
  readonly slots: readonly Slot[];
  /** Bytes of the registers proper and of the byte file. */
  readonly cleanBytes: number;
  /** Where the byte file begins, or -1; and its size. */
  readonly byteFileAt: number;
  readonly byteFileBytes: number;
  #temporaries = 0;
  #max = 0;

  constructor(registers: readonly Register[], byteFile?: ByteFile) {
    const count = { pred: 0, b32: 0, b64: 0 };
    for (const r of registers) count[r.class]++;
    const start = { b64: 0, b32: count.b64 * 64, pred: (count.b64 * 2 + count.b32) * 32 };
    const used = { pred: 0, b32: 0, b64: 0 };
    const stride = { pred: 1, b32: 32, b64: 32 };
    this.slots = registers.map(({ class: c, bits }) => ({
      class: c,
      base: start[c] + stride[c] * used[c]++,
      bits,
    }));
    const registerBytes = (start.pred + count.pred) * 4;
    this.byteFileAt = byteFile === undefined ? -1 : roundUp(registerBytes);
    this.byteFileBytes = byteFile?.bytes ?? 0;
    this.cleanBytes = byteFile === undefined ? registerBytes : this.byteFileAt + Math.ceil(byteFile.bytes / 4) * 4;
  }

  get bytes(): number {
    return this.#start + this.#max * slotBytes;
  }

  slot(register: number): Slot {
    return this.slots[register]!;
  }

  temporary(ty: Ty): Slot {
    const at = this.#start + this.#temporaries++ * slotBytes;
    this.#max = Math.max(this.#max, this.#temporaries);
    if (ty === "pred") return { class: "pred", base: at / 4, bits: 1 };
    return ty === "i64" || ty === "f64"
      ? { class: "b64", base: at / 8, bits: 64 }
      : { class: "b32", base: at / 4, bits: 32 };
  }

  /** A region whose elements are consecutive, lane by lane, as a register; else null. */
  slotOf({ region, bits }: Pick<RegionLeaf, "region" | "bits">, lanes: Lanes): Slot | null {
    if (bits < 32 || (strideOf(region, lanes) !== 1 && lanes.count > 1)) return null;
    const at = this.byteFileAt + byteOf(region, bits, lanes.first);
    if (at % (bits / 8) !== 0) return null;
    return { class: bits === 64 ? "b64" : "b32", base: at / (bits / 8) - lanes.first, bits };
  }

  /** A temporary as a region, for expressions to read. */
  leafOf({ class: c, base, bits }: Slot, ty: RegionLeaf["ty"]): RegionLeaf {
    const at = base * (c === "b64" ? 8 : 4) - this.byteFileAt;
    const region = { at, first: 0, vertical: 1, width: 1, horizontal: 0 };
    return { kind: "region", ty, bits: bits === 64 ? 64 : 32, signed: false, region };
  }

  /** The next instruction may use the same temporaries. */
  freeTemporaries(): void {
    this.#temporaries = 0;
  }

  get #start(): number {
    return roundUp(this.cleanBytes);
  }
}
