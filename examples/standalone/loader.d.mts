/** What `lanewise build` writes beside a module, parsed. docs/build.md explains all of it. */
export interface Description {
  readonly format: string;
  /** Bytes of the module. */
  readonly size: number;
  readonly kernel: string;
  readonly source: string;
  /** The only blocks that can be launched, or null for any. */
  readonly block: readonly number[] | null;
  readonly mostThreads: number;
  readonly parameters: readonly {
    readonly name: string;
    readonly type: string;
    readonly offset: number;
    readonly size: number;
    readonly also?: readonly number[];
  }[];
  /** Of vISA: sizes of the launch among the parameters, by name. */
  readonly sizes?: readonly { readonly offset: number; readonly value: string }[];
  readonly paramBytes?: number;
  readonly sharedBytes?: number;
}

type Size = number | readonly [x: number, y?: number, z?: number];
type Argument = number | bigint | Buffer | ArrayBufferView;

/** Memory of a kernel: a buffer, or a variable of its program. */
export interface Buffer {
  readonly name: string;
  /** What kernels are given. */
  readonly address: bigint;
  /** The bytes where they lie; good until more memory is allocated. */
  readonly bytes: Uint8Array;
  /** A copy as a typed array. */
  read<T = Uint8Array>(Type?: new (buffer: ArrayBuffer) => T): T;
  write(values: ArrayBuffer | ArrayBufferView): Buffer;
}

export interface Kernel {
  readonly description: Description;
  /** So many bytes of zeros, or those of a typed array. */
  buffer(contents: number | ArrayBuffer | ArrayBufferView, name?: string): Buffer;
  /** A variable of the program in global or constant memory; null if there is none of the name. */
  variable(name: string): Buffer | null;
  /**
   * Runs the kernel to its end. `grid`: blocks; `block`: threads; `args`: an argument for each parameter; `shared`: bytes of dynamic
   * shared memory (default: none, or what a kernel of vISA needs).
   *
   * @throws TypeError, RangeError when sizes or arguments do not fit; KernelFault when the kernel goes wrong
   */
  launch(options: {
    readonly grid: Size;
    readonly block: Size;
    readonly args?: readonly Argument[];
    readonly shared?: number;
  }): void;
}

/** What went wrong in a kernel: at a line, in a thread of a block. */
export class KernelFault extends Error {
  readonly source: string;
  readonly line: number;
  readonly kernel: string;
  readonly thread: readonly number[];
  readonly block: readonly number[];
  /** The instruction. */
  readonly text: string;
}

/**
 * `bytes`: the module. `print` gets what each `printf` of the kernel prints; default: the console. `memoryOf`: a kernel of the same
 * program, the buffers and variables of which are this one's too.
 */
export function loadKernel(
  description: Description,
  bytes: ArrayBuffer | ArrayBufferView,
  options?: { readonly print?: (text: string) => void; readonly memoryOf?: Kernel | null },
): Promise<Kernel>;
