import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";
import { expectSameReports } from "./both-engines.ts";

/** A kernel `k` whose thread 0 makes two mbarriers for `pending` arrivals, before `body`. Results go to `%o`. */
const kernel = (pending: number, body: string): string => `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b64 %o, %s<4>; .reg .b32 %t, %a, %x<4>; .reg .pred %p, %q;
.shared .align 8 .b64 bars[2];
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %a, bars;
mul.wide.u32 %s0, %t, 8; add.u64 %o, %o, %s0;
setp.ne.u32 %p, %t, 0; @%p bra made;
mbarrier.init.shared.b64 [bars], ${pending}; mbarrier.init.shared.b64 [bars+8], ${pending};
made: bar.sync 0;
${body}
}`;

const arrive = "mbarrier.arrive.shared.b64 %s1, [%a];";
const wait = "wait: mbarrier.test_wait.shared.b64 %q, [%a], %s1; @!%q bra wait;";
const store = "st.global.u64 [%o], %s1; ret;";

/** What each thread stores in compiled code. */
function stored(text: string, threads: number): readonly bigint[] {
  const device = new Device();
  const out = device.buffer(new Uint8Array(8 * threads));
  const result = device
    .load(text)
    .kernel("k")
    .launch({ grid: 1, block: threads, args: [out], engine: "jit" });
  expect(result.reports).toEqual([]);
  return [...new BigUint64Array(out.readBytes().buffer)];
}

/** The pending arrivals in a state (bits 0 to 19), and the parity of its phase (bit 61). */
const pendingIn = (state: bigint): number => Number(state & 0xfffffn);
const parityIn = (state: bigint): number => Number((state >> 61n) & 1n);

/** Threads get the states before their arrivals, whatever the order in which warps arrive. */
const downFrom = (pending: number, by: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => pending - by * i);

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => b - a);

describe("each lane of a warp that arrives at one mbarrier gets the state before its arrival", () => {
  test.each([
    ["all lanes of all warps", 64, 64, 1, `${arrive} ${wait} ${store}`],
    ["a last warp of 16 lanes", 48, 48, 1, `${arrive} ${wait} ${store}`],
    ["arrivals that count for three", 192, 64, 3, `${arrive.replace("]", "], 3")} ${wait} ${store}`],
    ["some that are missing", 1000, 64, 1, `${arrive} ${store}`],
  ])("%s", (_, pending, threads, by, body) => {
    const states = stored(kernel(pending, body), threads);
    expect(sorted(states.map(pendingIn))).toEqual(downFrom(pending, by, threads));
    expect(states.map(parityIn)).toEqual(states.map(() => 0));
  });

  test("lanes with a guard", () => {
    const body = `mov.b64 %s1, 0; and.b32 %x0, %t, 2; setp.ne.u32 %p, %x0, 0; @%p ${arrive} ${store}`;
    const states = stored(kernel(64, body), 64).filter((_, thread) => (thread & 2) !== 0);
    expect(sorted(states.map(pendingIn))).toEqual(downFrom(64, 1, 32));
  });

  test("lanes with two mbarriers", () => {
    const body = `and.b32 %x0, %t, 1; mad.lo.u32 %a, %x0, 8, %a; ${arrive} ${wait} ${store}`;
    const states = stored(kernel(32, body), 64);
    for (const odd of [0, 1]) {
      const own = states.filter((_, thread) => (thread & 1) === odd);
      expect(sorted(own.map(pendingIn))).toEqual(downFrom(32, 1, 32));
    }
  });

  test("the last arrival ends the phase: the next one has the other parity, and is as long", () => {
    const states = stored(kernel(32, `${arrive} ${wait} ${arrive} ${store}`), 32);
    expect(states.map(parityIn)).toEqual(states.map(() => 1));
    expect(sorted(states.map(pendingIn))).toEqual(downFrom(32, 1, 32));
  });
});

describe("lanes that ask one mbarrier for different phases get different answers", () => {
  test("an even lane asks for the phase that is over, an odd one for the one that is not", () => {
    const body = `${arrive} ${wait} and.b32 %x0, %t, 1; mbarrier.test_wait.parity.shared.b64 %q, [%a], %x0;
      selp.u64 %s1, 1, 0, %q; ${store}`;
    expect(stored(kernel(32, body), 32)).toEqual(Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? 1n : 0n)));
  });
});

describe("what is wrong is reported for the lanes that do it", () => {
  const reports = (pending: number, body: string) =>
    expectSameReports({ text: kernel(pending, body), buffers: [new Uint8Array(512)], launch: { grid: 1, block: 32 } });

  test("more arrivals than are pending", () => {
    const [report] = reports(40, `${arrive.replace("]", "], 30")} ret;`);
    expect(report).toMatchObject({ code: "mbarrier-count-overflow" });
  });

  test("no mbarrier, at an arrival and at a question", () => {
    const inval = "setp.eq.u32 %p, %t, 0; @%p mbarrier.inval.shared.b64 [%a]; bar.sync 0;";
    expect(reports(64, `${inval} ${arrive} ret;`)[0]).toMatchObject({ code: "mbarrier-uninitialized" });
    const asks = "cvt.u64.u32 %s1, %t; mbarrier.test_wait.shared.b64 %q, [%a], %s1; ret;";
    expect(reports(64, `${inval} ${asks}`)[0]).toMatchObject({ code: "mbarrier-uninitialized" });
  });
});

test("a warp that waits for a phase gives the others their turn in each round", () => {
  // Each thread counts its questions; the last of eight warps ends the phase.
  const body = `mov.u32 %x1, 0; ${arrive}
mbarrier.test_wait.shared.b64 %q, [%a], %s1; @%q bra done;
again: add.u32 %x1, %x1, 1;
mbarrier.test_wait.shared.b64 %q, [%a], %s1; @!%q bra again;
done: cvt.u64.u32 %s1, %x1; ${store}`;
  const rounds = stored(kernel(256, body), 256).map(Number);
  expect(Math.max(...rounds)).toBeLessThan(4);
});
