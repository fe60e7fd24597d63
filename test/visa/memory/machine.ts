import { launch } from "../../../src/interpreter/index.ts";
import { loadProgram } from "../../../src/program/program.ts";
import { fileLayout, surfaceIndex } from "../../../src/ir/index.ts";
import type { LaunchRequest } from "../../../src/machine/launch.ts";
import { DeviceMemory } from "../../../src/machine/memory/memory.ts";
import type { Surface } from "../../../src/machine/state/thread-model.ts";
import { SourceText } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { layOut } from "../../../src/visa/lower/layout.ts";
import { lowerVisa } from "../../../src/visa/lower/lower.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { type DataType, typeBytes } from "../../../src/visa/types.ts";

/** A variable of the kernel: its type, and its contents in each hardware thread at the start. */
export interface Register {
  readonly type: DataType;
  readonly bytes: Uint8Array;
}

export interface Kernel {
  /** The statements between the declarations and `ret`. */
  readonly text: string;
  /** Lanes of a thread. */
  readonly width?: 8 | 16 | 32;
  /** Work items of the only group; by default as many as a thread has lanes. */
  readonly items?: number;
  readonly grfBytes?: 32 | 64;
  /** Device memory, at the address `base`. */
  readonly buffer?: Uint8Array;
  readonly registers: (base: bigint) => Readonly<Record<string, Register>>;
  /** The contents of surface variables. */
  readonly surfaceVariables?: Readonly<Record<string, number>>;
  /** Parts of the buffer, by the index of the binding table: first byte and bytes. */
  readonly surfaces?: Readonly<Record<number, readonly [at: number, bytes: number]>>;
  readonly slmBytes?: number;
  /** Whether to run generated code or closures. */
  readonly generate?: boolean;
}

export interface Outcome {
  readonly base: bigint;
  /** Codes and messages of the reports. */
  readonly reports: readonly string[];
  readonly buffer: Uint8Array;
  /** The registers of the thread that began last. */
  readonly registers: Readonly<Record<string, Uint8Array>>;
}

const declaration = (name: string, { type, bytes }: Register): string =>
  `.decl ${name} v_type=G type=${type} num_elts=${bytes.length / typeBytes(type)} align=GRF`;

/** Runs a kernel and returns memory and the registers of a thread at its end. */
export function run(kernel: Kernel): Outcome {
  const { width = 16, items = width, grfBytes = 32, surfaceVariables = {}, surfaces = {}, slmBytes = 0 } = kernel;
  const buffer = kernel.buffer ?? new Uint8Array(0);
  const memory = new DeviceMemory();
  const at = memory.alloc(buffer.length, "the buffer");
  memory.write(at, buffer);
  const base = 0x7f00_0000_0000n + BigInt(at);
  const registers = kernel.registers(base);
  const text = [
    ".version 3.6",
    ".kernel k",
    ...Object.entries(registers).map(([name, register]) => declaration(name, register)),
    ...Object.keys(surfaceVariables).map((name) => `.decl ${name} v_type=T num_elts=1`),
    ".decl P1 v_type=P num_elts=32",
    `.kernel_attr SimdSize=${width}`,
    `.function "k_main"`,
    "k_main:",
    kernel.text,
    "    ret (M1, 1)",
    "",
  ].join("\n");
  const { tree, diagnostics } = parseVisa(new SourceText("k.visaasm", text));
  const [routine] = bindVisa(tree, { platform: grfBytes === 64 ? "pvc" : "skl" });
  const wrong = [...diagnostics, ...routine!.diagnostics];
  if (wrong.length > 0) throw new Error(`${wrong.map((d) => d.message).join("\n")}\n${text}`);
  const program = loadProgram(memory, lowerVisa([routine!]));
  if (program.addresses.global(at) !== base) throw new Error("the buffer is not where it was expected");
  const { offsetOf } = layOut(routine!);
  const variableNamed = (name: string) => routine!.variables.find((variable) => variable.name === name)!;
  let file: Uint8Array = new Uint8Array(0);
  const request: LaunchRequest = {
    kernel: "k",
    grid: [1, 1, 1],
    block: [items, 1, 1],
    sharedBytes: slmBytes,
    params: new Uint8Array(),
    maxSteps: 100_000,
    threads: {
      width,
      surfaces: new Map(
        Object.entries(surfaces).map(([index, [first, bytes]]): [number, Surface] => [
          Number(index),
          { address: base + BigInt(first), bytes },
        ]),
      ),
      start: (view, thread) => {
        file = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        view.setUint32(fileLayout.surfaces.at, surfaceIndex.slm, true);
        view.setUint32(fileLayout.hw_id.at, thread.index, true);
        for (const [name, { bytes }] of Object.entries(registers)) file.set(bytes, offsetOf(variableNamed(name)));
        for (const [name, index] of Object.entries(surfaceVariables)) {
          view.setUint32(offsetOf(variableNamed(name)), index, true);
        }
      },
    },
  };
  const { reports } = launch(program, request, { generate: kernel.generate ?? true });
  const after = Object.entries(registers).map(([name, { bytes }]) => {
    const place = offsetOf(variableNamed(name));
    return [name, file.slice(place, place + bytes.length)] as const;
  });
  return {
    base,
    reports: reports.map(({ code, message }) => `${code}: ${message}`),
    buffer: memory.read(at, buffer.length),
    registers: Object.fromEntries(after),
  };
}

/** The same numbers in every run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 0 to `below` - 1. */
  next(below: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * below);
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.next(256));
  }

  /** `count` different multiples of `step` below `below`. */
  distinct(count: number, below: number, step: number): number[] {
    const all = Array.from({ length: Math.floor(below / step) }, (_, i) => i * step);
    return Array.from({ length: count }, () => all.splice(this.next(all.length), 1)[0]!);
  }
}

export const dwords = (...values: readonly (number | bigint)[]): Uint8Array =>
  new Uint8Array(Uint32Array.from(values, (value) => Number(BigInt.asUintN(32, BigInt(value)))).buffer);

export const qwords = (...values: readonly bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(values).buffer);
/** Copies `bytes` to the start of `size` bytes. */
export function padded(bytes: Uint8Array, size: number, fill = 0xee): Uint8Array {
  const all = new Uint8Array(size).fill(fill);
  all.set(bytes);
  return all;
}
