import { atAddress } from "../../../ir/index.ts";
import { dataTypes } from "../../types.ts";
import { form, instruction } from "../define.ts";
import {
  accessOf,
  cacheGates,
  elements,
  genericGates,
  hinted,
  hintGates,
  memoryProblem,
  prefetch,
  prefetchGates,
  priorities,
  scopeGates,
  scopes,
  sharedWindows,
  typeGates,
  volatile,
  windowGates,
} from "./access.ts";

const cacheOperators = ["ca", "cg", "cs", "lu", "cv"] as const;
const operands = { d: "type[vec?]", cache_policy: "u64" };

/** Section 9.7.9.8. */
export const ld = instruction("ld", {
  summary: "loads from memory",
  section: "9.7.9.8",
  forms: [
    form(
      "ld{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.L2::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy}",
      {
        where: {
          ss: ["const", "global", "local", "param", "param::entry", "param::func", ...sharedWindows],
          cop: cacheOperators,
          ...priorities,
          ...prefetch,
          ...elements,
        },
        operands,
        ...hinted,
        since: "1.0",
        gates: {
          ...genericGates,
          ...windowGates,
          "param::entry": { since: "8.3" },
          "param::func": { since: "8.3" },
          ...typeGates,
          ...cacheGates(cacheOperators),
          ...hintGates,
          ...prefetchGates,
          weak: { since: "6.0", target: "sm_70" },
        },
        invalid: memoryProblem,
        effect: (_, { a }, m) => ({ kind: "load", access: accessOf(m), place: atAddress(a) }),
      },
    ),
    form("ld.volatile{.ss}{.level::prefetch_size}{.vec}.type d, [a]", {
      where: {
        ss: ["global", "local", ...sharedWindows],
        ...prefetch,
        ...elements,
      },
      operands,
      anyOrder: true,
      since: "1.1",
      gates: { ...genericGates, ...windowGates, ...typeGates, ...prefetchGates, local: { since: "9.1" } },
      invalid: memoryProblem,
      effect: (_, { a }, m) => ({ kind: "load", access: accessOf(m, volatile), place: atAddress(a) }),
    }),
    form(
      "ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.L2::cache_hint}{.level::prefetch_size}{.vec}.type d, [a]{, cache_policy}",
      {
        where: {
          sem: ["relaxed", "acquire"],
          scope: scopes,
          ss: ["global", ...sharedWindows],
          ...priorities,
          ...prefetch,
          ...elements,
        },
        operands,
        ...hinted,
        since: "6.0",
        target: "sm_70",
        gates: {
          ...windowGates,
          ...typeGates,
          ...hintGates,
          ...prefetchGates,
          ...scopeGates,
          "sys+b128": { since: "8.4" },
        },
        invalid: memoryProblem,
        effect: (_, { a }, m) => ({
          kind: "load",
          access: accessOf(m, { order: m.sem, scope: m.scope }),
          place: atAddress(a),
        }),
      },
    ),
    form("ld.mmio.relaxed.sys{.ss}.type d, [a]", {
      where: { ss: ["global"], type: dataTypes },
      operands: { d: "type[?]" },
      anyOrder: true,
      since: "8.2",
      target: "sm_70",
      gates: { b128: { since: "8.4" } },
      effect: (_, { a }, m) => ({ kind: "load", access: accessOf(m, volatile), place: atAddress(a) }),
    }),
  ],
});
