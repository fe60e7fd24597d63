import { atomicOps, atomicWidth, channels, rawDst, rawSrc, surface } from "./memory-operands.ts";
import { type Row, row } from "./row.ts";

const execution = { kind: "image" } as const;

const coordinates = { u: rawSrc("ud"), v: rawSrc("ud"), r: rawSrc("ud"), lod: rawSrc("ud") };

/** Accesses to typed surfaces (surfaces with a format), by coordinates. */
export const typedRows: readonly Row[] = [
  row({
    opcode: 0x4b,
    name: "GATHER4_TYPED",
    mnemonic: "gather4_typed",
    title: "load of pixels from a typed surface",
    page: "GATHER4_TYPED",
    text: "(P) gather4_typed.{channels} E surface u v r lod dst",
    file: "exec pred channels surface u v r lod dst",
    operands: { channels, surface, ...coordinates, dst: rawDst("ud", "d", "f") },
    sizes: [8, 16],
    execution,
  }),
  row({
    opcode: 0x4c,
    name: "SCATTER4_TYPED",
    mnemonic: "scatter4_typed",
    title: "store of pixels to a typed surface",
    page: "SCATTER4_TYPED",
    text: "(P) scatter4_typed.{channels} E surface u v r lod src",
    file: "exec pred channels surface u v r lod src",
    operands: { channels, surface, ...coordinates, src: rawSrc("ud", "d", "f") },
    sizes: [8, 16],
    execution,
  }),
  row({
    opcode: 0x73,
    name: "3D_TYPED_ATOMIC",
    mnemonic: "typed_atomic",
    title: "atomic operation on a typed surface",
    page: "TYPED_ATOMIC",
    text: "(P) typed_atomic.{op}{.width} E surface u v r lod src0 src1 dst",
    file: "op+width exec pred surface u v r lod src0 src1 dst",
    operands: {
      op: atomicOps,
      width: atomicWidth("16", "32"),
      surface,
      ...coordinates,
      src0: rawSrc(),
      src1: rawSrc(),
      dst: rawDst(),
    },
    sizes: [8, 16],
    execution,
  }),
];
