import type { Execution } from "./execution.ts";
import { scalar, subsets } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const barrier = (phase: "sync" | "signal" | "wait"): Execution => ({
  kind: "memory",
  action: { kind: "barrier", phase },
});
const fence = (scope: "group" | "device"): Execution => ({ kind: "memory", action: { kind: "fence", scope } });
const nothing: Execution = { kind: "memory", action: { kind: "nothing" } };

/** `.ER`: the flags of a fence in order: whether it waits (E), and what it flushes. */
const flags: OperandSpec = {
  class: "option",
  choices: subsets([
    ["E", 1],
    ["I", 2],
    ["S", 4],
    ["C", 8],
    ["R", 16],
    ["L1", 64],
  ]),
};

/** A number of a named barrier or its threads. The vector compiler writes it as a signed one, as in `0x0:b`. */
const barrierNumber: OperandSpec = scalar("ub", "b", "uw", "w", "ud", "d");

const lscFunctions = { ugm: 0, ugml: 1, tgm: 2, slm: 3 } as const;

/** Barriers, fences and waiting. */
export const syncRows: readonly Row[] = [
  row({
    opcode: 0x59,
    name: "BARRIER",
    mnemonic: "barrier",
    title: "wait for all threads of the group",
    page: "BARRIER",
    text: "barrier",
    file: "",
    operands: {},
    sizes: null,
    execution: barrier("sync"),
  }),
  row({
    opcode: 0x7c,
    name: "SBARRIER",
    mnemonic: "sbarrier.signal",
    title: "arrive at the group's barrier",
    page: "SBARRIER",
    text: "sbarrier.signal",
    file: "#1",
    operands: {},
    sizes: null,
    execution: barrier("signal"),
  }),
  row({
    opcode: 0x7c,
    name: "SBARRIER",
    mnemonic: "sbarrier.wait",
    title: "wait at the group's barrier",
    page: "SBARRIER",
    text: "sbarrier.wait",
    file: "#0",
    operands: {},
    sizes: null,
    execution: barrier("wait"),
  }),
  row({
    opcode: 0x60,
    name: "NBARRIER",
    mnemonic: "nbarrier.signal",
    title: "arrive at a named barrier",
    page: "NBARRIER",
    text: "nbarrier.signal id type producers consumers",
    file: null,
    operands: {
      id: barrierNumber,
      type: barrierNumber,
      producers: barrierNumber,
      consumers: barrierNumber,
    },
    sizes: null,
    from: "pvc",
    execution: barrier("signal"),
  }),
  row({
    opcode: 0x60,
    name: "NBARRIER",
    mnemonic: "nbarrier.signal",
    title: "arrive at a named barrier with as many producers as consumers",
    page: "NBARRIER",
    text: "nbarrier.signal id threads",
    file: "#1 id threads",
    operands: { id: barrierNumber, threads: barrierNumber },
    sizes: null,
    from: "pvc",
    execution: barrier("signal"),
  }),
  row({
    opcode: 0x60,
    name: "NBARRIER",
    mnemonic: "nbarrier.wait",
    title: "wait at a named barrier",
    page: "NBARRIER",
    text: "nbarrier.wait id",
    // Unknown: the reader of 1.0.12504 expects a second operand here, but its writer writes none.
    file: null,
    operands: { id: barrierNumber },
    sizes: null,
    from: "pvc",
    execution: barrier("wait"),
  }),
  row({
    opcode: 0x5c,
    name: "FENCE",
    mnemonic: "fence_global",
    title: "order accesses of global memory",
    page: "FENCE",
    text: "fence_global{.flags}",
    file: "#0+flags",
    operands: { flags },
    sizes: null,
    execution: fence("device"),
  }),
  row({
    opcode: 0x5c,
    name: "FENCE",
    mnemonic: "fence_local",
    title: "order accesses of shared local memory",
    page: "FENCE",
    text: "fence_local{.flags}",
    file: "#0x20+flags",
    operands: { flags },
    sizes: null,
    execution: fence("group"),
  }),
  row({
    opcode: 0x5c,
    name: "FENCE",
    mnemonic: "fence_sw",
    title: "keep the compiler from moving accesses",
    page: "FENCE",
    text: "fence_sw",
    file: "#0x80",
    operands: {},
    sizes: null,
    execution: nothing,
  }),
  row({
    opcode: 0x8b,
    name: "LSC_FENCE",
    mnemonic: "lsc_fence",
    title: "order accesses of one kind of memory",
    page: "LSC_FENCE",
    // In a file the execution size is (M1_NM, 1), without a predicate.
    text: "lsc_fence.{sfid}.{op}.{scope}",
    file: "#0x80 zero:u16 sfid op scope",
    operands: {
      sfid: { class: "option", choices: lscFunctions },
      op: {
        class: "option",
        choices: { none: 0, evict: 1, invalidate: 2, discard: 3, clean: 4, flushl3: 5, type6: 6 },
      },
      scope: {
        class: "option",
        choices: { group: 0, local: 1, tile: 2, gpu: 3, gpus: 4, sysrel: 5, sysacq: 6 },
      },
    },
    sizes: null,
    from: "dg2",
    execution: fence("device"),
  }),
  row({
    opcode: 0x5b,
    name: "WAIT",
    mnemonic: "wait",
    title: "wait for a notification",
    page: "WAIT",
    text: "wait mask",
    file: "mask",
    operands: { mask: scalar("ub", "uw", "ud") },
    sizes: null,
    execution: { kind: "none", reason: "thread spaces with dependencies between threads are not modelled" },
  }),
  row({
    opcode: 0x5f,
    name: "YIELD",
    mnemonic: "yield",
    title: "let another thread run",
    page: "YIELD",
    text: "yield",
    file: "",
    operands: {},
    sizes: null,
    execution: nothing,
  }),
  row({
    opcode: 0x5a,
    name: "SAMPLR_CACHE_FLUSH",
    mnemonic: "sampler_cache_flush",
    title: "flush the sampler's cache",
    page: "CACHE_FLUSH",
    text: "sampler_cache_flush",
    file: "",
    operands: {},
    sizes: null,
    execution: nothing,
  }),
];
