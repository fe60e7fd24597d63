import { byte, rawDst, rawSrc, scalar, surface, word } from "./memory-operands.ts";
import { type Row, row } from "./row.ts";

const execution = { kind: "none", reason: "the graphics pipeline is not modelled" } as const;

/** Inputs and outputs of shaders. */
export const renderRows: readonly Row[] = [
  row({
    opcode: 0x71,
    name: "3D_RT_WRITE",
    mnemonic: "rt_write_3d",
    title: "write of pixels to a render target",
    page: "RT_WRITE",
    text: "(P) rt_write_3d{.mode} E surface values",
    // The values that follow depend on the mode's bits.
    file: "exec pred mode.flags:u16 surface values.outputs",
    operands: { mode: { class: "string" }, surface, values: { class: "list" } },
    sizes: [8, 16],
    execution,
  }),
  row({
    opcode: 0x90,
    name: "RT_READ",
    mnemonic: "rt_read",
    title: "read of pixels of a render target",
    page: "RT_READ",
    text: "(P) rt_read{.mode} E surface dst",
    // The fields are those of the page; no reader or writer of IGC has the instruction.
    file: "exec pred mode:u16 surface dst",
    operands: { mode: { class: "option", choices: { PS: 1 } }, surface, dst: rawDst() },
    sizes: [16, 32],
    execution,
  }),
  row({
    opcode: 0x90,
    name: "RT_READ",
    mnemonic: "rt_read",
    title: "read of samples of a render target by their index",
    page: "RT_READ",
    text: "(P) rt_read.{mode} E surface index dst",
    file: "exec pred mode:u16 surface index dst",
    operands: {
      mode: { class: "option", choices: { SI: 2, PSSI: 3, SIPS: 3 } },
      surface,
      index: scalar("ub", "uw", "ud"),
      dst: rawDst(),
    },
    sizes: [16, 32],
    execution,
  }),
  row({
    opcode: 0x72,
    name: "3D_URB_WRITE",
    mnemonic: "urb_write_3d",
    title: "write of a vertex's attributes",
    page: "URB_WRITE",
    text: "(P) urb_write_3d E count offset mask handle slots data",
    file: "exec pred count mask offset:u16 handle slots data",
    operands: {
      count: byte,
      offset: word,
      mask: rawSrc("ud"),
      handle: rawSrc("ud"),
      slots: rawSrc("ud"),
      data: rawSrc("ud", "d", "f"),
    },
    sizes: [8, 16],
    execution,
  }),
];
