const zip = 0x504b0304;
const elf = 0x7f454c46;
const intelMachine = 205;
/** ocloc packs the binaries for several devices into an archive, of which the first member is padding. */
const oclocArchive = "!<arch>\npad_";

/** Whether a file that begins with these bytes, 20 at least, is a ZIP archive, or what ocloc writes. */
export function isOpenClFile(head: Uint8Array): boolean {
  if (head.length < 20) return false;
  const view = new DataView(head.buffer, head.byteOffset, 20);
  const magic = view.getUint32(0);
  // Before there were zebins, types of files from 0xff00 on were ocloc's.
  if (magic === elf) return view.getUint16(18, true) === intelMachine || view.getUint16(16, true) >> 8 === 0xff;
  return magic === zip || new TextDecoder().decode(head.subarray(0, 20)).startsWith(oclocArchive);
}
