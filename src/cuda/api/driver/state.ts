import { CudaError, errors, fail } from "../../base/errors.ts";
import { Handles, newHandle } from "../../base/handles.ts";
import type { CudaDevice } from "../../state/cuda-device.ts";
import type { DeviceModule } from "../../state/device-module.ts";
import type { CudaProcess } from "../../state/process.ts";
import type { Call, Handler, Status } from "../call.ts";

/** A context of the driver: all contexts of a device share its memory and its streams. */
export interface Context {
  readonly handle: bigint;
  readonly device: number;
  readonly flags: number;
}

/** A module that the program has loaded, and the kernels of it that have handles. */
export interface LoadedModule {
  readonly device: CudaDevice;
  readonly module: DeviceModule;
  readonly functions: Map<string, bigint>;
}

/** What the driver remembers of a process besides what the runtime does. */
export class DriverState {
  isInitialized = false;
  readonly contexts = new Handles<Context>();
  readonly modules = new Handles<LoadedModule>();
  /** Texts that are being linked. */
  readonly links = new Handles<{ readonly texts: { readonly name: string; readonly text: string }[] }>();
  readonly #primaries = new Map<number, Context>();
  readonly #stacks = new Map<number, Context[]>();

  /** The context that the runtime uses on a device. */
  primary(device: number): Context {
    let known = this.#primaries.get(device);
    if (known === undefined) {
      known = { handle: newHandle(), device, flags: 0 };
      this.#primaries.set(device, known);
      this.contexts.add(known, known.handle);
    }
    return known;
  }

  /** The contexts of a thread, the current one last. */
  stack(thread: number): Context[] {
    let known = this.#stacks.get(thread);
    if (known === undefined) this.#stacks.set(thread, (known = []));
    return known;
  }
}

const states = new WeakMap<CudaProcess, DriverState>();

export function driverOf({ process }: Call): DriverState {
  let known = states.get(process);
  if (known === undefined) states.set(process, (known = new DriverState()));
  return known;
}

/** The thread's current context, or null. The runtime makes the primary one current when it is used. */
export function currentContext(call: Call): Context | null {
  const driver = driverOf(call);
  const top = driver.stack(call.thread.id).at(-1);
  if (top !== undefined) return top;
  return call.process.usedDevices.length > 0 ? driver.primary(call.thread.device) : null;
}

/** Makes a context the thread's current one in place of the one before; null: none. */
export function setCurrent(call: Call, context: Context | null): void {
  const stack = driverOf(call).stack(call.thread.id);
  stack.pop();
  if (context === null) return;
  stack.push(context);
  call.thread.device = context.device;
}

/** Errors of the runtime that the driver does not have, and what it returns for them. */
const driverErrors: ReadonlyMap<number, number> = new Map([
  [errors.invalidConfiguration, errors.invalidValue],
  [errors.invalidPitchValue, errors.invalidValue],
  [errors.invalidHostPointer, errors.invalidValue],
  [errors.invalidDevicePointer, errors.invalidValue],
  [errors.invalidMemcpyDirection, errors.invalidValue],
  [errors.invalidChannelDescriptor, errors.invalidValue],
  [errors.invalidDeviceFunction, errors.invalidResourceHandle],
  [errors.invalidSymbol, errors.symbolNotFound],
]);

const driverCode = (code: number): number => driverErrors.get(code) ?? code;

/** Runs a handler with the driver's errors. */
function withDriverErrors(call: Call, handler: Handler): Status {
  try {
    const status = handler(call);
    return typeof status === "number" ? driverCode(status) : status.then(driverCode);
  } catch (error) {
    if (error instanceof CudaError) throw new CudaError(driverCode(error.code));
    throw error;
  }
}

/** A call that is possible once cuInit has been called. */
export const initialized =
  (handler: Handler): Handler =>
  (call) => {
    // The runtime initializes the driver too.
    if (!driverOf(call).isInitialized && call.process.usedDevices.length === 0) fail(errors.initializationError);
    return withDriverErrors(call, handler);
  };

/** A call that needs a current context, whose device is the one that it is about. */
export const inContext = (handler: Handler): Handler =>
  initialized((call) => {
    const context = currentContext(call) ?? fail(errors.deviceUninitialized);
    call.thread.device = context.device;
    return handler(call);
  });

/** The same, with the arguments that another handler wants: words by the call. */
export const inContextAs = (handler: Handler, words: (call: Call) => readonly (bigint | number)[]): Handler =>
  inContext((call) => {
    words(call).forEach((word, i) => {
      call.words[i] = BigInt.asUintN(64, BigInt(word));
    });
    return handler(call);
  });
