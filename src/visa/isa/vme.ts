import { byte, rawDst, rawSrc, scalar, surface } from "./memory-operands.ts";
import { type Row, row } from "./row.ts";

const execution = { kind: "none", reason: "the motion-estimation engine is not modelled" } as const;

const universal = rawSrc("ub");
const input = rawSrc("ub");
const output = rawDst("ub");

/** Video motion estimation. */
export const vmeRows: readonly Row[] = [
  row({
    opcode: 0x54,
    name: "VME_IME",
    mnemonic: "vme_ime",
    title: "integer motion estimation",
    page: "VME_IME",
    text: "vme_ime ({stream},{search}) surface universal input reference0 reference1 cost output",
    file: "stream search universal input surface reference0 reference1 cost output",
    operands: {
      stream: byte,
      search: byte,
      surface,
      universal,
      input,
      reference0: rawSrc("uw"),
      reference1: rawSrc("uw"),
      cost: rawSrc("ub"),
      output,
    },
    sizes: null,
    execution,
  }),
  row({
    opcode: 0x55,
    name: "VME_SIC",
    mnemonic: "vme_sic",
    title: "skip and intra-picture check",
    page: "VME_SIC",
    text: "vme_sic surface universal input output",
    file: "universal input surface output",
    operands: { surface, universal, input, output },
    sizes: null,
    execution,
  }),
  row({
    opcode: 0x56,
    name: "VME_FBR",
    mnemonic: "vme_fbr",
    title: "refinement to fractions of pixels",
    page: "VME_FBR",
    text: "vme_fbr ({mode},{shape},{prediction}) surface universal input output",
    file: "universal input surface mode shape prediction output",
    operands: {
      mode: scalar("ub", "ud", "uw"),
      shape: scalar("ub", "ud", "uw"),
      prediction: scalar("ub", "ud", "uw"),
      surface,
      universal,
      input,
      output,
    },
    sizes: null,
    execution,
  }),
  row({
    opcode: 0x57,
    name: "VME_IDM",
    mnemonic: "vme_idm",
    title: "mesh of integer distortions",
    page: "VME_IDM",
    text: "vme_idm surface universal input output",
    file: "universal input surface output",
    operands: { surface, universal, input, output },
    sizes: null,
    execution,
  }),
];
