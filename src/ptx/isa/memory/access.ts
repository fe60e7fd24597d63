import type { Access, Space } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { dataTypes, typeInfo } from "../../types.ts";
import type { Gate } from "../define.ts";

/** The classes `{.vec}.type` of loads and stores. */
export const elements = { vec: ["v2", "v4", "v8"], type: dataTypes } as const;
export const sharedWindows = ["shared", "shared::cta", "shared::cluster"] as const;
export const scopes = ["cta", "cluster", "gpu", "sys"] as const;
const level1Priorities = [
  "L1::evict_normal",
  "L1::evict_unchanged",
  "L1::evict_first",
  "L1::evict_last",
  "L1::no_allocate",
] as const;
const level2Priorities = ["L2::evict_normal", "L2::evict_first", "L2::evict_last"] as const;
export const priorities = {
  "level1::eviction_priority": level1Priorities,
  "level2::eviction_priority": level2Priorities,
} as const;
export const prefetchSizes = ["L2::64B", "L2::128B", "L2::256B"] as const;
export const prefetch = { "level::prefetch_size": prefetchSizes } as const;
/** For forms with `{.L2::cache_hint}`, which have a policy operand exactly if the modifier is written. */
export const hinted = { paired: { cache_policy: "L2::cache_hint" }, anyOrder: true } as const;

/** The same gate for several names. */
const gateOfAll = (names: readonly string[], gate: Gate): Readonly<Record<string, Gate>> =>
  Object.fromEntries(names.map((name) => [name, gate]));

const wide: Gate = { since: "8.8", target: "sm_100" };
export const typeGates = {
  f64: { target: "sm_13" },
  b128: { since: "8.3", target: "sm_70" },
  ...gateOfAll(["v8", "v4+b64", "v4+u64", "v4+s64", "v4+f64"], wide),
};
export const hintGates = {
  ...gateOfAll(level1Priorities, { since: "7.4", target: "sm_70" }),
  ...gateOfAll(level2Priorities, wide),
  "L2::cache_hint": { since: "7.4", target: "sm_80" },
};
export const prefetchGates = {
  ...gateOfAll(prefetchSizes, { since: "7.4", target: "sm_75" }),
  "L2::256B": { since: "7.4", target: "sm_80" },
};
export const cacheGates = (operators: readonly string[]) => gateOfAll(operators, { since: "2.0", target: "sm_20" });
export const windowGates = {
  "shared::cta": { since: "7.8", target: "sm_30" },
  "shared::cluster": { since: "7.8", target: "sm_90" },
};
/** Gates of generic addressing. */
export const genericGates = { "!ss": { since: "2.0", target: "sm_20" } };
export const scopeGates = { cluster: { since: "7.8", target: "sm_90" } };

/** The modifiers of a memory instruction; a row may lack some of the classes. */
interface MemoryModifiers {
  readonly type: string;
  readonly ss?: string | undefined;
  readonly vec?: string | undefined;
  readonly cop?: string | undefined;
  readonly "level1::eviction_priority"?: string | undefined;
  readonly "level2::eviction_priority"?: string | undefined;
  readonly "level::prefetch_size"?: string | undefined;
  readonly "L2::cache_hint"?: boolean;
}

/**
 * The state space that a modifier names. Plain `.param` is taken for the parameters of a call; the lowering corrects it
 * according to the variable.
 */
function spaceOf(ss: string | undefined): Space {
  switch (ss) {
    case undefined:
      return "generic";
    case "shared::cta":
      return "shared";
    case "shared::cluster":
      return "shared-cluster";
    case "param::entry":
      return "kernel-param";
    case "param":
    case "param::func":
      return "call-param";
    default:
      return ss as Space;
  }
}

const elementsOf = ({ vec }: { readonly vec?: string | undefined }): number => (vec ? Number(vec.slice(1)) : 1);

export type Ordering = Partial<Pick<Access, "volatile" | "order" | "scope">>;

/** The access of `.ss{.vec}.type`, which is weak unless `ordering` says otherwise. */
export function accessOf(m: Pick<MemoryModifiers, "type" | "ss" | "vec">, ordering: Ordering = {}): Access {
  const type = typeInfo(m.type)!;
  // A 128-bit element is accessed as two of 64 bits.
  const parts = type.bits === 128 ? 2 : 1;
  const count = elementsOf(m);
  return {
    space: spaceOf(m.ss),
    bits: (type.bits / parts) as Access["bits"],
    signed: type.kind === "s",
    count: count * parts,
    align: (type.bits / 8) * count,
    volatile: false,
    order: "weak",
    scope: null,
    ...ordering,
  };
}

/** The ordering of a volatile operation: relaxed, with system scope (8.4.1). */
export const volatile: Ordering = { volatile: true, order: "relaxed", scope: "sys" };

/** The bits of a value to store: only as an integer does a NaN keep its payload. */
export const patternOf = (value: Expr): Expr =>
  value.ty === "f32" ? kit.bitcast(value, "i32") : value.ty === "f64" ? kit.bitcast(value, "i64") : value;

/** Why 9.7.9.8 to 9.7.9.11 do not allow these vector sizes and cache hints, or null. */
export function memoryProblem(m: MemoryModifiers): string | null {
  const { bits } = typeInfo(m.type)!;
  const size = bits * elementsOf(m);
  const mayBeGlobal = m.ss === undefined || m.ss === "global";
  if (m.vec === "v8" && bits !== 32) return `'.v8' takes 32-bit types, not '.${m.type}'`;
  if (size > 256 || (size === 256 && bits === 128)) return `a vector of ${elementsOf(m)} '.${m.type}' is too large`;
  if (size === 256 && !mayBeGlobal) return "a 256-bit access needs '.global' or a generic address";
  const level1 = m["level1::eviction_priority"];
  const level2 = m["level2::eviction_priority"];
  if (level2 !== undefined && size !== 256)
    return `'.${level2}' needs a 256-bit access (.v8, or .v4 with a 64-bit type)`;
  if (m.cop !== undefined && (level1 ?? level2) !== undefined)
    return `'.${m.cop}' and '.${level1 ?? level2}' exclude each other`;
  const hint = level1 ?? m["level::prefetch_size"] ?? (m["L2::cache_hint"] ? "L2::cache_hint" : undefined);
  if (hint !== undefined && !mayBeGlobal) return `'.${hint}' needs '.global' or a generic address`;
  return null;
}
