import { CudaError, errors, fail } from "../../base/errors.ts";
import { Context } from "../../state/contexts.ts";
import type { CudaProcess } from "../../state/process.ts";
import type { Call, Handler, Status } from "../call.ts";

/** Errors of the runtime that the driver does not have, by what it says instead. */
const instead: Readonly<Record<number, number>> = {
  [errors.invalidConfiguration]: errors.invalidValue,
  [errors.invalidPitchValue]: errors.invalidValue,
  [errors.invalidSymbol]: errors.symbolNotFound,
  [errors.invalidHostPointer]: errors.invalidValue,
  [errors.invalidDevicePointer]: errors.invalidValue,
  [errors.invalidMemcpyDirection]: errors.invalidValue,
  [errors.invalidDeviceFunction]: errors.invalidResourceHandle,
};

const driverCode = (code: number): number => instead[code] ?? code;

/** The primary context of a device. */
export function primaryOf(process: CudaProcess, device: number): Context {
  let known = process.primaries.get(device);
  if (known === undefined) {
    known = new Context(device, 0, true);
    process.primaries.set(device, known);
    process.contexts.add(known, known.handle);
  }
  return known;
}

/**
 * The context that is current in the thread, or null: that of the runtime, if it was used and nothing else was said.
 */
export function currentContext({ thread, process }: Call): Context | null {
  const top = thread.contexts.at(-1);
  if (top !== undefined) return top;
  return thread.usesRuntime ? primaryOf(process, thread.device) : null;
}

/** An entry point of the driver that needs no context, only `cuInit`. */
export const initialized =
  (handler: Handler): Handler =>
  (call) => {
    if (!call.process.isInitialized && !call.process.isActive) return errors.initializationError;
    return answer(call, handler);
  };

/** An entry point of the driver that needs a current context. */
export const inContext = (handler: Handler): Handler =>
  initialized((call) => {
    const context = currentContext(call) ?? fail(errors.deviceUninitialized);
    call.thread.device = context.device;
    return handler(call);
  });

function answer(call: Call, handler: Handler): Status {
  try {
    const result = handler(call);
    if (typeof result === "number") return driverCode(result);
    return result.then(driverCode, rethrow);
  } catch (error) {
    return rethrow(error);
  }
}

function rethrow(error: unknown): never {
  if (!(error instanceof CudaError) || driverCode(error.code) === error.code) throw error;
  throw error.recoded(driverCode(error.code));
}
