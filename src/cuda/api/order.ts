import { errors, fail, require } from "../base/errors.ts";
import { type Capture, captureMode } from "../work/capture.ts";
import type { GraphNode, Task } from "../work/graph.ts";
import type { Operation } from "../work/operation.ts";
import type { Event, Stream } from "../work/stream.ts";
import type { Call, Status } from "./call.ts";

/** Ends what a capture is good for, and throws. */
function invalidate(capture: Capture, code: number): never {
  const was = capture.isInvalid;
  capture.isInvalid = true;
  return fail(was ? errors.streamCaptureInvalidated : code);
}

/** The same for several; none is left out. Does nothing if there is none. */
function invalidateAll(captures: readonly Capture[], code: number): void {
  const were = captures.filter((capture) => !capture.isInvalid);
  for (const capture of were) capture.isInvalid = true;
  if (captures.length > 0) fail(were.length === 0 ? errors.streamCaptureInvalidated : code);
}

/** The capture in which a stream takes part, or null. Throws if it has been invalidated. */
export function captureOf(stream: Stream): Capture | null {
  const { capture } = stream;
  if (capture?.isInvalid) fail(errors.streamCaptureInvalidated);
  return capture;
}

/** Makes a node of what is appended to a stream that is being captured. */
export function addCaptured(call: Call, stream: Stream, capture: Capture, task: Task): GraphNode {
  const node = capture.graph.add(task, capture.tipsOf(stream));
  call.process.graphNodes.add(node, node.handle);
  capture.made.add(node);
  capture.join(stream, new Set([node]));
  return node;
}

/** Throws where the legacy stream would have to wait for one that is being captured. */
function forbidImplicit(call: Call, stream: Stream): void {
  if (stream.kind !== "legacy") return;
  invalidateAll([...call.process.device(stream.device).streams.implicit], errors.streamCaptureImplicit);
}

/**
 * Appends work to a stream. Where the stream is being captured, it becomes a node of a graph instead, and there is no
 * operation; what is no task cannot be captured.
 */
export function enqueue(call: Call, stream: Stream, work: Task | (() => void | Promise<void>)): Operation | null {
  const { streams } = call.process.device(stream.device);
  const capture = captureOf(stream);
  if (capture === null) {
    forbidImplicit(call, stream);
    return streams.enqueue(stream, typeof work === "function" ? work : work.run);
  }
  if (typeof work === "function") return invalidate(capture, errors.streamCaptureUnsupported);
  addCaptured(call, stream, capture, work);
  return null;
}

/** Throws, and invalidates the capture, if a stream is being captured: its work has no end that one could wait for. */
export function forbidCaptured(call: Call, stream: Stream): void {
  const capture = captureOf(stream);
  if (capture !== null) invalidate(capture, errors.streamCaptureUnsupported);
  forbidImplicit(call, stream);
}

/** The same for all streams of the current device. */
export function forbidCaptures(call: Call): void {
  invalidateAll([...call.process.captures], errors.streamCaptureUnsupported);
}

/** Throws if an event was recorded last in a stream that is being captured: the host cannot wait for that. */
export function forbidCapturedEvent(call: Call, { captured }: Event): void {
  if (captured !== null && call.process.captures.has(captured.capture)) {
    invalidate(captured.capture, errors.capturedEvent);
  }
}

/**
 * Throws for calls that might wait for work in other streams, such as an allocation, where a capture is strict about
 * them: the thread's own, and those of other threads in the global mode.
 */
export function forbidUnsafe(call: Call): void {
  const { thread, process } = call;
  if (thread.captureMode === captureMode.relaxed) return;
  const strict = [...process.captures].filter(({ thread: owner, mode }) =>
    owner === thread.id
      ? mode !== captureMode.relaxed
      : mode === captureMode.global && thread.captureMode === captureMode.global,
  );
  invalidateAll(strict, errors.streamCaptureUnsupported);
}

/** Lets a stream wait for an event: joining the capture in which that was recorded, if it was in one. */
export function waitForEvent(call: Call, stream: Stream, event: Event): void {
  const own = captureOf(stream);
  const { captured } = event;
  if (captured !== null && call.process.captures.has(captured.capture)) {
    const { capture, nodes } = captured;
    if (capture.isInvalid) fail(errors.streamCaptureInvalidated);
    require(stream.kind !== "legacy", errors.streamCaptureImplicit);
    if (own !== null && own !== capture) {
      own.isInvalid = true;
      invalidate(capture, errors.streamCaptureMerge);
    }
    capture.join(stream, new Set([...capture.tipsOf(stream), ...nodes]));
    return;
  }
  if (own !== null) {
    if (event.recorded !== null) invalidate(own, errors.streamCaptureIsolation);
    return;
  }
  if (event.recorded === null) return;
  call.process.device(stream.device).streams.enqueue(stream, () => {}, [event.recorded]);
}

/** Marks the place that a stream has come to. In a capture, that is known when the capture ends. */
export function recordEvent(call: Call, event: Event, stream: Stream): void {
  const capture = captureOf(stream);
  if (capture !== null) {
    event.captured = { capture, nodes: capture.tipsOf(stream) };
    return;
  }
  event.captured = null;
  event.recorded = enqueue(call, stream, () => {
    event.time = performance.now();
  });
}

/** Goes on when something has ended: at once if it is null. */
export function waitFor(_call: Call, ended: Promise<void> | null, then: () => number): Status {
  return ended === null ? then() : ended.then(then);
}

/** The answer of a question whether work has ended. */
export const readiness = (isDone: boolean, error: number): number => error || (isDone ? 0 : errors.notReady);
