/** How the bytes of a member are kept in the file. */
export type Compression = "none" | "LZ4" | "zstd" | "deflate";

/** What a piece of device code is: the text of PTX, or code that only a GPU runs (a cubin). */
export type CodeImageKind = "ptx" | "machine code";

/** One form of a module of device code. A module has several, for several architectures. */
export interface CodeImage {
  readonly kind: CodeImageKind;
  /** The architecture for which it was made, as in "sm_80" or "sm_90a". */
  readonly architecture: string;
  /** The version of PTX ("9.0"); null for machine code. */
  readonly version: string | null;
  /** What the compiler noted down of its options, as in "--generate-line-info". */
  readonly options: string;
  readonly compression: Compression;
  /** The size in the file. */
  readonly storedBytes: number;
  /** The size without compression. */
  readonly bytes: number;
  /**
   * Reads it, without the NUL at the end of a text.
   *
   * @throws ContainerError if it is damaged
   */
  read(): Uint8Array;
}

/** The device code that was made of one source file: one fat binary. */
export interface DeviceModule {
  /**
   * The name of the source without its folder and ending, or of the file that it was in, or its number. Unique in the
   * file: others of the same name have a number added ("reduce-2").
   */
  readonly name: string;
  /**
   * Whether it is to be linked with the others of its kind (`nvcc -rdc=true`), with which it may share functions and
   * variables. Others are programs of their own.
   */
  readonly relocatable: boolean;
  readonly images: readonly CodeImage[];
}

/** A file within a file. */
export interface ContainedFile {
  readonly path: string;
  readonly compression: Compression;
  readonly bytes: number;
  /** @throws ContainerError if it is damaged */
  read(): Uint8Array;
}

/** A name that lies in a section of data. */
export interface SectionSymbol {
  readonly name: string;
  /** The path of the section among the files. */
  readonly section: string;
  readonly offset: number;
}

/** An address that a section of data holds, as in a table of functions; what stands in its place is added to it. */
export interface SectionRelocation {
  /** The path of the section among the files. */
  readonly section: string;
  readonly offset: number;
  /** The name of the routine or data that it is the address of. */
  readonly symbol: string;
  /** 4 for the lower half of an address. */
  readonly bytes: 4 | 8;
}

/** What a file holds. */
export interface Container {
  /** The kind of file, as in "ELF executable". */
  readonly format: string;
  /** The device code of CUDA. */
  readonly modules: readonly DeviceModule[];
  /** Other files that a program is made of: vISA texts, `.ze_info`. */
  readonly files: readonly ContainedFile[];
  /** The names in sections of data that are among the files. */
  readonly symbols: readonly SectionSymbol[];
  /** The addresses in those sections. */
  readonly relocations: readonly SectionRelocation[];
  /** What could not be read, and what to do about it. */
  readonly problems: readonly string[];
}
