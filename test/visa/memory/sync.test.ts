import { describe, expect, test } from "vitest";
import { dwords, type Kernel, qwords, run } from "./machine.ts";

/**
 * Four threads of eight lanes. Each has its number in %hw_id; `O` has its lanes' offsets, `N` its dwords, `W` the
 * offsets that it reads.
 */
const threads = (text: string, more: Partial<Kernel> = {}) =>
  run({
    text,
    width: 8,
    items: 32,
    slmBytes: 256,
    buffer: new Uint8Array(128),
    registers: (base) => ({
      // 4 * lane, and the group's lanes from the last one down.
      L: { type: "ud", bytes: dwords(0, 4, 8, 12, 16, 20, 24, 28) },
      R: { type: "ud", bytes: dwords(124, 120, 116, 112, 108, 104, 100, 96) },
      B: { type: "uq", bytes: qwords(base) },
      N: { type: "ud", bytes: new Uint8Array(32) },
      O: { type: "ud", bytes: new Uint8Array(32) },
      D: { type: "ud", bytes: new Uint8Array(32) },
      T: { type: "ud", bytes: new Uint8Array(4) },
      A: { type: "uq", bytes: new Uint8Array(64) },
      Q: { type: "uq", bytes: new Uint8Array(8) },
    }),
    ...more,
  });

/** N = 32 * thread + 4 * lane: the item's offset in shared local memory and in the buffer. */
const place = `    mul (M1_NM, 1) T(0,0)<1> %hw_id(0,0)<0;1,0> 0x20:ud
    add (M1, 8) N(0,0)<1> L(0,0)<1;1,0> T(0,0)<0;1,0>
    add (M1, 8) O(0,0)<1> R(0,0)<1;1,0> (-)T(0,0)<0;1,0>
    mov (M1, 8) A(0,0)<1> N(0,0)<1;1,0>
    add (M1, 8) A(0,0)<1> A(0,0)<1;1,0> B(0,0)<0;1,0>
`;
/** The opposite item's value in shared local memory, stored to the buffer. */
const exchanged = `    gather4_scaled.R (M1, 8) T0 0x0:ud O.0 D.0
    svm_scatter.4.1 (M1, 8) A.0 D.0`;
const opposite = dwords(...Array.from({ length: 32 }, (_, i) => 4 * (31 - i)));

describe("all threads see after a barrier what any of them wrote before it", () => {
  test.each([
    ["barrier", "    barrier"],
    ["sbarrier", "    sbarrier.signal\n    yield\n    sbarrier.wait"],
    ["nbarrier", "    nbarrier.signal 0x3:ub 0x4:ub\n    nbarrier.wait 0x3:ub"],
    ["nbarrier, signed", "    nbarrier.signal 0x3:b 0x4:b\n    nbarrier.wait 0x3:b"],
    ["nbarrier, general", "    nbarrier.signal 0x3:ub 0x0:uw 0x4:ub 0x4:ub\n    nbarrier.wait 0x3:ub"],
    [
      "fences around it",
      "    fence_local.E\n    fence_global.ER\n    fence_sw\n    lsc_fence.slm.none.group\n    barrier",
    ],
  ])("%s", (_, sync) => {
    const outcome = threads(`${place}    scatter4_scaled.R (M1, 8) T0 0x0:ud N.0 N.0\n${sync}\n${exchanged}`);
    expect(outcome.reports).toEqual([]);
    expect(outcome.buffer).toEqual(opposite);
  });

  test("without a barrier they do not", () => {
    const outcome = threads(`${place}    scatter4_scaled.R (M1, 8) T0 0x0:ud N.0 N.0\n${exchanged}`);
    expect(outcome.buffer).not.toEqual(opposite);
  });
});

