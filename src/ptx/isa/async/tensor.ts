import type { OpOf, TensorMode } from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { form, instruction, nothing, type OperandAccess } from "../define.ts";

const dims = ["1d", "2d", "3d", "4d", "5d"] as const;
const tiles = ["tile", "tile::gather4"] as const;
const columns = ["im2col", "im2col::w", "im2col::w::128"] as const;
const groups = ["cta_group::1", "cta_group::2"] as const;

const blackwell = { since: "8.6", target: ["sm_100f", "sm_110f"] } as const;
const groupGates = { "cta_group::1": blackwell, "cta_group::2": blackwell };
const policy = { cache_policy: "u64" };
const source = { srcMem: "address shared" };
interface Modifiers {
  readonly dim: (typeof dims)[number];
  readonly load_mode?: TensorMode | "im2col_no_offs" | undefined;
  readonly cta_group?: (typeof groups)[number] | undefined;
}

/** Section 9.7.9.27.1.2: which modes go with which dimensions. */
function modeProblem({ dim, load_mode = "tile" }: Modifiers): string | null {
  const rank = Number(dim[0]);
  const fits = load_mode === "tile" || (load_mode.startsWith("tile") ? rank === 2 : rank >= 3);
  return fits ? null : `'.${load_mode}' cannot be used with '.${dim}'`;
}

/** Offsets for each spatial dimension, or halo and offset. */
const info = {
  im2colInfo: ({ dim, load_mode }: Modifiers): string =>
    load_mode === "im2col" ? `u16[${Math.max(1, Number(dim[0]) - 2)}]` : "u16[2]",
};
const operands = {
  dstMem: "address any",
  ...source,
  mbar: "address shared",
  ...info,
  ctaMask: "u16",
  ...policy,
};
const paired = { cache_policy: "L2::cache_hint" } as const;
const toCluster = { paired: { ...paired, ctaMask: "multicast::cluster" } } as const;
const hopper = { since: "8.0", target: "sm_90", anyOrder: true, invalid: modeProblem } as const;

const map = "tensorMap,tensorCoords";

/** The coordinates, as many as the instruction has, and what im2col adds. */
const boxOperands = (ops: OperandAccess): { coordinates: readonly Expr[]; info: readonly Expr[] } => ({
  coordinates: ops.vector("tensorCoords"),
  info: ops.vector("im2colInfo"),
});

const modeOf = ({ load_mode = "tile" }: Modifiers): TensorMode =>
  load_mode === "im2col_no_offs" ? "im2col" : load_mode;

interface Loaded {
  readonly dstMem: Expr;
  readonly mbar: Expr;
  readonly ctaMask?: Expr | undefined;
  readonly [map]: Expr;
}

function load(to: "shared" | "shared-cluster", src: Loaded, mods: Modifiers, ops: OperandAccess): OpOf<"unit"> {
  const { coordinates, info } = boxOperands(ops);
  const counts = { rank: Number(mods.dim[0]), coordinates: coordinates.length, info: info.length };
  return {
    kind: "unit",
    unit: {
      ...{ op: "box-load", mode: modeOf(mods), ...counts, to },
      ...{ multicast: src.ctaMask !== undefined, pairs: mods.cta_group === "cta_group::2" },
    },
    operands: [src.dstMem, src[map], src.mbar, src.ctaMask ?? kit.i32(0), ...coordinates, ...info],
  };
}

type Reduced = Extract<OpOf<"unit">["unit"], { op: "box-store" }>["reduction"];

function store(
  src: { readonly srcMem: Expr; readonly [map]: Expr },
  mods: Modifiers,
  ops: OperandAccess,
  reduction: Reduced = null,
): OpOf<"unit"> {
  const { coordinates } = boxOperands(ops);
  const counts = { rank: Number(mods.dim[0]), coordinates: coordinates.length };
  return {
    kind: "unit",
    unit: { op: "box-store", mode: modeOf(mods), ...counts, reduction },
    operands: [src.srcMem, src[map], ...coordinates],
  };
}

const inferred =
  "the manual has pictures of im2col::w; the NaN of an out-of-bounds fill is that of H100 GPUs, 0x7ff7 in every 16 bits";

