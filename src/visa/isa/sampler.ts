import type { Execution } from "./execution.ts";
import { anySize } from "./flow.ts";
import { channels, rawDst, rawSrc, sampler, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";
import type { SamplerParameter } from "./sampler-parameters.ts";

type Parameters = readonly SamplerParameter[];

const unknown = (reason: string) => ({ kind: "none", reason }) as const;
/** What a message does that has these parameters; a text: why it is not modelled. */
const messageOf = (parameters: Parameters | string, fromXe2?: Parameters): Execution =>
  typeof parameters === "string"
    ? unknown(parameters)
    : { kind: "image", parameters, ...(fromXe2 === undefined ? {} : { fromXe2 }) };

const list: OperandSpec = { class: "list" };
const aoffimmi = scalar("ud", "uw");
/** A bit of the op byte of a 3D message, like the following two. */
const nullMask: OperandSpec = { class: "option", choices: { pixel_null_mask: 0x20 } };
const cps: OperandSpec = { class: "option", choices: { cps: 0x40 } };
const uniform: OperandSpec = { class: "option", choices: { divS: 0x80 } };

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

/** Messages of media kernels. */
const ofMedia: readonly Row[] = [
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

/** Samples and loads of images. */
export const samplerRows: readonly Row[] = [
  ...ofMedia,
  ...sampleNames.map(sample),
  ...loadNames.map(load),
  ...gather4Names.map(gather4),
  ...information,
];
