import type { Expr, Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";

/** The bytes that each mode selects, highest first, by the two low bits of the selector. */
const selections = {
  f4e: [0x3210, 0x4321, 0x5432, 0x6543],
  b4e: [0x5670, 0x6701, 0x7012, 0x0123],
  rc8: [0x0000, 0x1111, 0x2222, 0x3333],
  ecl: [0x3210, 0x3211, 0x3222, 0x3333],
  ecr: [0x0000, 0x1110, 0x2210, 0x3210],
  rc16: [0x1010, 0x3232, 0x1010, 0x3232],
} as const;

function selectionOf(k: Kit, mode: keyof typeof selections, c: Expr): Expr {
  const [s0, s1, s2, s3] = selections[mode];
  const odd = k.ne(k.and(c, k.i32(1)), k.i32(0));
  const upper = k.ne(k.and(c, k.i32(2)), k.i32(0));
  return k.select(upper, k.select(odd, k.i32(s3), k.i32(s2)), k.select(odd, k.i32(s1), k.i32(s0)));
}

/** Section 9.7.9.7. */
export const prmt = instruction("prmt", {
  summary: "selects four bytes from a pair of words",
  section: "9.7.9.7",
  forms: [
    form("prmt.b32{.mode} d, a, b, c", {
      where: { mode: ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] },
      since: "2.0",
      target: "sm_20",
      sem: (k, { a, b, c }, { mode }) => k.op("i32.permute", a, b, mode === undefined ? c : selectionOf(k, mode, c)),
    }),
  ],
});
