/**
 * Files that hold programs: executables, objects, archives, fat binaries, what ocloc writes. Knows no instruction set.
 *
 * @module
 */
export { ContainerError } from "./container-error.ts";
export { type FatBinary, readFatBinaries } from "./fat-binary.ts";
export { type MachineKernel, readMachineCode } from "./cubin.ts";
export type {
  Compression,
  ContainedFile,
  Container,
  DeviceModule,
  CodeImage,
  CodeImageKind,
  SectionRelocation,
  SectionSymbol,
} from "./members.ts";
export { inflate } from "./inflate.ts";
export { HostObject } from "./host-object.ts";
export { readContainer } from "./read-container.ts";
export { isContainer } from "./sniff.ts";
