import { launch, type LaunchOptions } from "../../src/interpreter/index.ts";
import { type LoadOptions, loadProgram } from "../../src/program/program.ts";
import type { LaunchRequest } from "../../src/machine/launch.ts";
import { DeviceMemory } from "../../src/machine/memory/memory.ts";
import type { Dim3, Report } from "../../src/machine/reports/report.ts";
import type { ModuleBuilder } from "./builder.ts";

/** Both realisations of expressions, for tests that must hold with each. */
export const engines = [
  { name: "generated loops", generate: true },
  { name: "fold", generate: false },
] as const;

export interface RunOptions extends LoadOptions, LaunchOptions {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly sharedBytes?: number;
  /** Words of the output buffer, whose address is the kernel's first parameter. */
  readonly words?: number;
  readonly input?: Int32Array;
  /** 32-bit parameters after the pointer. */
  readonly params?: readonly number[];
  readonly request?: Partial<LaunchRequest>;
}

export interface Run {
  readonly ok: boolean;
  readonly steps: number;
  readonly reports: readonly Report[];
  /** The output buffer. */
  readonly out: Int32Array;
  readonly memory: DeviceMemory;
}

/** Runs the kernel `k` of a module with one buffer. */
export function run(module: ModuleBuilder, options: RunOptions = {}): Run {
  const memory = new DeviceMemory();
  const program = loadProgram(memory, module.build(), options);
  const words = options.input?.length ?? options.words ?? 32;
  const buffer = memory.alloc(words * 4, "out");
  if (options.input !== undefined) memory.write(buffer, new Uint8Array(options.input.slice().buffer));
  const extra = options.params ?? [];
  const pointer = module.addressSize / 8;
  const params = new DataView(new ArrayBuffer(pointer + extra.length * 4));
  const address = program.addresses.global(buffer);
  if (pointer === 8) params.setBigUint64(0, address, true);
  else params.setUint32(0, Number(address), true);
  extra.forEach((value, i) => {
    params.setInt32(pointer + i * 4, value, true);
  });
  const request: LaunchRequest = {
    kernel: "k",
    grid: options.grid ?? [1, 1, 1],
    block: options.block ?? [32, 1, 1],
    sharedBytes: options.sharedBytes ?? 0,
    params: new Uint8Array(params.buffer),
    ...options.request,
  };
  const result = launch(program, request, options);
  const bytes = memory.read(buffer, words * 4);
  return { ...result, out: new Int32Array(bytes.buffer, bytes.byteOffset, words), memory };
}

export const range = <T>(n: number, f: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => f(i));

/** The line of a report within a module whose functions stand one after the other, counting from 0. */
export const lineOf = (report: Report): number => report.source.position(report.span.start).line - 1;