test("a named barrier lets consumers through when all producers have signalled", () => {
  // Threads 1 to 3 only produce; thread 0 only consumes, and adds up their values.
  const outcome = threads(`${place}    cmp.eq (M1_NM, 1) P1 %hw_id(0,0)<0;1,0> 0x0:ud
    (P1) jmp (M1_NM, 1) CONSUMER
    scatter4_scaled.R (M1, 8) T0 0x0:ud N.0 N.0
    nbarrier.signal 0x5:ub 0x1:uw 0x3:ub 0x1:ub
    ret (M1, 1)
CONSUMER:
    nbarrier.signal 0x5:ub 0x2:uw 0x3:ub 0x1:ub
    nbarrier.wait 0x5:ub
    gather4_scaled.R (M1, 8) T0 0x60:ud L.0 D.0
    svm_scatter.4.1 (M1, 8) A.0 D.0`);
  expect(outcome.reports).toEqual([]);
  expect(outcome.buffer.slice(0, 32)).toEqual(dwords(...Array.from({ length: 8 }, (_, i) => 96 + 4 * i)));
});

test("the thread's role at a named barrier must be a constant", () => {
  const outcome = threads("    nbarrier.signal 0x3:ub T(0,0)<0;1,0> 0x4:ub 0x4:ub");
  expect(outcome.reports[0]).toMatch(/^not-executable: .*the thread's role at the barrier is known only at run time/s);
});

test("marks of debuggers and compilers do nothing", () => {
  const outcome = threads(`    .file "k.cl"
    .loc 7
    lifetime.start N
    yield
    sampler_cache_flush
    lifetime.end N`);
  expect(outcome.reports).toEqual([]);
});

describe("a predicate keeps lanes from memory", () => {
  const data = { type: "ud", bytes: dwords(100, 101, 102, 103, 104, 105, 106, 107) } as const;
  const cases: readonly (readonly [text: string, lanes: number])[] = [
    ["(P1) svm_scatter.4.1 (M1, 8) A.0 D.0", 0b0110_0101],
    ["(!P1) svm_scatter.4.1 (M1, 8) A.0 D.0", 0b1001_1010],
    ["(P1.any) svm_scatter.4.1 (M1, 8) A.0 D.0", 0b1111_1111],
    ["(P1.all) svm_scatter.4.1 (M1, 8) A.0 D.0", 0],
    ["(P1) lsc_store.ugm (M1, 8) flat[A]:a64 D:d32", 0b0110_0101],
    ["(P1) scatter4_scaled.R (M1, 8) T6 0x0:ud L.0 D.0", 0b0110_0101],
    ["(!P1) scatter_scaled.4 (M1, 8) T6 0x0:ud L.0 D.0", 0b1001_1010],
    ["(P1) svm_atomic.add (M1, 8) A.0 %null.0 D.0 %null.0", 0b0110_0101],
    ["(P1) lsc_store.ugm (M1_NM, 1) flat[A]:a64 D:d32x8t", 0b1111_1111],
    ["(!P1) lsc_store.ugm (M1_NM, 1) flat[A]:a64 D:d32x8t", 0],
  ];
  test.each(cases)("%s", (text, lanes) => {
    const outcome = run({
      text: `    setp (M1_NM, 8) P1 0x65:uw\n    ${text}`,
      width: 8,
      buffer: new Uint8Array(32),
      surfaces: { 2: [0, 32] },
      surfaceVariables: { T6: 2 },
      registers: (base) => ({
        A: { type: "uq", bytes: qwords(...Array.from({ length: 8 }, (_, i) => base + BigInt(4 * i))) },
        L: { type: "ud", bytes: dwords(0, 4, 8, 12, 16, 20, 24, 28) },
        D: data,
      }),
    });
    expect(outcome.reports).toEqual([]);
    expect(outcome.buffer).toEqual(dwords(...Array.from({ length: 8 }, (_, i) => ((lanes >> i) & 1 ? 100 + i : 0))));
  });

  test("lanes that do not load keep what they have", () => {
    const outcome = run({
      text: "    setp (M1_NM, 8) P1 0x65:uw\n    (P1) svm_gather.4.1 (M1, 8) A.0 D.0",
      width: 8,
      buffer: new Uint8Array(32),
      registers: (base) => ({
        // The lanes that are not enabled have invalid addresses.
        A: {
          type: "uq",
          bytes: qwords(...Array.from({ length: 8 }, (_, i) => ((0x65 >> i) & 1 ? base + BigInt(4 * i) : 0n))),
        },
        D: data,
      }),
    });
    expect(outcome.reports).toEqual([]);
    expect(outcome.registers.D).toEqual(dwords(0, 101, 0, 103, 104, 0, 0, 107));
  });
});
