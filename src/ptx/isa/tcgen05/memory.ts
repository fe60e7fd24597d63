import {
  atAddress,
  clusterWindows,
  type OpOf,
  type TensorCopy,
  type TensorMoveShape,
  type UnitOp,
} from "../../../ir/index.ts";
import { type Expr, kit } from "../../../semantics/index.ts";
import { arriving, begin, mbarrierOp, settling } from "../async/mbarrier-word.ts";
import { form, instruction, nothing, type OperandAccess, type Step } from "../define.ts";
import { align } from "../matrix/steps.ts";
import { accessOf } from "../memory/access.ts";
import { addressInRank } from "../move/cluster.ts";
import { exact, generation, groups, isForPair } from "./gates.ts";

const repeats = ["x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"] as const;
const shapes = ["16x64b", "16x128b", "16x256b", "32x32b"] as const;

/** The number of 32-bit registers for one repetition of a shape (table 49); 1 by default. */
const registersOf: Readonly<Record<string, number>> = { "16x128b": 2, "16x256b": 4 };
const count = ({ shape = "", num }: { readonly shape?: string; readonly num: string }): number =>
  (registersOf[shape] ?? 1) * Number(num.slice(1));
const registers = (m: { readonly shape?: string; readonly num: string }): string => `b32[${count(m)}]`;
const tooMany = (m: { readonly shape: string; readonly num: string }): string | null =>
  count(m) <= 128 ? null : `'.${m.num}' with the shape '.${m.shape}' takes more than 128 registers`;

const taddr = "address tensor";
const columns = "u32 32|64|128|256|512";

const unitOp = (unit: UnitOp, operands: readonly Expr[]): OpOf<"unit"> => ({ kind: "unit", unit, operands });

const isFirstLane = kit.eq({ kind: "special", ty: "i32", name: "laneid" }, kit.i32(0));

/** The steps of a unit operation that a warp tries again, while others run, as long as its result is -1. */
function retrying(operation: OpOf<"unit">, ops: OperandAccess): { readonly steps: Step[]; readonly result: Expr } {
  const { register, value } = ops.temporary(0);
  const waits = { where: kit.eq(value, kit.i32(-1)), dst: [] };
  const steps: Step[] = [
    align,
    { op: operation, dst: [register] },
    { op: { kind: "sleep", nanoseconds: kit.i32(1) }, ...waits },
    { op: { kind: "branch", target: 0, uniform: true }, ...waits },
  ];
  return { steps, result: value };
}

/**
 * An address of shared memory, of which the instruction takes 32 bits. Code that has not converted its pointer gives a
 * generic address here, of which these are the address within the window.
 */
const inShared = (address: Expr): Expr => (address.ty === "i64" ? kit.and(address, kit.i64(0xffff_ffffn)) : address);

/**
 * The columns are allocated, then one lane stores their address. As long as there are none the warp tries again and
 * lets others run, which may free some; or which allocate in the other block of the pair.
 */
function allocation(m: { readonly cta_group: string; readonly "shared::cta": boolean }, ops: OperandAccess): Step[] {
  const [dst] = ops.vector("dst");
  const address = m["shared::cta"] ? inShared(dst!) : dst!;
  const access = accessOf({ type: "b32", ss: m["shared::cta"] ? "shared::cta" : undefined });
  const { steps, result } = retrying(unitOp({ op: "tensor-alloc", pair: isForPair(m) }, ops.vector("nCols")), ops);
  return [...steps, { op: { kind: "store", access, place: atAddress(address), values: [result] }, where: isFirstLane }];
}

/** Section 9.7.16.7.1. */
const tcgen05Alloc = instruction("tcgen05.alloc", {
  summary: "allocates tensor memory",
  section: "9.7.16.7.1",
  forms: [
    form("tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols", {
      where: { cta_group: groups },
      operands: { nCols: columns },
      ...generation,
      effect: (_, __, m, ops) => allocation(m, ops),
    }),
  ],
});

