/**
 * The control memory that the client library and the server share, and the messages in it: native/client/wire.h has the
 * same numbers for the client.
 */
export const wire = {
  version: 4,
  controlBytes: 0x100_0000,
  slotsAt: 0x1_0000,
  slotBytes: 0x1000,
  slotCount: 256,
  ringAt: 0x20_0000,
  ringBytes: 0x40_0000,
  textAt: 0x80_0000,
  textBytes: 0x80_0000,
  /** The address of byte 0 of device memory, for kernels and, where the host may look, for the host. */
  arenaBase: 0x7f00_0000_0000n,
  arenaBytes: 0x1_0000_0000,
  callWords: 24,
  callFrames: 24,
  /** Room for a message to a function of the program that listens to the log, with its zero. */
  messageBytes: 1024,
} as const;

/** The words of the first page, by index. */
export const headerWord = {
  version: 0,
  head: 1,
  tail: 2,
  sleeping: 3,
  oneWay: 4,
  sticky: 5,
  stickyDriver: 6,
  textBusy: 7,
  stacks: 8,
  removedStreams: 9,
} as const;

/** Messages that are no calls of an entry point. */
export const message = { pad: 0xffff_ff00, launch: 0xffff_ff01, callback: 0xffff_ff02, fault: 0xffff_ff03 } as const;

/** What the client does when an answer comes. */
export const itemKind = {
  poke: 1,
  print: 2,
  learn: 3,
  forget: 4,
  open: 5,
  close: 6,
  warn: 7,
  callbacks: 8,
  adopt: 9,
  giveBack: 10,
  upload: 11,
  download: 12,
  readOnly: 13,
} as const;

/** One of the things that the client does when an answer comes. */
export interface Item {
  readonly kind: (typeof itemKind)[keyof typeof itemKind];
  readonly address: bigint;
  readonly data: Uint8Array;
}
