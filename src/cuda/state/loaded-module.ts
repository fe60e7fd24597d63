import { newHandle } from "../base/handles.ts";
import type { DeviceKernel, DeviceModule } from "./device-module.ts";

/** A module that the program has loaded itself: through the driver, or as a library. */
export class LoadedModule {
  readonly handle = newHandle();
  readonly module: DeviceModule;
  /** The number of the device into which it is loaded. */
  readonly device: number;

  constructor(module: DeviceModule, device: number) {
    this.module = module;
    this.device = device;
  }

  /** All its kernels. Throws if one cannot be executed. */
  get kernels(): readonly DeviceKernel[] {
    return this.module.module.kernels.map((name) => this.module.kernel(name));
  }
}

/** PTX that is being linked. */
export class LinkState {
  readonly handle = newHandle();
  readonly texts: string[] = [];
  /** Where in the program the value of each option is, by its number. */
  readonly options: ReadonlyMap<number, bigint>;

  constructor(options: ReadonlyMap<number, bigint>) {
    this.options = options;
  }
}
