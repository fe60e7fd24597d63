import { errors, require } from "../base/errors.ts";
import { itemKind } from "../base/wire.ts";
import { hostTask, recordTask, waitTask } from "../run/tasks.ts";
import type { HostOrder, Use } from "../work/host-order.ts";
import type { Operation } from "../work/operation.ts";
import { Event, Stream } from "../work/stream.ts";
import type { Context } from "../state/contexts.ts";
import type { Call, Handlers, Status } from "./call.ts";
import { relyOn } from "./host-access.ts";
import {
  addCaptured,
  captureOf,
  enqueue,
  forbidCaptured,
  forbidCapturedEvent,
  forbidUnsafe,
  readiness,
  recordEvent,
  waitFor,
  waitForEvent,
} from "./order.ts";

const priorities = { least: 0, greatest: -5 } as const;

/** The priority that a stream gets which is to have one. */
export const clampedPriority = (asked: number): number =>
  Math.max(priorities.greatest, Math.min(priorities.least, asked));

/** `inside`: the context to which the stream belongs; null if it is the current one. */
export function createStream(call: Call, flags: number, priority: number, inside: Context | null = null): Status {
  const target = call.target(0);
  require(flags === 0 || flags === 1);
  const device = inside === null ? call.device : call.process.device(inside.device);
  const kind = flags === 1 ? "non-blocking" : "blocking";
  const stream = device.streams.add(new Stream(kind, device.number, clampedPriority(priority)));
  const context = inside ?? call.thread.contexts.at(-1);
  if (context !== undefined) call.process.streamContexts.set(stream, context);
  call.set64(target, call.process.streams.add(stream, stream.handle));
  return 0;
}

function createEvent(call: Call, flags: number): Status {
  const target = call.target(0);
  require((flags & ~7) === 0 && (flags & 4) <= (flags & 2) << 1);
  const event = new Event(flags, call.device.number);
  call.set64(target, call.process.events.add(event, event.handle));
  return 0;
}

/** Marks the place that a stream has come to. In a capture, that is known when the capture ends. */
function record(call: Call, stream: Stream, flags = 0): Status {
  const event = call.process.events.get(call.address(0));
  require(event.device === stream.device, errors.invalidResourceHandle);
  require(flags <= 1);
  const capture = captureOf(stream);
  if (capture !== null && flags === 1) {
    addCaptured(call, stream, capture, recordTask(event));
    return 0;
  }
  recordEvent(call, event, stream);
  return 0;
}

function elapsed(call: Call): Status {
  const target = call.target(0);
  const [from, to] = [call.process.events.get(call.address(1)), call.process.events.get(call.address(2))];
  require(from.timing && to.timing, errors.invalidResourceHandle);
  require(from.recorded !== null && to.recorded !== null, errors.invalidResourceHandle);
  if (!from.isReached || !to.isReached) return errors.notReady;
  call.setFloat(target, to.time - from.time);
  return 0;
}

/** Calls a function of the program in the order of a stream. */
function callHost(call: Call, stream: Stream, kind: 0 | 1): Status {
  const { process } = call;
  const [function_, data] = [call.target(1), call.address(2)];
  call.item(itemKind.callbacks, 0n);
  const own = { kind, function: function_, data, stream: call.address(0) };
  enqueue(
    call,
    stream,
    kind === 0 ? hostTask(process, function_, data) : () => process.callbacks.call({ ...own, status: process.error }),
  );
  return 0;
}

/** `ended`: what the host may rely on then. */
function synchronize(call: Call, operation: Operation | null, ended: (order: HostOrder) => readonly Use[]): Status {
  forbidUnsafe(call);
  call.showsOutput = true;
  relyOn(call, ended);
  return waitFor(call, operation?.ended() ?? null, () => call.process.error);
}

