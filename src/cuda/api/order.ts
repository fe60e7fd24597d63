import { errors, fail } from "../base/errors.ts";
import type { Operation } from "../work/operation.ts";
import type { Stream } from "../work/stream.ts";
import type { Call, Status } from "./call.ts";

/**
 * Appends work to a stream. Where the stream is being captured, it becomes a node of a graph instead, and there is no
 * operation.
 */
export function enqueue(call: Call, stream: Stream, run: () => void | Promise<void>): Operation | null {
  const device = call.process.device(stream.device);
  return device.streams.enqueue(stream, run);
}

/** Goes on when something has ended: at once if it is null. */
export function waitFor(_call: Call, ended: Promise<void> | null, then: () => number): Status {
  return ended === null ? then() : ended.then(then);
}

/** The answer of a question whether work has ended. */
export const readiness = (isDone: boolean, error: number): number => error || (isDone ? 0 : errors.notReady);

/** For entry points that are known and not supported. */
export const notSupported = (): never => fail(errors.notSupported);
