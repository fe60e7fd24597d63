import type { Register, RegisterClass } from "../ir/index.ts";
import type { Ty } from "../semantics/index.ts";

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

/**
 * The layout of a function's registers, and behind them temporaries, in which instructions keep operands that are
 * expressions. Temporaries live as long as one instruction.
 */
export class RegisterFile {
  readonly slots: readonly Slot[];
  /** Bytes of the registers proper. */
  readonly cleanBytes: number;
  #temporaries = 0;
  #most = 0;

  constructor(registers: readonly Register[]) {
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
    this.cleanBytes = (start.pred + count.pred) * 4;
  }

  get bytes(): number {
    return this.#start + this.#most * slotBytes;
  }

  slot(register: number): Slot {
    return this.slots[register]!;
  }

  temporary(ty: Ty): Slot {
    const at = this.#start + this.#temporaries++ * slotBytes;
    this.#most = Math.max(this.#most, this.#temporaries);
    if (ty === "pred") return { class: "pred", base: at / 4, bits: 1 };
    return ty === "i64" || ty === "f64"
      ? { class: "b64", base: at / 8, bits: 64 }
      : { class: "b32", base: at / 4, bits: 32 };
  }

  /** The next instruction may use the same temporaries. */
  freeTemporaries(): void {
    this.#temporaries = 0;
  }

  get #start(): number {
    return Math.ceil(this.cleanBytes / slotBytes) * slotBytes;
  }
}
