import { form, instruction } from "../define.ts";

const unimplemented = "tensor maps are not modelled yet";

const dims = ["1d", "2d", "3d", "4d", "5d"] as const;
const tiles = ["tile", "tile::gather4"] as const;
const columns = ["im2col", "im2col::w", "im2col::w::128"] as const;
const groups = ["cta_group::1", "cta_group::2"] as const;

const blackwell = { since: "8.6", target: ["sm_100f", "sm_110f"] } as const;
const groupGates = { "cta_group::1": blackwell, "cta_group::2": blackwell };
const policy = { cache_policy: "b64" };
const source = { srcMem: "address shared" };
const info = { im2colInfo: "u16[1,2,3]" };
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
const hopper = { since: "8.0", target: "sm_90", anyOrder: true, unimplemented } as const;

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
      },
    ),
  ],
});

const replaceTargets = ["sm_90a", "sm_100f", "sm_101f", "sm_110f", "sm_120f"] as const;
const replace = { since: "8.3", target: replaceTargets, anyOrder: true, unimplemented } as const;
const spaces = ["global", "shared::cta"] as const;

/** Section 9.7.9.28. */
const tensormapReplace = instruction("tensormap.replace", {
  summary: "changes a field of a tensor map",
  section: "9.7.9.28",
  forms: [
    form("tensormap.replace.tile.global_address{.ss}.b1024.b64 [addr], new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { new_val: "b64" },
    }),
    form("tensormap.replace.tile.rank{.ss}.b1024.b32 [addr], new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { new_val: "b32" },
    }),
    form("tensormap.replace.tile.field{.ss}.b1024.b32 [addr], ord, new_val", {
      ...replace,
      where: { field: ["box_dim", "global_dim", "element_stride"], ss: spaces },
      operands: { ord: "imm u32 0..4", new_val: "b32" },
    }),
    form("tensormap.replace.tile.global_stride{.ss}.b1024.b64 [addr], ord, new_val", {
      ...replace,
      where: { ss: spaces },
      operands: { ord: "imm u32 0..4", new_val: "b64" },
    }),
    form("tensormap.replace.tile.field{.ss}.b1024.b32 [addr], new_val", {
      ...replace,
      where: {
        field: ["elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity", "fill_mode"],
        ss: spaces,
      },
      operands: { new_val: "imm b32 0..15" },
      gates: { swizzle_atomicity: { since: "8.6", target: ["sm_100f", "sm_101f", "sm_110f", "sm_120f"] } },
    }),
  ],
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
        unimplemented,
      },
    ),
  ],
});

export const tensorInstructions = [
  cpAsyncBulkTensor,
  cpReduceAsyncBulkTensor,
  cpAsyncBulkPrefetchTensor,
  tensormapReplace,
  tensormapCpFenceproxy,
];
