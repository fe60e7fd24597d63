import { ByteView } from "./byte-view.ts";
import { type Elf, isElf, readElf, sectionBytes, symbolsOf } from "./elf.ts";

/** What machine code says about one of its kernels. */
export interface MachineKernel {
  readonly name: string;
  /** Registers of each thread. */
  readonly registers: number;
  /** Bytes of shared memory that the kernel declares. */
  readonly sharedBytes: number;
}

const codePrefix = ".text.";
const sharedPrefix = ".nv.shared.";
/** The machine code of NVIDIA's GPUs, as the header of an ELF file names it. */
const cudaMachine = 190;

/** Whether the bytes are a cubin: machine code for one architecture. */
export function isCubin(bytes: Uint8Array): boolean {
  const view = new ByteView(bytes, "");
  return view.length >= 0x14 && isElf(view) && view.u16(0x12) === cudaMachine;
}

/**
 * Lists the functions of machine code, with what they need.
 *
 * @throws ContainerError if it is damaged
 */
export function readMachineCode(bytes: Uint8Array): readonly MachineKernel[] {
  const view = new ByteView(bytes, "machine code");
  const elf = readElf(view);
  const sizes = new Map(elf.sections.map(({ name, size }) => [name, size]));
  const counts = registerCounts(view, elf);
  return elf.sections
    .filter(({ name }) => name.startsWith(codePrefix))
    .map(({ name, info }) => {
      const kernel = name.slice(codePrefix.length);
      // Up to sm_89 the number is in the upper byte of a field of the section with the code too.
      return {
        name: kernel,
        registers: counts.get(kernel) ?? info >>> 24,
        sharedBytes: sizes.get(sharedPrefix + kernel) ?? 0,
      };
    });
}

const attributesName = ".nv.info";
/** The formats of attributes: one of 4 has a size and so many bytes, the others have 16 bits at most. */
const sizedFormat = 4;
const registerCount = 0x2f;

/** The numbers of registers by the names of functions, as the attributes of machine code have them. */
function registerCounts(view: ByteView, elf: Elf): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const section = elf.sections.find(({ name }) => name === attributesName);
  if (section === undefined) return counts;
  const symbols = [...symbolsOf(view, elf)];
  const attributes = new ByteView(sectionBytes(view, section), "machine code");
  for (let at = 0; at + 4 <= attributes.length; ) {
    const isSized = attributes.u8(at) === sizedFormat;
    const size = isSized ? attributes.u16(at + 2) : 0;
    if (isSized && attributes.u8(at + 1) === registerCount && size === 8) {
      const name = symbols[attributes.u32(at + 4)]?.name;
      if (name !== undefined) counts.set(name, attributes.u32(at + 8));
    }
    at += 4 + size;
  }
  return counts;
}

/**
 * The architecture of a cubin ("sm_80"). Up to version 7 of the format its number is the low byte of the flags of the
 * header; since then it is the byte above.
 */
export function architectureOf(bytes: Uint8Array): string {
  const view = new ByteView(bytes, "machine code");
  const { flags } = readElf(view);
  const abiVersion = view.u8(8);
  return `sm_${abiVersion >= 8 ? (flags >> 8) & 0xff : flags & 0xff}`;
}