/** Section 9.7.9.27.1.2. `im2colInfo`: offsets for `.im2col`, halo and offset for `.im2col::w`. */
const cpAsyncBulkTensor = instruction("cp.async.bulk.tensor", {
  summary: "copies a box of a tensor asynchronously",
  section: "9.7.9.27.1.2",
  forms: [
    form(
      "cp.async.bulk.tensor.dim.shared::cta.global{.load_mode}.mbarrier::complete_tx::bytes{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap,tensorCoords], [mbar]{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: tiles, cta_group: groups },
        operands,
        paired,
        since: "8.6",
        gates: { "tile::gather4": { target: "sm_100" }, ...groupGates },
        effect: (_, src, mods, ops) => load("shared", src, mods, ops),
      },
    ),
    form(
      "cp.async.bulk.tensor.dim.shared::cta.global.load_mode.mbarrier::complete_tx::bytes{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap,tensorCoords], [mbar], im2colInfo{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: columns, cta_group: groups },
        operands,
        paired,
        since: "8.6",
        gates: { "im2col::w": { target: "sm_100" }, "im2col::w::128": blackwell, ...groupGates },
        note: inferred,
        effect: (_, src, mods, ops) => load("shared", src, mods, ops),
      },
    ),
    form(
      "cp.async.bulk.tensor.dim.shared::cluster.global{.load_mode}.mbarrier::complete_tx::bytes{.multicast::cluster}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap,tensorCoords], [mbar]{, ctaMask}{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: tiles, cta_group: groups },
        operands,
        ...toCluster,
        gates: { "tile::gather4": blackwell, ...groupGates },
        effect: (_, src, mods, ops) => load("shared-cluster", src, mods, ops),
      },
    ),
    form(
      "cp.async.bulk.tensor.dim.shared::cluster.global.load_mode.mbarrier::complete_tx::bytes{.multicast::cluster}{.cta_group}{.L2::cache_hint} [dstMem], [tensorMap,tensorCoords], [mbar], im2colInfo{, ctaMask}{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: columns, cta_group: groups },
        operands,
        ...toCluster,
        gates: { "im2col::w": blackwell, "im2col::w::128": blackwell, ...groupGates },
        effect: (_, src, mods, ops) => load("shared-cluster", src, mods, ops),
      },
    ),
    form(
      "cp.async.bulk.tensor.dim.global.shared::cta{.load_mode}.bulk_group{.L2::cache_hint} [tensorMap,tensorCoords], [srcMem]{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: ["tile", "tile::scatter4", "im2col_no_offs"] },
        operands,
        paired,
        gates: { "tile::scatter4": blackwell },
        effect: (_, src, mods, ops) => store(src, mods, ops),
      },
    ),
  ],
});

/** Section 9.7.9.27.1.3. */
const cpReduceAsyncBulkTensor = instruction("cp.reduce.async.bulk.tensor", {
  summary: "reduces shared memory into a box of a tensor asynchronously",
  section: "9.7.9.27.1.3",
  forms: [
    form(
      "cp.reduce.async.bulk.tensor.dim.global.shared::cta.redOp{.load_mode}.bulk_group{.L2::cache_hint} [tensorMap,tensorCoords], [srcMem]{, cache_policy}",
      {
        ...hopper,
        where: {
          dim: dims,
          redOp: ["add", "min", "max", "inc", "dec", "and", "or", "xor"],
          load_mode: ["tile", "im2col_no_offs"],
        },
        operands: { ...source, ...policy },
        paired,
        effect: (_, src, mods, ops) => store(src, mods, ops, mods.redOp),
      },
    ),
  ],
});

/** Section 9.7.9.27.1.4. */
const cpAsyncBulkPrefetchTensor = instruction("cp.async.bulk.prefetch.tensor", {
  summary: "prefetches a box of a tensor into the L2 cache",
  section: "9.7.9.27.1.4",
  forms: [
    form(
      "cp.async.bulk.prefetch.tensor.dim.L2.global{.load_mode}{.L2::cache_hint} [tensorMap,tensorCoords]{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: tiles },
        operands: { ...info, ...policy },
        paired,
        gates: { "tile::gather4": blackwell },
        effect: nothing,
      },
    ),
    form(
      "cp.async.bulk.prefetch.tensor.dim.L2.global.load_mode{.L2::cache_hint} [tensorMap,tensorCoords], im2colInfo{, cache_policy}",
      {
        ...hopper,
        where: { dim: dims, load_mode: columns },
        operands: { ...info, ...policy },
        paired,
        gates: { "im2col::w": blackwell, "im2col::w::128": blackwell },
        effect: nothing,
      },
    ),
  ],
});

export const tensorInstructions = [cpAsyncBulkTensor, cpReduceAsyncBulkTensor, cpAsyncBulkPrefetchTensor];
