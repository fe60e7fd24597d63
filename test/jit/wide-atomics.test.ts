import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const [grid, block, rounds] = [96, 64, 40];

/** Every thread adds 1 to the low half of a number of 128 bits and 3 to the high one, again and again. */
const text = `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b64 %out, %low, %high, %nextLow, %nextHigh, %seenLow, %seenHigh; .reg .b128 %old, %new, %seen;
.reg .pred %p, %q; .reg .b32 %i;
ld.param.u64 %out, [out]; mov.u32 %i, ${rounds}; mov.b64 %low, 0; mov.b64 %high, 0;
again: add.u64 %nextLow, %low, 1; add.u64 %nextHigh, %high, 3;
mov.b128 %old, {%low, %high}; mov.b128 %new, {%nextLow, %nextHigh};
atom.global.cas.b128 %seen, [%out], %old, %new;
mov.b128 {%seenLow, %seenHigh}, %seen;
setp.eq.u64 %p, %seenLow, %low; setp.eq.and.u64 %p, %seenHigh, %high, %p;
mov.b64 %low, %seenLow; mov.b64 %high, %seenHigh;
@!%p bra again;
sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra again;
ret;
}`;

test.each([1, 2])("numbers of 128 bits change as a whole, in %d threads of the host", (hostThreads) => {
  const device = new Device({ hostThreads });
  const out = device.buffer(new BigUint64Array(2));
  const { ok, engine } = device
    .load(text)
    .kernel("k")
    .launch({ grid, block, args: [out] });
  const added = BigInt(grid * block * rounds);
  expect({ ok, engine, sums: [...out.read()] }).toEqual({ ok: true, engine: "jit", sums: [added, 3n * added] });
});
