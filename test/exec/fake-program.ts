import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { errors } from "../../src/cuda/base/errors.ts";
import { HostMemory } from "../../src/cuda/base/host-memory.ts";
import { type Item, itemKind, wire } from "../../src/cuda/base/wire.ts";
import type { Recorder } from "../../src/cuda/record/recorder.ts";
import { type Answer, entryPoints, Session } from "../../src/cuda/session.ts";
import { gpus } from "../../src/cuda/state/gpu.ts";
import { CudaProcess, type ExecOptions } from "../../src/cuda/state/process.ts";
import type { PublishedState } from "../../src/cuda/state/process-state.ts";
import type { Report } from "../../src/machine/reports/report.ts";
import { PtxDevice } from "../../src/runtime/device/ptx-device.ts";

const namesIn = (file: string): string[] =>
  readFileSync(new URL(`../../native/names/${file}`, import.meta.url), "utf8")
    .trim()
    .split("\n");

/** The names of all entry points, by number. */
export const names = [...namesIn("runtime.txt"), ...namesIn("driver.txt")];
const entries = entryPoints(names);

const base = 0x5000_0000n;

/** The thread of a program that calls what streams ask for. */
export const callbackThread = 9;

/** A program that uses CUDA, without a process: its memory is an array, and its calls are made one by one. */
export class FakeProgram {
  readonly process: CudaProcess;
  readonly session: Session;
  readonly memory = new Uint8Array(1 << 20);
  readonly view = new DataView(this.memory.buffer);
  readonly warnings: string[] = [];
  readonly reports: Report[] = [];
  /** Files that the program has asked for. */
  readonly files = new Map<string, string>();
  /** What the program may access from then on, and how, in the order in which it was told. */
  readonly protections: { readonly kind: "open" | "close" | "readOnly"; readonly address: bigint }[] = [];
  /** What the client has been told of the state of the process. */
  published: PublishedState | null = null;
  /** What kernels have printed and the program was given. */
  printed = "";
  #top = 64;

  constructor(
    options: Partial<ExecOptions> = {},
    visibleDevices: string | null = null,
    recorder: Recorder | null = null,
  ) {
    const inside = (address: bigint, bytes: number): boolean =>
      address >= base && address + BigInt(bytes) <= base + BigInt(this.memory.length);
    const host = new HostMemory({
      read: (address, into) => {
        if (!inside(address, into.length)) return false;
        into.set(this.memory.subarray(Number(address - base), Number(address - base) + into.length));
        return true;
      },
      write: (address, bytes) => {
        if (!inside(address, bytes.length)) return false;
        this.memory.set(bytes, Number(address - base));
        return true;
      },
    });
    this.process = new CudaProcess(
      { gpu: gpus["sm_90"]!, devices: 1, launch: {}, ...options },
      {
        host,
        // The program changes the memory too.
        makeDevice: () => new PtxDevice({ underlay: { put: () => {}, release: () => false } }),
        readFile: (path) => {
          const text = this.files.get(path);
          return text === undefined ? null : new TextEncoder().encode(text);
        },
        writeFile: (path, text) => this.files.set(path, text),
        visibleDevices,
        warn: (text) => this.warnings.push(text),
        onReports: (reports) => this.reports.push(...reports),
        onState: (state) => (this.published = state),
        recorder,
      },
    );
    this.session = new Session(this.process, entries);
  }

  /** Room in the program's memory, filled with what is given. */
  room(content: number | Uint8Array): bigint {
    const bytes = typeof content === "number" ? new Uint8Array(content) : content;
    const at = this.#top;
    this.memory.set(bytes, at);
    this.#top = Math.ceil((at + bytes.length) / 16) * 16;
    return base + BigInt(at);
  }

  text(value: string): bigint {
    return this.room(new TextEncoder().encode(`${value}\0`));
  }

  bytes(address: bigint, length: number): Uint8Array {
    const at = Number(address - base);
    return this.memory.slice(at, at + length);
  }

  u64(address: bigint): bigint {
    return this.view.getBigUint64(Number(address - base), true);
  }

  i32(address: bigint): number {
    return this.view.getInt32(Number(address - base), true);
  }

  f32(address: bigint): number {
    return this.view.getFloat32(Number(address - base), true);
  }

  /** Makes a call that succeeds, and writes 8 bytes where its first argument says, which are returned. */
  readonly get = async (name: string, ...rest: (bigint | number)[]): Promise<bigint> => {
    const target = this.room(8);
    expect(await this.call(name, target, ...rest), name).toBe(0);
    return this.u64(target);
  };

  /** Calls an entry point, with what it is given in registers and on the stack, as words. */
  async call(name: string, ...words: (bigint | number)[]): Promise<number> {
    return await this.callAs(1, name, ...words);
  }