/** Section 9.7.16.7.1. */
const tcgen05Dealloc = instruction("tcgen05.dealloc", {
  summary: "frees tensor memory",
  section: "9.7.16.7.1",
  forms: [
    form("tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, nCols", {
      where: { cta_group: groups },
      operands: { taddr: "reg u32", nCols: columns },
      ...generation,
      effect: (_, { taddr, nCols }, m, ops) => {
        const freeing = unitOp({ op: "tensor-dealloc", pair: isForPair(m) }, [taddr, nCols]);
        return isForPair(m) ? retrying(freeing, ops).steps : [align, { op: freeing, dst: [] }];
      },
    }),
  ],
});

/** Section 9.7.16.7.1. */
const tcgen05RelinquishAllocPermit = instruction("tcgen05.relinquish_alloc_permit", {
  summary: "gives up the right to allocate tensor memory",
  section: "9.7.16.7.1",
  forms: [
    form("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", {
      where: { cta_group: groups },
      ...generation,
      effect: (_, __, m) => [align, { op: unitOp({ op: "tensor-relinquish", pair: isForPair(m) }, []) }],
    }),
  ],
});

interface MoveModifiers {
  readonly shape?: TensorMoveShape;
  readonly num: string;
}

/** What moves: the second part of 16x32bx2 begins at an immediate offset. */
const moveOf = (m: MoveModifiers, packed: boolean, ops: OperandAccess) => ({
  shape: m.shape ?? "16x32bx2",
  registers: count(m),
  packed,
  split: Number(ops.constant("immHalfSplitoff") ?? 0),
});

const loading = (address: Expr, m: MoveModifiers & { readonly "pack::16b": boolean }, ops: OperandAccess): Step[] => [
  align,
  { op: unitOp({ op: "tensor-load", move: moveOf(m, m["pack::16b"], ops), reduction: null }, [address]) },
];

const storing = (address: Expr, m: MoveModifiers & { readonly "unpack::16b": boolean }, ops: OperandAccess): Step[] => [
  align,
  { op: unitOp({ op: "tensor-store", move: moveOf(m, m["unpack::16b"], ops) }, [address, ...ops.vector("r")]) },
];

interface ReductionModifiers extends MoveModifiers {
  readonly redOp: "min" | "max";
  readonly type?: "u32" | "s32";
  readonly abs?: boolean;
  readonly NaN?: boolean;
}

/** A load, of which each lane also combines its registers. */
function reducing(address: Expr, m: ReductionModifiers, shape: TensorMoveShape, ops: OperandAccess): Step[] {
  const { redOp: op, type = "f32", abs = false, NaN: nan = false } = m;
  const move = moveOf({ ...m, shape }, false, ops);
  return [align, { op: unitOp({ op: "tensor-load", move, reduction: { op, type, abs, nan } }, [address]) }];
}

const atLeastTwo = ({ num }: { readonly num: string }): string | null =>
  num === "x1" ? "'.red' needs at least '.x2'" : null;

const reduced = { since: "8.8", target: ["sm_101a", "sm_103f", "sm_110f"] } as const;
const redOps = ["min", "max"] as const;

