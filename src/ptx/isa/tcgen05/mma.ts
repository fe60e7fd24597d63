import type { TensorKind, TensorMultiply } from "../../../ir/index.ts";
import { kit } from "../../../semantics/index.ts";
import { type Form, form, instruction, type OperandAccess, type Step } from "../define.ts";
import { exact, generation, groups, isForPair } from "./gates.ts";

const floatKinds = ["kind::f16", "kind::tf32", "kind::f8f6f4"] as const;
const integerKind = ["kind::i8"] as const;
const scaledKinds = ["kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"] as const;
const scaleSizes = ["scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"] as const;
const uses = ["fill", "use", "lastuse", "discard"] as const;
const collectors = uses.map((use) => `collector::a::${use}`);

const integerGate = { "kind::i8": { target: exact } };
const scaleGates = {
  "scale_vec::1X": { target: "sm_100a" },
  "scale_vec::2X": { target: "sm_100a" },
  "scale_vec::4X": { target: "sm_100a" },
  block16: { since: "8.8" },
  block32: { since: "8.8" },
};
const fourBits = { target: ["sm_100a", "sm_103a", "sm_110a"] } as const;

const operands = {
  d_tmem: "address tensor",
  a_tmem: "address tensor",
  a_desc: "reg u64",
  b_desc: "reg u64",
  idesc: "reg u32",
  enable_input_d: "pred",
};
const scales = { scale_A_tmem: "address tensor", scale_B_tmem: "address tensor" };

/** The operand with the metadata of a sparse A, in the text of a form. */
const sparse = ", [sp_meta_tmem]";
const operandsOf = (metadata: "" | typeof sparse) =>
  metadata === "" ? operands : { ...operands, sp_meta_tmem: "address tensor" };

/** The operand spec of a mask with a bit for each lane of the tensor memory of one block or two. */
const lanes = ({ cta_group }: { readonly cta_group: string }): string =>
  cta_group === "cta_group::1" ? "b32[4]" : "b32[8]";

const shiftProblem = (m: {
  readonly ashift?: boolean;
  readonly collector_usage?: string | undefined;
}): string | null =>
  m.ashift && (m.collector_usage?.endsWith("::fill") || m.collector_usage?.endsWith("::use"))
    ? `'.ashift' and '.${m.collector_usage}' exclude each other`
    : null;

/** The sizes of scale blocks that a kind allows (table 56). */
const sizesOf: Readonly<Record<string, readonly (string | undefined)[]>> = {
  "kind::mxf8f6f4": [undefined, "scale_vec::1X", "block32"],
  "kind::mxf4": [undefined, "scale_vec::2X", "block32"],
  "kind::mxf4nvf4": ["scale_vec::2X", "scale_vec::4X", "block16", "block32"],
};
const scaleProblem = (m: { readonly kind: string; readonly scale_vectorsize?: string | undefined }): string | null =>
  sizesOf[m.kind]!.includes(m.scale_vectorsize)
    ? null
    : m.scale_vectorsize === undefined
      ? `'.${m.kind}' needs a modifier for the size of its scale blocks`
      : `'.${m.scale_vectorsize}' cannot be used with '.${m.kind}'`;

const pictures = "where elements lie in tensor memory is as CUTLASS has it: the manual has pictures";

interface ProductModifiers {
  readonly cta_group: string;
  readonly kind: string;
  readonly scale_vectorsize?: string | undefined;
  readonly ashift?: boolean;
}

/** Scales of a row of A, with k a power of two (table 56). */
function scalesOf({ kind, scale_vectorsize: size }: ProductModifiers): TensorMultiply["scales"] {
  if (!kind.startsWith("kind::mxf")) return null;
  if (kind === "kind::mxf8f6f4") return 1;
  return size === "scale_vec::4X" || size === "block16" ? 4 : 2;
}

/** The step of a product, whose form may have any of the operands. */
function multiplying(m: ProductModifiers, ops: OperandAccess, stationary: boolean): Step {
  const fromTensorMemory = ops.has("a_tmem");
  const scaled = ops.has("scale_A_tmem");
  const product: TensorMultiply = {
    pair: isForPair(m),
    kind: m.kind.slice("kind::".length) as TensorKind,
    fromTensorMemory,
    sparse: ops.has("sp_meta_tmem"),
    stationary,
    shifted: m.ashift === true,
    scales: scalesOf(m),
    masked: ops.has("disable_output_lane"),
    zeroColumns: ops.has("zero_column_mask_desc"),
    scaleD: Number(ops.constant("scale_input_d") ?? 0),
  };
  const names = [
    ...["d_tmem", fromTensorMemory ? "a_tmem" : "a_desc", "b_desc", "idesc", "enable_input_d"],
    ...(product.sparse ? ["sp_meta_tmem"] : []),
    ...(scaled ? ["scale_A_tmem", "scale_B_tmem"] : []),
    ...(product.masked ? ["disable_output_lane"] : []),
    ...(product.zeroColumns ? ["zero_column_mask_desc"] : []),
  ];
  const operands = names.flatMap((name) =>
    ops.vector(name).map((value) => (value.ty === "pred" ? kit.select(value, kit.i32(1), kit.i32(0)) : value)),
  );
  return { op: { kind: "unit", unit: { op: "tensor-multiply", ...product }, operands } };
}

