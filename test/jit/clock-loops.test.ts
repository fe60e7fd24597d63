import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const wrap = (body: string): string => `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p; .reg .u32 %n; .reg .u64 %start, %now, %out;
  ld.param.u64 %out, [out];
  mov.u64 %start, %globaltimer;
  ${body}
  st.u64 [%out], %now;
  ret;
}
`;

/** Waits for a thousand ticks. */
const waits = wrap(
  "again: mov.u64 %now, %globaltimer; sub.u64 %now, %now, %start; setp.lt.u64 %p, %now, 1000; @%p bra again;",
);

/** Reads the clock, four times. */
const counts = wrap(
  "mov.u32 %n, 4; again: mov.u64 %now, %globaltimer; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;",
);

// Others have their turn meanwhile: the host asks whether a stream is ready, and blocks wait at the same time.
test.each([
  ["until so much time has passed", waits, true],
  ["a number of times", counts, false],
])("a loop that reads the clock %s", (_, text, mayWait) => {
  const device = new Device();
  const kernel = device.load(text).kernel("k");
  const options = { grid: 2, block: 32, args: [device.buffer("u64", 1)], hostClock: true };
  expect(kernel.mayWait(options)).toBe(mayWait);
  expect(kernel.launch(options)).toMatchObject({ ok: true, interpreted: null });
});
