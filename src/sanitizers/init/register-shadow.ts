import type { Register } from "../../ir/index.ts";
import { cut, isDefined, type Shade } from "./shade.ts";

const kept: Shade = { low: 0, high: 0, origin: 0 };

/** The undefined bits of a function's registers, by lane. */
export class RegisterShadow {
  /** By register, the lanes in which it has undefined bits. */
  readonly lanes: Int32Array;
  readonly #registers: readonly Register[];
  /** By register, the lanes that the arrays below describe. In other lanes with undefined bits it was never written. */
  readonly #known: Int32Array;
  #bits: Int32Array | null = null;
  #origins: Uint16Array | null = null;

  constructor(registers: readonly Register[]) {
    this.#registers = registers;
    this.lanes = new Int32Array(registers.length);
    this.#known = new Int32Array(registers.length);
  }

  /** Resets it to the beginning of an activation: nothing is written. */
  forget(): void {
    this.lanes.fill(-1);
    this.#known.fill(0);
  }

  define(register: number, mask: number): void {
    this.lanes[register]! &= ~mask;
  }

  read(register: number, lane: number, into: Shade): void {
    into.low = into.high = into.origin = 0;
    if (((this.lanes[register]! >>> lane) & 1) === 0) return;
    const at = register * 32 + lane;
    if (((this.#known[register]! >>> lane) & 1) === 0) {
      into.low = into.high = -1;
      cut(into, this.#registers[register]!.bits);
      return;
    }
    into.low = this.#bits![2 * at]!;
    into.high = this.#bits![2 * at + 1]!;
    into.origin = this.#origins![at]!;
  }

  write(register: number, lane: number, shade: Shade): void {
    const bit = 1 << lane;
    kept.low = shade.low;
    kept.high = shade.high;
    cut(kept, this.#registers[register]!.bits);
    if (isDefined(kept)) {
      this.lanes[register]! &= ~bit;
      return;
    }
    const count = this.lanes.length;
    const bits = (this.#bits ??= new Int32Array(count * 64));
    const origins = (this.#origins ??= new Uint16Array(count * 32));
    const at = register * 32 + lane;
    bits[2 * at] = kept.low;
    bits[2 * at + 1] = kept.high;
    origins[at] = shade.origin;
    this.lanes[register]! |= bit;
    this.#known[register]! |= bit;
  }
}
