import { byte, channels, rawDst, sampler, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const unknown = (reason: string) => ({ kind: "none", reason }) as const;
const coordinate = scalar("f");

const pixels: readonly Row[] = [
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
    execution: { kind: "image" },
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
    execution: unknown("its filter is a state of samplers that no program here gives"),
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
    execution: unknown("no page documents it"),
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

/** The functions of samplers for media. */
export const samplerMediaRows: readonly Row[] = [...pixels, ...analytics];
