import type { Wasm } from "../../wasm/index.ts";
import { byLastOperand } from "../constant-operand.ts";
import type { Form } from "../form.ts";

/** Adds 66-bit numbers, each held in two 64-bit words. */
function sum({ doubles: l }: Form, flags: number, [a, b]: readonly Wasm[]): Wasm {
  const zero = l.integer(0n);
  const signOf = (x: Wasm): Wasm => l.shrS(x, 63);
  /** Negation is the complement plus 1, which carries into the high part if the low part is 0. */
  const wide = (x: Wasm, unsigned: boolean, negative: boolean): readonly [Wasm, Wasm] => {
    const high = unsigned ? zero : signOf(x);
    if (!negative) return [x, high];
    return [l.minus(zero, x), l.minus(l.xor(high, l.integer(-1n)), l.mask(l.same(x, zero)))];
  };
  const [aLow, aHigh] = wide(a!, (flags & 1) !== 0, (flags & 4) !== 0);
  const [bLow, bHigh] = wide(b!, (flags & 2) !== 0, (flags & 8) !== 0);
  const low = l.plus(aLow, bLow);
  const flipped = (x: Wasm): Wasm => l.xor(x, l.integer(-(2n ** 63n)));
  const high = l.minus(l.plus(aHigh, bHigh), l.mask(l.less(flipped(low), flipped(aLow))));
  const unsigned = (flags & 16) !== 0;
  const bound = l.xor(signOf(high), l.integer(unsigned ? -1n : 2n ** 63n - 1n));
  return l.select(l.same(high, unsigned ? zero : signOf(low)), low, bound);
}

export const clampedSum = byLastOperand("i64.add_clamped", ["i64", "i64", "i32"], "i64", sum);