  /** The same from one of several threads. */
  async callAs(thread: number, name: string, ...words: (bigint | number)[]): Promise<number> {
    const index = names.indexOf(name);
    if (index < 0) throw new Error(`there is no entry point ${name}`);
    const all = new BigUint64Array(wire.callWords);
    words.forEach((word, i) => {
      all[i] = BigInt.asUintN(64, BigInt(word));
    });
    const data = new Uint8Array(all.buffer);
    const answer = await new Promise<Answer>((reply) => this.session.take({ index, thread, data, reply }));
    const failures = answer.items.map((item) => (this.#perform(item) ? 0 : errors.invalidValue));
    if (answer.showsOutput) this.printed += new TextDecoder().decode(this.process.output.take(1 << 20));
    return answer.result || (failures.find((code) => code !== 0) ?? 0);
  }

  /** Does what the client library does on account of an answer. Returns false if memory is missing. */
  #perform({ kind, address, data }: Item): boolean {
    const at = Number(address - base);
    if (kind === itemKind.poke) this.memory.set(data, at);
    for (const name of ["open", "close", "readOnly"] as const) {
      if (kind === itemKind[name]) this.protections.push({ kind: name, address });
    }
    if (kind !== itemKind.upload && kind !== itemKind.download) return true;
    const [offset = 0, bytes = 0] = Array.from(new BigUint64Array(data.slice().buffer), Number);
    if (at < 0 || at + bytes > this.memory.length) return false;
    const device = this.process.machine.memory.views.u8;
    if (kind === itemKind.upload) device.set(this.memory.subarray(at, at + bytes), offset);
    else this.memory.set(device.subarray(offset, offset + bytes), at);
    return true;
  }

  /** Memory that `cudaMalloc` gives. */
  async malloc(bytes: number): Promise<bigint> {
    const pointer = this.room(8);
    const status = await this.call("cudaMalloc", pointer, bytes);
    if (status !== 0) throw new Error(`cudaMalloc gives ${status}`);
    return this.u64(pointer);
  }

  /** Registers PTX as code that nvcc has made does, or what passes for machine code. Returns the handle. */
  async register(ptx: string, kind: keyof typeof imageKind = "ptx"): Promise<bigint> {
    const image = fatBinary(ptx, imageKind[kind]);
    const wrapper = new Uint8Array(24);
    const view = new DataView(wrapper.buffer);
    view.setUint32(0, 0x4662_43b1, true);
    view.setUint32(4, 1, true);
    view.setBigUint64(8, this.room(image), true);
    const handle = this.room(8);
    await this.call("__cudaRegisterFatBinary", handle, this.room(wrapper));
    return handle;
  }

  /** Registers a kernel. Returns the function of the host that stands for it. */
  async kernel(handle: bigint, name: string): Promise<bigint> {
    const stub = this.room(16);
    await this.call("__cudaRegisterFunction", handle, stub, this.text(name));
    return stub;
  }

  /** Registers a variable. Returns what stands for it in the host. */
  async variable(handle: bigint, name: string, bytes: number): Promise<bigint> {
    const shadow = this.room(bytes);
    await this.call("__cudaRegisterVar", handle, shadow, this.text(name), bytes, 0);
    return shadow;
  }

  /** Launches a kernel whose arguments are words of 64 bits. */
  async launch(stub: bigint, grid: number, block: number, args: (bigint | number)[], stream = 0n): Promise<number> {
    const places = args.map((value) => this.room(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer)));
    const list = this.room(new Uint8Array(BigUint64Array.from(places).buffer));
    const yx = 1n << 32n;
    return await this.call("cudaLaunchKernel", stub, BigInt(grid) | yx, 1, BigInt(block) | yx, 1, list, 0, stream);
  }
}

/** Kinds of images in a fat binary, as nvcc numbers them. */
const imageKind = { ptx: 1, machine: 2 } as const;

/** A fat binary with one text of PTX, not compressed. */
function fatBinary(ptx: string, kind: number): Uint8Array {
  const text = new TextEncoder().encode(`${ptx}\0`);
  const payload = Math.ceil(text.length / 8) * 8;
  const out = new Uint8Array(16 + 64 + payload);
  const view = new DataView(out.buffer);
  view.setUint32(0, 0xba55_ed50, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 16, true);
  view.setBigUint64(8, BigInt(64 + payload), true);
  view.setUint16(16, kind, true);
  view.setUint16(18, 0x0101, true);
  view.setUint32(20, 64, true);
  view.setBigUint64(24, BigInt(payload), true);
  view.setUint32(16 + 28, Number(/sm_(\d+)/.exec(ptx)![1]), true);
  view.setUint16(16 + 26, 9, true);
  view.setBigUint64(16 + 40, 0x11n, true);
  view.setBigUint64(16 + 56, BigInt(payload), true);
  out.set(text, 80);
  return out;
}