/** Section 9.7.16.8.3. `q` receives the reduced value. */
const tcgen05Ld = instruction("tcgen05.ld", {
  summary: "loads from tensor memory",
  section: "9.7.16.8.3",
  forms: [
    form("tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 d, [taddr]", {
      where: { shape: shapes, num: repeats },
      operands: { d: registers, taddr },
      ...generation,
      invalid: tooMany,
      effect: (_, { taddr }, m, ops) => loading(taddr, m, ops),
    }),
    form("tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 d, [taddr], immHalfSplitoff", {
      where: { num: repeats },
      operands: { d: registers, taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      effect: (_, { taddr }, m, ops) => loading(taddr, m, ops),
    }),
    form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp{.abs}{.NaN}.f32 d, q, [taddr]", {
      where: { num: repeats, redOp: redOps },
      operands: { d: registers, q: "f32", taddr },
      ...generation,
      ...reduced,
      invalid: atLeastTwo,
      effect: (_, { taddr }, m, ops) => reducing(taddr, m, "32x32b", ops),
    }),
    form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp{.abs}{.NaN}.f32 d, q, [taddr], immHalfSplitoff", {
      where: { num: repeats, redOp: redOps },
      operands: { d: registers, q: "f32", taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      ...reduced,
      invalid: atLeastTwo,
      effect: (_, { taddr }, m, ops) => reducing(taddr, m, "16x32bx2", ops),
    }),
    form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp.type d, q, [taddr]", {
      where: { num: repeats, redOp: redOps, type: ["u32", "s32"] },
      operands: { d: registers, q: "type", taddr },
      ...generation,
      ...reduced,
      invalid: atLeastTwo,
      effect: (_, { taddr }, m, ops) => reducing(taddr, m, "32x32b", ops),
    }),
    form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp.type d, q, [taddr], immHalfSplitoff", {
      where: { num: repeats, redOp: redOps, type: ["u32", "s32"] },
      operands: { d: registers, q: "type", taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      ...reduced,
      invalid: atLeastTwo,
      effect: (_, { taddr }, m, ops) => reducing(taddr, m, "16x32bx2", ops),
    }),
  ],
});

