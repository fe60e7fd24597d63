import { atAddress, type Op } from "../../../ir/index.ts";
import type { Expr } from "../../../semantics/index.ts";
import { dataTypes } from "../../types.ts";
import { form, instruction, type OperandAccess } from "../define.ts";
import {
  accessOf,
  cacheGates,
  elements,
  genericGates,
  hinted,
  hintGates,
  memoryProblem,
  type Ordering,
  patternOf,
  priorities,
  scopeGates,
  scopes,
  sharedWindows,
  typeGates,
  volatile,
  windowGates,
} from "./access.ts";

const cacheOperators = ["wb", "cg", "cs", "wt"] as const;
/** 9.7.9.11: elements of 256 bits may be left out. */
const value = (m: Parameters<typeof accessOf>[0]): string =>
  accessOf(m).align === 32 ? "sinks type[vec?]" : "type[vec?]";
const operands = { b: value, cache_policy: "u64" };

const store = (address: Expr, m: Parameters<typeof accessOf>[0], ops: OperandAccess, ordering?: Ordering): Op => ({
  kind: "store",
  access: accessOf(m, ordering),
  place: atAddress(address),
  values: ops.present("b").map((b) => b && patternOf(b)),
});

/** Section 9.7.9.11. */
export const st = instruction("st", {
  summary: "stores to memory",
  section: "9.7.9.11",
  forms: [
    form(
      "st{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.L2::cache_hint}{.vec}.type [a], b{, cache_policy}",
      {
        where: {
          ss: ["global", "local", "param", "param::func", ...sharedWindows],
          cop: cacheOperators,
          ...priorities,
          ...elements,
        },
        operands,
        ...hinted,
        since: "1.0",
        gates: {
          ...genericGates,
          ...windowGates,
          "param::func": { since: "8.3" },
          ...typeGates,
          ...cacheGates(cacheOperators),
          ...hintGates,
          weak: { since: "6.0", target: "sm_70" },
        },
        invalid: memoryProblem,
        effect: (_, { a }, m, ops) => store(a, m, ops),
      },
    ),
    form("st.volatile{.ss}{.vec}.type [a], b", {
      where: { ss: ["global", "local", ...sharedWindows], ...elements },
      operands,
      anyOrder: true,
      since: "1.1",
      gates: { ...genericGates, ...windowGates, ...typeGates, local: { since: "9.1" } },
      invalid: memoryProblem,
      effect: (_, { a }, m, ops) => store(a, m, ops, volatile),
    }),
    form(
      "st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.L2::cache_hint}{.vec}.type [a], b{, cache_policy}",
      {
        where: {
          sem: ["relaxed", "release"],
          scope: scopes,
          ss: ["global", ...sharedWindows],
          ...priorities,
          ...elements,
        },
        operands,
        ...hinted,
        since: "6.0",
        target: "sm_70",
        gates: { ...windowGates, ...typeGates, ...hintGates, ...scopeGates, "sys+b128": { since: "8.4" } },
        invalid: memoryProblem,
        effect: (_, { a }, m, ops) => store(a, m, ops, { order: m.sem, scope: m.scope }),
      },
    ),
    form("st.mmio.relaxed.sys{.ss}.type [a], b", {
      where: { ss: ["global"], type: dataTypes },
      operands: { b: "type[?]" },
      anyOrder: true,
      since: "8.2",
      target: "sm_70",
      gates: { b128: { since: "8.4" } },
      effect: (_, { a }, m, ops) => store(a, m, ops, volatile),
    }),
  ],
});

/** `st.bulk`: a range of shared memory, whose size is given in 64 bits. */
function clearRange({ a, size }: { readonly a: Expr; readonly size: Expr }, ss: "shared::cta" | undefined): Op {
  const space = ss === undefined ? "generic" : "shared";
  return { kind: "unit", unit: { op: "clear-range", space }, operands: [a, size] };
}

const bulk = {
  where: { ss: ["shared::cta"] },
  target: "sm_100",
} as const;
const zeros = { initval: "imm u32 0..0" } as const;

/** Section 9.7.9.13. */
export const stBulk = instruction("st.bulk", {
  summary: "fills a range of shared memory with zeros",
  section: "9.7.9.13",
  forms: [
    form("st.bulk{.weak}{.ss} [a], size, initval", {
      ...bulk,
      operands: { ...zeros, size: "u64 multiple 8" },
      since: "8.6",
      effect: (_, src, { ss }) => clearRange(src, ss),
    }),
    form("st.bulk{.weak}{.ss} [a], size, initval", {
      ...bulk,
      operands: { ...zeros, size: "reg u32" },
      since: "9.0",
      effect: (k, { a, size }, { ss }) => clearRange({ a, size: k.widen(size, false) }, ss),
    }),
  ],
});
