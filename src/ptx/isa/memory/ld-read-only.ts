import { atAddress } from "../../../ir/index.ts";
import { dataTypes } from "../../types.ts";
import { form, instruction } from "../define.ts";
import {
  accessOf,
  elements,
  hinted,
  hintGates,
  memoryProblem,
  prefetch,
  prefetchGates,
  priorities,
  typeGates,
} from "./access.ts";

/** Section 9.7.9.9. The data must not change while the kernel runs, so a plain load reads the same. */
export const ldGlobalNc = instruction("ld.global.nc", {
  summary: "loads read-only data from global memory through the non-coherent cache",
  section: "9.7.9.9",
  forms: [
    form(
      "ld.global{.cop}.nc{.level1::eviction_priority}{.level2::eviction_priority}{.L2::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy}",
      {
        where: {
          cop: ["ca", "cg", "cs"],
          ...priorities,
          ...prefetch,
          ...elements,
        },
        operands: { d: "type[vec?]", cache_policy: "u64" },
        ...hinted,
        since: "3.1",
        target: "sm_32",
        // The gates of cache operators are older than the instruction.
        gates: { ...typeGates, ...hintGates, ...prefetchGates },
        invalid: memoryProblem,
        effect: (_, { a }, m) => ({ kind: "load", access: accessOf({ ...m, ss: "global" }), place: atAddress(a) }),
      },
    ),
  ],
});

/** Section 9.7.9.10. */
export const ldu = instruction("ldu", {
  summary: "loads read-only data from an address that is the same in all lanes of a warp",
  section: "9.7.9.10",
  forms: [
    form("ldu{.ss}{.vec}.type d, [a]", {
      where: { ss: ["global"], vec: ["v2", "v4"], type: dataTypes },
      operands: { d: "type[vec?]" },
      anyOrder: true,
      since: "2.0",
      target: "sm_20",
      gates: { b128: { since: "8.3", target: "sm_70" } },
      invalid: (m) => (accessOf(m).align > 16 ? `a vector of this many '.${m.type}' exceeds 128 bits` : null),
      effect: (_, { a }, m) => ({ kind: "load", access: accessOf(m), place: atAddress(a) }),
    }),
  ],
});
