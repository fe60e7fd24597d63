import { type Expr, fieldsOfBytes, type Kit } from "../../../semantics/index.ts";
import { form, instruction } from "../define.ts";
import { isSigned } from "./integer-type.ts";

/** `c` plus the dot product of the elements. */
const accumulate = (k: Kit, c: Expr, as: readonly Expr[], bs: readonly Expr[]): Expr =>
  as.reduce((sum, a, i) => k.add(sum, k.mul(a, bs[i]!)), c);

const fields = (k: Kit, a: Expr, bits: 8 | 16, offsets: readonly number[], type: string): readonly Expr[] =>
  offsets.map((at) => k.field(a, at, bits, isSigned(type)));

type Types = { readonly atype: string; readonly btype: string };
const sumType = ({ atype, btype }: Types): string => (isSigned(atype) || isSigned(btype) ? "s32" : "u32");
const operands = { a: "atype", b: "btype", c: sumType, d: sumType };
const types = ["u32", "s32"] as const;

/** Section 9.7.1.23. */
export const dp4a = instruction("dp4a", {
  summary: "computes the dot product of four bytes and four bytes and adds a third value",
  section: "9.7.1.23",
  forms: [
    form("dp4a.atype.btype d, a, b, c", {
      where: { atype: types, btype: types },
      operands,
      since: "5.0",
      target: "sm_61",
      sem: (k, { a, b, c }, { atype, btype }) =>
        k.op("i32.dot_packed", c, a, b, k.i32(fieldsOfBytes(isSigned(atype), isSigned(btype)))),
    }),
  ],
});

/** Section 9.7.1.24. */
export const dp2a = instruction("dp2a", {
  summary: "computes the dot product of two half words and two bytes and adds a third value",
  section: "9.7.1.24",
  forms: [
    form("dp2a.mode.atype.btype d, a, b, c", {
      where: { mode: ["lo", "hi"], atype: types, btype: types },
      operands,
      since: "5.0",
      target: "sm_61",
      sem: (k, { a, b, c }, { mode, atype, btype }) =>
        accumulate(k, c, fields(k, a, 16, [0, 16], atype), fields(k, b, 8, mode === "lo" ? [0, 8] : [16, 24], btype)),
    }),
  ],
});
