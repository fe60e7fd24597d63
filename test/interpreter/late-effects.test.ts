import { describe, expect, test } from "vitest";
import { Device } from "../../src/runtime/index.ts";

/*
 * Asynchronous operations take effect where they are issued; with a seed, as late as the program's waits allow
 * (section 8.9.1.1: they are not ordered with what the thread does next). One thread copies 16 numbers.
 */
const kernel = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b64 %i, %o, %s; .reg .b32 %d, %b, %v; .reg .pred q;
  .shared .align 128 .b8 buf[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.b32 %d, buf; mov.b32 %b, bar;
  mbarrier.init.shared.b64 [%b], 1;
  ${body}
  ret;
}
`;

const load = `mbarrier.arrive.expect_tx.shared.b64 %s, [%b], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%d], [%i], 64, [%b];`;
const wait = `W: mbarrier.try_wait.shared.b64 q, [%b], %s; @!q bra W;`;
const copyOut = `ld.shared.b32 %v, [%d+4]; st.global.b32 [%o], %v;`;

const fill = `mov.b32 %v, 5; st.shared.b32 [%d+4], %v;`;
const overwrite = `mov.b32 %v, 9; st.shared.b32 [%d+4], %v;`;
const store = "cp.async.bulk.global.shared::cta.bulk_group [%o], [%d], 16; cp.async.bulk.commit_group;";

/** By program: what element `at` of the output is by default, and what it is with a seed. */
const programs: Readonly<Record<string, readonly [body: string, at: number, usual: number, late: number]>> = {
  "a load that is waited for": [`${load} ${wait} ${copyOut}`, 0, 8, 8],
  "a load that is not waited for": [`${load} ${copyOut} ${wait}`, 0, 8, 0],
  "a load that nobody waits for": [`${load} ${copyOut}`, 0, 8, 0],
  "a store whose source stays": [`${fill} ${store} cp.async.bulk.wait_group 0;`, 1, 5, 5],
  "a store that nobody waits for": [`${fill} ${store}`, 1, 5, 5],
  "a store whose source changes after it was read": [
    `${fill} ${store} cp.async.bulk.wait_group.read 0; ${overwrite}`,
    1,
    5,
    5,
  ],
  "a store whose source changes too early": [`${fill} ${store} ${overwrite} cp.async.bulk.wait_group 0;`, 1, 5, 9],
  "a store of an earlier group": [
    `${fill} ${store} cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; ${overwrite}`,
    1,
    5,
    5,
  ],
  "a store that is in no group": [
    `${fill} cp.async.bulk.global.shared::cta.bulk_group [%o], [%d], 16; cp.async.bulk.wait_group 0; ${overwrite}`,
    1,
    5,
    9,
  ],
};

describe("asynchronous operations", () => {
  test.each(Object.entries(programs))("%s", (_name, [body, at, usual, late]) => {
    for (const seed of [null, 1, 2, 3]) {
      const device = new Device({ engine: "interpreter" });
      const input = device.buffer(
        "u32",
        Array.from({ length: 16 }, (_, i) => 8 * i),
      );
      const out = device.buffer("u32", 16);
      const options = { grid: 1, block: 1, args: [input, out], ...(seed === null ? {} : { seed }) };
      const { reports } = device.load(kernel(body)).kernel("k").launch(options);
      expect(reports).toEqual([]);
      expect(out.read()[at], `seed ${seed}`).toBe(seed === null ? usual : late);
    }
  });

  test("a wait for the phase before the first, which is complete, does not wait for the copy", () => {
    const device = new Device({ engine: "interpreter" });
    const [input, out] = [device.buffer("u32", 16).write(new Array<number>(16).fill(8)), device.buffer("u32", 16)];
    const body = `${load} V: mbarrier.try_wait.parity.shared.b64 q, [%b], 1; @!q bra V; ${copyOut}`;
    const { reports } = device
      .load(kernel(body))
      .kernel("k")
      .launch({ grid: 1, block: 1, args: [input, out], seed: 1 });
    expect(reports).toEqual([]);
    expect(out.read()[0]).toBe(0);
  });
});
