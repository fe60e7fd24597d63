const magics: readonly (readonly number[])[] = [
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0x50, 0xed, 0x55, 0xba], // a fat binary
  [0x21, 0x3c, 0x61, 0x72, 0x63, 0x68, 0x3e, 0x0a], // !<arch>
  [0x21, 0x3c, 0x74, 0x68, 0x69, 0x6e, 0x3e, 0x0a], // !<thin>
  [0x50, 0x4b, 0x03, 0x04], // ZIP
  [0x50, 0x4b, 0x05, 0x06], // an empty ZIP
  [0x4d, 0x5a, 0x90, 0x00], // an executable or library of Windows, as linkers begin it
];
const sniffed = 0x1_0000;

/** A line of the heads that `cuobjdump -ptx` and `cuobjdump -all` write before each text. */
export const cuobjdumpHead = /^Fatbin (ptx|elf) code:[ \t]*\r?\n=+[ \t]*\r?$/m;

/** Whether the bytes are a file that holds programs, such as an executable, rather than assembly itself. */
export const isContainer = (bytes: Uint8Array): boolean =>
  magics.some((magic) => magic.every((byte, i) => bytes[i] === byte)) || isCuobjdump(bytes);

/** Whether the bytes are the text that `cuobjdump -ptx` prints. */
export const isCuobjdump = (bytes: Uint8Array): boolean =>
  cuobjdumpHead.test(new TextDecoder("latin1").decode(bytes.subarray(0, sniffed)));
