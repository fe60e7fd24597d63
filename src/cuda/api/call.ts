import { errors, fail } from "../base/errors.ts";
import type { HostMemory } from "../base/host-memory.ts";
import { type Item, itemKind } from "../base/wire.ts";
import type { CudaDevice } from "../state/cuda-device.ts";
import type { CudaProcess, HostThread } from "../state/process.ts";
import { Stream } from "../work/stream.ts";

/** The number that a call returns: 0, or an error. A promise of it keeps the calling thread waiting. */
export type Status = number | Promise<number>;

/** What the server does for an entry point. It may throw a CudaError. */
export type Handler = (call: Call) => Status;

/** Entry points by name, without the endings `_ptsz` and `_ptds`. */
export type Handlers = Readonly<Record<string, Handler>>;

const none = new Uint8Array();

/** Handles that stand for default streams. */
const legacyHandle = 1n;
const perThreadHandle = 2n;

/** A call of an entry point: its arguments, and what is to be done in the program before it returns. */
export class Call {
  readonly process: CudaProcess;
  readonly thread: HostThread;
  /** The name of the entry point, without its ending. */
  readonly name: string;
  /** Whether the default stream is that of the thread. */
  readonly perThread: boolean;
  /** The registers of arguments, and the words on the stack. */
  readonly words: BigUint64Array;
  readonly items: Item[] = [];
  /** Whether what kernels have printed is to be shown before the call returns. */
  showsOutput = false;

  constructor(process: CudaProcess, thread: HostThread, name: string, perThread: boolean, words: BigUint64Array) {
    this.process = process;
    this.thread = thread;
    this.name = name;
    this.perThread = perThread;
    this.words = words;
  }

  get host(): HostMemory {
    return this.process.host;
  }

  /** The thread's current device. Throws if there is none, or nothing can be done any more. */
  get device(): CudaDevice {
    if (!this.name.startsWith("cu") || this.name.startsWith("cuda")) this.thread.usesRuntime = true;
    return this.process.device(this.thread.device);
  }

  /** Argument `i` as an address or handle. */
  address(i: number): bigint {
    return this.words[i]!;
  }

  /** The same, which must not be null. */
  target(i: number): bigint {
    return this.words[i] || fail(errors.invalidValue);
  }

  int(i: number): number {
    return Number(BigInt.asIntN(32, this.words[i]!));
  }

  uint(i: number): number {
    return Number(BigInt.asUintN(32, this.words[i]!));
  }

  /** A size_t; more than there can be is as good as infinite. */
  size(i: number): number {
    return Number(this.words[i]!);
  }

  /** The stream that argument `i` names. Throws if there is none. */
  stream(i: number): Stream {
    return this.streamOf(this.words[i]!);
  }

  streamOf(handle: bigint): Stream {
    if (handle === perThreadHandle || (handle === 0n && this.perThread)) return this.#ownStream();
    if (handle === 0n || handle === legacyHandle) return this.device.streams.legacy;
    return this.process.streams.get(handle);
  }

  /** The stream of calls that name none. */
  get defaultStream(): Stream {
    return this.streamOf(0n);
  }

  #ownStream(): Stream {
    const { defaultStreams } = this.thread;
    const { device } = this;
    let own = defaultStreams.get(device.number);
    if (own === undefined || this.process.streams.find(own.handle) !== own) {
      own = device.streams.add(new Stream("blocking", device.number));
      this.process.streams.add(own, own.handle);
      defaultStreams.set(device.number, own);
    }
    return own;
  }

  /** Writes to the program's memory when the call returns. */
  poke(address: bigint, data: Uint8Array): void {
    if (data.length <= maxPoke) this.items.push({ kind: itemKind.poke, address, data });
    else this.host.write(address, data);
  }

  set64(address: bigint, value: bigint | number): void {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true);
    this.poke(address, data);
  }

  set32(address: bigint, value: number): void {
    const data = new Uint8Array(4);
    new DataView(data.buffer).setInt32(0, value | 0, true);
    this.poke(address, data);
  }

  setFloat(address: bigint, value: number): void {
    const data = new Uint8Array(4);
    new DataView(data.buffer).setFloat32(0, value, true);
    this.poke(address, data);
  }

  /** Lets the host access device memory, or no longer, or read it alone. */
  protect(address: bigint, bytes: number, access: "open" | "close" | "readOnly"): void {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setBigUint64(0, BigInt(bytes), true);
    this.items.push({ kind: itemKind[access], address, data });
  }

  /** The address of bytes in memory of the server's own, which the program may see as long as the process lives. */
  kept(bytes: Uint8Array): bigint {
    const address = this.process.kept(bytes);
    this.protect(address, bytes.length, "open");
    return address;
  }

  /** Something else that the client is to do. */
  item(kind: Item["kind"], address: bigint, data: Uint8Array = none): void {
    this.items.push({ kind, address, data });
  }
}

/** Larger data is written at once, which takes a call of the system. */
const maxPoke = 2048;

/** Bytes of a value of the C structures: written by name and offset. */
export class Bytes {
  readonly data: Uint8Array;
  readonly view: DataView;

  constructor(size: number) {
    this.data = new Uint8Array(size);
    this.view = new DataView(this.data.buffer);
  }

  u32(at: number, value: number): this {
    this.view.setUint32(at, value >>> 0, true);
    return this;
  }

  u64(at: number, value: bigint | number): this {
    this.view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
    return this;
  }
}
