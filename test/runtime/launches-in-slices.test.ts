import { expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const text = `.version 7.0
.target sm_70
.address_size 64
.visible .entry waits(.param .u64 flag) {
  .reg .pred %p; .reg .u32 %r; .reg .u64 %flag;
  ld.param.u64 %flag, [flag];
again: ld.volatile.u32 %r, [%flag]; setp.eq.u32 %p, %r, 0; @%p bra again;
  ret;
}
.visible .entry sets(.param .u64 flag) {
  .reg .u64 %flag;
  ld.param.u64 %flag, [flag];
  st.volatile.u32 [%flag], 1;
  ret;
}
`;

/** Launches a kernel, and in another stream one that it waits for. */
async function both(options: object) {
  const told: string[][] = [];
  const device = new Device();
  device.memory.pending.onLongWait = (...names) => told.push(names);
  const [module, flag] = [device.load(text), device.buffer("u32", 1)];
  const all = { grid: 1, block: 1, args: [flag], ...options };
  const launch = (name: string) => module.kernel(name).launchAsync({ ...all, stream: device.stream() });
  const [waits, sets] = await Promise.all([launch("waits"), launch("sets")]);
  return { waits: waits.ok, sets: sets.ok, told };
}

test.each([[{ engine: "interpreter" }], [{ seed: 3 }]])(
  "a kernel waits for one of another stream, with %j",
  async (o) => {
    expect(await both({ ...o, timeoutMs: 20_000 })).toEqual({ waits: true, sets: true, told: [] });
  },
);

// Observers may be the same for both.
test("a kernel that is watched does not, and that is told", async () => {
  const watched = { seed: 3, sanitize: ["race"], timeoutMs: 11_000 };
  expect(await both(watched)).toEqual({ waits: false, sets: true, told: [["sets", "waits"]] });
}, 30_000);