/**
 * The forms of `tcgen05.mma` and `tcgen05.mma.sp`. A is in tensor memory or given by a descriptor like B, lanes may be
 * masked, and `.sp` adds the metadata of a sparse A. `.ashift` requires A in tensor memory.
 */
function products(name: string, metadata: "" | typeof sparse, scaledGates: typeof fourBits | null): Form[] {
  const kindGates = {
    "kind::mxf4nvf4": { since: "8.7", ...scaledGates },
    ...(scaledGates ? { "kind::mxf4": scaledGates } : {}),
  };
  const multiplied = (_: unknown, __: unknown, m: ProductModifiers, ops: OperandAccess): readonly Step[] => [
    multiplying(m, ops, false),
  ];
  return ["a_desc", "[a_tmem]"].flatMap((a) => {
    const shift = a === "a_desc" ? "" : "{.ashift}";
    const head = `[d_tmem], ${a}, b_desc${metadata}, idesc`;
    return [
      ...["", ", disable_output_lane"].flatMap((mask) => [
        form(`${name}.cta_group.kind${shift}{.collector_usage} ${head}${mask}, enable_input_d{, scale_input_d}`, {
          where: { cta_group: groups, kind: floatKinds, collector_usage: collectors },
          operands: { ...operandsOf(metadata), disable_output_lane: lanes, scale_input_d: "imm u32 0..15" },
          ...generation,
          note: pictures,
          invalid: shiftProblem,
          effect: multiplied,
        }),
        form(`${name}.cta_group.kind${shift}{.collector_usage} ${head}${mask}, enable_input_d`, {
          where: { cta_group: groups, kind: integerKind, collector_usage: collectors },
          operands: { ...operandsOf(metadata), disable_output_lane: lanes },
          ...generation,
          gates: integerGate,
          invalid: shiftProblem,
          effect: multiplied,
        }),
      ]),
      form(
        `${name}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage} ${head}, [scale_A_tmem], [scale_B_tmem], enable_input_d`,
        {
          where: { cta_group: groups, kind: scaledKinds, scale_vectorsize: scaleSizes, collector_usage: collectors },
          operands: { ...operandsOf(metadata), ...scales },
          ...generation,
          gates: { ...scaleGates, ...kindGates },
          note: pictures,
          invalid: scaleProblem,
          effect: multiplied,
        },
      ),
    ];
  });
}

const columns = [0, 1, 2, 3].flatMap((buffer) => uses.map((use) => `collector::b${buffer}::${use}`));

/** The forms of `tcgen05.mma.ws` and `tcgen05.mma.ws.sp`, which keep B in the collector. */
const stationary = (name: string, metadata: "" | typeof sparse): Form[] =>
  ["a_desc", "[a_tmem]"].map((a) =>
    form(
      `${name}.cta_group::1.kind{.collector_usage} [d_tmem], ${a}, b_desc${metadata}, idesc, enable_input_d{, zero_column_mask_desc}`,
      {
        where: { kind: [...floatKinds, ...integerKind], collector_usage: columns },
        operands: { ...operandsOf(metadata), zero_column_mask_desc: "reg u64" },
        ...generation,
        gates: integerGate,
        effect: (_, __, m, ops) => [multiplying({ ...m, cta_group: "cta_group::1" }, ops, true)],
      },
    ),
  );

/** Section 9.7.16.10.9.1. */
const tcgen05Mma = instruction("tcgen05.mma", {
  summary: "multiplies matrices into tensor memory asynchronously",
  section: "9.7.16.10.9.1",
  forms: products("tcgen05.mma", "", null),
});

/** Section 9.7.16.10.9.2. */
const tcgen05MmaSp = instruction("tcgen05.mma.sp", {
  summary: "multiplies a sparse matrix by another into tensor memory asynchronously",
  section: "9.7.16.10.9.2",
  forms: products("tcgen05.mma.sp", sparse, fourBits),
});

/** Section 9.7.16.10.9.3. */
const tcgen05MmaWs = instruction("tcgen05.mma.ws", {
  summary: "multiplies by stationary weights into tensor memory asynchronously",
  section: "9.7.16.10.9.3",
  forms: stationary("tcgen05.mma.ws", ""),
});

/** Section 9.7.16.10.9.4. */
const tcgen05MmaWsSp = instruction("tcgen05.mma.ws.sp", {
  summary: "multiplies a sparse matrix by stationary weights into tensor memory asynchronously",
  section: "9.7.16.10.9.4",
  forms: stationary("tcgen05.mma.ws.sp", sparse),
});

export const tensorProducts = [tcgen05Mma, tcgen05MmaSp, tcgen05MmaWs, tcgen05MmaWsSp];
