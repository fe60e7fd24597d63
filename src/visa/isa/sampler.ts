import type { Execution } from "./execution.ts";
import { anySize } from "./flow.ts";
import { byte, channels, rawDst, rawSrc, sampler, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";
import type { SamplerParameter } from "./sampler-parameters.ts";

type Parameters = readonly SamplerParameter[];

const unknown = (reason: string) => ({ kind: "none", reason }) as const;
/** What a message does that has these parameters; a text: why it is not modelled. */
const messageOf = (parameters: Parameters | string, fromXe2?: Parameters): Execution =>
  typeof parameters === "string"
    ? unknown(parameters)
    : { kind: "image", parameters, ...(fromXe2 === undefined ? {} : { fromXe2 }) };
/** What the public manual says too little about. */
const media = unknown("the media functions of samplers are not modelled");

const list: OperandSpec = { class: "list" };
const aoffimmi = scalar("ud", "uw");
/** A bit of the op byte of a 3D message, like the following two. */
const nullMask: OperandSpec = { class: "option", choices: { pixel_null_mask: 0x20 } };
const cps: OperandSpec = { class: "option", choices: { cps: 0x40 } };
const uniform: OperandSpec = { class: "option", choices: { divS: 0x80 } };
const coordinate = scalar("f");

/** The layout up to vISA 3.7. Later ones have an op of two bytes, and a paired surface before the parameters. */
const file = (op: number, flags: string, rest: string): string | null =>
  op < 0x20 ? `#${op}+${flags} exec pred ${rest} dst parameters` : null;

const sample = ([mnemonic, op, parameters, fromXe2]: Message): Row =>
  row({
    opcode: 0x6d,
    name: "3D_SAMPLE",
    mnemonic,
    title: "sample of an image",
    page: "3D_SAMPLE",
    text: `(P) ${mnemonic}{.nullMask}{.cps}{.uniform}.{channels} E offsets sampler surface dst parameters`,
    file: file(op, "nullMask+cps+uniform", "channels offsets sampler surface"),
    operands: {
      nullMask,
      cps,
      uniform,
      channels,
      offsets: aoffimmi,
      sampler,
      surface,
      dst: rawDst(),
      parameters: list,
    },
    sizes: anySize,
    execution: messageOf(parameters, fromXe2),
  });

const load = ([mnemonic, op, parameters, fromXe2]: Message): Row =>
  row({
    opcode: 0x6e,
    name: "3D_LOAD",
    mnemonic,
    title: "texels of an image",
    page: "3D_LOAD",
    text: `(P) ${mnemonic}{.nullMask}.{channels} E offsets surface dst parameters`,
    file: file(op, "nullMask", "channels offsets surface"),
    operands: { nullMask, channels, offsets: aoffimmi, surface, dst: rawDst(), parameters: list },
    sizes: anySize,
    // How samples are compressed does not depend on where they are.
    execution: mnemonic === "load_mcs" ? { kind: "image" } : messageOf(parameters, fromXe2),
  });

const gather4 = ([mnemonic, op, parameters, fromXe2]: Message): Row =>
  row({
    opcode: 0x6f,
    name: "3D_GATHER4",
    mnemonic,
    title: "the four texels that a sample would blend",
    page: "3D_SAMPLE4",
    text: `(P) ${mnemonic}{.nullMask}.{channel} E offsets sampler surface dst parameters`,
    file: file(op, "nullMask", "channel offsets sampler surface"),
    operands: {
      nullMask,
      channel: { class: "option", choices: { R: 0, G: 1, B: 2, A: 3 } },
      offsets: aoffimmi,
      sampler,
      surface,
      dst: rawDst(),
      parameters: list,
    },
    sizes: anySize,
    execution: messageOf(parameters, fromXe2),
  });

/** A message: its name, its code, and its parameters in order, or why it is not modelled; those from Xe2 on. */
type Message = readonly [mnemonic: string, op: number, parameters: Parameters | string, fromXe2?: Parameters];

const texel: Parameters = ["u", "v", "r"];
const place: Parameters = [...texel, "ai"];
const flatSlopes: Parameters = ["u", "dudx", "dudy", "v", "dvdx", "dvdy"];
const slopes: Parameters = [...flatSlopes, "r", "drdx", "drdy", "ai"];

/*
 * The order is that of the pages 3D_SAMPLE, 3D_LOAD and 3D_SAMPLE4, or where they have none that of IGC's decoder of
 * messages, which also has the least level (`mlod`) at the end.
 */
const sampleNames: readonly Message[] = [
  // Kernels of OpenCL have no neighbours from which a level would follow: it is the base level.
  ["sample_3d", 0, [...place, "mlod"]],
  ["sample_b", 1, ["bias", ...place, "mlod"], ["bias_ai", ...texel, "mlod"]],
  ["sample_l", 2, ["lod", ...place], ["lod_ai", ...texel]],
  ["sample_c", 3, ["ref", ...place, "mlod"]],
  ["sample_d", 4, [...slopes, "mlod"], [...flatSlopes, "r", "mlod"]],
  ["sample_b_c", 5, ["ref", "bias", ...place, "mlod"], ["ref", "bias_ai", ...texel, "mlod"]],
  ["sample_l_c", 6, ["ref", "lod", ...place], ["ref", "lod_ai", ...texel]],
  ["lod", 9, "a level follows from neighbours, which compute kernels do not have"],
  ["sample_c_mlod", 19, ["mlod", "ref", ...place]],
  ["sample_d_c", 20, ["ref", ...slopes], ["ref", ...flatSlopes, "r"]],
  ["sample_lz", 24, place],
  ["sample_c_lz", 25, ["ref", ...place]],
  // The newest platforms use the codes 17 and 18, those of sample4_po and sample4_po_c, for these.
  ["sample_d_c_mlod", 0xff, ["ref", ...flatSlopes, "mlod_r"]],
  ["sample_mlod", 0xff, ["mlod", ...place]],
  ["sample_po", 32, [...texel, "offuvr", "mlod"]],
  ["sample_po_b", 33, ["biasoffuvr", ...texel, "mlod"]],
  ["sample_po_l", 34, ["lodoffuvr", ...texel]],
  ["sample_po_c", 35, ["ref", "u", "v", "offuv_r", "mlod"]],
  ["sample_po_d", 36, [...flatSlopes, "offuvr_r", "mlod"]],
  ["sample_po_l_c", 38, ["ref", "lodoffuv", ...texel]],
  ["sample_po_lz", 56, [...texel, "offuvr"]],
  ["sample_po_c_lz", 57, ["ref", "u", "v", "offuv_r"]],
  ["sample_po_b_c", 58, ["ref", "biasoffuvr", ...texel, "mlod"]],
  ["sample_po_d_c", 59, ["ref", ...flatSlopes, "offuv_r"]],
];
const loadNames: readonly Message[] = [
  ["load_3d", 7, ["u", "v", "lod", "r"]],
  ["load_lz", 26, texel],
  ["load_l", 27, [...texel, "lod"]],
  // The second and third say how samples are compressed: here they are not.
  ["load_2dms_w", 28, ["si", "none", "none", "u", "v", "r", "lod"]],
  ["load_mcs", 29, []],
];
const gather4Names: readonly Message[] = [
  ["sample4", 8, place],
  ["sample4_l", 13, ["lod", ...place], ["lod_ai", ...texel]],
  ["sample4_b", 14, ["bias", ...place], ["bias_ai", ...texel]],
  ["sample4_i", 15, place],
  ["sample4_c", 16, ["ref", ...place]],
  ["sample4_po", 17, ["u", "v", "offu", "offv", "r"], [...texel, "gather_offuv"]],
  ["sample4_po_c", 18, ["ref", "u", "v", "offu", "offv", "r"], ["ref", "u", "v", "gather_offuv_r"]],
  ["sample4_i_c", 21, ["ref", ...place]],
  ["sample4_l_c", 23, ["ref", "lod", ...place], ["ref", "lod_ai", ...texel]],
  ["sample4_po_l", 45, ["gather_lodoffuv", ...texel]],
  ["sample4_po_b", 46, ["gather_biasoffuv", ...texel]],
  ["sample4_po_i", 47, [...texel, "gather_offuv"]],
  ["sample4_po_i_c", 53, ["ref", "u", "v", "gather_offuv_r"]],
  ["sample4_po_l_c", 55, ["ref", "gather_lodoffuv", ...texel]],
];

const legacy: readonly Row[] = [
  row({
    opcode: 0x40,
    name: "SAMPLE",
    mnemonic: "sample",
    title: "sample of an image, for media",
    page: null,
    text: "sample.{channels} ({simd}) sampler surface u v r dst",
    file: "channels+simd sampler surface u v r dst",
    operands: {
      channels,
      simd: { class: "option", choices: { "8": 0, "16": 0x10 } },
      sampler,
      surface,
      u: rawSrc("f"),
      v: rawSrc("f"),
      r: rawSrc("f"),
      dst: rawDst(),
    },
    sizes: null,
    execution: messageOf(texel),
  }),
  row({
    opcode: 0x42,
    name: "LOAD",
    mnemonic: "load",
    title: "texels of an image, for media",
    page: null,
    text: "load.{channels} ({simd}) surface u v r dst",
    file: "channels+simd surface u v r dst",
    operands: {
      channels,
      simd: { class: "option", choices: { "8": 0, "16": 0x10 } },
      surface,
      u: rawSrc(),
      v: rawSrc(),
      r: rawSrc(),
      dst: rawDst(),
    },
    sizes: null,
    execution: messageOf(texel),
  }),
  row({
    opcode: 0x41,
    name: "SAMPLE_UNORM",
    mnemonic: "sample_unorm",
    title: "block of samples as integers",
    page: "SAMPLE_UNORM",
    text: "sample_unorm.{channels}.{format} sampler surface u v deltaU deltaV dst",
    file: "channels+format sampler surface u v deltaU deltaV dst",
    operands: {
      channels,
      format: {
        class: "option",
        choices: { "16-full": 0, "16-downsampled": 0x10, "8-full": 0x20, "8-downsampled": 0x30 },
      },
      sampler,
      surface,
      u: coordinate,
      v: coordinate,
      deltaU: coordinate,
      deltaV: coordinate,
      dst: rawDst("uw", "ub"),
    },
    sizes: null,
    execution: media,
  }),
  row({
    opcode: 0x43,
    name: "AVS",
    mnemonic: "avs",
    title: "adaptive scaling of video",
    page: "AVS",
    text: "avs.{channels} surface sampler u v deltaU deltaV u2d group block control v2d mode bypass dst",
    file: "channels sampler surface u v deltaU deltaV u2d group block control v2d mode bypass dst",
    operands: {
      channels,
      sampler,
      surface,
      u: coordinate,
      v: coordinate,
      deltaU: coordinate,
      deltaV: coordinate,
      u2d: coordinate,
      group: scalar("ud", "d"),
      block: scalar("ud", "d"),
      control: {
        class: "option",
        choices: { AVS_16_FULL: 0, AVS_16_DOWN_SAMPLE: 1, AVS_8_FULL: 2, AVS_8_DOWN_SAMPLE: 3 },
      },
      v2d: coordinate,
      mode: { class: "option", choices: { AVS_16x4: 0, AVS_8x4: 1, AVS_16x8: 2 } },
      bypass: scalar("uw", "ud"),
      dst: rawDst(),
    },
    sizes: null,
    execution: media,
  }),
];

const information: readonly Row[] = [
  row({
    opcode: 0x70,
    name: "3D_INFO",
    mnemonic: "resinfo",
    title: "the size of an image",
    page: "INFO",
    text: "resinfo.{channels} E surface lod dst",
    file: "#10 exec channels surface lod dst",
    operands: { channels, surface, lod: rawSrc("ud"), dst: rawDst("ud") },
    sizes: anySize,
    execution: { kind: "image" },
  }),
  row({
    opcode: 0x70,
    name: "3D_INFO",
    mnemonic: "sampleinfo",
    title: "the samples of an image",
    page: "INFO",
    text: "sampleinfo.{channels} E surface dst",
    file: "#11 exec channels surface dst",
    operands: { channels, surface, dst: rawDst("ud") },
    sizes: anySize,
    execution: { kind: "image" },
  }),
];

const filterMode: OperandSpec = byte;
const va = (
  sub: number,
  mnemonic: string,
  title: string,
  order: string,
  operands: Readonly<Record<string, OperandSpec>>,
): Row =>
  row({
    opcode: 0x44,
    sub,
    name: "VA",
    mnemonic,
    title,
    page: null,
    text: `${mnemonic} ${order}`,
    file: order,
    operands: { surface, u: coordinate, v: coordinate, dst: rawDst(), ...operands },
    sizes: null,
    execution: media,
  });

/** The sampler's functions for video analytics. */
const analytics: readonly Row[] = [
  va(1, "va_convolve_2d", "convolution", "sampler surface u v properties dst", { sampler, properties: filterMode }),
  va(2, "va_minmax", "minimum and maximum", "surface u v mode dst", { mode: scalar("ub", "ud", "uw") }),
  va(3, "va_minmaxfilter", "minimum or maximum filter", "sampler surface u v control size mode dst", {
    sampler,
    control: filterMode,
    size: filterMode,
    mode: scalar("ub", "ud", "uw"),
  }),
  va(4, "va_erode", "erosion", "sampler surface u v mode dst", { sampler, mode: filterMode }),
  va(5, "va_dilate", "dilation", "sampler surface u v mode dst", { sampler, mode: filterMode }),
  va(6, "va_boolcentroid", "centroid of bits", "surface u v height width dst", {
    height: scalar("ub"),
    width: scalar("ub"),
  }),
  va(7, "va_centroid", "centroid", "surface u v height dst", { height: scalar("ub") }),
];

/** Samples and loads of images. */
export const samplerRows: readonly Row[] = [
  ...legacy,
  ...sampleNames.map(sample),
  ...loadNames.map(load),
  ...gather4Names.map(gather4),
  ...information,
  ...analytics,
];
