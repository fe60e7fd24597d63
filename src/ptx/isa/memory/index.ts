import { applypriority, createpolicy, discard, prefetch, prefetchu } from "./cache.ts";
import { ld } from "./ld.ts";
import { ldGlobalNc, ldu } from "./ld-read-only.ts";
import { st, stBulk } from "./st.ts";

export const memoryInstructions = [
  ld,
  ldGlobalNc,
  ldu,
  st,
  stBulk,
  prefetch,
  prefetchu,
  applypriority,
  discard,
  createpolicy,
];
