import { type Buffer, Device, type ImageHandle, type ImageOptions } from "../../src/runtime/index.ts";
import type { EngineName } from "../../src/runtime/launch/launch-options.ts";

/** A kernel of hardware threads of 16 lanes, whose first argument is an image and whose second one a buffer. */
export interface ImageProgram {
  /** Declarations besides those below. */
  readonly declarations?: readonly string[];
  readonly body: readonly string[];
  /** How many registers of 16 dwords of `R` are written to the buffer. */
  readonly results: number;
  /** Words of the buffer. Default: as many as are written. */
  readonly buffer?: number;
  readonly platform?: string;
  /** Threads of the group. Default: one. */
  readonly threads?: number;
  /** The image's memory is freed before the launch. */
  readonly freed?: true;
}

/*
 * `R` has the results, `LANE` and `FLANE` the number of each lane, `ZERO` and `ONE` these numbers in all lanes, `T6`
 * the image, `S0` a sampler.
 */
function textOf({ declarations = [], body, results, platform = "dg2" }: ImageProgram): string {
  const wide = platform === "pvc" || platform === "bmg";
  const at = wide ? 64 : 32;
  return [
    ".version 4.1",
    '.kernel "k"',
    ".decl OUT v_type=G type=uq num_elts=1 align=qword",
    ".decl L v_type=G type=uw num_elts=16 align=hword",
    ...["LANE", "ZERO", "ONE", "OFFSET"].map((name) => `.decl ${name} v_type=G type=ud num_elts=16 align=wordx32`),
    ".decl FLANE v_type=G type=f num_elts=16 align=wordx32",
    ".decl AT v_type=G type=uq num_elts=16 align=wordx32",
    `.decl R v_type=G type=ud num_elts=${16 * Math.max(1, results)} align=wordx32`,
    ".decl RF v_type=G type=f num_elts=16 align=wordx32 alias=<R, 0>",
    ".decl S0 v_type=S num_elts=1 v_name=S000",
    ".decl T6 v_type=T num_elts=1 v_name=T006",
    ...declarations,
    `.input OUT offset=${at} size=8`,
    '.kernel_attr Target="3d"',
    ".kernel_attr SimdSize=16",
    '.function "k_BB"',
    "k_BB:",
    "    mov (M1_NM, 8) L(0,0)<1> 0x76543210:uv",
    "    add (M1_NM, 8) L(0,8)<1> L(0,0)<1;1,0> 0x8:uw",
    "    mov (M1_NM, 16) LANE(0,0)<1> L(0,0)<1;1,0>",
    "    mov (M1_NM, 16) FLANE(0,0)<1> L(0,0)<1;1,0>",
    "    mov (M1_NM, 16) ZERO(0,0)<1> 0x0:ud",
    "    mov (M1_NM, 16) ONE(0,0)<1> 0x1:ud",
    "    movs (M1_NM, 1) T6(0) 0x0:ud",
    "    movs (M1_NM, 1) S0(0) 0x0:ud",
    ...body.map((line) => `    ${line}`),
    ...Array.from({ length: results }, (_, i) => [
      "    shl (M1_NM, 16) OFFSET(0,0)<1> LANE(0,0)<1;1,0> 0x2:ud",
      `    add (M1_NM, 16) OFFSET(0,0)<1> OFFSET(0,0)<1;1,0> 0x${(64 * i).toString(16)}:ud`,
      "    add (M1_NM, 16) AT(0,0)<1> OUT(0,0)<0;1,0> OFFSET(0,0)<1;1,0>",
      `    lsc_store.ugm (M1_NM, 16) flat[AT]:a64 R.${64 * i}:d32`,
    ]).flat(),
    "    ret (M1, 1)",
    "",
  ].join("\n");
}

const zeinfo = (sampler: boolean) => ({
  version: "1.20",
  kernels: [
    {
      name: "k",
      execution_env: { simd_size: 16, grf_count: 128 },
      payload_arguments: [
        {
          arg_type: "arg_bypointer",
          offset: 0,
          size: 0,
          arg_index: 0,
          addrmode: "stateful",
          addrspace: "image",
          access_type: "readwrite",
          image_type: "image_2d",
        },
        {
          arg_type: "arg_bypointer",
          offset: 0,
          size: 8,
          arg_index: 1,
          addrmode: "stateless",
          addrspace: "global",
          access_type: "readwrite",
        },
        ...(sampler
          ? [
              {
                arg_type: "arg_bypointer",
                offset: 0,
                size: 0,
                arg_index: 2,
                addrmode: "stateful",
                addrspace: "sampler",
                access_type: "readwrite",
                sampler_index: 0,
              },
            ]
          : []),
      ],
      per_thread_payload_arguments: [],
      binding_table_indices: [{ bti_value: 0, arg_index: 0 }],
    },
  ],
});

/** What a launch leaves behind. */
export interface Outcome {
  readonly words: Uint32Array;
  readonly floats: Float32Array;
  readonly texels: number[];
  readonly codes: readonly string[];
}

/** Runs a program on an image with these texels. */
export function runOnImage(
  program: ImageProgram,
  engine: EngineName,
  options: ImageOptions,
  texels: readonly number[],
  sampler: (device: Device) => ImageHandle | null = () => null,
): Outcome {
  const device = new Device({ engine });
  const platform = program.platform ?? "dg2";
  const own = sampler(device);
  const info = zeinfo(own !== null);
  const module = device.load([{ path: "k.visaasm", text: textOf(program) }], {
    isa: "visa",
    zeinfo: info,
    target: platform,
  });
  const image = device.image(options).write(texels);
  const out: Buffer = device.buffer("u32", program.buffer ?? 16 * program.results);
  const args = [image.surface(), out, ...(own === null ? [] : [own])];
  const items = 16 * (program.threads ?? 1);
  if (program.freed) image.buffer.free();
  const { reports } = module.kernel("k").launch({ global: items, local: items, args, sanitize: ["init", "race"] });
  const words = out.read() as Uint32Array;
  return {
    words,
    floats: new Float32Array(words.buffer.slice(0)),
    texels: Array.from(image.read() as ArrayLike<number>),
    codes: reports.map(({ code }) => code),
  };
}
