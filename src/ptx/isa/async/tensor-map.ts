import { type Access, atAddress, type Op, tensorMapBytes, tensorMapFields } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction, type OperandAccess, type Step } from "../define.ts";
import { align } from "../matrix/steps.ts";
import { accessOf } from "../memory/access.ts";

const replaceTargets = ["sm_90a", "sm_100f", "sm_101f", "sm_110f", "sm_120f"] as const;
const replace = { since: "8.3", target: replaceTargets, anyOrder: true } as const;
const spaces = ["global", "shared::cta"] as const;

type Field = keyof typeof tensorMapFields;

/** Fields of one byte. */
const bytes: ReadonlySet<Field> = new Set([
  "elemtype",
  "interleave_layout",
  "swizzle_mode",
  "swizzle_atomicity",
  "fill_mode",
]);

/** Element `ord` of a field of the tensor map at an address becomes a value: a store, since fields lie apart. */
function replaced(field: Field, src: { readonly addr: Expr; readonly new_val: Expr }, ss?: string, ord = 0): Op {
  const type = bytes.has(field) ? "b8" : src.new_val.ty === "i64" ? "b64" : "b32";
  const access = accessOf({ type, ss });
  const offset = tensorMapFields[field] + ord * (access.bits / 8);
  const place = atAddress(kit.add(src.addr, kit.int(src.addr, offset)));
  return { kind: "store", access, place, values: [src.new_val] };
}

/** Section 9.7.9.28. */
const tensormapReplace = instruction("tensormap.replace", {
  summary: "changes a field of a tensor map",
  section: "9.7.9.28",
  forms: [
    form("tensormap.replace.tile.global_address{.ss}.b1024.b64 [addr], new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { new_val: "b64" },
      effect: (_, src, { ss }) => replaced("global_address", src, ss),
    }),
    form("tensormap.replace.tile.rank{.ss}.b1024.b32 [addr], new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { new_val: "b32" },
      effect: (_, src, { ss }) => replaced("rank", src, ss),
    }),
    form("tensormap.replace.tile.field{.ss}.b1024.b32 [addr], ord, new_val", {
      ...replace,
      where: { field: ["box_dim", "global_dim", "element_stride"], ss: spaces },
      operands: { ord: "imm u32 0..4", new_val: "b32" },
      effect: (_, src, { field, ss }, ops) => replaced(field, src, ss, Number(ops.constant("ord"))),
    }),
    form("tensormap.replace.tile.global_stride{.ss}.b1024.b64 [addr], ord, new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { ord: "imm u32 0..4", new_val: "b64" },
      effect: (_, src, { ss }, ops) => replaced("global_stride", src, ss, Number(ops.constant("ord"))),
    }),
    form("tensormap.replace.tile.field{.ss}.b1024.b32 [addr], new_val", {
      ...replace,
      where: {
        field: ["elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"],
        ss: spaces,
      },
      operands: { new_val: "imm b32 0..15" },
      gates: { swizzle_atomicity: { since: "8.6", target: ["sm_100f", "sm_101f", "sm_110f", "sm_120f"] } },
      effect: (_, src, { field, ss }) => replaced(field, src, ss),
    }),
  ],
});

const chunk = 32;
const [loaded, stored] = (["shared::cta", "global"] as const).map((ss) => accessOf({ type: "b32", vec: "v8", ss })) as [
  Access,
  Access,
];

/** One lane copies for the warp, which gives the same addresses. */
const first = kit.eq({ kind: "special", ty: "i32", name: "laneid" }, kit.i32(0));

/** The tensor map, a part at a time through registers. */
function copied(dst: Expr, src: Expr, ops: OperandAccess): Step[] {
  const words = Array.from({ length: chunk / 4 }, (_, i) => ops.temporary(i));
  const at = (base: Expr, offset: number) => atAddress(kit.add(base, kit.int(base, offset)));
  const steps: Step[] = [];
  for (let offset = 0; offset < tensorMapBytes; offset += chunk) {
    const load: Op = { kind: "load", access: loaded, place: at(src, offset) };
    const values = words.map(({ value }) => value);
    const store: Op = { kind: "store", access: stored, place: at(dst, offset), values };
    steps.push({ op: load, dst: words.map(({ register }) => register), where: first });
    steps.push({ op: store, dst: [], where: first });
  }
  return steps;
}

const released = (scope: "cta" | "cluster" | "gpu" | "sys"): Step => ({
  op: { kind: "fence", order: "release", scope },
  dst: [],
});

/** Section 9.7.13.16. */
const tensormapCpFenceproxy = instruction("tensormap.cp_fenceproxy", {
  summary: "copies a tensor map from shared to global memory with a proxy fence",
  section: "9.7.13.16",
  forms: [
    form(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [dst], [src], size",
      {
        where: { scope: ["cta", "cluster", "gpu", "sys"] },
        operands: { dst: "address global", src: "address shared", size: "imm u32 128..128" },
        since: "8.3",
        target: "sm_90",
        effect: (_, { dst, src }, { scope }, ops) => [align, ...copied(dst, src, ops), released(scope)],
      },
    ),
  ],
});

export const tensorMapInstructions = [tensormapReplace, tensormapCpFenceproxy];
