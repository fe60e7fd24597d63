import { form, instruction } from "../define.ts";

const unimplemented = "asynchronous stores are not modelled yet";

const hopper = { since: "8.1", target: "sm_90", anyOrder: true, unimplemented } as const;
const blackwell = { since: "8.7", target: "sm_100", anyOrder: true, unimplemented } as const;
const addresses = { a: "address any", mbar: "address any" };

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
    }),
    form("red.async{.mmio}.release.scope{.ss}.add.type [a], b", {
      where: { scope: ["gpu", "sys"], ss: ["global"], type: ["u32", "s32", "u64", "s64"] },
      operands: { ...addresses, b: "type" },
      ...blackwell,
      invalid: mmioNeedsSys,
    }),
  ],
});

export const asynchronousStores = [stAsync, redAsync];
