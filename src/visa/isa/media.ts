import { rawDst, rawSrc, scalar, surface } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const execution = { kind: "image" } as const;

const mode: OperandSpec = {
  class: "option",
  choices: { nomod: 0, modified: 1, top: 2, bottom: 3, top_mod: 4, bottom_mod: 5 },
};
const block: Readonly<Record<string, OperandSpec>> = {
  mode,
  width: { class: "number", from: 1, to: 64 },
  height: { class: "number", from: 1, to: 64 },
  surface,
  plane: { class: "number", from: 0, to: 15 },
  x: scalar("ud", "d"),
  y: scalar("ud", "d"),
};

/** Blocks of two-dimensional surfaces. */
export const mediaRows: readonly Row[] = [
  row({
    opcode: 0x37,
    name: "MEDIA_LD",
    mnemonic: "media_ld",
    title: "load of a block of a two-dimensional surface",
    page: "MEDIA_LD",
    text: "media_ld.{mode} ({width},{height}) surface [plane] x y dst",
    file: "mode surface plane width height x y dst",
    operands: { ...block, dst: rawDst() },
    sizes: null,
    execution,
  }),
  row({
    opcode: 0x38,
    name: "MEDIA_ST",
    mnemonic: "media_st",
    title: "store of a block of a two-dimensional surface",
    page: "MEDIA_ST",
    text: "media_st.{mode} ({width},{height}) surface [plane] x y src",
    file: "mode surface plane width height x y src",
    operands: { ...block, src: rawSrc() },
    sizes: null,
    execution,
  }),
];
