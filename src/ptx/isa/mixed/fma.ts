import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { type Rounding, rounded, rounding, saturated } from "../float/float-type.ts";

const shared = {
  where: { rnd: rounding, abtype: ["f16", "bf16"] },
  since: "8.6",
  target: "sm_100",
  operands: { a: "reg abtype", b: "reg abtype", c: "f32" },
} as const;

const fused = (
  k: Kit,
  { a, b, c }: Readonly<Record<"a" | "b" | "c", Expr>>,
  { rnd, abtype, sat }: { readonly rnd: Rounding; readonly abtype: "f16" | "bf16"; readonly sat: boolean },
): Expr => saturated(k, sat, rounded(k, "fma", rnd, k.op(`f32.from_${abtype}`, a), k.op(`f32.from_${abtype}`, b), c));

/** Section 9.7.5.3. */
export const fma = instruction("fma", {
  summary: "multiplies two converted f16 or bf16 values and adds an f32 value, with a single rounding",
  section: "9.7.5.3",
  forms: [
    form("fma.rnd{.sat}.f32.abtype d, a, b, c", { ...shared, sem: fused }),
    // The manual's example has `.sat` here, and ptxas accepts it in both positions.
    form("fma.rnd.f32.abtype.sat d, a, b, c", {
      ...shared,
      sem: (k, src, m) => fused(k, src, { ...m, sat: true }),
    }),
  ],
});
