import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { flushed, perF32, type Rounding, rounded, rounding, saturated } from "./float-type.ts";

const where = { rnd: rounding } as const;

interface Modifiers {
  readonly rnd?: Rounding | undefined;
  readonly ftz?: boolean;
  readonly sat?: boolean;
}
const fused = (
  k: Kit,
  { a, b, c }: Readonly<Record<"a" | "b" | "c", Expr>>,
  { rnd, ftz = false, sat = false }: Modifiers,
): Expr =>
  saturated(
    k,
    sat,
    flushed(k, ftz, [a, b, c], (...args) => rounded(k, "fma", rnd, ...args)),
  );

/** Section 9.7.3.6. */
export const fma = instruction("fma", {
  summary: "multiplies two values and adds a third, with a single rounding",
  section: "9.7.3.6",
  forms: [
    form("fma.rnd{.ftz}{.sat}.f32 d, a, b, c", { where, since: "2.0", target: "sm_20", sem: fused }),
    form("fma.rnd{.ftz}.f32x2 d, a, b, c", {
      where,
      since: "8.6",
      target: "sm_100",
      operands: { a: "reg f32x2", b: "reg f32x2", c: "reg f32x2" },
      sem: (k, { a, b, c }, m) => perF32(k, [a, b, c], (x, y, z) => fused(k, { a: x!, b: y!, c: z! }, m)),
    }),
    form("fma.rnd.f64 d, a, b, c", { where, since: "1.4", target: "sm_13", sem: fused }),
  ],
});

/** Section 9.7.3.7: another name for fma since sm_20. */
export const mad = instruction("mad", {
  summary: "multiplies two values and adds a third",
  section: "9.7.3.7",
  forms: [
    form("mad{.ftz}{.sat}.f32 d, a, b, c", {
      since: "1.0",
      until: "3.2",
      untilTarget: "sm_20",
      note: "sm_1x targets truncate the product's mantissa to 23 bits; this is fma.rn, as on sm_20 and later",
      sem: fused,
    }),
    form("mad.rnd{.ftz}{.sat}.f32 d, a, b, c", { where, since: "2.0", target: "sm_20", sem: fused }),
    form("mad.f64 d, a, b, c", { since: "1.0", until: "1.4", target: "sm_13", sem: fused }),
    form("mad.rnd.f64 d, a, b, c", { where, since: "1.0", target: "sm_13", sem: fused }),
  ],
});
