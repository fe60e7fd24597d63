import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

/*
 * Accesses of compiled kernels to surfaces of their binding tables. What is out of bounds of one reads zeros, and what
 * is written there is dropped (the pages of gather4_scaled, gather_scaled, their scatters, oword_ld_unaligned and
 * dword_atomic in vISA's manual), also where another allocation lies.
 */
const width = 16;

const bufferOf = (index: number) => [
  { arg_type: "arg_bypointer", offset: 0, size: 0, arg_index: index, addrmode: "stateful", addrspace: "global" },
  { arg_type: "buffer_address", offset: 32 + 8 * index, size: 8, arg_index: index },
];

const zeinfo = {
  kernels: [
    {
      name: "k",
      execution_env: { simd_size: width },
      payload_arguments: [0, 1, 2].flatMap(bufferOf),
      per_thread_payload_arguments: [{ arg_type: "local_id", offset: 0, size: 6 * width }],
      binding_table_indices: [0, 1, 2].map((i) => ({ bti_value: i, arg_index: i })),
    },
  ],
};

const textOf = (body: string): string => `.version 4.1
.kernel "k"
.decl X v_type=G type=d num_elts=64 align=GRF
.decl Y v_type=G type=d num_elts=16 align=GRF
.decl AT v_type=G type=ud num_elts=16 align=GRF
.decl O v_type=G type=ud num_elts=16 align=GRF
.decl ID v_type=G type=uw num_elts=16 align=GRF
.decl FIRST v_type=G type=ud num_elts=1 align=GRF alias=<O, 0>
.decl T6 v_type=T num_elts=1
.input ID offset=32 size=32
.kernel_attr SimdSize=${width}
.function "k_main"
k_main:
    shl (M1, 16) AT(0,0)<1> ID(0,0)<1;1,0> 2:ud
    movs (M1_NM, 1) T6(0) 1:ud
    gather4_scaled.R (M1, 16) T6 0:ud AT.0 O.0
    mov (M1, 16) X(0,0)<1> ID(0,0)<1;1,0>
    mov (M1, 16) Y(0,0)<1> ID(0,0)<1;1,0>
    movs (M1_NM, 1) T6(0) 0:ud
${body}
    movs (M1_NM, 1) T6(0) 2:ud
    scatter4_scaled.R (M1, 16) T6 0:ud AT.0 Y.0
    ret (M1, 1)
`;

/** Runs a body in 16 lanes, of which each is given an offset into the surface of 64 bytes, the first of three. */
function run(body: string, engine: "jit" | "interpreter", offsetOf: (distance: number, lane: number) => number) {
  const device = new Device();
  const near = device.buffer(
    "u32",
    Array.from({ length: 16 }, (_, i) => 100 + i),
  );
  const far = device.buffer(
    "u32",
    Array.from({ length: 64 }, (_, i) => 1000 + i),
  );
  const distance = Number(far.address - near.address);
  const offsets = device.buffer(
    "u32",
    Array.from({ length: 16 }, (_, lane) => offsetOf(distance, lane) >>> 0),
  );
  const out = device.buffer("u32", 16);
  const module = device.load({ path: "k.visaasm", text: textOf(body) }, { isa: "visa", target: "skl", zeinfo });
  const result = module.kernel("k").launch({ global: 16, local: 16, args: [near, offsets, out], engine });
  expect([result.engine, result.reports]).toEqual([engine, []]);
  return { distance, out: [...out.read()], near: [...near.read()], far: [...far.read()] };
}

/** The memory of the surface. */
class Model {
  readonly bytes = new DataView(new ArrayBuffer(64));

  constructor() {
    for (let i = 0; i < 16; i++) this.bytes.setUint32(4 * i, 100 + i, true);
  }

  get words(): number[] {
    return Array.from({ length: 16 }, (_, i) => this.bytes.getUint32(4 * i, true));
  }

  word(at: number): number {
    return at + 4 <= 64 ? this.bytes.getUint32(at, true) : 0;
  }

