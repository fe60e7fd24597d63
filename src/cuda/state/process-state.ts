import type { Report } from "../../machine/reports/report.ts";
import type { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { LaunchDefaults } from "../../runtime/launch/launch-options.ts";
import { Handles } from "../base/handles.ts";
import type { HostMemory } from "../base/host-memory.ts";
import type { Event, Stream } from "../work/stream.ts";
import { addressOf, Allocations } from "./allocations.ts";
import { Callbacks } from "./callbacks.ts";
import type { DeviceKernel } from "./device-module.ts";
import type { Gpu } from "./gpu.ts";
import { Output } from "./output.ts";
import { Registry } from "./registry.ts";

/** What a program is to see and how its kernels are to run. */
export interface ExecOptions {
  readonly gpu: Gpu;
  /** The number of devices. */
  readonly devices: number;
  readonly launch: LaunchDefaults;
}

/** What a process needs of its surroundings. */
export interface Surroundings {
  readonly host: HostMemory;
  /** Makes the machine on which kernels run: the first call that needs a device asks for it. */
  readonly makeDevice: () => PtxDevice;
  /** The value of CUDA_VISIBLE_DEVICES, or null. */
  readonly visibleDevices: string | null;
  /** Tells the user something, once. */
  readonly warn: (text: string) => void;
  /** Called with the faults and findings of each launch that has any. */
  readonly onReports: (reports: readonly Report[]) => void;
  /** Called when launches may go one way, or may no longer; and with the error that made the context unusable. */
  readonly onState: (state: { readonly oneWay: boolean; readonly error: number }) => void;
}

/** What all devices of a process have in common: the machine, memory, handles, what was registered. */
export class ProcessState {
  readonly options: ExecOptions;
  readonly host: HostMemory;
  readonly registry: Registry;
  readonly streams = new Handles<Stream>();
  readonly events = new Handles<Event>();
  /** Kernels by handles that the server gave out, apart from the functions of the host that stand for them. */
  readonly kernels = new Handles<DeviceKernel>();
  readonly output = new Output();
  readonly callbacks = new Callbacks();
  readonly #surroundings: Surroundings;
  readonly #warned = new Set<string>();
  #machine: PtxDevice | null = null;
  #allocations: Allocations | null = null;
  #error = 0;
  #captures = 0;

  constructor(options: ExecOptions, surroundings: Surroundings) {
    this.options = options;
    this.#surroundings = surroundings;
    this.host = surroundings.host;
    this.registry = new Registry(this.host);
    this.#tellState();
  }

  get machine(): PtxDevice {
    return (this.#machine ??= this.#surroundings.makeDevice());
  }

  get allocations(): Allocations {
    return (this.#allocations ??= new Allocations(this.machine.memory));
  }

  /** Whether anything needed a device so far. */
  get isActive(): boolean {
    return this.#machine !== null;
  }

  /** The error that has made all further work impossible, or 0. */
  get error(): number {
    return this.#error;
  }

  /** Notes an error after which the context is unusable. */
  break(code: number): void {
    if (this.#error === 0) this.#error = code;
    this.#tellState();
  }

  /** Notes that a capture has begun or ended: launches may be parts of graphs then. */
  countCaptures(by: number): void {
    this.#captures += by;
    this.#tellState();
  }

  /** Passes on what launches have found. */
  report(reports: readonly Report[]): void {
    this.#surroundings.onReports(reports);
  }

  /** Tells the user something, the same thing only once. */
  warn(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#surroundings.warn(text);
  }

  /** The address of a text that stays as long as the process: in memory that the host may read. */
  text(value: string): bigint {
    const bytes = new TextEncoder().encode(`${value}\0`);
    const made = this.allocations.add(bytes.length, { kind: "pinned", device: -1, flags: 0 }, "a name");
    this.machine.memory.write(made.offset, bytes);
    return addressOf(made.offset);
  }

  #tellState(): void {
    this.#surroundings.onState({ oneWay: this.#error === 0 && this.#captures === 0, error: this.#error });
  }
}
