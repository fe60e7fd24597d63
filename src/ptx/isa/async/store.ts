import { atAddress, type OpOf } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { typeInfo } from "../../types.ts";
import { atomic, combined } from "../atomic/combine.ts";
import { form, instruction, type OperandAccess, type Step } from "../define.ts";
import { accessOf, type Ordering, patternOf } from "../memory/access.ts";
import { begin, completing, mbarrierOp, settling } from "./mbarrier-word.ts";

const note = "performed where it is issued, which is one of the times at which it may be";
const hopper = { since: "8.1", target: "sm_90", anyOrder: true, note } as const;
const blackwell = { since: "8.7", target: "sm_100", anyOrder: true, note } as const;
const addresses = { a: "address any", mbar: "address any" };

/** The complete-tx operation of an asynchronous operation on `bytes` bytes: release, at the scope of the cluster. */
export const transactionOf = (mbar: Expr, space: string | undefined, bytes: number): Step => ({
  op: mbarrierOp(
    { address: mbar, space, ordering: { order: "release", scope: "cluster" } },
    settling(completing(begin, kit.i32(bytes))),
  ),
  dst: [],
});

interface StoreModifiers {
  readonly ss?: string | undefined;
  readonly vec?: string | undefined;
  readonly type: string;
}

const store = (a: Expr, m: StoreModifiers, ops: OperandAccess, ordering: Ordering = {}): OpOf<"store"> => ({
  kind: "store",
  access: accessOf(m, ordering),
  place: atAddress(a),
  values: ops.vector("b").map(patternOf),
});

/** Bytes that one lane stores or updates. */
const bytesOf = ({ type, vec }: StoreModifiers): number =>
  (typeInfo(type)!.bits / 8) * (vec === undefined ? 1 : Number(vec.slice(1)));

const mmioNeedsSys = ({ mmio, scope }: { readonly mmio: boolean; readonly scope: string }) =>
  mmio && scope !== "sys" ? "'.mmio' needs the scope '.sys'" : null;

/** Section 9.7.9.12. */
const stAsync = instruction("st.async", {
  summary: "stores asynchronously",
  section: "9.7.9.12",
  forms: [
    form("st.async{.weak}{.ss}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [mbar]", {
      where: {
        ss: ["shared::cluster"],
        vec: ["v2", "v4"],
        type: ["b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"],
      },
      operands: { ...addresses, b: "type[vec?]" },
      ...hopper,
      effect: (_, { a, mbar }, m, ops) => [{ op: store(a, m, ops) }, transactionOf(mbar, m.ss, bytesOf(m))],
    }),
    form("st.async{.mmio}.release.scope{.ss}.type [a], b", {
      where: {
        scope: ["gpu", "sys"],
        ss: ["global"],
        type: ["b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"],
      },
      operands: { ...addresses, b: "type" },
      ...blackwell,
      invalid: mmioNeedsSys,
      effect: (_, { a }, m, ops) => store(a, m, ops, { order: "release", scope: m.scope }),
    }),
  ],
});

const typesOf: Readonly<Record<string, readonly string[]>> = {
  inc: ["u32"],
  dec: ["u32"],
  min: ["u32", "s32"],
  max: ["u32", "s32"],
  and: ["b32"],
  or: ["b32"],
  xor: ["b32"],
  add: ["u32", "s32", "u64"],
};

/** Section 9.7.13.7. */
const redAsync = instruction("red.async", {
  summary: "updates memory atomically and asynchronously",
  section: "9.7.13.7",
  forms: [
    form("red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type [a], b, [mbar]", {
      where: {
        ss: ["shared::cluster"],
        op: ["inc", "dec", "min", "max", "and", "or", "xor", "add"],
        type: ["u32", "s32", "b32", "u64"],
      },
      operands: { ...addresses, b: "type" },
      ...hopper,
      invalid: ({ op, type }) => (typesOf[op]!.includes(type) ? null : `'.${op}' does not take '.${type}'`),
      effect: (k, { a, mbar }, m, ops) => [
        { op: atomic({ ...m, space: m.ss, scope: "cluster" }, a, ops, (r, s) => combined(k, m, r, s)), dst: [] },
        transactionOf(mbar, m.ss, bytesOf(m)),
      ],
    }),
    form("red.async{.mmio}.release.scope{.ss}.add.type [a], b", {
      where: { scope: ["gpu", "sys"], ss: ["global"], type: ["u32", "s32", "u64", "s64"] },
      operands: { ...addresses, b: "type" },
      ...blackwell,
      invalid: mmioNeedsSys,
      effect: (k, { a }, m, ops) => atomic({ ...m, space: m.ss, sem: "release" }, a, ops, (r, s) => k.add(r, s)),
    }),
  ],
});

export const asynchronousStores = [stAsync, redAsync];
