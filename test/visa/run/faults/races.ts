import type { Fault } from "./fault.ts";

/** Hardware threads of one group that nothing orders. */
export const races: readonly Fault[] = [
  {
    title: "a thread writes to SLM what another has read, without a barrier",
    report: "data-race",
    items: 32,
    kernel: `
      shl (E) X! ID@ 2:ud
      add (E) Y! ID@ 500:ud
      scatter4_scaled.R (M1, 16) %slm 0x0:ud X.0 Y.0 <--
      fence_local
      xor (E) X! X@ 64:ud
      gather4_scaled.R (M1, 16) %slm 0x0:ud X.0 Z.0`,
    threads: "16-31",
    says: [
      "stores 4 bytes",
      "nothing orders it and a load by another thread",
      "thread (16,0,0) of block (0,0,0) stores 0x204",
    ],
  },
  {
    title: "threads read what others write after the barrier",
    report: "data-race",
    items: 32,
    kernel: `
      shl (E) X! ID@ 2:ud
      add (E) Y! ID@ 500:ud
      barrier
      scatter4_scaled.R (M1, 16) %slm 0x0:ud X.0 Y.0 <--
      fence_local
      xor (E) X! X@ 64:ud
      gather4_scaled.R (M1, 16) %slm 0x0:ud X.0 Z.0
      barrier`,
    threads: "0-15",
    says: ["nothing orders it"],
  },
];
