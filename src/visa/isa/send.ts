import { anySize } from "./flow.ts";
import { byte, dword, rawDst, rawSrc, scalar } from "./memory-operands.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

const execution = { kind: "none", reason: "messages to fixed-function units are not modelled" } as const;

const descriptor = scalar("ud");

const send = (mnemonic: string, modifier: number): Row =>
  row({
    opcode: 0x5d,
    name: "RAW_SEND",
    mnemonic,
    title: "message to a unit",
    page: "RAW_SEND",
    text: `(P) ${mnemonic} E extended sources destinations descriptor src dst`,
    file: `#${modifier} exec pred extended:u32 sources destinations descriptor src dst`,
    operands: {
      extended: { class: "number", from: 0, to: 0xffff_ffff, radix: 16 },
      sources: byte,
      destinations: byte,
      descriptor,
      src: rawSrc(),
      dst: rawDst(),
    },
    sizes: anySize,
    execution,
  });

/** The text of the conditional form names no unit. */
const sends = (mnemonic: string, modifier: number): Row => {
  const unit = (modifier & 1) === 0;
  return row({
    opcode: 0x7a,
    name: "RAW_SENDS",
    mnemonic,
    title: "message of two parts to a unit",
    page: "RAW_SENDS",
    text: `(P) ${mnemonic}${unit ? ".{unit}" : ""}.{length0}.{length1}.{results} E extended descriptor src0 src1 dst`,
    file: `#${modifier} exec pred length0 length1 results ${unit ? "unit" : "#0"} extended descriptor src0 src1 dst`,
    operands: {
      ...(unit && { unit: byte }),
      length0: byte,
      length1: byte,
      results: byte,
      extended: descriptor,
      descriptor,
      src0: rawSrc(),
      src1: rawSrc(),
      dst: rawDst(),
    },
    sizes: anySize,
    execution,
  });
};

const units: OperandSpec = {
  class: "option",
  choices: {
    null: 0,
    smpl: 2,
    gtwy: 3,
    rc: 5,
    urb: 6,
    btd: 7,
    rta: 8,
    tgm: 13,
    slm: 14,
    ugm: 15,
    // Units by number.
    ...Object.fromEntries(Array.from({ length: 16 }, (_, n) => [String(n), n])),
    ...Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`0x${n.toString(16)}`, n])),
  },
};

const sendg = (mnemonic: string): Row =>
  row({
    opcode: 0x93,
    name: "RAW_SENDG",
    mnemonic,
    title: "message that gathers its registers",
    page: null,
    text: `(P) ${mnemonic}.{unit} E dst/dstBytes src0/bytes0 src1/bytes1 indirect0 indirect1 descriptor`,
    file: null,
    operands: {
      unit: units,
      dst: rawDst(),
      dstBytes: dword,
      src0: rawSrc(),
      bytes0: dword,
      src1: rawSrc(),
      bytes1: dword,
      indirect0: scalar("ud", "uq"),
      indirect1: scalar("ud", "uq"),
      descriptor: { class: "number", from: 0, to: Number.MAX_SAFE_INTEGER },
    },
    sizes: anySize,
    from: "ptl",
    execution,
  });

/** Raw messages, which the program builds itself. */
export const sendRows: readonly Row[] = [
  send("raw_send", 0),
  send("raw_sendc", 1),
  sends("raw_sends", 0),
  sends("raw_sendsc", 1),
  sends("raw_sends_eot", 2),
  sends("raw_sendsc_eot", 3),
  sendg("raw_sendg"),
  sendg("raw_sendgc"),
  sendg("raw_sendg_eot"),
  sendg("raw_sendgc_eot"),
];
