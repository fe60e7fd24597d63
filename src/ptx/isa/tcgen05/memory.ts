import { form, instruction } from "../define.ts";
import { exact, generation, groups } from "./gates.ts";

const repeats = ["x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"] as const;
const shapes = ["16x64b", "16x128b", "16x256b", "32x32b"] as const;

/** The number of 32-bit registers for one repetition of a shape (table 49); 1 by default. */
const registersOf: Readonly<Record<string, number>> = { "16x128b": 2, "16x256b": 4 };
const count = ({ shape = "", num }: { readonly shape?: string; readonly num: string }): number =>
  (registersOf[shape] ?? 1) * Number(num.slice(1));
const registers = (m: { readonly shape?: string; readonly num: string }): string => `b32[${count(m)}]`;
const tooMany = (m: { readonly shape: string; readonly num: string }): string | null =>
  count(m) <= 128 ? null : `'.${m.num}' with the shape '.${m.shape}' takes more than 128 registers`;

const taddr = "address any";

/** Section 9.7.16.7.1. */
const tcgen05Alloc = instruction("tcgen05.alloc", {
  summary: "allocates tensor memory",
  section: "9.7.16.7.1",
  forms: [
    form("tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], nCols", {
      where: { cta_group: groups },
      operands: { nCols: "u32" },
      ...generation,
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
      operands: { taddr: "reg b32", nCols: "u32" },
      ...generation,
    }),
  ],
});

/** Section 9.7.16.7.1. */
const tcgen05RelinquishAllocPermit = instruction("tcgen05.relinquish_alloc_permit", {
  summary: "gives up the right to allocate tensor memory",
  section: "9.7.16.7.1",
  forms: [
    form("tcgen05.relinquish_alloc_permit.cta_group.sync.aligned", { where: { cta_group: groups }, ...generation }),
  ],
});

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
    }),
    form("tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 d, [taddr], immHalfSplitoff", {
      where: { num: repeats },
      operands: { d: registers, taddr, immHalfSplitoff: "imm b32" },
      ...generation,
    }),
    form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp{.abs}{.NaN}.f32 d, q, [taddr]", {
      where: { num: repeats, redOp: redOps },
      operands: { d: registers, q: "f32", taddr },
      ...generation,
      ...reduced,
    }),
    form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp{.abs}{.NaN}.f32 d, q, [taddr], immHalfSplitoff", {
      where: { num: repeats, redOp: redOps },
      operands: { d: registers, q: "f32", taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      ...reduced,
    }),
    form("tcgen05.ld.red.sync.aligned.32x32b.num.redOp.type d, q, [taddr]", {
      where: { num: repeats, redOp: redOps, type: ["u32", "s32"] },
      operands: { d: registers, q: "type", taddr },
      ...generation,
      ...reduced,
    }),
    form("tcgen05.ld.red.sync.aligned.16x32bx2.num.redOp.type d, q, [taddr], immHalfSplitoff", {
      where: { num: repeats, redOp: redOps, type: ["u32", "s32"] },
      operands: { d: registers, q: "type", taddr, immHalfSplitoff: "imm b32" },
      ...generation,
      ...reduced,
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
    }),
    form("tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [taddr], immHalfSplitoff, r", {
      where: { num: repeats },
      operands: { r: registers, taddr, immHalfSplitoff: "imm b32" },
      ...generation,
    }),
  ],
});

/** Section 9.7.16.8.5. */
const tcgen05Wait = instruction("tcgen05.wait", {
  summary: "waits for loads from or stores to tensor memory",
  section: "9.7.16.8.5",
  forms: [form("tcgen05.operation.sync.aligned", { where: { operation: ["wait::ld", "wait::st"] }, ...generation })],
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
      operands: { taddr, s_desc: "reg b64" },
      ...generation,
      invalid: multicastProblem,
    }),
    form("tcgen05.cp.cta_group.shape{.multicast}.b8x16.src_fmt [taddr], s_desc", {
      where: { ...copied, src_fmt: ["b6x16_p32", "b4x16_p64"] },
      operands: { taddr, s_desc: "reg b64" },
      ...generation,
      invalid: multicastProblem,
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
    }),
  ],
});

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