  write(at: number, word: number): void {
    if (at + 4 <= 64) this.bytes.setUint32(at, word, true);
  }
}

interface Body {
  readonly text: string;
  /** The result of a lane that is given an offset; `first`: that of the first lane. */
  readonly result: (memory: Model, at: number, lane: number, first: number) => number;
}

const bodies: Readonly<Record<string, Body>> = {
  gather: {
    text: "    gather4_scaled.R (M1, 16) T6 0:ud O.0 Y.0",
    result: (memory, at) => memory.word(at),
  },
  "gather of bytes": {
    text: "    gather_scaled.1 (M1, 16) T6 0:ud O.0 Y.0\n    and (M1, 16) Y(0,0)<1> Y(0,0)<1;1,0> 0xff:d",
    result: (memory, at) => (at < 64 ? memory.bytes.getUint8(at) : 0),
  },
  "gather of two channels": {
    text: `    gather4_scaled.RG (M1, 16) T6 0:ud O.0 X.0
    add (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> X(2,0)<1;1,0>`,
    result: (memory, at) => memory.word(at) + memory.word(at + 4),
  },
  "gathers of two words": {
    text: `    gather4_scaled.R (M1, 16) T6 0:ud O.0 X.0
    add (M1, 16) O(0,0)<1> O(0,0)<1;1,0> 4:ud
    gather4_scaled.R (M1, 16) T6 0:ud O.0 Y.0
    add (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>`,
    result: (memory, at) => memory.word(at) + memory.word((at + 4) >>> 0),
  },
  "block load": {
    text: `    oword_ld_unaligned (1) T6 FIRST(0,0)<0;1,0> X.0
    mov (M1, 16) Y(0,0)<1> X(0,1)<0;1,0>`,
    result: (memory, _at, _lane, first) => memory.word(first + 4),
  },
  scatter: {
    text: "    scatter4_scaled.R (M1, 16) T6 0:ud O.0 X.0",
    result: (memory, at, lane) => {
      memory.write(at, lane);
      return lane;
    },
  },
  "scatter of bytes": {
    text: "    scatter_scaled.1 (M1, 16) T6 0:ud O.0 X.0",
    result: (memory, at, lane) => {
      if (at < 64) memory.bytes.setUint8(at, lane);
      return lane;
    },
  },
  atomic: {
    text: "    dword_atomic.add (M1, 16) T6 O.0 X.0 %null.0 Y.0",
    result: (memory, at, lane) => {
      const old = memory.word(at);
      memory.write(at, old + lane);
      return old;
    },
  },
};

/** Offsets of lanes; `distance`: that of another allocation. */
const places: Readonly<Record<string, (distance: number, lane: number) => number>> = {
  "within the surface": (_, lane) => 60 - 4 * lane,
  "in another allocation": (distance, lane) => distance + 4 * lane,
  "in another allocation, all lanes at one place": (distance) => distance + 64,
  "in another allocation, at any place": (distance, lane) => distance + ((lane * 28) % 256),
  "some of them in another allocation": (distance, lane) => (lane % 3 === 0 ? 4 * lane : distance + 4 * lane),
  "before the surface": (_, lane) => -256 + 4 * lane,
  "around its end": (_, lane) => 32 + 4 * lane,
};

describe.each(Object.entries(bodies))("%s", (_, { text, result }) => {
  test.each(Object.entries(places))("%s", (_, offsetOf) => {
    for (const engine of ["interpreter", "jit"] as const) {
      const { distance, ...found } = run(text, engine, offsetOf);
      const memory = new Model();
      const offsets = Array.from({ length: 16 }, (_, lane) => offsetOf(distance, lane) >>> 0);
      const out = offsets.map((at, lane) => result(memory, at, lane, offsets[0]!));
      const far = Array.from({ length: 64 }, (_, i) => 1000 + i);
      expect({ engine, ...found }).toEqual({ engine, out, near: memory.words, far });
    }
  });
});
