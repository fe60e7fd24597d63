import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import {
  arithmetic,
  bf16Types,
  f16Types,
  flushedF16,
  type HalfType,
  perElement,
  rectified,
  saturatedF16,
  threeOperands,
} from "./half-type.ts";

interface Modifiers {
  readonly type: HalfType;
  readonly ftz?: boolean;
  readonly sat?: boolean;
  readonly relu?: boolean;
}
const fused = (
  k: Kit,
  { a, b, c }: Readonly<Record<"a" | "b" | "c", Expr>>,
  { type, ftz = false, sat = false, relu = false }: Modifiers,
): Expr =>
  perElement(k, type, [a, b, c], (...halves) => {
    const value = flushedF16(k, ftz, halves, (...args) => arithmetic(k, "fma", type, ...args));
    return rectified(k, relu, saturatedF16(k, sat, value));
  });

/** Section 9.7.4.4. */
export const fma = instruction("fma", {
  summary: "multiplies two values and adds a third, with a single rounding",
  section: "9.7.4.4",
  forms: [
    form("fma.rnd{.ftz}{.sat}.type d, a, b, c", {
      where: { rnd: ["rn"], type: f16Types },
      since: "4.2",
      target: "sm_53",
      operands: threeOperands,
      sem: fused,
    }),
    form("fma.rnd{.ftz}.relu.type d, a, b, c", {
      where: { rnd: ["rn"], type: f16Types },
      since: "7.0",
      target: "sm_80",
      operands: threeOperands,
      sem: (k, src, m) => fused(k, src, { ...m, relu: true }),
    }),
    form("fma.rnd{.relu}.type d, a, b, c", {
      where: { rnd: ["rn"], type: bf16Types },
      since: "7.0",
      target: "sm_80",
      operands: threeOperands,
      sem: fused,
    }),
    form("fma.rnd.oob{.relu}.type d, a, b, c", {
      where: { rnd: ["rn"], type: [...f16Types, ...bf16Types] },
      since: "8.1",
      target: "sm_90",
      operands: threeOperands,
      unimplemented: "the manual does not define the bits of the OOB NaN that tensor copies fill in",
    }),
  ],
});