export const streamCalls: Handlers = {
  cudaStreamCreate: (call) => createStream(call, 0, 0),
  cudaStreamCreateWithFlags: (call) => createStream(call, call.uint(1), 0),
  cudaStreamCreateWithPriority: (call) => createStream(call, call.uint(1), call.int(2)),
  cudaStreamDestroy(call) {
    const stream = call.process.streams.get(call.address(0));
    require(stream.kind !== "legacy", errors.invalidResourceHandle);
    const { capture } = stream;
    if (capture?.origin === stream) call.process.endCapture(capture);
    else capture?.leave(stream);
    call.process.device(stream.device).streams.remove(stream);
    call.process.removeStream(stream.handle);
    return 0;
  },
  cudaStreamSynchronize(call) {
    const stream = call.stream(0);
    return synchronize(call, lastOf(call, stream), (order) => order.streamEnded(stream));
  },
  cudaStreamQuery(call) {
    const stream = call.stream(0);
    const isIdle = lastOf(call, stream) === null;
    forbidUnsafe(call);
    if (isIdle) relyOn(call, (order) => order.streamEnded(stream));
    return readiness(isIdle, call.process.error);
  },
  cudaStreamWaitEvent(call) {
    const stream = call.stream(0);
    const flags = call.uint(2);
    require(flags <= 1);
    const capture = captureOf(stream);
    const event = call.process.events.get(call.address(1));
    if (capture !== null && flags === 1) addCaptured(call, stream, capture, waitTask(event));
    else waitForEvent(call, stream, event);
    return 0;
  },
  cudaStreamGetFlags(call) {
    call.set32(call.target(1), call.stream(0).kind === "non-blocking" ? 1 : 0);
    return 0;
  },
  cudaStreamGetPriority(call) {
    call.set32(call.target(1), call.stream(0).priority);
    return 0;
  },
  cudaStreamGetDevice(call) {
    call.set32(call.target(1), call.stream(0).device);
    return 0;
  },
  cudaStreamGetId(call) {
    call.set64(call.target(1), call.stream(0).handle);
    return 0;
  },
  cudaDeviceGetStreamPriorityRange(call) {
    void call.device;
    if (call.address(0) !== 0n) call.set32(call.address(0), priorities.least);
    if (call.address(1) !== 0n) call.set32(call.address(1), priorities.greatest);
    return 0;
  },
  cudaStreamAddCallback(call) {
    require(call.uint(3) === 0);
    return callHost(call, call.stream(0), 1);
  },
  cudaLaunchHostFunc: (call) => callHost(call, call.stream(0), 0),
  cudaStreamAttachMemAsync(call) {
    void call.stream(0);
    require([1, 2, 4].includes(call.uint(3)));
    const found = call.process.allocations.at(call.address(1));
    require(found !== null && found.kind === "managed");
    require(call.size(2) === 0 || call.size(2) === found.bytes);
    return 0;
  },
  cudaEventCreate: (call) => createEvent(call, 0),
  cudaEventCreateWithFlags: (call) => createEvent(call, call.uint(1)),
  cudaEventDestroy(call) {
    call.process.events.get(call.address(0));
    call.process.events.remove(call.address(0));
    return 0;
  },
  cudaEventRecord: (call) => record(call, call.stream(1)),
  cudaEventRecordWithFlags: (call) => record(call, call.stream(1), call.uint(2)),
  cudaEventSynchronize(call) {
    const event = call.process.events.get(call.address(0));
    forbidCapturedEvent(call, event);
    return synchronize(call, event.recorded, (order) => order.operationEnded(event.recorded));
  },
  cudaEventQuery(call) {
    void call.device;
    const event = call.process.events.get(call.address(0));
    forbidCapturedEvent(call, event);
    forbidUnsafe(call);
    if (event.isReached) relyOn(call, (order) => order.operationEnded(event.recorded));
    return readiness(event.isReached, call.process.error);
  },
  cudaEventElapsedTime: elapsed,
  cudaEventElapsedTime_v2: elapsed,
};

/** What has to end for a stream to be idle: for the default stream, that of the streams that it waits for too. */
function lastOf(call: Call, stream: Stream): Operation | null {
  forbidCaptured(call, stream);
  if (stream.kind !== "legacy") return stream.last;
  const { streams } = call.process.device(stream.device);
  const mark = streams.enqueue(stream, () => {});
  return mark.isDone ? null : mark;
}
