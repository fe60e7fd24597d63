import { form, instruction } from "../define.ts";

const type = ["u32", "u64"] as const;
const gate = { since: "7.8", target: "sm_90", unimplemented: "clusters of blocks are not modelled yet" } as const;

/** Section 9.7.9.23. */
export const mapa = instruction("mapa", {
  summary: "maps an address of shared memory to another block of the cluster",
  section: "9.7.9.23",
  forms: [
    form("mapa.shared::cluster.type d, a, b", { where: { type }, ...gate, operands: { b: "u32" } }),
    form("mapa.type d, a, b", { where: { type }, ...gate, operands: { a: "reg type", b: "u32" } }),
  ],
});

/** Section 9.7.9.24. */
export const getctarank = instruction("getctarank", {
  summary: "returns the rank in the cluster of the block that an address of shared memory belongs to",
  section: "9.7.9.24",
  forms: [
    form("getctarank.shared::cluster.type d, a", { where: { type }, ...gate, operands: { d: "u32" } }),
    form("getctarank.type d, a", { where: { type }, ...gate, operands: { d: "u32", a: "reg type" } }),
  ],
});