/** Section 9.7.16.8.4. */
const tcgen05St = instruction("tcgen05.st", {
  summary: "stores to tensor memory",
  section: "9.7.16.8.4",
  forms: [
    form("tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr], r", {
      where: { shape: shapes, num: repeats },
      operands: { r: registers, taddr },
      ...generation,
      invalid: tooMany,
      effect: (_, { taddr }, m, ops) => storing(taddr, m, ops),
    }),
    form("tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [taddr], immHalfSplitoff, r", {
      where: { num: repeats },
      operands: { r: registers, taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      effect: (_, { taddr }, m, ops) => storing(taddr, m, ops),
    }),
  ],
});

/** Section 9.7.16.8.5. */
const tcgen05Wait = instruction("tcgen05.wait", {
  summary: "waits for loads from or stores to tensor memory",
  section: "9.7.16.8.5",
  forms: [
    form("tcgen05.operation.sync.aligned", {
      where: { operation: ["wait::ld", "wait::st"] },
      ...generation,
      effect: (_, __, { operation }) => [
        align,
        { op: unitOp({ op: "tensor-wait", of: operation === "wait::ld" ? "loads" : "stores" }, []) },
      ],
    }),
  ],
});

/** The multicast modifiers that a shape requires. */
const multicastOf: Readonly<Record<string, readonly string[]>> = {
  "64x128b": ["warpx2::02_13", "warpx2::01_23"],
  "32x128b": ["warpx4"],
};
function multicastProblem({ shape, multicast }: { readonly shape: string; readonly multicast?: string | undefined }) {
  const choices = multicastOf[shape];
  if (choices === undefined) return multicast === undefined ? null : `'.${multicast}' cannot be used with '.${shape}'`;
  return choices.includes(multicast ?? "") ? null : `'.${shape}' needs ${choices.map((c) => `'.${c}'`).join(" or ")}`;
}

const multicasts: Readonly<Record<string, TensorCopy["multicast"]>> = {
  "warpx2::02_13": "02_13",
  "warpx2::01_23": "01_23",
  warpx4: "all",
};

interface CopyModifiers {
  readonly cta_group: string;
  readonly shape: string;
  readonly multicast?: string | undefined;
  readonly src_fmt?: string;
}

function copying(to: Expr, descriptor: Expr, m: CopyModifiers): readonly Step[] {
  const [rows, bits] = m.shape.slice(0, -1).split("x").map(Number) as [TensorCopy["rows"], number];
  const copy: TensorCopy = {
    pair: isForPair(m),
    rows,
    bytes: bits === 256 ? 32 : 16,
    multicast: multicasts[m.multicast ?? ""] ?? null,
    unpacked: m.src_fmt === undefined ? null : m.src_fmt === "b6x16_p32" ? 6 : 4,
  };
  return [{ op: unitOp({ op: "tensor-copy", copy }, [to, descriptor]) }];
}

const copied = {
  cta_group: groups,
  shape: ["128x256b", "4x256b", "128x128b", "64x128b", "32x128b"],
  multicast: ["warpx2::02_13", "warpx2::01_23", "warpx4"],
} as const;

/** Section 9.7.16.9.2. */
const tcgen05Cp = instruction("tcgen05.cp", {
  summary: "copies from shared to tensor memory asynchronously",
  section: "9.7.16.9.2",
  forms: [
    form("tcgen05.cp.cta_group.shape{.multicast} [taddr], s_desc", {
      where: copied,
      operands: { taddr, s_desc: "reg u64" },
      ...generation,
      invalid: multicastProblem,
      effect: (_, { taddr, s_desc }, m) => copying(taddr, s_desc, m),
    }),
    form("tcgen05.cp.cta_group.shape{.multicast}.b8x16.src_fmt [taddr], s_desc", {
      where: { ...copied, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { taddr, s_desc: "reg u64" },
      ...generation,
      invalid: multicastProblem,
      effect: (_, { taddr, s_desc }, m) => copying(taddr, s_desc, m),
    }),
  ],
});

/** Section 9.7.16.9.3. */
const tcgen05Shift = instruction("tcgen05.shift", {
  summary: "shifts the rows of tensor memory down by one asynchronously",
  section: "9.7.16.9.3",
  forms: [
    form("tcgen05.shift.cta_group.down [taddr]", {
      where: { cta_group: groups },
      operands: { taddr },
      ...generation,
      target: [...exact, "sm_103a"],
      effect: (_, { taddr }, m) => [{ op: unitOp({ op: "tensor-shift", pair: isForPair(m) }, [taddr]) }],
    }),
  ],
});

/** Section 9.7.16.11.1. */
const tcgen05Fence = instruction("tcgen05.fence", {
  summary: "orders tensor memory operations relative to the synchronization of threads",
  section: "9.7.16.11.1",
  forms: [
    form("tcgen05.order", {
      where: { order: ["fence::before_thread_sync", "fence::after_thread_sync"] },
      ...generation,
      effect: nothing,
    }),
  ],
});

/**
 * What the thread has begun is complete: the mbarrier gets its arrival at once, or those at the same place in the
 * blocks of the cluster that a mask names do.
 */
function committing(
  mbarrier: Expr,
  ctaMask: Expr | undefined,
  m: { readonly "shared::cluster": boolean },
): readonly Step[] {
  const arrival = (address: Expr, space: string | undefined): Step => {
    const where = { address, space, ordering: { order: "release", scope: "cluster" } } as const;
    const op = mbarrierOp(where, settling(arriving(begin, kit.i32(1), false)));
    return { op: { ...op, tracks: { what: "tensor", raises: false } }, dst: [] };
  };
  const space = m["shared::cluster"] ? "shared::cluster" : undefined;
  if (ctaMask === undefined) return [arrival(mbarrier, space)];
  return Array.from({ length: clusterWindows.maxRank }, (_, rank) => ({
    ...arrival(addressInRank(kit, mbarrier, kit.i32(rank)), space),
    where: kit.ne(kit.and(ctaMask, kit.i32(1 << rank)), kit.i32(0)),
  }));
}

/** Section 9.7.16.12.1. */
const tcgen05Commit = instruction("tcgen05.commit", {
  summary: "makes an mbarrier track the tensor memory operations so far",
  section: "9.7.16.12.1",
  forms: [
    form(
      "tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64 [mbar]{, ctaMask}",
      {
        where: { cta_group: groups },
        operands: { ctaMask: "u16" },
        paired: { ctaMask: "multicast::cluster" },
        ...generation,
        effect: (_, { mbar, ctaMask }, m) => committing(mbar, ctaMask, m),
      },
    ),
  ],
});

export const tensorMemoryInstructions = [
  tcgen05Alloc,
  tcgen05Dealloc,
  tcgen05RelinquishAllocPermit,
  tcgen05Ld,
  tcgen05St,
  tcgen05Wait,
  tcgen05Cp,
  tcgen05Shift,
  tcgen05Fence,
  tcgen05Commit,
];
