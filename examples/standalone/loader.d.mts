import type { KernelDescription } from "../../src/index.ts";

type Size = number | readonly [x: number, y?: number, z?: number];
type Argument = number | bigint | Buffer | ArrayBufferView;

export interface Buffer {
  readonly name: string;
  readonly address: bigint;
  readonly bytes: Uint8Array;
  read<T>(Type: new (buffer: ArrayBuffer) => T): T;
  write(values: ArrayBufferView): Buffer;
}

export interface Kernel {
  readonly description: KernelDescription;
  buffer(contents: number | ArrayBufferView, name?: string): Buffer;
  variable(name: string): Buffer | null;
  launch(options: {
    readonly grid: Size;
    readonly block: Size;
    readonly args?: readonly Argument[];
    readonly shared?: number;
  }): void;
}

export class KernelFault extends Error {
  readonly line: number;
  readonly thread: readonly number[];
  readonly block: readonly number[];
}

export function loadKernel(
  description: KernelDescription,
  bytes: Uint8Array,
  options?: { readonly print?: (text: string) => void },
): Promise<Kernel>;
